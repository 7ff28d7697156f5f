//! The picture: display, pointer tools and camera input.

use egui::{Color32, Key, PointerButton, Pos2, Rect, Sense, Ui};
use glam::{DVec2, DVec3, Vec3};

pub use crate::viewer::tool::Tool;
use crate::{
    camera_control::{Input, NavigationMode},
    frame::Aov,
    passes::gbuffer_channel::GbufferChannel,
    viewer::{
        app::App, light_placement, pixel_reading::pixel_of, pointer::SurfacePoint,
        scene_items::light_world, viewport::Job,
    },
};

/// Rotation per point of dragging (rad).
const TURN: f64 = 0.005;

/// Speed of the keys per second: rotation (rad), pan (picture heights), dolly (wheel notches).
const KEY_TURN: f64 = 1.0;
const KEY_PAN: f64 = 0.5;
const KEY_DOLLY: f64 = 4.0;

/// The largest centered rectangle of an aspect ratio within another.
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

/// Snaps the rectangle to whole pixels, and to the picture's size if it nearly matches.
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
        // A look with its own resolution keeps its aspect ratio; otherwise the picture fills the
        // panel.
        let pixels =
            [whole.width(), whole.height()].map(|side| ((side * scale) as u32).clamp(1, 8192));
        let own = work.viewport.session.look.camera.body.resolution;
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
        // During a resize of the window the picture keeps its size.
        let waits = coarse == 1
            && ui.input(|input| input.pointer.any_down())
            && work.viewport.last_frame.is_some();
        if !waits {
            // Reported until it fits again.
            work.misfit = work.viewport.resize(wanted, coarse).err().map(|error| error.to_string());
        }
        let shown = work.viewport.session.size;
        let rect = on_pixels(
            fitted(whole, shown.width as f32 / shown.height.max(1) as f32),
            [shown.width, shown.height],
            scale,
        );
        let texture = self.displayed_frame.as_ref().map(|(texture, _)| texture.id());
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
        self.viewport_rect = rect;
    }

    /// Hint of the tool's next step, and of a soloed light.
    fn hint(&self) -> Option<String> {
        let work = self.workspace.as_ref()?;
        let aims = matches!(self.tool, Tool::Aim | Tool::Highlight | Tool::Shadow);
        let step = match (aims, work.selected.light_name()) {
            (false, _) => None,
            (true, None) => Some("no light selected: select a light in the outliner".to_owned()),
            (true, Some(light)) => Some(match (self.tool, work.pointer.occluder) {
                (Tool::Shadow, None) => format!("Shadow of {light}: click the occluder"),
                (Tool::Shadow, Some(_)) => {
                    format!("Shadow of {light}: click where it falls")
                }
                (Tool::Highlight, _) => format!("click where the highlight of {light} goes"),
                _ => format!("click the point to aim {light} at"),
            }),
        };
        let solo = work.solo.as_ref().map(|light| format!("solo: {light} (in the picture only)"));
        let lines: Vec<String> = step.into_iter().chain(solo).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    fn show_hint(&self, ui: &Ui, rect: Rect) {
        let Some(text) = self.hint() else { return };
        let painter = ui.painter_at(rect);
        let font = egui::FontId::proportional(14.0);
        let galley = painter.layout(text, font, Color32::WHITE, (rect.width() - 24.0).max(40.0));
        // Above the notices at the lower left.
        let place = egui::Align2::CENTER_TOP
            .anchor_size(rect.center_top() + egui::vec2(0.0, 26.0), galley.size());
        painter.rect_filled(place.expand(5.0), 4.0, Color32::from_black_alpha(190));
        painter.galley(place.min, galley, Color32::WHITE);
    }

    /// Updates what is under the pointer.
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
        work.pointer.image_position = at.map(|at| {
            let part = (at - rect.min) / rect.size();
            DVec2::new(f64::from(part.x), f64::from(part.y))
        });
        work.pointer.surface = work.pointer.image_position.and_then(|place| {
            let picture = &work.viewport.last_frame.as_ref()?.image;
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

    /// The camera's input from pointer and keys.
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
                // Letters are shortcuts here; arrows rotate, with Shift they pan.
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

    /// The keyboard points at the middle of the picture, and Enter clicks there; moving the pointer
    /// ends this.
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
            // The first press only shows the position.
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
        if self.tool == Tool::GrayCard {
            let part = (at - rect.min) / rect.size() * 100.0;
            let text = format!("{:.2}%,{:.2}%", part.x, part.y);
            return self.set(&[("camera.white_balance.gray_card", Some(&text))]);
        }
        let Some(surface) = work.pointer.surface else {
            if !self.tool.drags() && self.tool != Tool::Flow {
                self.error("no surface under the pointer: click on a surface".into());
            }
            return;
        };
        work.controller.set_target(surface.point);
        match self.tool {
            Tool::Select | Tool::Move | Tool::Turn | Tool::Size | Tool::GrayCard | Tool::Flow => {}
            Tool::Meter => self.read_incident(surface),
            Tool::Focus => {
                let pose = work.viewport.pose();
                // Focus distance is measured along the lens axis.
                let along = (surface.point - pose.w_axis.truncate())
                    .dot(-pose.z_axis.truncate().normalize_or(DVec3::Z));
                let text = format!("{along:.4}");
                self.set(&[("camera.lens.focus", Some(&text))]);
            }
            Tool::Aim | Tool::Highlight | Tool::Shadow => self.aim(surface),
        }
    }

    /// Places or aims the selected light by a click on a surface.
    fn aim(&mut self, surface: SurfacePoint) {
        let Some(work) = &mut self.workspace else { return };
        let Some(name) = work.selected.light_name().map(str::to_owned) else {
            return self.error("no light selected: select one first".into());
        };
        let Some(world) = light_world(&work.viewport, &name) else { return };
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
            return self.error("no light position gives that; click elsewhere".into());
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

    /// Measures incident light on a surface.
    fn read_incident(&mut self, surface: SurfacePoint) {
        let Some(work) = &mut self.workspace else { return };
        work.pointer.incident = None;
        work.viewport.submit_job(Job::MeasureIlluminance(surface.point, surface.normal));
    }
}
