//! Image geometry and brightness of a lens by exact rays: field of view, distortion, lateral
//! chromatic aberration and vignetting.
//!
//! Image positions are in meters on the sensor, right and up as the image is viewed. The optical
//! image on the sensor is rotated by half a turn. Directions toward the scene are tangents to the
//! right and up, as of a pinhole in the center of the entrance pupil.

use std::f64::consts::PI;

use glam::{DMat2, DVec2};
use rayon::prelude::*;

use super::{
    glass::LINE_D,
    lens::{Axis, Lens},
    paraxial::RayTransferMatrix,
    thin_lens::{Iris, LensError, ThinLens},
    trace::{Losses, Ray, TracedRay},
};

/// Wavelengths (m) for the red, green and blue channels: dominant wavelengths of the Rec. ITU-R
/// BT.709 primaries relative to its white (CIE 15:2004, section 8.4).
pub const CHANNELS: [f64; 3] = [611.4e-9, 549.1e-9, 464.2e-9];

/// Maximum tangent of the field angle, 80 degrees: a flat image has no room for steeper rays.
pub const MAX_FIELD_TANGENT: f64 = 5.671;

/// Rays per side of the square around the pupil.
const PUPIL_RAYS: usize = 40;

/// Tangents to the right and up of a ray that leaves toward the scene; `None` if it does not.
#[must_use]
pub fn tangents(ray: &Ray) -> Option<DVec2> {
    let d = ray.direction;
    let t = d.truncate() / -d.z;
    (d.z < 0.0 && t.is_finite()).then_some(t)
}

impl Lens {
    /// Traces the ray from an image position toward a point in the plane of the last vertex (m),
    /// through the lens to the scene.
    fn trace_from_sensor(
        &self,
        place: DVec2,
        toward: DVec2,
        wavelength: f64,
        losses: Losses,
    ) -> Option<TracedRay> {
        let origin = (-place).extend(self.sensor());
        let ray = Ray { origin, direction: (toward.extend(self.last()) - origin).normalize() };
        self.trace_backward(ray, wavelength, losses).ok()
    }

    /// Point at which the ray from an image position to the center of the exit pupil crosses the
    /// plane of the last vertex (m).
    fn toward_exit(&self, place: DVec2, wavelength: f64) -> DVec2 {
        let at = |axis: Axis, from: f64| {
            let z = self.exit_pupil(axis, wavelength).z;
            // An exit pupil at infinity: parallel to the axis.
            let part = (self.last() - self.sensor()) / (z - self.sensor());
            if part.is_finite() { from * (1.0 - part) } else { from }
        };
        DVec2::new(at(Axis::X, -place.x), at(Axis::Y, -place.y))
    }

    /// Chief ray of an image position: the ray through the stop's center, as it leaves toward the
    /// scene. `None` if no ray passes the glass.
    ///
    /// Newton's method, starting from the paraxial ray.
    #[must_use]
    pub fn chief_ray(&self, place: DVec2, wavelength: f64) -> Option<Ray> {
        let mut toward = self.toward_exit(place, wavelength);
        let step = 1e-6 * self.surfaces()[self.stop()].semi_aperture;
        let trace =
            |toward: DVec2| self.trace_from_sensor(place, toward, wavelength, Losses::Ignored);
        let mut here = trace(toward)?;
        for _ in 0..30 {
            let miss = here.iris[0];
            if miss.length() < 1e-10 {
                return Some(here.ray);
            }
            let moved = |by: DVec2| Some((trace(toward + by)?.iris[0] - miss) / step);
            let jacobian = DMat2::from_cols(moved(DVec2::X * step)?, moved(DVec2::Y * step)?);
            let mut change = jacobian.inverse() * miss;
            if !change.is_finite() {
                return None;
            }
            // If a Newton step leaves the glass, halve it.
            here = (0..20).find_map(|_| {
                let found =
                    trace(toward - change).filter(|next| next.iris[0].length() < miss.length());
                if found.is_none() {
                    change *= 0.5;
                }
                found
            })?;
            toward -= change;
        }
        (here.iris[0].length() < 1e-6).then_some(here.ray)
    }

    /// Illuminance at an image position by a scene of luminance 1: the projected solid angle (sr)
    /// of the open pupil. At the center it is `pi / 4 N^2` with the working f-number. 0 if no light
    /// passes.
    ///
    /// Midpoint rule for the integral of `cos^4 / d^2` over the part of the last vertex' plane
    /// through which rays leave the lens (Kolb, Mitchell and Hanrahan, "A Realistic Camera Model
    /// for Computer Graphics", SIGGRAPH 1995, equation 2). Border squares have partial weights by
    /// the distance of their rays from the rim.
    #[must_use]
    pub fn illuminance(&self, place: DVec2, wavelength: f64, losses: Losses) -> f64 {
        let Some((middle, half)) = self.open_square(place, wavelength) else { return 0.0 };
        let cell = 2.0 * half / PUPIL_RAYS as f64;
        let distance = self.sensor() - self.last();
        let mut sum = 0.0;
        for (at, traced) in self.square(place, middle, half, PUPIL_RAYS, wavelength, losses) {
            let Some(traced) = traced else { continue };
            let far = traced.rim.max(traced.blades);
            // Approximate width of a grid square relative to the pupil's edge at 1.
            let soft = cell / half;
            let open = ((1.0 - far) / soft + 0.5).clamp(0.0, 1.0);
            if open > 0.0 {
                let to = at + place;
                let cos2 = distance * distance / (distance * distance + to.length_squared());
                sum += open * traced.weight * cos2 * cos2;
            }
        }
        sum * cell * cell / (distance * distance)
    }

    /// Iris as seen from the image center, through the corners of the open area. It is the lens's
    /// own iris unless a rim is narrower than the open stop. A rim that hides the blades gives a
    /// round iris. A rim that hides only their corners gives the same blades with more curvature,
    /// so that the open area equals that of rim and blades by traced rays.
    #[must_use]
    pub fn apparent_iris(&self) -> Iris {
        // Blades that block less of the light are invisible.
        const ROUND: f64 = 1e-3;
        let own = self.iris;
        if own.blades < 3 || self.filled >= 1.0 {
            return own;
        }
        let light = |lens: &Self| lens.illuminance(DVec2::ZERO, LINE_D, Losses::Ignored);
        let open = light(self) / light(&self.rounded());
        if open.is_nan() || open > 1.0 - ROUND {
            return Iris::default();
        }
        // More curvature opens more area.
        let (mut less, mut more) = (own.curvature.clamp(0.0, 1.0), 1.0);
        for _ in 0..50 {
            let curvature = 0.5 * (less + more);
            if (Iris { curvature, ..own }).relative_area() < open {
                less = curvature;
            } else {
                more = curvature;
            }
        }
        Iris { curvature: 0.5 * (less + more), ..own }
    }

    /// Rays through the cell centers of a square in the plane of the last vertex.
    fn square(
        &self,
        place: DVec2,
        middle: DVec2,
        half: f64,
        rays: usize,
        wavelength: f64,
        losses: Losses,
    ) -> impl Iterator<Item = (DVec2, Option<TracedRay>)> + '_ {
        (0..rays * rays).map(move |i| {
            let at = |i: usize| (2.0 * (i as f64 + 0.5) / rays as f64 - 1.0) * half;
            let toward = middle + DVec2::new(at(i % rays), at(i / rays));
            (toward, self.trace_from_sensor(place, toward, wavelength, losses))
        })
    }

    /// Center and half side (m) of a square in the plane of the last vertex that contains all
    /// unblocked rays from an image position; `None` if there are none.
    #[must_use]
    pub fn open_square(&self, place: DVec2, wavelength: f64) -> Option<(DVec2, f64)> {
        const RAYS: usize = 32;
        let rear = self.surfaces().last().map_or(0.0, |surface| surface.semi_aperture);
        // The exit pupil's size in that plane, with a margin for its aberrations; otherwise all of
        // the glass.
        let exit = self.exit_pupil(Axis::Y, wavelength);
        let level = self.exit_pupil(Axis::X, wavelength);
        let scale = |pupil: super::paraxial::Pupil| {
            pupil.radius * ((self.sensor() - self.last()) / (self.sensor() - pupil.z)).abs()
        };
        let seen = scale(exit).max(scale(level));
        let guess = self.toward_exit(place, wavelength);
        let tries = [(guess, 1.6 * seen), (guess * 0.5, 4.0 * seen), (DVec2::ZERO, rear)];
        tries.into_iter().filter(|(_, half)| half.is_finite()).find_map(|(middle, half)| {
            let (mut low, mut high, mut found) = (DVec2::MAX, DVec2::MIN, false);
            for (at, traced) in self.square(place, middle, half, RAYS, wavelength, Losses::Ignored)
            {
                if traced.is_some_and(|traced| traced.rim.max(traced.blades) <= 1.0) {
                    (low, high, found) = (low.min(at), high.max(at), true);
                }
            }
            let cell = 2.0 * half / RAYS as f64;
            let border = half - 0.75 * cell;
            // If the pupil reaches the square's border, enlarge the square, unless the glass ends
            // there.
            let cut =
                (low - middle).min_element() < -border || (high - middle).max_element() > border;
            let all = half >= rear && middle == DVec2::ZERO;
            (found && (!cut || all))
                .then(|| ((low + high) * 0.5, 0.5 * (high - low).max_element() + cell))
        })
    }

    /// The thin lens in the entrance pupil that is paraxially equivalent: equal field of view, and
    /// equal circles of confusion at every distance.
    ///
    /// With magnification m at a focus distance S from the entrance pupil its focal length is `m S
    /// / (1 + m)`, by the Gaussian lens equation.
    ///
    /// # Errors
    /// `LensError` if the focal length or f-number is out of the range of `ThinLens`.
    pub fn equivalent_thin_lens(&self, focus: f64) -> Result<ThinLens, LensError> {
        let pupil = self.entrance_pupil(Axis::Y, LINE_D);
        let whole =
            self.matrix(Axis::Y, LINE_D).then(RayTransferMatrix::step(self.sensor() - self.last()));
        let focal_length = if focus.is_finite() {
            let magnification = (whole.a).abs().max(0.0);
            // Conjugate planes: `a` is the magnification, whatever the slope.
            magnification * focus / (1.0 + magnification)
        } else {
            // Parallel light: height on the sensor per slope at the entrance pupil.
            (whole.b + whole.a * -pupil.z).abs()
        };
        ThinLens::new(focal_length, focal_length / (2.0 * pupil.radius * self.pupil_fill()))
    }
}

/// Image geometry of a lens, tabulated over one quadrant of the image (the others mirror it).
#[derive(Clone, Debug, PartialEq)]
pub struct LensImaging {
    /// Half width and half height of the image (m on the sensor).
    half: DVec2,
    /// Image distance (m) of the reference pinhole.
    image_distance: f64,
    nodes: Vec<ImagingNode>,
}

/// Imaging properties at one position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImagingNode {
    /// For red, green and blue: tangents of the actual direction relative to the ideal one, right
    /// and up.
    pub stretch: [DVec2; 3],
    /// Illuminance relative to the image center.
    pub relative_illumination: f64,
}

/// Nodes along each side of the quadrant.
pub const NODES: usize = 33;

impl LensImaging {
    /// Tabulates a lens over a sensor area (m), relative to a pinhole with this image distance (m).
    ///
    /// If no ray passes, the light is 0 and directions are extrapolated.
    #[must_use]
    pub fn new(lens: &Lens, [width, height]: [f64; 2], image_distance: f64) -> Self {
        let half = DVec2::new(width, height) / 2.0;
        let nodes = if lens.is_round() {
            let along = Radial::new(lens, half.length(), image_distance);
            (0..NODES * NODES).map(|i| along.at(Self::place(half, i).length())).collect()
        } else {
            Self::everywhere(lens, half, image_distance)
        };
        Self { half, image_distance, nodes }
    }

    /// Position of a node (m).
    fn place(half: DVec2, index: usize) -> DVec2 {
        DVec2::new((index % NODES) as f64, (index / NODES) as f64) / (NODES - 1) as f64 * half
    }

    fn everywhere(lens: &Lens, half: DVec2, image_distance: f64) -> Vec<ImagingNode> {
        let middle = lens.illuminance(DVec2::ZERO, LINE_D, Losses::Ignored);
        let traced = |i: usize| {
            let place = Self::place(half, i);
            // On the axes, the ratio of tangents is the limit from nearby positions.
            let near = place.max(half * 1e-3);
            let stretch = CHANNELS.map(|wavelength| {
                let seen = lens.chief_ray(near, wavelength).and_then(|ray| tangents(&ray));
                seen.map(|seen| seen * image_distance / near)
            });
            (stretch, lens.illuminance(place, LINE_D, Losses::Ignored) / middle)
        };
        let found: Vec<_> = (0..NODES * NODES).into_par_iter().map(traced).collect();
        let mut before = [DVec2::ONE; 3];
        let filled = found.into_iter().map(|(stretch, light)| {
            for (last, found) in before.iter_mut().zip(stretch) {
                *last = found.unwrap_or(*last);
            }
            ImagingNode { stretch: before, relative_illumination: light }
        });
        filled.collect()
    }

    /// All nodes, row by row, from the image center to the right and upward.
    #[must_use]
    pub fn nodes(&self) -> &[ImagingNode] {
        &self.nodes
    }

    /// Half width and half height of the image (m).
    #[must_use]
    pub const fn half(&self) -> DVec2 {
        self.half
    }

    /// Image distance (m) of the reference pinhole.
    #[must_use]
    pub const fn image_distance(&self) -> f64 {
        self.image_distance
    }

    /// Properties at an image position (m), bilinear.
    #[must_use]
    pub fn at(&self, place: DVec2) -> ImagingNode {
        let last = (NODES - 1) as f64;
        let cell = (place.abs() / self.half * last).clamp(DVec2::ZERO, DVec2::splat(last));
        let low = cell.floor().min(DVec2::splat(last - 1.0));
        let part = cell - low;
        let node =
            |dx: usize, dy: usize| self.nodes[(low.y as usize + dy) * NODES + low.x as usize + dx];
        let mix = |a: ImagingNode, b: ImagingNode, t: f64| ImagingNode {
            stretch: [0, 1, 2].map(|c| a.stretch[c].lerp(b.stretch[c], t)),
            relative_illumination: a.relative_illumination
                + (b.relative_illumination - a.relative_illumination) * t,
        };
        mix(mix(node(0, 0), node(1, 0), part.x), mix(node(0, 1), node(1, 1), part.x), part.y)
    }

    /// Tangents to the right and up of an image position (m) in a channel.
    #[must_use]
    pub fn direction(&self, place: DVec2, channel: usize) -> DVec2 {
        self.at(place).stretch[channel] * place / self.image_distance
    }

    /// Minimum tangents to the right along the right border and up along the upper border, over all
    /// channels.
    #[must_use]
    pub fn border(&self) -> DVec2 {
        let seen = |i: usize, axis: usize| {
            let ideal = Self::place(self.half, i) / self.image_distance;
            self.nodes[i]
                .stretch
                .iter()
                .map(|stretch| stretch[axis] * ideal[axis])
                .fold(MAX_FIELD_TANGENT, f64::min)
        };
        let last = NODES - 1;
        let right =
            (0..NODES).map(|row| seen(row * NODES + last, 0)).fold(MAX_FIELD_TANGENT, f64::min);
        let upper = (0..NODES)
            .map(|column| seen(last * NODES + column, 1))
            .fold(MAX_FIELD_TANGENT, f64::min);
        DVec2::new(right, upper)
    }

    /// Maximum tangents to the right and up over all positions and channels.
    #[must_use]
    pub fn reach(&self) -> DVec2 {
        let seen = self.nodes.iter().enumerate().flat_map(|(i, node)| {
            let ideal = Self::place(self.half, i) / self.image_distance;
            node.stretch.map(|stretch| (stretch * ideal).min(DVec2::splat(MAX_FIELD_TANGENT)))
        });
        seen.fold(DVec2::ZERO, DVec2::max)
    }
}

/// Imaging properties along a radius, for rotationally symmetric lenses.
struct Radial {
    radius: f64,
    nodes: Vec<(f64, [f64; 3], f64)>,
}

impl Radial {
    const STEPS: usize = 64;

    fn new(lens: &Lens, radius: f64, image_distance: f64) -> Self {
        let middle = lens.illuminance(DVec2::ZERO, LINE_D, Losses::Ignored);
        let mut nodes: Vec<(f64, [f64; 3], f64)> = Vec::with_capacity(Self::STEPS + 1);
        for i in 0..=Self::STEPS {
            let at = radius * i as f64 / Self::STEPS as f64;
            let near = at.max(radius * 1e-3);
            let before = nodes.last().map_or([1.0; 3], |node| node.1);
            let stretch = [0, 1, 2].map(|c| {
                let seen =
                    lens.chief_ray(DVec2::X * near, CHANNELS[c]).and_then(|ray| tangents(&ray));
                seen.map_or(before[c], |seen| seen.x * image_distance / near)
            });
            // Blades are not round, but nearly so: rims cut the center of a side as often as a
            // corner.
            let light = lens.illuminance(DVec2::X * at, LINE_D, Losses::Ignored) / middle;
            nodes.push((at, stretch, light));
        }
        Self { radius, nodes }
    }

    fn at(&self, radius: f64) -> ImagingNode {
        let cell = (radius / self.radius * Self::STEPS as f64).clamp(0.0, Self::STEPS as f64);
        let low = (cell.floor() as usize).min(Self::STEPS - 1);
        let part = cell - low as f64;
        let (a, b) = (self.nodes[low], self.nodes[low + 1]);
        let mix = |a: f64, b: f64| a + (b - a) * part;
        ImagingNode {
            stretch: [0, 1, 2].map(|c| DVec2::splat(mix(a.1[c], b.1[c]))),
            relative_illumination: mix(a.2, b.2),
        }
    }
}

/// Fields of view (rad) over the width, height and diagonal of a sensor (m), between chief rays at
/// the d line; `None` if no light reaches an edge.
#[must_use]
pub fn fields_of_view(lens: &Lens, [width, height]: [f64; 2]) -> [Option<f64>; 3] {
    let half = DVec2::new(width, height) / 2.0;
    [DVec2::X * half.x, DVec2::Y * half.y, half].map(|place| {
        lens.open_square(place, LINE_D)?;
        let ray = lens.chief_ray(place, LINE_D)?;
        Some(2.0 * (-ray.direction.z).clamp(-1.0, 1.0).acos())
    })
}

/// RMS blur (m on the sensor, from the centroid) of a point in focus, infinitely far or near, at an
/// image position: the spot size of the lens's aberrations. `None` if no light passes.
///
/// Traces rays from the sensor through the open pupil to the plane in focus, and from there to the
/// positions in the entrance pupil. To first order the blur is their spread times the
/// magnification.
#[must_use]
pub fn spot(lens: &Lens, place: DVec2, focus: f64, wavelength: f64) -> Option<f64> {
    let (middle, half) = lens.open_square(place, wavelength)?;
    let pupil = lens.entrance_pupil(Axis::Y, LINE_D).z;
    let scale =
        lens.equivalent_thin_lens(focus).ok().and_then(|thin| thin.image_distance(focus).ok())?;
    // Positions in the plane in focus, or tangents at infinity; times the image distance both are
    // meters on the sensor.
    let mut points = Vec::new();
    for (_, traced) in lens.square(place, middle, half, 24, wavelength, Losses::Ignored) {
        let Some(ray) = traced.and_then(|traced| traced.unblocked().ok()).map(|traced| traced.ray)
        else {
            continue;
        };
        let Some(t) = tangents(&ray) else { continue };
        points.push(if focus.is_finite() { ray.at_plane(pupil - focus) / focus } else { t });
    }
    let count = points.len() as f64;
    let mean = points.iter().copied().sum::<DVec2>() / count;
    let spread = points.iter().map(|p| (*p - mean).length_squared()).sum::<f64>() / count;
    (count > 0.0).then(|| spread.sqrt() * scale)
}

/// Illuminance (sr) at the image center by a scene of luminance 1, for a lossless lens that obeys
/// Abbe's sine condition: `pi / 4 N^2` (Born and Wolf, "Principles of Optics", 7th ed., section
/// 4.8.2).
#[must_use]
pub fn cone(lens: &Lens) -> f64 {
    let n = lens.working_f_number(Axis::Y, LINE_D);
    PI / (4.0 * n * n)
}
