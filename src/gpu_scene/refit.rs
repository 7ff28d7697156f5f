//! Device data of the BVH refit of deformed primitives (docs/bvh.md).

use std::sync::{Arc, Mutex};

use super::{buffers::uploaded_buffer, deform::DeformedPrimitive};
use crate::{
    bvh::{NONE, SceneBvh, sah_cost},
    gpu::{
        Buffer, Gpu, GpuResult,
        shader_structs::skin::{REFIT_BAKED, RefitConstants},
        upload::Uploader,
    },
    scene::Scene,
};

/// Words of a BLAS's cost: a 64-bit sum, half the root's surface area, padding.
const COST_WORDS: u32 = 4;

/// Units of the sum per surface area of the root at build time.
const COST_UNITS: f64 = (1u32 << 24) as f64;

/// A BLAS is rebuilt if its cost grows by more than this factor.
const MAX_DRIFT: f32 = 1.75;

/// SAH cost growth of each refitted BLAS since its build.
#[derive(Debug, Default)]
pub struct Drift(Mutex<Vec<f32>>);

impl Drift {
    /// Cost of a BLAS over its cost at build time; 1 if unknown.
    #[must_use]
    pub fn of(&self, tree: usize) -> f32 {
        self.0.lock().map_or(1.0, |all| all.get(tree).copied().unwrap_or(1.0))
    }

    fn set(&self, found: Vec<f32>) {
        if let Ok(mut all) = self.0.lock() {
            *all = found;
        }
    }
}

/// BLAS that the device refits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RefitBlas {
    /// Index of the BLAS.
    blas: usize,
    /// Dispatch constants.
    pub(crate) constants: RefitConstants,
    cost: f32,
    /// Half the root's surface area at build time (m2).
    area: f32,
}

/// BLASes that the device refits.
pub struct Refit {
    pub(crate) blases: Vec<RefitBlas>,
    pub(crate) corners: Arc<Buffer>,
    pub(crate) leaves: Arc<Buffer>,
    pub(crate) parents: Arc<Buffer>,
    /// Nodes of all these BLASes.
    pub(crate) nodes: u64,
    drift: Arc<Drift>,
}

impl Refit {
    /// Prepares the refit of a BVH with bounds as built; `None` if nothing deforms.
    ///
    /// # Errors
    /// `GpuError` if memory runs out or the device is lost.
    pub fn new(
        gpu: &Gpu,
        uploader: &mut Uploader,
        (bvh, scene): (&SceneBvh, &Scene),
        moving: &[DeformedPrimitive],
    ) -> GpuResult<Option<Self>> {
        let (mut corners, mut leaves, mut parents) = (Vec::<u32>::new(), Vec::new(), Vec::new());
        let mut trees = Vec::new();
        for (index, blas) in bvh.blases.iter().enumerate() {
            let of = |moving: &&DeformedPrimitive| {
                (moving.mesh, moving.primitive) == (blas.mesh, blas.primitive)
            };
            let Some(moving) = moving.iter().find(of) else { continue };
            let nodes = &bvh.nodes[blas.nodes.0 as usize..(blas.nodes.0 + blas.nodes.1) as usize];
            let climb = bvh.refit_links(index);
            let area = nodes.first().map_or(0.0, |root| root.bounds().half_area());
            let mut constants = RefitConstants {
                leaf_count: climb.leaves.len() as u32,
                leaves: leaves.len() as u32,
                root: blas.nodes.0,
                links: parents.len() as u32,
                triangles: blas.triangles.0,
                corners: corners.len() as u32,
                vertices: moving.vertices,
                cost: trees.len() as u32 * COST_WORDS,
                nodes: climb.parents.len() as u32,
                levels: climb.levels,
                scale: if area > 0.0 { 1.0 / area } else { 0.0 },
                ..RefitConstants::default()
            };
            if let Some(linear) = blas.baked_transform() {
                constants.flags |= REFIT_BAKED;
                [constants.x, constants.y, constants.z] =
                    [linear.x_axis, linear.y_axis, linear.z_axis].map(|axis| axis.as_vec3());
            }
            leaves.extend(climb.leaves);
            // Indices of arrival counters: one per node, and one above the root.
            let first = parents.len() as u32;
            let above = first + climb.parents.len() as u32;
            let place = |&parent: &u32| {
                if parent == NONE { above } else { first + (parent - blas.nodes.0) }
            };
            parents.extend(climb.parents.iter().map(place));
            parents.push(above);
            corners.extend(bvh.triangle_vertices(scene, index).flatten());
            trees.push(RefitBlas { blas: index, constants, cost: sah_cost(nodes), area });
        }
        if trees.is_empty() {
            return Ok(None);
        }
        let mut upload = |name: &str, words: &[u32]| -> GpuResult<Arc<Buffer>> {
            uploaded_buffer(gpu, uploader, (name, 4), bytemuck::cast_slice(words))
        };
        Ok(Some(Self {
            corners: upload("refit corners", &corners)?,
            leaves: upload("refit leaves", &leaves)?,
            parents: upload("refit parents", &parents)?,
            nodes: parents.len() as u64,
            blases: trees,
            drift: Arc::default(),
        }))
    }

    /// Size on the device (bytes).
    #[must_use]
    pub fn bytes(&self) -> u64 {
        [&self.corners, &self.leaves, &self.parents].iter().map(|buffer| buffer.size()).sum()
    }

    /// BLASes that have degraded beyond `MAX_DRIFT`: indices into `SceneBvh::blases`. Based on the
    /// frames collected so far.
    #[must_use]
    pub fn degraded(&self) -> Vec<usize> {
        let degraded_blases =
            self.blases.iter().enumerate().filter(|(index, _)| self.drift.of(*index) > MAX_DRIFT);
        degraded_blases.map(|(_, tree)| tree.blas).collect()
    }

    /// Maximum cost growth of any BLAS since its build; 1 before any frame was collected.
    #[must_use]
    pub fn max_drift(&self) -> f32 {
        (0..self.blases.len()).map(|tree| self.drift.of(tree)).fold(1.0, f32::max)
    }

    /// Words of the costs that are read back.
    #[must_use]
    pub fn cost_words(&self) -> u64 {
        u64::from(COST_WORDS) * self.blases.len() as u64
    }

    /// Destination of a frame's costs after readback.
    #[must_use]
    pub fn costs(&self) -> RefitCosts {
        RefitCosts {
            built: self.blases.iter().map(|tree| (tree.cost, tree.area)).collect(),
            drift: Arc::clone(&self.drift),
        }
    }
}

/// Assigns a frame's costs to the BLASes that it refitted.
pub struct RefitCosts {
    built: Vec<(f32, f32)>,
    drift: Arc<Drift>,
}

impl RefitCosts {
    /// Stores the costs that the device wrote.
    pub fn found(&self, words: &[u32]) {
        let of = |(words, &(cost, area)): (&[u32], &(f32, f32))| {
            let [low, high, root, _] = *words else { return 1.0 };
            let sum =
                (f64::from(high) * 4_294_967_296.0 + f64::from(low)) / COST_UNITS * f64::from(area);
            let now = sum / f64::from(f32::from_bits(root)) / f64::from(cost);
            if now.is_finite() { now as f32 } else { 1.0 }
        };
        self.drift.set(words.chunks_exact(COST_WORDS as usize).zip(&self.built).map(of).collect());
    }
}
