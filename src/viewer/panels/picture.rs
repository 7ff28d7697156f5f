//! The picture in the middle: shown, pointed at, steered.

use egui::{Color32, Key, PointerButton, Pos2, Rect, Sense, Ui};
use glam::{DVec2, DVec3, Vec3};

use super::inspector;
use crate::{
    camera_control::{Input, NavigationMode},
    frame::Aov,
    passes::gbuffer_channel::GbufferChannel,
    photometry::Lux,
    viewer::{
        app::{App, pixel_of},
        light_placement,
        viewport::Job,
    },
};

/// What a click in the picture does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tool {
    /// Nothing but pointing.
    #[default]
    Select,
    /// Drags the selected light along the world's axes.
    Move,
    /// Turns what the selected light shines at about the world's axes.
    Turn,
    /// Drags the size of the selected light's shape, or its cone.
    Size,
    /// Holds an incident-light meter to the surface.
    Meter,
    /// Focuses there.
    Focus,
    /// Aims the selected light there.
    Aim,
    /// Puts the selected light's highlight there.
    Highlight,
    /// Two clicks: what throws the shadow, and where it is to fall.
    Shadow,
    /// Reads the grey card there.
    GreyCard,
    /// Paints the flow of the selected water.
    Flow,
}

impl Tool {
    /// All, with their names and what they do.
    pub const ALL: [(Self, &'static str, &'static str); 11] = [
        (Self::Select, "Point", "Esc: the status line reads what is under the pointer"),
        (
            Self::Move,
            "Move",
            "G: arrows drag the selected light, or what the camera looks at, along x (red), y (green) and z (blue)",
        ),
        (
            Self::Turn,
            "Turn",
            "R: rings turn the selected light about x (red), y (green) and z (blue)",
        ),
        (
            Self::Size,
            "Size",
            "T: drags the size of the selected light, or the cone of a spot; its strength stays in its unit",
        ),
        (
            Self::Meter,
            "Meter",
            "M: a click reads lux on the surface, as an incident-light meter held to it",
        ),
        (Self::Focus, "Focus", "P: a click focuses there"),
        (Self::Aim, "Aim", "a click aims the selected light there"),
        (
            Self::Highlight,
            "Highlight",
            "a click puts the selected light's highlight there, at the distance that it has",
        ),
        (
            Self::Shadow,
            "Shadow",
            "the first click is on what throws the shadow, the second is where it is to fall",
        ),
        (Self::GreyCard, "Grey card", "a click on something grey sets the white balance"),
        (
            Self::Flow,
            "Paint flow",
            "B: a drag over the selected water is the way that it flows there",
        ),
    ];

    /// Whether clicks do nothing, but perhaps drags.
    #[must_use]
    pub const fn drags(self) -> bool {
        matches!(self, Self::Select | Self::Move | Self::Turn | Self::Size)
    }
}

/// A place on a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePoint {
    /// Where (m, world).
    pub point: DVec3,
    /// Which way it faces.
    pub normal: DVec3,
}

/// Where people point.
#[derive(Clone, Debug, Default)]
pub struct Pointer {
    /// In the picture, 0 to 1 right and down; none outside.
    pub place: Option<DVec2>,
    /// The surface there, as far as known.
    pub surface: Option<SurfacePoint>,
    /// What throws the shadow, after the first click.
    pub occluder: Option<DVec3>,
    /// The last reading of incident light.
    pub incident: Option<IncidentReading>,
}

/// A reading of incident light.
#[derive(Clone, Debug, PartialEq)]
pub struct IncidentReading {
    /// What the meter read.
    pub lux: Lux,
    /// In words, with its place.
    pub text: String,
}

/// Radians a point of dragging turns.
const TURN: f64 = 0.005;

/// Radians, picture heights and notches of the wheel a second that keys turn, pan and go nearer.
const KEY_TURN: f64 = 1.0;
const KEY_PAN: f64 = 0.5;
const KEY_DOLLY: f64 = 4.0;

/// The largest rectangle of an aspect within another, in its middle.
fn fitted(within: Rect, aspect: f32) -> Rect {
    let size = within.size();
    let wide = size.x / size.y.max(1.0) > aspect;
    let fit = if wide {
        egui::vec2(size.y * aspect, size.y)
    } else {
        egui::vec2(size.x, size.x / aspect)
    };
    Rect::from_center_size(within.center(), fit)
}

/// The rectangle on whole pixels, and as large as the picture where it nearly is.
fn on_pixels(rect: Rect, picture: [u32; 2], scale: f32) -> Rect {
    let snapped = |points: f32| (points * scale).round() / scale;
    let size = egui::vec2(picture[0] as f32 / scale, picture[1] as f32 / scale);
    let near = (size - rect.size()).abs().max_elem() * scale < 2.0;
    let min = egui::pos2(snapped(rect.min.x), snapped(rect.min.y));
    Rect::from_min_size(min, if near { size } else { rect.size() })
}

impl App {
    pub(super) fn picture(&mut self, ui: &mut Ui) {
        let whole = ui.available_rect_before_wrap();
        let response = ui.allocate_rect(whole, Sense::click_and_drag());
        let painter = ui.painter_at(whole);
        painter.rect_filled(whole, 0.0, Color32::from_gray(24));
        let scale = ui.ctx().pixels_per_point();
        let Some(work) = &mut self.workspace else { return };
        // A look with a resolution of its own keeps its shape; else the picture fills the panel.
        let pixels =
            [whole.width(), whole.height()].map(|side| ((side * scale) as u32).clamp(1, 8192));
        let own = work.viewport.session.look.camera.rig.resolution;
        let size = match own {
            Some([width, height]) => {
                let aspect = f64::from(width) / f64::from(height);
                let fit = f64::from(pixels[0]).min(f64::from(pixels[1]) * aspect);
                [fit, fit / aspect].map(|side| (side.round() as u32).max(1))
            }
            None => pixels,
        };
        let coarse = work.viewport.downscale();
        let wanted = size.map(|side| (side / coarse).max(1));
        // While the window is dragged to another size the picture waits.
        let waits = coarse == 1
            && ui.input(|input| input.pointer.any_down())
            && work.viewport.last_frame.is_some();
        if !waits {
            // Said until it fits again.
            work.misfit = work.viewport.resize(wanted, coarse).err().map(|error| error.to_string());
        }
        let shown = work.viewport.session.size;
        let rect = on_pixels(
            fitted(whole, shown.width as f32 / shown.height.max(1) as f32),
            [shown.width, shown.height],
            scale,
        );
        let texture = self.shown.as_ref().map(|(texture, _)| texture.id());
        self.show_reference_view(ui, rect, texture);
        self.point(ui, rect, &response);
        let input = self.camera_input(ui, &response, rect);
        self.move_camera(&input);
        if response.clicked()
            && let Some(at) = response.interact_pointer_pos()
        {
            self.click(rect, at);
        }
        self.click_by_keys(ui, rect);
        self.handles(ui, rect, &response);
        self.paint_flow(ui, rect, &response);
        self.drag_wipe(ui, rect);
        self.show_hint(ui, rect);
        self.picture_rect = rect;
    }

    /// What the tool waits for, and that a light is left alone: nobody guesses.
    fn hint(&self) -> Option<String> {
        let work = self.workspace.as_ref()?;
        let aims = matches!(self.tool, Tool::Aim | Tool::Highlight | Tool::Shadow);
        let step = match (aims, work.selected.light_name()) {
            (false, _) => None,
            (true, None) => Some("select a light in the list on the left first".to_owned()),
            (true, Some(light)) => Some(match (self.tool, work.pointer.occluder) {
                (Tool::Shadow, None) => format!("Shadow of {light}: click on what throws it"),
                (Tool::Shadow, Some(_)) => {
                    format!("Shadow of {light}: now click where it is to fall")
                }
                (Tool::Highlight, _) => format!("click where the highlight of {light} is to be"),
                _ => format!("click on what {light} is to shine at"),
            }),
        };
        let solo = work.solo.as_ref().map(|light| format!("{light} alone, in the picture only"));
        let lines: Vec<String> = step.into_iter().chain(solo).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    fn show_hint(&self, ui: &Ui, rect: Rect) {
        let Some(text) = self.hint() else { return };
        let painter = ui.painter_at(rect);
        let font = egui::FontId::proportional(14.0);
        let galley = painter.layout(text, font, Color32::WHITE, (rect.width() - 24.0).max(40.0));
        // Above the notices, which stand on the left below.
        let place = egui::Align2::CENTER_TOP
            .anchor_size(rect.center_top() + egui::vec2(0.0, 26.0), galley.size());
        painter.rect_filled(place.expand(5.0), 4.0, Color32::from_black_alpha(190));
        painter.galley(place.min, galley, Color32::WHITE);
    }

    /// What is under the pointer.
    fn point(&mut self, ui: &Ui, rect: Rect, response: &egui::Response) {
        let Some(work) = &mut self.workspace else { return };
        let at = if self.by_keys {
            Some(rect.center())
        } else {
            response
                .hover_pos()
                .or(ui.input(|input| input.pointer.hover_pos()))
                .filter(|at| rect.contains(*at))
        };
        work.pointer.place = at.map(|at| {
            let part = (at - rect.min) / rect.size();
            DVec2::new(f64::from(part.x), f64::from(part.y))
        });
        work.pointer.surface = work.pointer.place.and_then(|place| {
            let picture = &work.viewport.last_frame.as_ref()?.picture;
            let [x, y] = pixel_of(place, [picture.width, picture.height]);
            let value = |channel: GbufferChannel| {
                let (_, pixels) =
                    picture.aovs.iter().find(|(aov, _)| *aov == Aov::Channel(channel))?;
                let &[a, b, c, there] = pixels.get(y * picture.width + x)?;
                (there > 0.0).then(|| Vec3::new(a, b, c).as_dvec3())
            };
            Some(SurfacePoint {
                point: value(GbufferChannel::Position)?,
                normal: value(GbufferChannel::Normal)?.normalize_or(DVec3::Y),
            })
        });
    }

    /// What the camera_input do to the camera.
    fn camera_input(&self, ui: &Ui, response: &egui::Response, rect: Rect) -> Input {
        let mode =
            self.workspace.as_ref().map_or(NavigationMode::Orbit, |work| work.controller.mode());
        let mut camera_input = Input::default();
        let height = f64::from(rect.height().max(1.0));
        let dragged = |button| response.dragged_by(button);
        let delta = response.drag_delta();
        let (right, up) = (f64::from(delta.x), -f64::from(delta.y));
        let (shift, alt) = ui.input(|input| (input.modifiers.shift, input.modifiers.alt));
        let turns = match mode {
            NavigationMode::Orbit => {
                dragged(PointerButton::Middle) || (alt && dragged(PointerButton::Primary))
            }
            _ => dragged(PointerButton::Secondary) || dragged(PointerButton::Middle),
        };
        let pans =
            shift && turns || (mode == NavigationMode::Orbit && dragged(PointerButton::Secondary));
        if pans {
            camera_input.pan = DVec2::new(right, up) / height;
        } else if turns {
            camera_input.turn = DVec2::new(right, up) * TURN;
        }
        if response.hovered() {
            camera_input.dolly = f64::from(ui.input(|input| input.smooth_scroll_delta().y)) / 50.0;
        }
        let typed = ui.ctx().egui_wants_keyboard_input() || self.palette.is_open();
        if !typed && !ui.input(|input| input.modifiers.command) {
            let held = |key: Key| f64::from(u8::from(ui.input(|input| input.key_down(key))));
            let axis = |more: Key, less: Key| held(more) - held(less);
            let seconds = f64::from(ui.input(|input| input.stable_dt)).min(0.1);
            let arrows = DVec2::new(
                axis(Key::ArrowRight, Key::ArrowLeft),
                axis(Key::ArrowUp, Key::ArrowDown),
            );
            if mode == NavigationMode::Orbit {
                // Letters are tools and shortcuts here; arrows turn, with Shift they pan.
                if shift {
                    camera_input.pan += arrows * KEY_PAN * seconds;
                } else {
                    camera_input.turn += arrows * KEY_TURN * seconds;
                }
                camera_input.dolly += axis(Key::PageUp, Key::PageDown) * KEY_DOLLY * seconds;
            } else {
                camera_input.turn += arrows * KEY_TURN * seconds;
                camera_input.movement =
                    DVec3::new(axis(Key::D, Key::A), axis(Key::E, Key::Q), axis(Key::W, Key::S));
                let up = axis(Key::PageUp, Key::PageDown);
                camera_input.movement.y = (camera_input.movement.y + up).clamp(-1.0, 1.0);
            }
            camera_input.speed_factor = if shift { 5.0 } else { 1.0 };
        }
        camera_input
    }

    /// The keyboard points at the middle of the picture, and Enter clicks there; a pointer that
    /// moves points again.
    fn click_by_keys(&mut self, ui: &Ui, rect: Rect) {
        let pointed =
            ui.input(|input| input.pointer.delta() != egui::Vec2::ZERO || input.pointer.any_down());
        let free =
            !ui.ctx().egui_wants_keyboard_input() && !self.palette.is_open() && self.no_dialog();
        let enter =
            free && ui.input(|input| input.key_pressed(Key::Enter) && input.modifiers.is_none());
        if pointed {
            self.by_keys = false;
        } else if enter && self.by_keys {
            self.click(rect, rect.center());
        } else if enter {
            // The first says where.
            self.by_keys = true;
        }
        if self.by_keys {
            let painter = ui.painter_at(rect);
            for (width, color) in [(3.0, Color32::BLACK), (1.0, Color32::WHITE)] {
                let stroke = egui::Stroke::new(width, color);
                let center = rect.center();
                painter.hline(center.x - 9.0..=center.x + 9.0, center.y, stroke);
                painter.vline(center.x, center.y - 9.0..=center.y + 9.0, stroke);
            }
        }
    }

    /// A click at a point of the window.
    fn click(&mut self, rect: Rect, at: Pos2) {
        let Some(work) = &mut self.workspace else { return };
        if !rect.contains(at) {
            return;
        }
        if self.tool == Tool::GreyCard {
            let part = (at - rect.min) / rect.size() * 100.0;
            let text = format!("{:.2}%,{:.2}%", part.x, part.y);
            return self.set(&[("camera.white_balance.grey_card", Some(&text))]);
        }
        let Some(surface) = work.pointer.surface else {
            if !self.tool.drags() && self.tool != Tool::Flow {
                self.error("there is no surface under the pointer".into());
            }
            return;
        };
        work.controller.set_target(surface.point);
        match self.tool {
            Tool::Select | Tool::Move | Tool::Turn | Tool::Size | Tool::GreyCard | Tool::Flow => {}
            Tool::Meter => self.read_incident(surface),
            Tool::Focus => {
                let pose = work.viewport.pose();
                // Focus is measured along the lens's axis.
                let along = (surface.point - pose.w_axis.truncate())
                    .dot(-pose.z_axis.truncate().normalize_or(DVec3::Z));
                let text = format!("{along:.4}");
                self.set(&[("camera.lens.focus", Some(&text))]);
            }
            Tool::Aim | Tool::Highlight | Tool::Shadow => self.aim(surface),
        }
    }

    /// Turns or moves the selected light by a click on a surface.
    fn aim(&mut self, surface: SurfacePoint) {
        let Some(work) = &mut self.workspace else { return };
        let Some(name) = work.selected.light_name().map(str::to_owned) else {
            return self.error("select a light first".into());
        };
        let Some(world) = inspector::light_world(&work.viewport, &name) else { return };
        let eye = work.viewport.pose().w_axis.truncate();
        let placed = match self.tool {
            Tool::Highlight => {
                light_placement::highlight(world, eye, surface.point, surface.normal)
            }
            Tool::Shadow => match work.pointer.occluder.take() {
                Some(occluder) => light_placement::shadow(world, occluder, surface.point),
                None => {
                    work.pointer.occluder = Some(surface.point);
                    return;
                }
            },
            _ => Some(light_placement::LightPlacement {
                position: world.w_axis.truncate(),
                aim: surface.point,
            }),
        };
        let Some(placed) = placed else {
            return self.error("no place of the light does that; click elsewhere".into());
        };
        let text = |v: DVec3| format!("{:.5} {:.5} {:.5}", v.x, v.y, v.z);
        let paths = [format!("lights.{name}.position"), format!("lights.{name}.aim")];
        let values = [text(placed.position), text(placed.aim)];
        let moved = self.tool != Tool::Aim;
        let mut changes = vec![(paths[1].as_str(), Some(values[1].as_str()))];
        if moved {
            changes.push((paths[0].as_str(), Some(values[0].as_str())));
        }
        self.set(&changes);
    }

    /// Holds an incident-light meter to a surface.
    fn read_incident(&mut self, surface: SurfacePoint) {
        let Some(work) = &mut self.workspace else { return };
        work.pointer.incident = None;
        work.viewport.submit_job(Job::MeasureIlluminance(surface.point, surface.normal));
    }
}
