//! Status line: camera and meter, readings under the pointer, errors.

use egui::{Color32, RichText, Ui};

use crate::viewer::{
    action::{Actions, EngineAction},
    pixel_reading::PixelReading,
    pointer::Pointer,
    state::ViewState,
    viewport::{RenderedFrame, Task, Viewport},
};

/// Minimum window width (points) for the meter's needle.
const WITH_NEEDLE: f32 = 760.0;

/// A luminance as text.
pub fn nits(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{v:.3e} nit"),
        v if v >= 100.0 => format!("{v:.0} nit"),
        v if v >= 1.0 => format!("{v:.2} nit"),
        v if v >= 0.01 || v == 0.0 => format!("{v:.4} nit"),
        v => format!("{v:.3e} nit"),
    }
}

/// A zone as a Roman numeral, as Adams writes it.
fn roman(zone: f64) -> &'static str {
    const NAMES: [&str; 11] = ["0", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X"];
    NAMES.get(zone.round().clamp(0.0, 10.0) as usize).copied().unwrap_or("0")
}

/// The status line.
pub(super) fn show(ui: &mut Ui, state: &ViewState, actions: &mut Actions) {
    // One line, whatever the content: the picture keeps its size.
    ui.horizontal(|ui| {
        let Some(work) = &state.workspace else { return };
        if let Some(exposed) = work.viewport.exposed() {
            let camera = exposed.exposure.ev100().get();
            ui.label(format!("camera EV {camera:.2}"));
            if let Some(metered) = exposed.metered {
                // In a narrow window the numbers matter more.
                if ui.ctx().content_rect().width() >= WITH_NEEDLE {
                    needle(ui, metered.stops_above(exposed.exposure));
                }
                ui.label(format!("scene EV {:.2}", metered.ev100().get()));
            }
        }
        let Some(finished) = &work.viewport.last_frame else {
            // A batch of pictures does not start before the first picture.
            let _ = busy(ui, state, &work.viewport);
            return;
        };
        let picture = &finished.image;
        // The right end is laid out first; readings under the pointer take the remaining room.
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let [have, of] = finished.samples;
            let quality = work
                .viewport
                .governor_text()
                .unwrap_or_else(|| format!("{have}/{of} frames  {:.0} ms", work.viewport.frame_ms));
            let text = format!("{}x{}  {quality}", picture.width, picture.height);
            ui.label(RichText::new(text).weak());
            if busy(ui, state, &work.viewport) {
                actions.push(EngineAction::CancelJob);
            }
            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                under_the_pointer(ui, finished, &work.pointer);
            });
        });
    });
}

/// Meter readings under the pointer; the channels are truncated in a narrow window.
fn under_the_pointer(ui: &mut Ui, finished: &RenderedFrame, pointer: &Pointer) {
    let reading = PixelReading::of(finished, pointer);
    if let Some(reading) = &reading {
        let [x, y] = reading.pixel;
        let ev = reading.ev100.map_or_else(|| "-".into(), |ev| format!("{ev:.2}"));
        ui.separator();
        let text = format!(
            "{x},{y}: {} EV {ev} zone {}",
            nits(reading.luminance.get()),
            roman(reading.zone)
        );
        ui.add(egui::Label::new(text).truncate())
            .on_hover_text("Ctrl+C copies the reading in full precision");
    }
    if let Some(incident) = &pointer.incident {
        ui.separator();
        ui.add(egui::Label::new(&incident.text).truncate());
    }
    if let Some(PixelReading { nits: c, exposed, display_rgb: shown, .. }) = reading {
        let channels = format!(
            "nit {:.4} {:.4} {:.4}  exposed {:.3} {:.3} {:.3}  shown {} {} {}",
            c[0], c[1], c[2], exposed[0], exposed[1], exposed[2], shown[0], shown[1], shown[2]
        );
        ui.add(egui::Label::new(RichText::new(channels).weak()).truncate());
    }
}

/// The engine's task, if it takes long; true if the user stops it.
fn busy(ui: &mut Ui, state: &ViewState, viewport: &Viewport) -> bool {
    let task = viewport.task();
    if let Some(progress) = viewport.compile_progress()
        && !matches!(task, Some((Task::DrawBatch(..), _)))
    {
        let preview = state.preview.samples();
        let preview = preview
            .map_or_else(String::new, |samples| format!("; preview: path traced, {samples} spp"));
        let text = RichText::new(format!("{progress}{preview}")).color(Color32::YELLOW);
        ui.add(egui::Label::new(text).truncate());
        return false;
    }
    let Some((task, since)) = task else { return false };
    let seconds = since.as_secs_f64();
    let (what, several) = match task {
        Task::Upload => (format!("uploading the scene, {seconds:.0} s"), false),
        Task::Meter => (format!("metering, {seconds:.0} s"), false),
        Task::Draw => (format!("drawing, {seconds:.0} s"), false),
        Task::DrawBatch(done, of) => (format!("drawing, {done} of {of} done"), true),
    };
    let stopped = several && ui.small_button("Stop").clicked();
    ui.label(RichText::new(what).color(Color32::YELLOW));
    stopped
}

/// Shows errors and messages over the picture.
pub(super) fn notices(ui: &Ui, state: &ViewState) {
    let mut lines: Vec<(String, bool)> = Vec::new();
    if let Some(fatal) = &state.fatal {
        lines.push((format!("{fatal}. The look is kept: save it, then restart."), true));
    }
    if let Some(work) = &state.workspace {
        let troubles = [&work.broken, &work.trouble, &work.misfit];
        lines.extend(
            troubles.into_iter().flatten().map(|text| (format!("not shown: {text}"), true)),
        );
    }
    let newest = state.messages.iter().rev().take(4).rev();
    lines.extend(newest.map(|message| (message.text.clone(), message.is_error)));
    if lines.is_empty() {
        return;
    }
    // Over the picture, if any, so that panels stay readable.
    let window = ui.ctx().content_rect();
    let over = if state.workspace.is_some() && !state.gallery {
        state.viewport_rect.intersect(window)
    } else {
        window
    };
    let over = if over.is_positive() { over } else { window };
    let wide = (over.width() - 44.0).clamp(60.0, 560.0);
    let place = egui::vec2(over.left() - window.left() + 16.0, -38.0);
    egui::Area::new("notices".into())
        .anchor(egui::Align2::LEFT_BOTTOM, place)
        .interactable(false)
        .show(ui.ctx(), |ui| {
            egui::Frame::popup(ui.style()).show(ui, |ui| {
                ui.set_max_width(wide);
                for (text, bad) in lines {
                    ui.label(RichText::new(text).color(if bad {
                        ERROR_COLOR
                    } else {
                        Color32::LIGHT_GREEN
                    }));
                }
            });
        });
}

pub(super) const ERROR_COLOR: Color32 = Color32::from_rgb(255, 150, 90);

/// Exposure meter: stops that the scene is above the camera's exposure, -3 to 3.
fn needle(ui: &mut Ui, stops: f64) {
    let (rect, response) = ui.allocate_exact_size(egui::vec2(110.0, 16.0), egui::Sense::hover());
    let painter = ui.painter_at(rect);
    let at =
        |stops: f64| rect.center().x + (stops.clamp(-3.2, 3.2) / 3.5) as f32 * rect.width() / 2.0;
    let stroke = egui::Stroke::new(1.0, Color32::from_gray(150));
    for third in -9..=9 {
        let long = if third % 3 == 0 { 6.0 } else { 3.0 };
        painter.vline(at(f64::from(third) / 3.0), rect.bottom() - long..=rect.bottom(), stroke);
    }
    let color = if stops.abs() > 3.0 { ERROR_COLOR } else { Color32::WHITE };
    painter.vline(at(stops), rect.top()..=rect.bottom() - 2.0, egui::Stroke::new(2.5, color));
    response.on_hover_text(format!("metered {stops:+.2} stops from the camera's exposure"));
}
