//! The lights in the picture: rings to select and drag them by, and the handles of the one that is selected.

use egui::{Color32, CursorIcon, Pos2, Rect, Response, Sense, Stroke, Ui};
use glam::{DMat4, DVec2, DVec3};

use super::{
    inspector::{self, Selection},
    picture::Tool,
};
use crate::{
    photometry::{Emitter, astronomy::Horizontal},
    viewer::{
        aim,
        app::{App, Work},
        handles::{Deed, Grip, Handle, Held, Sight},
        sun::{Sun, SunGrip, Way},
    },
};

/// Colours of the world's axes, as most programs have them.
const AXES: [Color32; 3] =
    [Color32::from_rgb(235, 90, 80), Color32::from_rgb(120, 210, 80), Color32::from_rgb(90, 150, 250)];
const SIZES: Color32 = Color32::from_rgb(255, 200, 80);
const HELD: Color32 = Color32::WHITE;

pub(super) fn point(at: Pos2) -> DVec2 {
    DVec2::new(f64::from(at.x), f64::from(at.y))
}

pub(super) fn place(at: DVec2) -> Pos2 {
    egui::pos2(at.x as f32, at.y as f32)
}

impl App {
    /// Where the lights are, to be seen and dragged.
    pub(super) fn handles(&mut self, ui: &mut Ui, rect: Rect, response: &Response) {
        let Some(work) = &mut self.work else { return };
        let view = work.stage.view();
        let sight = Sight::new(&view, rect);
        let painter = ui.painter_at(rect);
        let mut moved: Option<(String, DVec3)> = None;
        let mut select = None;
        let names = super::outliner::lights(&work.stage);
        let worlds = inspector::light_worlds(&work.stage, &names);
        for (name, world) in names.into_iter().zip(worlds) {
            let Some(world) = world else { continue };
            let middle = world.w_axis.truncate();
            let Some(at) = sight.project(middle).map(place).filter(|at| rect.contains(*at)) else { continue };
            let selected = work.selected.light_name() == Some(name.as_str());
            let color = if selected { SIZES } else { Color32::from_rgb(200, 200, 120) };
            painter.circle_stroke(at, 6.0, Stroke::new(if selected { 2.5 } else { 1.2 }, color));
            let area = Rect::from_center_size(at, egui::vec2(16.0, 16.0));
            let ring = ui.interact(area, ui.id().with(("light", &name)), Sense::click_and_drag());
            if ring.clicked() || ring.drag_started() {
                select = Some(name.clone());
            }
            if selected {
                let tip = aim::target_of(world, 1.0);
                if let Some(tip) = sight.project(tip).map(place) {
                    painter.arrow(at, (tip - at) * 0.6, Stroke::new(1.5, color));
                }
                if ring.dragged()
                    && let Some(scale) = sight.metres_a_point(middle)
                {
                    // In the plane through the light that faces the camera.
                    let delta = ring.drag_delta();
                    let by = DVec3::new(f64::from(delta.x), -f64::from(delta.y), 0.0) * scale;
                    moved = Some((name.clone(), middle + view.rotation * by));
                }
            }
            ring.on_hover_text(&name);
        }
        if let Some(name) = select {
            work.selected = Selection::Light(name);
        }
        if let Some((name, place)) = moved {
            let text = format!("{:.5} {:.5} {:.5}", place.x, place.y, place.z);
            self.set(&[(&format!("lights.{name}.position"), Some(&text))]);
        }
        self.grips(ui, &sight, rect, response);
        self.sun_grips(ui, &sight, rect, response);
    }

    /// The handles of the sky's sun, where the surroundings are selected and turned.
    fn sun_grips(&mut self, ui: &Ui, sight: &Sight, rect: Rect, response: &Response) {
        let turns = self.tool == Tool::Turn;
        let work = self.work.as_ref().filter(|work| turns && work.selected == Selection::Environment);
        let Some(sun) = work.and_then(sun_of) else {
            self.sun_grip = None;
            return;
        };
        let (pointer, origin, pressed, down, moved) = ui.input(|input| {
            let pointer = &input.pointer;
            let pressed = pointer.primary_pressed() && !input.modifiers.alt;
            (pointer.latest_pos(), pointer.press_origin(), pressed, pointer.primary_down(), pointer.delta())
        });
        let down = down && response.is_pointer_button_down_on();
        if !down {
            self.sun_grip = None;
        } else if pressed && let Some(from) = origin.map(point) {
            self.sun_grip = sun.at(sight, from).and_then(|way| SunGrip::new(sun, way, *sight, from));
        }
        let pulled = match (&mut self.sun_grip, pointer) {
            (Some(grip), Some(at)) if moved != egui::Vec2::ZERO && !pressed => grip.pull(point(at)),
            _ => None,
        };
        let under = pointer.filter(|at| rect.contains(*at)).and_then(|at| sun.at(sight, point(at)));
        let hot = self.sun_grip.map(|grip| grip.way).or(under);
        let painter = ui.painter_at(rect);
        for way in Way::ALL {
            let lit = hot == Some(way);
            let stroke = Stroke::new(if lit { 3.0 } else { 2.0 }, if lit { HELD } else { SIZES });
            let line = sun.line(way, sight).unwrap_or_default();
            painter.line(line.into_iter().filter_map(|at| sight.project(at).map(place)).collect(), stroke);
        }
        if let Some(at) = sun.mark(sight).and_then(|at| sight.project(at)).map(place) {
            painter.circle_filled(at, 7.0, SIZES);
        }
        if hot.is_some() {
            ui.set_cursor_icon(CursorIcon::Grab);
        }
        if let Some(to) = pulled {
            let [elevation, azimuth] = [to.elevation, to.azimuth].map(|angle| format!("{:.3}", angle.to_degrees()));
            self.set(&[
                ("environment.sun.elevation", Some(elevation.as_str())),
                ("environment.sun.azimuth", Some(azimuth.as_str())),
            ]);
        }
    }

    /// The handles of the selected light or of what the camera looks at, and what becomes of the one that is held.
    fn grips(&mut self, ui: &Ui, sight: &Sight, rect: Rect, response: &Response) {
        let deed = match self.tool {
            Tool::Move => Deed::Move,
            Tool::Turn => Deed::Turn,
            Tool::Size => Deed::Size,
            _ => return self.grip = None,
        };
        let Some(work) = &self.work else { return };
        let held = match &work.selected {
            Selection::Camera => (deed == Deed::Move).then(|| (CAMERA.to_owned(), target_of(work))),
            selected => selected.light_name().and_then(|name| Some((name.to_owned(), lamp(work, name)?))),
        };
        let Some((name, held)) = held else { return self.grip = None };
        let (pointer, origin, alt) =
            ui.input(|input| (input.pointer.latest_pos(), input.pointer.press_origin(), input.modifiers.alt));
        let (pressed, down) = ui.input(|input| (input.pointer.primary_pressed(), input.pointer.primary_down()));
        let ours = down && response.is_pointer_button_down_on();
        if !ours || self.grip.as_ref().is_some_and(|grip| grip.name != name) {
            self.grip = None;
        }
        if ours
            && pressed
            && !alt
            && let Some(from) = origin.map(point)
        {
            self.grip = held.at(deed, sight, from).and_then(|handle| Grip::new(&name, held, handle, *sight, from));
        }
        // A press alone changes nothing.
        let moved = ui.input(|input| input.pointer.delta() != egui::Vec2::ZERO) && !pressed;
        let set = match (&mut self.grip, pointer) {
            (Some(grip), Some(at)) if moved => grip.pull(point(at)),
            _ => None,
        };
        let under = pointer.filter(|at| rect.contains(*at)).and_then(|at| held.at(deed, sight, point(at)));
        let hot = self.grip.as_ref().map(|grip| grip.handle).or(under);
        draw(ui, rect, sight, &held, deed, hot);
        if hot.is_some() {
            ui.set_cursor_icon(CursorIcon::Grab);
        }
        match set {
            // The camera turns to it from where it stands, wherever hands have taken it.
            Some((_, value)) if name == CAMERA => {
                let Some(eye) = self.work.as_ref().map(|work| work.stage.pose().w_axis) else { return };
                let eye = format!("{:.6} {:.6} {:.6}", eye.x, eye.y, eye.z);
                self.set(&[("camera.position", Some(&eye)), ("camera.target", Some(&value))]);
            }
            Some((property, value)) => self.set(&[(&format!("lights.{name}.{property}"), Some(&value))]),
            None => {}
        }
    }
}

/// In the place of a lamp's name, which is not empty where there are handles.
const CAMERA: &str = "";

/// A lamp as handles take hold of it.
fn lamp(work: &Work, name: &str) -> Option<Held> {
    let (light, world) = inspector::light_of(&work.stage, name)?;
    let look = work.stage.opened.look.lights.get(name);
    Some(Held {
        world,
        emitter: light.emitter(),
        directed: light.profile.is_some(),
        inner: look.and_then(|look| look.inner).unwrap_or(0.0),
        aim: look.and_then(|look| look.aim),
    })
}

/// What the camera looks at, as handles take hold of it: what orbit goes around, in the middle of the picture.
fn target_of(work: &Work) -> Held {
    let pose = work.stage.pose();
    let eye = pose.w_axis.truncate();
    let distance = eye.distance(work.controller.target()).max(0.1);
    let target = eye - pose.z_axis.truncate().normalize_or(DVec3::Z) * distance;
    let world = DMat4::from_translation(target);
    Held { world, emitter: Emitter::Point, directed: false, inner: 0.0, aim: None }
}

/// The sky's sun: as the look has it, or where place and time put it.
fn sun_of(work: &Work) -> Option<Sun> {
    let look = &work.stage.opened.look.environment;
    if look.sun.enabled == Some(false) {
        return None;
    }
    let rotation = look.rotation.unwrap_or(0.0);
    let set = look.sun.elevation.map(|elevation| Horizontal { elevation, azimuth: look.sun.azimuth.unwrap_or(0.0) });
    let placed = || {
        // A sun of the scene's own is a light like others.
        let own = work.stage.base().nodes.iter().any(|node| node.name == "sun");
        let walk = work.stage.seen().walk();
        let node = walk.into_iter().find(|placed| !own && placed.node.name == "sun" && placed.node.light.is_some())?;
        let way = node.world.z_axis.truncate().try_normalize()?;
        Some(Horizontal { elevation: way.y.clamp(-1.0, 1.0).asin(), azimuth: way.x.atan2(-way.z) - rotation })
    };
    Some(Sun { center: work.controller.target(), place: set.or_else(placed)?, rotation })
}

/// Draws a light's handles; `hot` is the one that the pointer has.
fn draw(ui: &Ui, rect: Rect, sight: &Sight, held: &Held, deed: Deed, hot: Option<Handle>) {
    let painter = ui.painter_at(rect);
    for handle in held.handles(deed, sight) {
        let lit = match (handle, hot) {
            // Directions that follow the camera differ from frame to frame by what is rounded.
            (Handle::Length(a, way), Some(Handle::Length(b, other))) => a == b && way.dot(other) > 0.0,
            (handle, hot) => Some(handle) == hot,
        };
        let color = match handle {
            _ if lit => HELD,
            Handle::Arrow(axis) | Handle::Ring(axis) => AXES[axis.min(2)],
            Handle::Length(..) | Handle::Cone => SIZES,
        };
        let stroke = Stroke::new(if lit { 3.0 } else { 2.0 }, color);
        let line = held.line(handle, sight).unwrap_or_default();
        let points: Vec<Pos2> = line.into_iter().filter_map(|at| sight.project(at).map(place)).collect();
        let (Some(&first), Some(&last)) = (points.first(), points.last()) else { continue };
        match handle {
            Handle::Arrow(_) => painter.arrow(first, last - first, stroke),
            Handle::Ring(_) | Handle::Cone => drop(painter.line(points, stroke)),
            Handle::Length(..) => {
                painter.line_segment([first, last], stroke);
                painter.rect_filled(Rect::from_center_size(last, egui::vec2(9.0, 9.0)), 1.0, color);
            }
        }
    }
}
