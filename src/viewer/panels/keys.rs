//! List of the keys, made from the tables that handle them.

use egui::{Context, Key, Ui};

use super::{fields::named, shortcuts, viewport::HELD};
use crate::viewer::state::PanelState;

/// Keys of parts that have no table: each handles one.
const OTHERS: [(&str, &str); 5] = [
    ("Enter", "in a field: set the value; in the picture: mark the center, then click there"),
    ("Tab", "next control; Shift+Tab: the one before; Space: press it"),
    ("Ctrl+plus, Ctrl+minus", "scale the panels"),
    ("Middle drag, Alt+left drag", "orbit; with Shift: pan"),
    ("Wheel", "dolly in and out"),
];

/// A line: keys and description.
type Line = (String, &'static str);

/// All lines.
fn lines(ctx: &Context) -> Vec<Line> {
    let shortcuts = shortcuts::all().into_iter();
    let shortcuts = shortcuts.map(|(shortcut, text)| (ctx.format_shortcut(&shortcut), text));
    let held = HELD.into_iter().map(|(keys, text)| (keys.map(Key::name).join(", "), text));
    let others = OTHERS.into_iter().map(|(keys, text)| (keys.to_owned(), text));
    shortcuts.chain(held).chain(others).collect()
}

/// The list, if it is open.
pub(super) fn show(ui: &Ui, panels: &mut PanelState) {
    let sheet = &mut panels.keys;
    if !sheet.open {
        return;
    }
    let ctx = ui.ctx().clone();
    let words: Vec<String> = sheet.search.split_whitespace().map(str::to_lowercase).collect();
    let has_all = |(keys, text): &Line| {
        let line = format!("{keys} {text}").to_lowercase();
        words.iter().all(|word| line.contains(word))
    };
    let mut open = true;
    let height = (ctx.content_rect().height() - 150.0).max(80.0);
    egui::Window::new("Keys")
        .open(&mut open)
        .anchor(egui::Align2::CENTER_TOP, [0.0, 40.0])
        .resizable(false)
        .collapsible(false)
        .show(&ctx, |ui| {
            ui.set_width(500.0f32.min(ctx.content_rect().width() - 40.0));
            let field = egui::TextEdit::singleline(&mut sheet.search)
                .hint_text("search keys and effects")
                .desired_width(f32::INFINITY);
            let field = named(ui.add(field), "Search keys");
            if std::mem::take(&mut sheet.starts) {
                field.request_focus();
            }
            egui::ScrollArea::vertical().max_height(height).auto_shrink([false, true]).show(
                ui,
                |ui| {
                    egui::Grid::new("keys").num_columns(2).striped(true).show(ui, |ui| {
                        for (keys, text) in lines(&ctx).into_iter().filter(has_all) {
                            ui.strong(keys);
                            ui.label(text);
                            ui.end_row();
                        }
                    });
                },
            );
        });
    if !open || ui.input(|input| input.key_pressed(Key::Escape)) {
        sheet.open = false;
    }
}

#[cfg(test)]
mod tests {
    use egui::{Event, Modifiers};

    use super::*;
    use crate::viewer::panels::testing::PanelTest;

    #[test]
    fn each_shortcut_has_a_line_of_its_own() {
        let lines = lines(&Context::default());
        assert!(lines.len() > 45, "{}", lines.len());
        let mut keys: Vec<&str> = lines.iter().map(|(keys, _)| keys.as_str()).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), lines.len(), "a key is listed twice: {lines:?}");
        assert!(lines.iter().all(|(keys, text)| !keys.is_empty() && text.len() > 3));
    }

    #[test]
    fn the_search_keeps_the_lines_with_all_words() {
        let mut test = PanelTest::new(|ui, _, panels, _| show(ui, panels));
        assert!(!test.shows("undo"));
        test.panels.keys.toggle();
        test.frame(vec![]);
        test.frame(vec![]);
        assert!(test.shows("undo") && test.shows("quit"));
        test.frame(vec![Event::Text("light mixer".into())]);
        test.frame(vec![]);
        assert!(test.shows("show or hide the light mixer") && !test.shows("quit"));
        test.press(Modifiers::NONE, Key::Escape);
        assert!(!test.panels.keys.open);
    }
}
