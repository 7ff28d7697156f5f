//! Lights in the picture: rings that select and drag them, and the handles of the selected light.

use egui::{Color32, CursorIcon, Pos2, Rect, Response, Sense, Stroke, Ui, WidgetInfo, WidgetType};
use glam::{DMat4, DVec2, DVec3};

use crate::{
    photometry::{Emitter, astronomy::HorizontalCoordinates},
    viewer::{
        action::{Actions, SelectionAction},
        handles::{DragHandle, DragMode, Handle, HandleTarget, ScreenProjection},
        light_placement,
        number_text::place_text,
        scene_items::{
            added_camera, camera_path, light_of, light_space, light_worlds, lights, parent_space,
        },
        selection::Selection,
        state::{PanelState, ViewState},
        sun::{Sun, SunAxis, SunDragHandle},
        tool::Tool,
        workspace::Workspace,
    },
};

/// Colors of the world axes: x red, y green, z blue.
const AXES: [Color32; 3] = [
    Color32::from_rgb(235, 90, 80),
    Color32::from_rgb(120, 210, 80),
    Color32::from_rgb(90, 150, 250),
];
const SIZES: Color32 = Color32::from_rgb(255, 200, 80);
const HELD: Color32 = Color32::WHITE;

pub(super) fn point(at: Pos2) -> DVec2 {
    DVec2::new(f64::from(at.x), f64::from(at.y))
}

pub(super) fn place(at: DVec2) -> Pos2 {
    egui::pos2(at.x as f32, at.y as f32)
}

/// A light of the scene over the picture.
pub(super) struct LightMark {
    pub name: String,
    pub world: DMat4,
    /// Its place on the screen; none outside of the picture.
    pub at: Option<Pos2>,
    pub selected: bool,
}

impl LightMark {
    /// Its color on the screen.
    pub fn color(&self) -> Color32 {
        if self.selected { SIZES } else { Color32::from_rgb(200, 200, 120) }
    }
}

/// All lights with a place in the scene.
pub(super) fn light_marks(
    screen: &ScreenProjection,
    rect: Rect,
    work: &Workspace,
) -> Vec<LightMark> {
    let names = lights(&work.viewport);
    let worlds = light_worlds(&work.viewport, &names);
    let mark = |(name, world): (String, Option<DMat4>)| {
        let world = world?;
        let at = screen.project(world.w_axis.truncate()).map(place);
        Some(LightMark {
            selected: work.selected.light_name() == Some(name.as_str()),
            at: at.filter(|at| rect.contains(*at)),
            name,
            world,
        })
    };
    names.into_iter().zip(worlds).filter_map(mark).collect()
}

/// Shows the lights in the picture as rings, which select and drag them.
pub(super) fn rings(
    ui: &Ui,
    (screen, rect): (&ScreenProjection, Rect),
    marks: &[LightMark],
    work: &Workspace,
    actions: &mut Actions,
) {
    let rotation = work.viewport.view().rotation;
    let painter = ui.painter_at(rect);
    for mark in marks {
        let Some(at) = mark.at else { continue };
        let LightMark { name, world, selected, .. } = mark;
        let (world, selected) = (*world, *selected);
        let middle = world.w_axis.truncate();
        let color = mark.color();
        painter.circle_stroke(at, 6.0, Stroke::new(if selected { 2.5 } else { 1.2 }, color));
        let area = Rect::from_center_size(at, egui::vec2(16.0, 16.0));
        let ring = ui.interact(area, ui.id().with(("light", name)), Sense::click_and_drag());
        let label = format!("{name}, in the picture");
        ring.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &label));
        if ring.clicked() || ring.drag_started() {
            actions.push(SelectionAction::Select(Selection::Light(name.clone())));
        }
        if selected {
            let tip = light_placement::target_of(world, 1.0);
            if let Some(tip) = screen.project(tip).map(place) {
                painter.arrow(at, (tip - at) * 0.6, Stroke::new(1.5, color));
            }
            if ring.dragged()
                && let Some(scale) = screen.meters_per_point(middle)
            {
                // Dragged in the plane through the light that faces the camera.
                let delta = ring.drag_delta();
                let by = DVec3::new(f64::from(delta.x), -f64::from(delta.y), 0.0) * scale;
                let place = middle + rotation * by;
                let to_look = light_space(&work.viewport, name).inverse();
                let text = place_text(to_look.transform_point3(place));
                actions.set(vec![(format!("lights.{name}.position"), Some(text))]);
            }
        }
        ring.on_hover_text(name);
    }
}

/// The picture and the pointer on it: a drag of a handle begins with a press and lasts while the
/// button is down.
pub(super) struct Picture<'a> {
    screen: &'a ScreenProjection,
    rect: Rect,
    pointer: Option<Pos2>,
    /// Place of a press in this frame.
    pressed: Option<DVec2>,
    down: bool,
    /// The pointer has moved since its press, which alone changes nothing.
    moved: bool,
}

impl<'a> Picture<'a> {
    pub fn new(ui: &Ui, (screen, rect): (&'a ScreenProjection, Rect), response: &Response) -> Self {
        ui.input(|input| {
            let pointer = &input.pointer;
            let down = pointer.primary_down() && response.is_pointer_button_down_on();
            let starts = down && pointer.primary_pressed() && !input.modifiers.alt;
            Self {
                screen,
                rect,
                pointer: pointer.latest_pos(),
                pressed: pointer.press_origin().filter(|_| starts).map(point),
                down,
                moved: pointer.delta() != egui::Vec2::ZERO && !pointer.primary_pressed(),
            }
        })
    }

    /// Place of the pointer, if it has moved since its press.
    fn dragged(&self) -> Option<DVec2> {
        self.pointer.filter(|_| self.moved).map(point)
    }

    /// Place of the pointer, if it is on the picture.
    fn hovered(&self) -> Option<DVec2> {
        self.pointer.filter(|at| self.rect.contains(*at)).map(point)
    }
}

/// The handles of the sky's sun, if the environment is selected and the tool turns.
pub(super) fn sun_handles(
    ui: &Ui,
    picture: &Picture<'_>,
    state: &ViewState,
    panels: &mut PanelState,
    actions: &mut Actions,
) {
    let screen = picture.screen;
    let turns = state.tool == Tool::Turn;
    let work =
        state.workspace.as_ref().filter(|work| turns && work.selected == Selection::Environment);
    let Some(sun) = work.and_then(sun_of) else {
        panels.sun_drag_handle = None;
        return;
    };
    if !picture.down {
        panels.sun_drag_handle = None;
    } else if let Some(from) = picture.pressed {
        panels.sun_drag_handle =
            sun.hit_test(screen, from).and_then(|way| SunDragHandle::new(sun, way, *screen, from));
    }
    let held = panels.sun_drag_handle.as_mut();
    let pulled = held.zip(picture.dragged()).and_then(|(held, at)| held.drag_to(at));
    let under = picture.hovered().and_then(|at| sun.hit_test(screen, at));
    let hot = panels.sun_drag_handle.map(|drag_handle| drag_handle.axis).or(under);
    let painter = ui.painter_at(picture.rect);
    for way in SunAxis::ALL {
        let lit = hot == Some(way);
        let stroke = Stroke::new(if lit { 3.0 } else { 2.0 }, if lit { HELD } else { SIZES });
        let line = sun.line(way, screen).unwrap_or_default();
        painter.line(
            line.into_iter().filter_map(|at| screen.project(at).map(place)).collect(),
            stroke,
        );
    }
    if let Some(at) = sun.mark(screen).and_then(|at| screen.project(at)).map(place) {
        painter.circle_filled(at, 7.0, SIZES);
    }
    if hot.is_some() {
        ui.set_cursor_icon(CursorIcon::Grab);
    }
    if let Some(to) = pulled {
        let text = |angle: f64| Some(format!("{:.3}", angle.to_degrees()));
        actions.set(vec![
            ("environment.sun.elevation".into(), text(to.elevation)),
            ("environment.sun.azimuth".into(), text(to.azimuth)),
        ]);
    }
}

/// The handles of the selected light or of the camera's target, and the drag in progress.
pub(super) fn light_handles(
    ui: &Ui,
    picture: &Picture<'_>,
    state: &ViewState,
    panels: &mut PanelState,
    actions: &mut Actions,
) {
    let screen = picture.screen;
    let mode = match state.tool {
        Tool::Move => DragMode::Move,
        Tool::Turn => DragMode::Turn,
        Tool::Size => DragMode::Size,
        _ => return panels.drag_handle = None,
    };
    let Some(work) = &state.workspace else { return };
    let drag_target = match &work.selected {
        Selection::Camera => (mode == DragMode::Move).then(|| (CAMERA.to_owned(), target_of(work))),
        selected => selected
            .light_name()
            .and_then(|name| Some((name.to_owned(), light_target(work, name)?))),
    };
    let Some((name, drag_target)) = drag_target else { return panels.drag_handle = None };
    let drag_space = drag_target.space;
    let is_other = |held: &DragHandle| held.name != name;
    if !picture.down || panels.drag_handle.as_ref().is_some_and(is_other) {
        panels.drag_handle = None;
    }
    if let Some(from) = picture.pressed {
        panels.drag_handle = drag_target
            .hit_test(mode, screen, from)
            .and_then(|handle| DragHandle::new(&name, drag_target, handle, *screen, from));
    }
    let held = panels.drag_handle.as_mut();
    let set = held.zip(picture.dragged()).and_then(|(held, at)| held.drag_to(at));
    let under = picture.hovered().and_then(|at| drag_target.hit_test(mode, screen, at));
    let hot = panels.drag_handle.as_ref().map(|drag_handle| drag_handle.handle).or(under);
    draw(ui, picture.rect, screen, &drag_target, mode, hot);
    if hot.is_some() {
        ui.set_cursor_icon(CursorIcon::Grab);
    }
    match set {
        // The camera turns to the target from its current position, also if the user has moved
        // it.
        Some((_, value)) if name == CAMERA => {
            let to_look = drag_space.inverse();
            let eye = to_look * work.viewport.pose().w_axis;
            let eye = format!("{:.6} {:.6} {:.6}", eye.x, eye.y, eye.z);
            let path = |shared| camera_path(&work.viewport, shared);
            actions.set(vec![
                (path("camera.position"), Some(eye)),
                (path("camera.target"), Some(value)),
            ]);
        }
        Some((property, value)) => {
            actions.set(vec![(format!("lights.{name}.{property}"), Some(value))]);
        }
        None => {}
    }
}

/// Stands for a light's name; those are not empty where handles exist.
const CAMERA: &str = "";

/// The selected light as a handle target.
fn light_target(work: &Workspace, name: &str) -> Option<HandleTarget> {
    let (light, world) = light_of(&work.viewport, name)?;
    let look = work.viewport.session.look.lights.get(name);
    let space = light_space(&work.viewport, name);
    Some(HandleTarget {
        world,
        emitter: light.emitter(),
        directed: light.profile.is_some(),
        inner: look.and_then(|look| look.inner_half_angle).unwrap_or(0.0),
        aim: look.and_then(|look| look.aim).map(|aim| space.transform_point3(aim)),
        space,
    })
}

/// The camera's target as a handle target: the center of orbit, in the middle of the picture.
fn target_of(work: &Workspace) -> HandleTarget {
    let pose = work.viewport.pose();
    let eye = pose.w_axis.truncate();
    let distance = eye.distance(work.controller.target()).max(0.1);
    let target = eye - pose.z_axis.truncate().normalize_or(DVec3::Z) * distance;
    let world = DMat4::from_translation(target);
    let parent = added_camera(&work.viewport).and_then(|(_, camera)| camera.parent.as_deref());
    let space = parent_space(&work.viewport, parent);
    HandleTarget { world, emitter: Emitter::Point, directed: false, inner: 0.0, aim: None, space }
}

/// The sky's sun, set by the look or by place and time.
pub(super) fn sun_of(work: &Workspace) -> Option<Sun> {
    let look = &work.viewport.session.look.environment;
    if !look.sun_enabled() {
        return None;
    }
    let rotation = look.rotation();
    let set = look.sun_elevation.map(|elevation| HorizontalCoordinates {
        elevation,
        azimuth: look.sun_azimuth.unwrap_or(0.0),
    });
    let placed = || {
        // A sun of the scene's own is a light like others.
        let own = work.viewport.base().nodes.iter().any(|node| node.name == "sun");
        let walk = work.viewport.current_scene().walk();
        let node = walk
            .into_iter()
            .find(|placed| !own && placed.node.name == "sun" && placed.node.light.is_some())?;
        let way = node.world.z_axis.truncate().try_normalize()?;
        Some(HorizontalCoordinates {
            elevation: way.y.clamp(-1.0, 1.0).asin(),
            azimuth: way.x.atan2(-way.z) - rotation,
        })
    };
    Some(Sun { center: work.controller.target(), position: set.or_else(placed)?, rotation })
}

/// Draws a light's handles; `hot` is the one under the pointer.
fn draw(
    ui: &Ui,
    rect: Rect,
    screen: &ScreenProjection,
    drag_target: &HandleTarget,
    mode: DragMode,
    hot: Option<Handle>,
) {
    let painter = ui.painter_at(rect);
    for handle in drag_target.handles(mode, screen) {
        let lit = match (handle, hot) {
            // Directions that follow the camera differ from frame to frame by rounding.
            (Handle::Length(a, way), Some(Handle::Length(b, other))) => {
                a == b && way.dot(other) > 0.0
            }
            (handle, hot) => Some(handle) == hot,
        };
        let color = match handle {
            _ if lit => HELD,
            Handle::Arrow(axis) | Handle::Ring(axis) => AXES[axis.min(2)],
            Handle::Length(..) | Handle::Cone => SIZES,
        };
        let stroke = Stroke::new(if lit { 3.0 } else { 2.0 }, color);
        let line = drag_target.line(handle, screen).unwrap_or_default();
        let points: Vec<Pos2> =
            line.into_iter().filter_map(|at| screen.project(at).map(place)).collect();
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
