//! Arrows at the picture's edge to lights outside of the view.

use egui::{Color32, Pos2, Rect, Sense, Shape, Stroke, Ui, Vec2, WidgetInfo, WidgetType};
use glam::DVec3;

use super::handles::LightMark;
use crate::{
    photometry::Emitter,
    viewer::{
        action::{Actions, SelectionAction},
        handles::ScreenProjection,
        scene_items::light_of,
        selection::Selection,
        viewport::Viewport,
    },
};

/// Maximum number of arrows: those of the nearest lights, and of the selected one.
const MAX_ARROWS: usize = 16;

/// Distance of the arrows' centers from the edge, and between two of them (points).
const INSET: f32 = 12.0;
const SPACING: f32 = 20.0;

/// Shows the arrows; a click selects the light.
pub(super) fn show(
    ui: &Ui,
    (screen, rect): (&ScreenProjection, Rect),
    marks: &[LightMark],
    viewport: &Viewport,
    actions: &mut Actions,
) {
    let rotation = viewport.view().rotation;
    // The others have a ring.
    let mut outside: Vec<(bool, f64, &LightMark)> = marks
        .iter()
        .filter(|mark| mark.at.is_none())
        .map(|mark| (!mark.selected, mark.world.w_axis.truncate().distance(screen.eye()), mark))
        .collect();
    outside.sort_by(|a, b| (a.0, a.1).partial_cmp(&(b.0, b.1)).unwrap_or(a.2.name.cmp(&b.2.name)));
    outside.truncate(MAX_ARROWS);
    let inner = rect.shrink(INSET);
    if !inner.is_positive() {
        return;
    }
    let mut taken: Vec<Pos2> = Vec::new();
    for (_, distance, mark) in outside {
        let LightMark { name, world, selected, .. } = mark;
        // A sun has a direction and no position.
        let is_sun = light_of(viewport, name)
            .is_some_and(|(light, _)| matches!(light.emitter(), Emitter::Sun { .. }));
        let toward =
            if is_sun { world.z_axis.truncate() } else { world.w_axis.truncate() - screen.eye() };
        let way = on_screen(rotation.transpose() * toward);
        let Some(at) = free_place(inner, way, &taken) else { continue };
        taken.push(at);
        let area = Rect::from_center_size(at, Vec2::splat(18.0));
        let arrow = ui.interact(area, ui.id().with(("light outside", name)), Sense::click());
        let label = format!("{name}, outside of the view");
        arrow.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &label));
        if arrow.clicked() {
            actions.push(SelectionAction::Select(Selection::Light(name.clone())));
        }
        let lit = arrow.hovered() || arrow.has_focus() || *selected;
        let side = way.rot90() * 6.0;
        let points = vec![at + way * 9.0, at - way * 6.0 + side, at - way * 6.0 - side];
        let stroke = Stroke::new(if lit { 2.0 } else { 1.0 }, Color32::BLACK);
        ui.painter_at(rect).add(Shape::convex_polygon(points, mark.color(), stroke));
        let text = match is_sun {
            true => format!("{name}: a sun outside of the view; a click selects it"),
            false => format!("{name}: {distance:.1} m away; a click selects it"),
        };
        arrow.on_hover_text(text);
    }
}

/// Direction on the screen of a direction in view space (right, up, back); down for what lies on
/// the view axis.
fn on_screen(view: DVec3) -> Vec2 {
    let way = Vec2::new(view.x as f32, -view.y as f32);
    if way.length() > 1e-6 * view.length() as f32 { way.normalized() } else { Vec2::DOWN }
}

/// The place at the edge of a rectangle in a direction from its center, moved along the edge until
/// it is free; none if there is no room.
fn free_place(rect: Rect, way: Vec2, taken: &[Pos2]) -> Option<Pos2> {
    let half = rect.size() / 2.0;
    let reach = (half.x / way.x.abs().max(1e-6)).min(half.y / way.y.abs().max(1e-6));
    let first = rect.center() + way * reach;
    let along = if half.x * way.y.abs() > half.y * way.x.abs() { Vec2::RIGHT } else { Vec2::DOWN };
    let steps = (0..32).flat_map(|step| [step as f32, -(step as f32)]);
    steps
        .map(|step| first + along * step * SPACING)
        .map(|at| rect.clamp(at))
        .find(|at| taken.iter().all(|other| (*other - *at).length() >= SPACING - 0.5))
}

#[cfg(test)]
mod tests {
    use egui::{pos2, vec2};

    use super::*;

    #[test]
    fn arrows_lie_at_the_edge_in_the_direction_of_the_light() {
        let rect = Rect::from_min_max(pos2(100.0, 50.0), pos2(500.0, 250.0));
        for (way, at) in [
            (vec2(1.0, 0.0), pos2(500.0, 150.0)),
            (vec2(0.0, -1.0), pos2(300.0, 50.0)),
            (vec2(-0.6, 0.8), pos2(225.0, 250.0)),
        ] {
            let found = free_place(rect, way, &[]).unwrap();
            assert!((found - at).length() < 0.01, "{way:?}: {found:?}");
        }
        // Behind the camera, to the upper left: the arrow points there.
        let way = on_screen(DVec3::new(-3.0, 4.0, 9.0));
        assert!((way - vec2(-0.6, -0.8)).length() < 1e-6, "{way:?}");
        assert_eq!(on_screen(DVec3::Z), Vec2::DOWN);
    }

    #[test]
    fn arrows_of_the_same_place_stand_side_by_side() {
        let rect = Rect::from_min_max(pos2(0.0, 0.0), pos2(200.0, 60.0));
        let mut taken = Vec::new();
        while let Some(at) = free_place(rect, vec2(0.0, 1.0), &taken) {
            assert!(rect.expand(0.01).contains(at) && (at.y - 60.0).abs() < 0.01, "{at:?}");
            taken.push(at);
        }
        assert!((10..=11).contains(&taken.len()), "{}", taken.len());
    }
}
