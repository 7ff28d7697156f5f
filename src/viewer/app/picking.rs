//! The surface under the pointer, and clicks of the tool on it.

use glam::{DVec2, DVec3, Vec3};

use super::App;
use crate::{
    frame::Aov,
    passes::gbuffer_channel::GbufferChannel,
    viewer::{
        light_placement,
        number_text::place_text,
        pixel_reading::pixel_of,
        pointer::SurfacePoint,
        scene_items::{camera_path, light_space, light_world},
        tool::Tool,
        viewport::Job,
    },
};

impl App {
    /// Sets the action of clicks in the picture.
    pub fn set_tool(&mut self, tool: Tool) {
        if let Some(work) = self.state.workspace.as_mut().filter(|_| self.state.tool != tool) {
            // A half-made shadow placement is dropped.
            work.pointer.occluder = None;
        }
        self.state.tool = tool;
    }

    /// Updates what is under the pointer at a position in the picture.
    pub(super) fn point(&mut self, position: Option<DVec2>) {
        let Some(work) = &mut self.state.workspace else { return };
        work.pointer.image_position = position;
        work.pointer.surface = position.and_then(|place| {
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

    /// Uses the tool at a position in the picture.
    pub(super) fn click(&mut self, position: [f32; 2]) {
        let Some(work) = &mut self.state.workspace else { return };
        if self.state.tool == Tool::GrayCard {
            let [x, y] = position.map(|part| part * 100.0);
            let text = format!("{x:.2}%,{y:.2}%");
            return self.set(&[("camera.white_balance.gray_card", Some(&text))]);
        }
        let Some(surface) = work.pointer.surface else {
            if !self.state.tool.drags() && self.state.tool != Tool::Flow {
                self.error("no surface under the pointer: click on a surface".into());
            }
            return;
        };
        work.controller.set_target(surface.point);
        match self.state.tool {
            Tool::Select | Tool::Move | Tool::Turn | Tool::Size | Tool::GrayCard | Tool::Flow => {}
            Tool::Meter => {
                work.pointer.incident = None;
                work.viewport.submit_job(Job::MeasureIlluminance(surface.point, surface.normal));
            }
            Tool::Focus => {
                let pose = work.viewport.pose();
                // Focus distance is measured along the lens axis.
                let along = (surface.point - pose.w_axis.truncate())
                    .dot(-pose.z_axis.truncate().normalize_or(DVec3::Z));
                let text = format!("{along:.4}");
                let path = camera_path(&work.viewport, "camera.lens.focus");
                self.set(&[(&path, Some(&text))]);
            }
            Tool::Aim | Tool::Highlight | Tool::Shadow => self.aim(surface),
        }
    }

    /// Places or aims the selected light by a click on a surface.
    fn aim(&mut self, surface: SurfacePoint) {
        let Some(work) = &mut self.state.workspace else { return };
        let Some(name) = work.selected.light_name().map(str::to_owned) else {
            if self.state.tool == Tool::Highlight {
                return self.add_highlight(surface);
            }
            return self.error("no light selected: select one first".into());
        };
        let Some(world) = light_world(&work.viewport, &name) else { return };
        let eye = work.viewport.pose().w_axis.truncate();
        let placed = match self.state.tool {
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
        let to_look = light_space(&work.viewport, &name).inverse();
        let text = |v: DVec3| place_text(to_look.transform_point3(v));
        let paths = [format!("lights.{name}.position"), format!("lights.{name}.aim")];
        let values = [text(placed.position), text(placed.aim)];
        let moved = self.state.tool != Tool::Aim;
        let mut changes = vec![(paths[1].as_str(), Some(values[1].as_str()))];
        if moved {
            changes.push((paths[0].as_str(), Some(values[0].as_str())));
        }
        self.set(&changes);
    }
}
