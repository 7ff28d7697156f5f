//! Modifiers of spots (`lights.NAME.barn_door_*`, `snoot`, `grid`, `gobo`), as a table of intensity
//! by direction, relative to the spot's own maximum: renderers read it like a photometric file.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::LookError;
use crate::{
    image_io::{self, DecodedImage, MAX_FILE, check_size},
    photometry::{
        Candela, IesProfile,
        color::luminance,
        light_modifiers::{BarnDoors, Gobo, grid_transmittance, snoot_transmittance},
        lights::{Emitter, LightStrength, PhysicalLight},
    },
    scene::Light,
};

/// Angles of a table in each direction.
const POINTS: usize = 513;
/// Maximum half angle (degrees) of a spot with modifiers: the picture plane of gobos and barn doors
/// ends at 90.
const MAX_HALF_ANGLE: f64 = 80.0;

/// Properties of the edges of barn doors, in their order.
const BARN_DOORS: [&str; 4] =
    ["barn_door_left", "barn_door_right", "barn_door_top", "barn_door_bottom"];

/// Modifiers of a light, from its look.
#[derive(Clone, Debug, Default)]
pub(super) struct ModifierSettings {
    /// Barn doors.
    pub barn_doors: Option<BarnDoors>,
    /// Length of a snoot over its diameter.
    pub snoot: Option<f64>,
    /// Depth of a grid's cells over their width.
    pub grid: Option<f64>,
    /// Picture of a gobo.
    pub gobo: Option<PathBuf>,
}

impl ModifierSettings {
    /// Property and value of the first modifier.
    fn first(&self) -> Option<(&'static str, String)> {
        let doors = self.barn_doors.and_then(|doors| {
            let mut edges = BARN_DOORS.into_iter().zip(doors.edges);
            let (property, edge) = edges.find(|(_, edge)| edge.is_finite())?;
            Some((property, edge.to_degrees().to_string()))
        });
        let number = |property, value: Option<f64>| Some((property, value?.to_string()));
        doors
            .or(number("snoot", self.snoot))
            .or(number("grid", self.grid))
            .or_else(|| self.gobo.as_ref().map(|file| ("gobo", file.display().to_string())))
    }

    /// True if there is a modifier.
    pub fn is_some(&self) -> bool {
        self.first().is_some()
    }

    /// Puts the modifiers in front of a light of this address: they take light from its strength.
    ///
    /// # Errors
    /// A light that is no spot, or a spot wider than `MAX_HALF_ANGLE`; a gobo that is no picture.
    pub fn modify(&self, name: &str, light: &mut Light) -> Result<(), LookError> {
        let Some((property, value)) = self.first() else { return Ok(()) };
        let invalid = |expected: String| {
            let path = format!("lights.{name}.{property}");
            Err(LookError::BadValue { path, value: value.clone(), expected })
        };
        let Emitter::Spot { cone, .. } = light.emitter() else {
            return invalid(format!(
                "expected a spot light, not a {}; set lights.{name}.shape to spot",
                light.emitter().name()
            ));
        };
        let half_angle = cone.outer();
        if half_angle > MAX_HALF_ANGLE.to_radians() {
            return invalid(format!(
                "expected a spot of at most {MAX_HALF_ANGLE} degrees half angle; lower \
                 lights.{name}.outer_half_angle"
            ));
        }
        let gobo = self.gobo.as_deref().map(|file| read_gobo(name, file)).transpose()?;
        let peak = light.candela().map_or(0.0, Candela::get);
        let base = light.profile.clone();
        let scale = base.as_ref().map_or(0.0, |profile| profile.peak().get());
        let width = 1.0 / (POINTS - 1) as f64;
        let table = IesProfile::from_directions(half_angle.to_degrees(), POINTS, |direction| {
            let base = base.as_ref().map_or(1.0, |profile| {
                if scale > 0.0 { profile.candela_towards(direction).get() / scale } else { 0.0 }
            });
            let doors = self.barn_doors.map_or(1.0, |doors| doors.transmittance(direction));
            let snoot = self.snoot.map_or(1.0, |ratio| snoot_transmittance(ratio, direction));
            let grid = self.grid.map_or(1.0, |ratio| grid_transmittance(ratio, direction));
            let gobo =
                gobo.as_ref().map_or(1.0, |gobo| gobo.transmittance(direction, half_angle, width));
            base * doors * snoot * grid * gobo
        });
        let strength = LightStrength::Candela(Candela(peak * table.peak().get()));
        light.source = PhysicalLight::new(light.emitter(), strength)
            .map_err(|error| LookError::Light { name: name.into(), error })?;
        light.profile = Some(Arc::new(table));
        Ok(())
    }
}

/// Reads the picture of a gobo: the luminance of linear values, white is 1.
fn read_gobo(name: &str, file: &Path) -> Result<Gobo, LookError> {
    let invalid = |detail: String| LookError::Input {
        property: format!("lights.{name}.gobo"),
        file: file.display().to_string(),
        detail,
    };
    let (path, layer) = image_io::split_layer(file);
    let bytes = image_io::read_file(&path, MAX_FILE).map_err(invalid)?;
    let image = DecodedImage::decode(&bytes, layer.as_deref(), &check_size)
        .map_err(|error| invalid(error.to_string()))?;
    let (width, height) = (image.width, image.height);
    let (pixels, _) = image.into_bounded_rgb();
    let texels: Vec<f32> = pixels
        .into_iter()
        .map(|pixel| luminance(glam::Vec3::from_array(pixel).as_dvec3()) as f32)
        .collect();
    Gobo::new(width, height, &texels).ok_or_else(|| invalid("the picture is empty".into()))
}
