//! Conversion of a primitive to a triangle list (glTF 2.0 section 3.7.2.1).

mod tangents;

use std::sync::Arc;

use glam::{DVec3, Vec2, Vec3, Vec4};
use serde_json::Value;

use super::{
    accessor::{Accessor, AccessorType, ReadError, Store},
    json::{extension, index, items},
    report::{At, ImportReport},
};
use crate::scene::{
    Primitive,
    animation::{Deform, Influences, MorphTarget},
};

/// A limit was exceeded, which ends the import.
pub(super) struct TooLarge(pub(super) String);

/// Source data of a primitive.
pub(super) struct Source<'a> {
    pub(super) store: &'a Store<'a>,
    pub(super) value: &'a Value,
    /// Deformations of the vertices.
    pub(super) moves: Moves,
    /// UV set of the tangents, if the material needs any.
    pub(super) tangent_uv: Option<u8>,
    pub(super) at: At<'a>,
}

/// Deformations of a primitive's vertices.
#[derive(Clone, Copy)]
pub(super) struct Moves {
    /// Morph targets are kept.
    pub(super) morphs: bool,
    /// Joints of the skin.
    pub(super) joints: Option<usize>,
}

/// Maximum sets of joints of one vertex: 64 influences.
const MAX_JOINT_SETS: usize = 16;

/// Vertices in conversion; absent optional attributes are empty.
#[derive(Default)]
struct Vertices {
    targets: Vec<MorphTarget>,
    /// Sets of four joints and their weights.
    influences: Vec<Vec<([u32; 4], [f32; 4])>>,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    tangents: Vec<Vec4>,
    uv0: Vec<Vec2>,
    uv1: Vec<Vec2>,
    colors: Vec<Vec4>,
}

fn gather<T: Copy>(values: &[T], order: &[u32]) -> Vec<T> {
    order.iter().filter_map(|&i| values.get(i as usize).copied()).collect()
}

impl Vertices {
    /// The vertices in a new order, with repetitions or omissions.
    fn gather(&self, order: &[u32]) -> Self {
        Self {
            positions: gather(&self.positions, order),
            normals: gather(&self.normals, order),
            tangents: gather(&self.tangents, order),
            uv0: gather(&self.uv0, order),
            uv1: gather(&self.uv1, order),
            colors: gather(&self.colors, order),
            targets: (self.targets.iter())
                .map(|target| MorphTarget {
                    positions: gather(&target.positions, order),
                    normals: gather(&target.normals, order),
                    tangents: gather(&target.tangents, order),
                })
                .collect(),
            influences: self.influences.iter().map(|set| gather(set, order)).collect(),
        }
    }

    fn bytes(&self) -> u64 {
        let floats = 3 * (self.positions.len() + self.normals.len())
            + 4 * (self.tangents.len() + self.colors.len())
            + 2 * (self.uv0.len() + self.uv1.len())
            + self
                .targets
                .iter()
                .map(|t| 3 * (t.positions.len() + t.normals.len() + t.tangents.len()))
                .sum::<usize>()
            + self.influences.iter().map(|set| 8 * set.len()).sum::<usize>();
        floats as u64 * 4
    }
}

/// Triangles of any mode as a list; degenerate ones have no area and are left out.
fn triangles(mode: u64, indices: &[u32]) -> Vec<[u32; 3]> {
    let mut out: Vec<[u32; 3]> = match mode {
        5 => indices
            .windows(3)
            .enumerate()
            // Section 3.7.2.1: the order of every second triangle is swapped so that all face the
            // same way.
            .filter_map(|(i, w)| {
                if let [a, b, c] = *w {
                    Some(if i % 2 == 0 { [a, b, c] } else { [a, c, b] })
                } else {
                    None
                }
            })
            .collect(),
        6 => match indices.split_first() {
            Some((&hub, rim)) => rim
                .windows(2)
                .filter_map(|w| if let [a, b] = *w { Some([hub, a, b]) } else { None })
                .collect(),
            None => Vec::new(),
        },
        _ => indices.as_chunks::<3>().0.to_vec(),
    };
    out.retain(|[a, b, c]| a != b && b != c && a != c);
    out
}

/// Minimum number of triangles without normals that a note tells of: a box is flat on purpose.
const MIN_SMOOTH_TRIANGLES: usize = 64;

impl Source<'_> {
    fn accessor(&self, name: &str) -> Option<usize> {
        self.value.get("attributes").and_then(|attributes| index(attributes, name))
    }

    /// Reads an optional attribute; a failure is noted.
    fn optional<T>(
        &self,
        name: &str,
        count: usize,
        report: &mut ImportReport,
        read: impl FnOnce(&Store<'_>, &Accessor) -> Result<Vec<T>, ReadError>,
    ) -> Result<Vec<T>, TooLarge> {
        let Some(number) = self.accessor(name) else { return Ok(Vec::new()) };
        let at = self.at.key("attributes");
        let at = at.key(name);
        let values = self.store.accessor(number).and_then(|accessor| {
            if accessor.count == count {
                read(self.store, accessor)
            } else {
                Err(ReadError::Broken(format!("{} elements for {count} vertices", accessor.count)))
            }
        });
        match values {
            Ok(values) => Ok(values),
            Err(ReadError::Broken(problem)) => {
                report.repair(at, format!("{problem}; the attribute is ignored"));
                Ok(Vec::new())
            }
            Err(ReadError::Absent(problem)) => {
                report.unsupported(at, format!("{problem}; the attribute is ignored"));
                Ok(Vec::new())
            }
            Err(ReadError::TooLarge(what)) => Err(TooLarge(what)),
        }
    }

    /// Reads an attribute that the primitive cannot be shown without.
    fn vital<T>(
        at: &At<'_>,
        report: &mut ImportReport,
        read: Result<Vec<T>, ReadError>,
    ) -> Result<Option<Vec<T>>, TooLarge> {
        match read {
            Ok(values) => Ok(Some(values)),
            Err(ReadError::Broken(problem)) => {
                report.error(at, format!("{problem}; export the file again"));
                Ok(None)
            }
            Err(ReadError::Absent(problem)) => {
                report.unsupported(at, format!("{problem}; the primitive is not shown"));
                Ok(None)
            }
            Err(ReadError::TooLarge(what)) => Err(TooLarge(what)),
        }
    }

    /// Makes the triangle list; `None` if there is nothing to show.
    pub(super) fn build(&self, report: &mut ImportReport) -> Result<Option<Primitive>, TooLarge> {
        let at = self.at;
        // An error in the primitive itself counts now that it is shown.
        if let Some(problem) = report.fault(at).map(str::to_owned) {
            report.error(at, format!("{problem}; export the file again"));
            return Ok(None);
        }
        let mode = self.value.get("mode").and_then(Value::as_u64).unwrap_or(4);
        if !(4..=6).contains(&mode) {
            let what = match mode {
                0 => "points are",
                1..=3 => "lines are",
                _ => "primitives of an unknown mode are",
            };
            report.unsupported(at, format!("{what} not rendered"));
            return Ok(None);
        }
        let attributes = at.key("attributes");
        let Some(number) = self.accessor("POSITION") else {
            let place = attributes.key("POSITION");
            if let Some(problem) = report.fault(place).map(str::to_owned) {
                report.error(place, format!("{problem}; export the file again"));
                return Ok(None);
            }
            report.info(at, "a primitive without positions; nothing is shown");
            return Ok(None);
        };
        let draco = extension(self.value, "KHR_draco_mesh_compression").is_some();
        if draco
            && self.store.accessor(number).is_ok_and(|a| a.view.is_none() && a.sparse.is_none())
        {
            report.unsupported(
                at,
                "compressed by KHR_draco_mesh_compression and not decoded; not shown",
            );
            return Ok(None);
        }
        let positions =
            self.store.accessor(number).and_then(|accessor| self.store.floats::<3>(accessor));
        let Some(positions) = Self::vital(&attributes.key("POSITION"), report, positions)? else {
            return Ok(None);
        };
        let count = positions.len();
        let indices = match index(self.value, "indices") {
            Some(number) => {
                let indices =
                    self.store.accessor(number).and_then(|accessor| self.store.integers(accessor));
                let place = at.key("indices");
                let Some(indices) = Self::vital(&place, report, indices)? else { return Ok(None) };
                if let Some(problem) = report.fault(place).map(str::to_owned) {
                    report.error(place, problem);
                    return Ok(None);
                }
                indices
            }
            None => (0..u32::try_from(count).unwrap_or(u32::MAX)).collect(),
        };
        self.store.spend(indices.len() as u64 * 12).map_err(too_large)?;
        let mut faces = triangles(mode, &indices);
        drop(indices);
        let before = faces.len();
        faces.retain(|face| face.iter().all(|&i| (i as usize) < count));
        if faces.len() < before {
            let lost = before - faces.len();
            report.repair(
                at.key("indices"),
                format!(
                    "{lost} triangles have indices out of range of the {count} vertices; left out"
                ),
            );
        }
        let mut vertices = Vertices {
            positions: positions.into_iter().map(Vec3::from_array).collect(),
            ..Vertices::default()
        };
        self.attributes(&mut vertices, report)?;
        if self.moves.morphs {
            self.morph(&mut vertices, report)?;
        }
        if let Some(joints) = self.moves.joints {
            self.influences(&mut vertices, joints, report)?;
        }
        let moves = !vertices.targets.is_empty() || !vertices.influences.is_empty();
        let before = faces.len();
        let finite: Vec<bool> = vertices.positions.iter().map(|p| p.is_finite()).collect();
        faces.retain(|face| face.iter().all(|&i| finite.get(i as usize) == Some(&true)));
        if faces.len() < before {
            let lost = before - faces.len();
            report
                .repair(at, format!("{lost} triangles have corners that are not finite; left out"));
        }
        if faces.is_empty() {
            return Ok(Some(Primitive {
                material: index(self.value, "material"),
                ..Primitive::default()
            }));
        }
        let mut faces = compact(&mut vertices, faces);
        let mut without_normals = false;
        if vertices.normals.is_empty() {
            // Section 3.7.2.1: flat normals, and tangents given without normals are ignored.
            if faces.len() >= MIN_SMOOTH_TRIANGLES {
                let count = faces.len();
                let what = format!("{count} triangles without normals; they are shaded flat");
                report.info(at, what);
            }
            vertices.tangents.clear();
            self.store.spend(vertices.bytes().saturating_mul(3)).map_err(too_large)?;
            faces = flat(&mut vertices, &faces, moves);
            without_normals = true;
        } else {
            repair_normals(&mut vertices, &faces, &at, report);
        }
        if !vertices.tangents.is_empty() {
            tangents::repair(&mut vertices, &at, report);
        } else if let Some(set) = self.tangent_uv
            && !faces.is_empty()
        {
            let missing = if set == 0 { vertices.uv0.is_empty() } else { vertices.uv1.is_empty() };
            if !missing {
                self.store.spend(faces.len() as u64 * 96).map_err(too_large)?;
                faces = tangents::generate(&mut vertices, &faces, set, &at, report);
            }
        }
        if moves {
            // The converted data coexists with the source data.
            self.store.spend(vertices.bytes().saturating_mul(2)).map_err(too_large)?;
        }
        let deform = moves.then(|| {
            Arc::new(Deform {
                positions: vertices.positions.clone(),
                normals: vertices.normals.clone(),
                tangents: vertices.tangents.clone(),
                influences: (!vertices.influences.is_empty()).then(|| joined(&vertices.influences)),
                targets: std::mem::take(&mut vertices.targets),
                flat: without_normals,
            })
        });
        Ok(Some(Primitive {
            deform,
            positions: vertices.positions,
            normals: vertices.normals,
            tangents: vertices.tangents,
            uv0: vertices.uv0,
            uv1: vertices.uv1,
            colors: vertices.colors,
            indices: faces.into_iter().flatten().collect(),
            material: index(self.value, "material"),
        }))
    }

    fn attributes(
        &self,
        vertices: &mut Vertices,
        report: &mut ImportReport,
    ) -> Result<(), TooLarge> {
        let count = vertices.positions.len();
        let normals =
            self.optional("NORMAL", count, report, |store, accessor| store.floats::<3>(accessor))?;
        vertices.normals = normals.into_iter().map(Vec3::from_array).collect();
        let tangents =
            self.optional("TANGENT", count, report, |store, accessor| store.floats::<4>(accessor))?;
        vertices.tangents = tangents.into_iter().map(Vec4::from_array).collect();
        for set in 0..2 {
            let name = if set == 0 { "TEXCOORD_0" } else { "TEXCOORD_1" };
            let uvs =
                self.optional(name, count, report, |store, accessor| store.floats::<2>(accessor))?;
            let mut wrong = 0usize;
            let uvs: Vec<Vec2> = uvs
                .into_iter()
                .map(|uv| {
                    let uv = Vec2::from_array(uv);
                    if uv.is_finite() {
                        uv
                    } else {
                        wrong += 1;
                        Vec2::ZERO
                    }
                })
                .collect();
            if wrong > 0 {
                report.repair(
                    self.at,
                    format!("{wrong} texture coordinates of {name} are not finite; 0, 0 is used"),
                );
            }
            *(if set == 0 { &mut vertices.uv0 } else { &mut vertices.uv1 }) = uvs;
        }
        let mut wrong = 0usize;
        let colors =
            self.optional("COLOR_0", count, report, |store, accessor| match accessor.shape {
                AccessorType::Vec3 => {
                    let colors = store.floats::<3>(accessor)?;
                    Ok(colors.into_iter().map(|[r, g, b]| Vec4::new(r, g, b, 1.0)).collect())
                }
                _ => Ok(store.floats::<4>(accessor)?.into_iter().map(Vec4::from_array).collect()),
            })?;
        vertices.colors = colors
            .into_iter()
            .map(|color: Vec4| {
                if color.is_finite() {
                    // Section 3.7.2.1: colors are within 0 to 1; the validation notes others.
                    color.clamp(Vec4::ZERO, Vec4::ONE)
                } else {
                    wrong += 1;
                    Vec4::ONE
                }
            })
            .collect();
        if wrong > 0 {
            report.repair(self.at, format!("{wrong} vertex colors are not finite; white is used"));
        }
        Ok(())
    }

    /// Reads the morph targets (section 3.7.2.2). An unreadable one gets zero offsets, so that the
    /// others keep their indices.
    fn morph(&self, vertices: &mut Vertices, report: &mut ImportReport) -> Result<(), TooLarge> {
        for (t, target) in items(self.value, "targets").iter().enumerate() {
            let at = self.at.key("targets");
            let at = at.index(t);
            let mut out = MorphTarget::default();
            for name in ["POSITION", "NORMAL", "TANGENT"] {
                let Some(number) = index(target, name) else { continue };
                let base = match name {
                    "POSITION" => vertices.positions.len(),
                    "NORMAL" => vertices.normals.len(),
                    _ => vertices.tangents.len(),
                };
                let offsets = self.store.accessor(number).and_then(|accessor| {
                    if accessor.count == base {
                        self.store.floats::<3>(accessor)
                    } else {
                        Err(ReadError::Broken(format!(
                            "{} elements for {base} vertices",
                            accessor.count
                        )))
                    }
                });
                let offsets = match offsets {
                    Ok(offsets) => offsets,
                    Err(ReadError::Broken(problem) | ReadError::Absent(problem)) => {
                        report.repair(
                            at.key(name),
                            format!("{problem}; the morph target is ignored"),
                        );
                        continue;
                    }
                    Err(ReadError::TooLarge(what)) => return Err(TooLarge(what)),
                };
                let mut wrong = 0usize;
                let offsets = offsets.into_iter().map(Vec3::from_array).map(|offset| {
                    if offset.is_finite() {
                        offset
                    } else {
                        wrong += 1;
                        Vec3::ZERO
                    }
                });
                match name {
                    "POSITION" => out.positions = offsets.collect(),
                    "NORMAL" => out.normals = offsets.collect(),
                    _ => out.tangents = offsets.collect(),
                }
                if wrong > 0 {
                    report
                        .repair(at.key(name), format!("{wrong} offsets are not finite; 0 is used"));
                }
            }
            if target.as_object().is_some_and(|t| {
                t.keys().any(|k| k.starts_with("TEXCOORD") || k.starts_with("COLOR"))
            }) {
                report
                    .unsupported(at, "texture coordinates and colors of morph targets are ignored");
            }
            vertices.targets.push(out);
        }
        Ok(())
    }

    /// Reads all sets of joints and weights (section 3.7.3.3); the weights of a vertex are
    /// normalized to sum 1.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn influences(
        &self,
        vertices: &mut Vertices,
        joints: usize,
        report: &mut ImportReport,
    ) -> Result<(), TooLarge> {
        let count = vertices.positions.len();
        let mut sets: Vec<Vec<([u32; 4], [f32; 4])>> = Vec::new();
        let (mut beyond, mut wrong) = (0usize, 0usize);
        for set in 0..MAX_JOINT_SETS {
            let (name, of) = (format!("JOINTS_{set}"), format!("WEIGHTS_{set}"));
            if self.accessor(&name).is_none() {
                break;
            }
            let numbers =
                self.optional(&name, count, report, |store, accessor| store.floats::<4>(accessor))?;
            let weights =
                self.optional(&of, count, report, |store, accessor| store.floats::<4>(accessor))?;
            if numbers.is_empty() || weights.is_empty() {
                if numbers.len() != weights.len() {
                    report.repair(
                        self.at,
                        format!("{name} and {of} do not both have values; both are ignored"),
                    );
                }
                continue;
            }
            let mut one = |(numbers, mut weights): ([f32; 4], [f32; 4])| {
                let mut out = [0; 4];
                for ((out, number), weight) in out.iter_mut().zip(numbers).zip(&mut weights) {
                    if !(weight.is_finite() && *weight >= 0.0) {
                        (*weight, wrong) = (0.0, wrong + 1);
                    }
                    if !(number >= 0.0 && (number as usize) < joints) {
                        beyond += usize::from(*weight > 0.0);
                        *weight = 0.0;
                    } else {
                        *out = number as u32;
                    }
                }
                (out, weights)
            };
            sets.push(numbers.into_iter().zip(weights).map(&mut one).collect());
        }
        if self.accessor(&format!("JOINTS_{MAX_JOINT_SETS}")).is_some() {
            let joints = 4 * MAX_JOINT_SETS;
            report.unsupported(
                self.at,
                format!("joints beyond the first {joints} of a vertex are ignored"),
            );
        }
        for (count, what) in [
            (beyond, format!("joint indices exceed the skin's {joints} joints; ignored")),
            (wrong, "weights are negative or not finite; they count as 0".into()),
        ] {
            if count > 0 {
                report.repair(self.at, format!("{count} {what}"));
            }
        }
        let (mut unbound, mut off) = (0usize, 0usize);
        for vertex in 0..count {
            let of = sets.iter().filter_map(|set| set.get(vertex));
            let sum: f64 =
                of.flat_map(|(_, weights)| weights).map(|&weight| f64::from(weight)).sum();
            if sum > 0.0 && sum.is_finite() {
                off += usize::from((sum - 1.0).abs() > 0.01);
                for (_, weights) in sets.iter_mut().filter_map(|set| set.get_mut(vertex)) {
                    *weights = weights.map(|weight| (f64::from(weight) / sum) as f32);
                }
            } else if let Some((joints, weights)) =
                sets.first_mut().and_then(|set| set.get_mut(vertex))
            {
                (*joints, *weights) = ([0; 4], [1.0, 0.0, 0.0, 0.0]);
                unbound += 1;
            }
        }
        if unbound > 0 {
            report.info(
                self.at,
                format!(
                    "{unbound} vertices have weights of 0 only; they follow the skin's first joint"
                ),
            );
        }
        if off > 0 {
            report.repair(
                self.at,
                format!("{off} vertices have weights whose sum is not 1; they are scaled"),
            );
        }
        if sets.is_empty() {
            report.repair(self.at, "no joints; all vertices follow the skin's first joint");
            sets.push(vec![([0; 4], [1.0, 0.0, 0.0, 0.0]); count]);
        }
        vertices.influences = sets;
        Ok(())
    }
}

/// All sets of a vertex in one list, without zero weights.
fn joined(sets: &[Vec<([u32; 4], [f32; 4])>]) -> Influences {
    let count = sets.first().map_or(0, Vec::len);
    let mut out = Influences { first: vec![0], ..Influences::default() };
    for vertex in 0..count {
        for (joints, weights) in sets.iter().filter_map(|set| set.get(vertex)) {
            for (&joint, &weight) in joints.iter().zip(weights).filter(|(_, weight)| **weight > 0.0)
            {
                out.joints.push(joint);
                out.weights.push(weight);
            }
        }
        out.first.push(u32::try_from(out.joints.len()).unwrap_or(u32::MAX));
    }
    out
}

pub(super) fn too_large(error: ReadError) -> TooLarge {
    TooLarge(error.text())
}

/// Removes vertices that no triangle uses: files often share one large vertex list between many
/// primitives.
fn compact(vertices: &mut Vertices, mut faces: Vec<[u32; 3]>) -> Vec<[u32; 3]> {
    let mut used = vec![false; vertices.positions.len()];
    for &i in faces.iter().flatten() {
        if let Some(used) = used.get_mut(i as usize) {
            *used = true;
        }
    }
    if used.iter().all(|&used| used) {
        return faces;
    }
    let mut renamed = vec![0u32; used.len()];
    let mut order = Vec::new();
    for ((i, used), renamed) in (0u32..).zip(&used).zip(&mut renamed) {
        if *used {
            *renamed = u32::try_from(order.len()).unwrap_or(u32::MAX);
            order.push(i);
        }
    }
    for i in faces.iter_mut().flatten() {
        *i = renamed.get(*i as usize).copied().unwrap_or(0);
    }
    *vertices = vertices.gather(&order);
    faces
}

/// Normal of a triangle; `None` if it has no area. In double precision, since products of large
/// floats overflow.
fn face_normal(positions: &[Vec3], face: [u32; 3]) -> Option<Vec3> {
    let at = |i: u32| positions.get(i as usize).map_or(DVec3::ZERO, |p| p.as_dvec3());
    let [a, b, c] = face.map(at);
    (b - a).cross(c - a).try_normalize().map(|n| n.as_vec3().normalize())
}

/// Gives every triangle its own vertices and its own normal. Triangles without area are left out,
/// unless deformation may give them one.
fn flat(vertices: &mut Vertices, faces: &[[u32; 3]], moves: bool) -> Vec<[u32; 3]> {
    let (mut order, mut normals) =
        (Vec::with_capacity(faces.len() * 3), Vec::with_capacity(faces.len() * 3));
    for &face in faces {
        if let Some(normal) = face_normal(&vertices.positions, face).or(moves.then_some(Vec3::Y)) {
            order.extend(face);
            normals.extend([normal; 3]);
        }
    }
    *vertices = vertices.gather(&order);
    vertices.normals = normals;
    let count = u32::try_from(order.len()).unwrap_or(u32::MAX);
    (0..count).step_by(3).map(|i| [i, i + 1, i + 2]).collect()
}

/// Normalizes normals, and replaces invalid ones by the triangle's normal.
fn repair_normals(
    vertices: &mut Vertices,
    faces: &[[u32; 3]],
    at: &At<'_>,
    report: &mut ImportReport,
) {
    let mut missing = 0usize;
    let mut bad = vec![false; vertices.normals.len()];
    for (normal, bad) in vertices.normals.iter_mut().zip(&mut bad) {
        match normal.as_dvec3().try_normalize() {
            Some(unit) => *normal = unit.as_vec3().normalize(),
            None => {
                *bad = true;
                missing += 1;
            }
        }
    }
    if missing == 0 {
        return;
    }
    report.repair(
        at,
        format!("{missing} normals are zero or not finite; those of the triangles are used"),
    );
    for &face in faces {
        if !face.iter().any(|&i| bad.get(i as usize) == Some(&true)) {
            continue;
        }
        let Some(unit) = face_normal(&vertices.positions, face) else { continue };
        for i in face.map(|i| i as usize) {
            if let (Some(bad), Some(normal)) = (bad.get_mut(i), vertices.normals.get_mut(i))
                && *bad
            {
                *bad = false;
                *normal = unit;
            }
        }
    }
    for (normal, bad) in vertices.normals.iter_mut().zip(bad) {
        if bad {
            *normal = Vec3::Y;
        }
    }
}

#[cfg(test)]
mod tests;
