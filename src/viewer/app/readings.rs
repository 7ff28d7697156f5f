//! Copies of readings and pictures.

use std::{io::Write, path::PathBuf};

use super::App;
use crate::{
    output,
    viewer::{governor::Level, workspace::Workspace},
};

impl App {
    /// Copies the meter readings of the pixel under the pointer.
    pub(super) fn copy_reading(&mut self) {
        let Some(reading) = self.state.workspace.as_ref().and_then(Workspace::reading) else {
            return self.error("no reading: point at the picture, then copy".into());
        };
        let text = reading.to_string();
        let [x, y] = reading.pixel;
        self.ctx.copy_text(text.clone());
        let frames = if self.options.pacing {
            format!(" window_frames={}", self.state.pacing.frames())
        } else {
            String::new()
        };
        let printed = if self.options.print_readings {
            writeln!(std::io::stdout(), "{text}{frames}")
        } else {
            Ok(())
        };
        match printed {
            Ok(()) => self.info(format!("copied the reading of pixel {x},{y}")),
            Err(error) => {
                // Standard output is closed: stop printing after one error.
                self.options.print_readings = false;
                self.error(format!(
                    "cannot print readings to standard output: {error}; they are still copied"
                ));
            }
        }
    }

    /// Writes the current picture beside the look, accumulated or not. A picture of reduced quality
    /// is not written: the next one of full quality is.
    pub(super) fn screenshot(&mut self) {
        let Some(work) = &self.state.workspace else { return };
        let Some(finished) = &work.viewport.last_frame else { return };
        self.state.screenshot_due = finished.level != Level::FULL;
        if self.state.screenshot_due {
            return self
                .info("the picture is saved at full quality, when the view is still".into());
        }
        let name = work.document.file().map_or_else(
            || PathBuf::from("picture"),
            |file| {
                // `name.look.toml` gives `name`, in any case.
                let less = |file: PathBuf, ending: &str| {
                    if output::has_extension(&file, ending) {
                        file.with_extension("")
                    } else {
                        file
                    }
                };
                less(less(file.to_owned(), "toml"), "look")
            },
        );
        let free = (0..10_000).find_map(|number| {
            let png = output::with_suffix(&name, &format!(".{number:04}.png"));
            (!png.exists()).then_some(png)
        });
        let Some(png) = free else {
            return self.error(format!(
                "{}: 10,000 numbered pictures exist; move some away",
                name.display()
            ));
        };
        let image = &finished.image;
        let nits: Vec<[f32; 4]> = image.nits.iter().map(|&[r, g, b]| [r, g, b, 1.0]).collect();
        let layers = [output::ExrLayer { name: "", channels: &["R", "G", "B"], pixels: &nits }];
        let exr = png.with_extension("exr");
        let written = output::write_png(&png, image.width, image.height, &image.display)
            .and_then(|()| output::write_exr(&exr, image.width, image.height, 1.0, &layers));
        match written {
            Ok(()) => self.info(format!(
                "{} and .exr, {} of {} frames",
                png.display(),
                finished.samples[0],
                finished.samples[1]
            )),
            Err(error) => self.error(error.to_string()),
        }
    }
}
