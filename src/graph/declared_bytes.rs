//! Bytes that the passes of a frame read and write according to their declarations.

use super::{
    declaration::Graph,
    execution::Prepared,
    resource::{Kind, Resource, ResourceSize},
};
use crate::gpu::readback::bytes_per_texel;

/// Bytes of the images and buffers that a pass declares, each whole and once.
///
/// Not the traffic of the pass: caches and repeated reads are not counted, buffers count with their
/// capacity, and objects that a pass binds without declaring an access (textures, the geometry and
/// the lights of the scene) do not count. For a pass that covers the picture, the image bytes are a
/// lower bound of what its shader loads and stores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeclaredBytes {
    /// Name of the pass.
    pub pass: String,
    /// Bytes of the images that it reads.
    pub images_read: u64,
    /// Bytes of the images that it writes.
    pub images_written: u64,
    /// Bytes of the buffers that it reads.
    pub buffers_read: u64,
    /// Bytes of the buffers that it writes.
    pub buffers_written: u64,
}

impl Graph<'_> {
    /// Sizes of the declared resources, in the order of their declaration.
    pub(super) fn resource_sizes(&self) -> Vec<ResourceSize> {
        let size = |(index, resource): (usize, &Resource)| match resource.kind {
            Kind::Transient { width, height, format }
            | Kind::History { width, height, format, .. }
            | Kind::Persistent { width, height, format }
            | Kind::Shared { width, height, format } => ResourceSize {
                bytes: u64::from(width)
                    * u64::from(height)
                    * bytes_per_texel(format).unwrap_or_default(),
                image: true,
            },
            Kind::Storage { size } | Kind::Readback { size } => {
                ResourceSize { bytes: size, image: false }
            }
            Kind::External => {
                let bytes = self.externals.get(&index).map_or(0, |buffer| buffer.size());
                ResourceSize { bytes, image: false }
            }
        };
        self.resources.iter().enumerate().map(size).collect()
    }
}

impl Prepared {
    /// Declared bytes of the passes that run, in their order.
    #[must_use]
    pub fn declared_bytes(&self) -> Vec<DeclaredBytes> {
        let of = |index: &usize| {
            let pass = self.passes.get(*index)?;
            let mut sum = DeclaredBytes { pass: pass.name.clone(), ..DeclaredBytes::default() };
            for (resource, access) in &pass.uses {
                let Some(&ResourceSize { bytes, image }) = self.sizes.get(*resource) else {
                    continue;
                };
                let (read, written) = if image {
                    (&mut sum.images_read, &mut sum.images_written)
                } else {
                    (&mut sum.buffers_read, &mut sum.buffers_written)
                };
                *read += if access.reads() { bytes } else { 0 };
                *written += if access.writes() { bytes } else { 0 };
            }
            Some(sum)
        };
        self.plan.order.iter().filter_map(of).collect()
    }
}
