//! Water surfaces: properties, and painting of their flow in the picture.

use std::sync::Arc;

use egui::{Color32, Rect, Response, Stroke as Line, Ui};
use glam::{DVec2, DVec3};

use super::{
    choice::Changes,
    fields::{drag, grid, listing, named, number, switch},
    handles::{place, point},
};
use crate::{
    scene::look,
    settings::Choice,
    viewer::{
        action::{Actions, DocumentAction, PaintedFlow, WindowAction},
        flow::{FlowBrush, FlowCanvas, FlowStroke, canvas},
        handles::ScreenProjection,
        scene_items::water_of,
        state::{PanelState, ViewState},
        tool::Tool,
        viewport::Viewport,
    },
};

const INK: Color32 = Color32::from_rgb(120, 220, 255);

/// The inspector's page of a water surface.
pub(super) fn page(
    ui: &mut Ui,
    viewport: &Viewport,
    name: &str,
    brush: &mut FlowBrush,
    tool: &mut Tool,
    changes: &mut Changes,
) {
    ui.heading(name);
    let Some((_, water)) = water_of(viewport, name) else { return };
    let [origin, size] = water.rectangle();
    ui.weak(format!(
        "water, {:.2} x {:.2} m from {:.2}, {:.2}",
        size.x, size.y, origin.x, origin.y
    ));
    grid(ui, "water", |ui| {
        ui.label("kind");
        let kind = viewport.session.look.water.get(name).and_then(|look| look.kind);
        let path = format!("water.{name}.kind");
        let now = kind.map_or("unset", Choice::name);
        listing(ui, "kind", now, look::choices(&path), &path, changes);
        ui.end_row();
        for (property, value) in water.settings.numbers() {
            let speed = (value * 0.01).max(0.001);
            let path = format!("water.{name}.{property}");
            number(ui, property, (value, speed, look::range(&path)), "", &path, changes);
        }
        switch(ui, "caustics", water.settings.caustics, &format!("water.{name}.caustics"), changes);
    });
    ui.separator();
    let mut paints = *tool == Tool::Flow;
    ui.toggle_value(&mut paints, "Paint flow")
        .on_hover_text("B: a drag over the surface paints its flow along the stroke");
    if paints != (*tool == Tool::Flow) {
        *tool = if paints { Tool::Flow } else { Tool::Select };
    }
    ui.horizontal(|ui| {
        let value = |value, max, unit| {
            drag(value).speed(0.01).range(0.0..=max).suffix(unit).max_decimals(3)
        };
        ui.label("Brush");
        named(ui.add(value(&mut brush.speed, 100.0, " m/s")), "Brush speed")
            .on_hover_text("speed along the stroke; 0 stills the water");
        named(ui.add(value(&mut brush.radius, 1e4, " m")), "Brush radius").on_hover_text("radius");
    });
    brush.radius = brush.radius.max(0.001);
}

/// Paints the flow of the selected water surface.
pub(super) fn paint_flow(
    ui: &Ui,
    rect: Rect,
    response: &Response,
    state: &ViewState,
    panels: &mut PanelState,
    actions: &mut Actions,
) {
    let Some(work) = state.workspace.as_ref().filter(|_| state.tool == Tool::Flow) else {
        panels.stroke = None;
        return;
    };
    let found = work
        .selected
        .water_name()
        .and_then(|name| Some((name.to_owned(), water_of(&work.viewport, name)?)));
    let Some((name, (material, water))) = found else {
        if response.clicked() {
            let error = "no water selected: select a water surface first";
            actions.push(WindowAction::Error(error.into()));
        }
        panels.stroke = None;
        return;
    };
    let scene = work.viewport.current_scene();
    let here = Arc::as_ptr(&work.viewport.session.scene) as usize;
    if panels.canvas.as_ref().is_none_or(|canvas| canvas.name != name || canvas.scene != here) {
        let Some((low, high)) = scene.material_bounds(material) else { return };
        panels.canvas =
            Some(FlowCanvas { name: name.clone(), height: (low.y + high.y) / 2.0, scene: here });
    }
    let Some(height) = panels.canvas.as_ref().map(|canvas| canvas.height) else { return };
    let screen = ScreenProjection::new(&work.viewport.view(), rect);
    let on_water = |at: egui::Pos2| {
        let (from, way) = screen.ray(point(at))?;
        let t = (height - from.y) / way.y;
        let hit = from + way * t;
        (t > 0.0 && hit.is_finite()).then(|| DVec2::new(hit.x, hit.z))
    };
    let input = |ui: &Ui| {
        ui.input(|input| {
            let pointer = &input.pointer;
            let alt = input.modifiers.alt;
            (
                pointer.latest_pos(),
                pointer.press_origin(),
                pointer.primary_pressed() && !alt,
                pointer.primary_down(),
            )
        })
    };
    let (pointer, origin, pressed, down) = input(ui);
    let down = down && response.is_pointer_button_down_on();
    if down && pressed {
        let [origin_of, size] = water.rectangle();
        let made = water.settings.flow.is_none();
        let map = canvas(&water.map, size, state.brush.radius, made);
        let mut stroke = FlowStroke::new(map, water.settings.speed, [origin_of, size], state.brush);
        if let Some(at) = origin.and_then(on_water) {
            stroke.to(at);
        }
        panels.stroke = Some(stroke);
    }
    let at = pointer.filter(|at| rect.contains(*at)).and_then(on_water);
    let mut finished = None;
    if let Some(stroke) = &mut panels.stroke {
        if let Some(at) = at {
            stroke.to(at);
        }
        if !down {
            finished = panels.stroke.take();
        }
    }
    let see = |at: DVec2| screen.project(DVec3::new(at.x, height, at.y)).map(place);
    let painter = ui.painter_at(rect);
    if let Some(at) = at {
        let turn = |step: i32| DVec2::from_angle(std::f64::consts::TAU * f64::from(step) / 48.0);
        let rim = (0..=48).filter_map(|step| see(at + turn(step) * state.brush.radius)).collect();
        painter.line(rim, Line::new(1.5, INK));
    }
    if let Some(stroke) = &panels.stroke {
        let line: Vec<egui::Pos2> = stroke.places().iter().filter_map(|at| see(*at)).collect();
        painter.line(line, Line::new(2.5, INK));
    }
    if let Some((map, speed)) = finished.and_then(FlowStroke::finished) {
        actions.push(DocumentAction::PaintFlow(PaintedFlow {
            water: name,
            before: Arc::clone(&water.map),
            map: Arc::new(map),
            rectangle: water.rectangle(),
            speed: (speed != water.settings.speed).then_some(speed),
        }));
    }
}
