//! Resource accesses of passes. Each access determines pipeline stages, access masks and image
//! layout.

use ash::vk;

/// Use of a resource by a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Color attachment whose previous content is discarded.
    ColorWrite,
    /// Color attachment whose previous content is blended with or partly kept.
    ColorBlend,
    /// Depth attachment that is tested and written; its previous content is discarded.
    DepthWrite,
    /// Depth attachment that is tested and written; its previous content is partly kept.
    DepthLoad,
    /// Depth attachment that is tested, not written.
    DepthTest,
    /// Read in a fragment shader, by texel or sampler.
    FragmentSampled,
    /// Read in a compute shader, by texel or sampler.
    ComputeSampled,
    /// Indirect draw or dispatch commands.
    Indirect,
    /// Vertex or index buffer.
    VertexFetch,
    /// Storage read in a vertex shader.
    VertexStorageRead,
    /// Storage read in a fragment shader.
    FragmentStorageRead,
    /// Storage written in a fragment shader, once for each element that later passes read.
    FragmentStorageWrite,
    /// Storage read and written in a fragment shader.
    FragmentStorageReadWrite,
    /// Storage read in a compute shader.
    ComputeStorageRead,
    /// Storage written in a compute shader; its previous content is discarded.
    ComputeStorageWrite,
    /// Storage read and written in a compute shader.
    ComputeStorageReadWrite,
    /// Source of a copy.
    CopyFrom,
    /// Target of a copy.
    CopyTo,
    /// Target of a fill.
    Fill,
    /// Acceleration structure that is built, or its scratch memory; the previous content is
    /// discarded.
    AccelerationBuild,
    /// Acceleration structure that is refitted to moved triangles.
    AccelerationUpdate,
    /// Acceleration structure or geometry that another build reads.
    AccelerationInput,
    /// Acceleration structure traced by ray query in a fragment shader.
    FragmentRayQuery,
    /// Acceleration structure traced by ray query in a compute shader.
    ComputeRayQuery,
    /// Presentation in a window: the last access of a swapchain image.
    Present,
}

/// Synchronization state of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Pipeline stages that access the resource.
    pub stages: vk::PipelineStageFlags2,
    /// Access mask.
    pub access: vk::AccessFlags2,
    /// Image layout.
    pub layout: vk::ImageLayout,
    /// True if the access writes.
    pub writes: bool,
}

impl State {
    /// Initial state: no pending access, undefined content.
    pub const NEW: Self = Self {
        stages: vk::PipelineStageFlags2::NONE,
        access: vk::AccessFlags2::NONE,
        layout: vk::ImageLayout::UNDEFINED,
        writes: false,
    };
}

impl Access {
    /// Stages, access mask and layout of the access (Vulkan 1.3, table of supported access types).
    #[must_use]
    pub fn state(self) -> State {
        use vk::{AccessFlags2 as A, ImageLayout as L, PipelineStageFlags2 as S};
        let fragment_tests = S::EARLY_FRAGMENT_TESTS | S::LATE_FRAGMENT_TESTS;
        let (stages, access, layout) = match self {
            Self::ColorWrite => {
                (S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_WRITE, L::COLOR_ATTACHMENT_OPTIMAL)
            }
            Self::ColorBlend => (
                S::COLOR_ATTACHMENT_OUTPUT,
                A::COLOR_ATTACHMENT_READ | A::COLOR_ATTACHMENT_WRITE,
                L::COLOR_ATTACHMENT_OPTIMAL,
            ),
            Self::DepthWrite | Self::DepthLoad => (
                fragment_tests,
                A::DEPTH_STENCIL_ATTACHMENT_READ | A::DEPTH_STENCIL_ATTACHMENT_WRITE,
                L::DEPTH_ATTACHMENT_OPTIMAL,
            ),
            Self::DepthTest => {
                (fragment_tests, A::DEPTH_STENCIL_ATTACHMENT_READ, L::DEPTH_READ_ONLY_OPTIMAL)
            }
            Self::FragmentSampled => {
                (S::FRAGMENT_SHADER, A::SHADER_SAMPLED_READ, L::SHADER_READ_ONLY_OPTIMAL)
            }
            Self::ComputeSampled => {
                (S::COMPUTE_SHADER, A::SHADER_SAMPLED_READ, L::SHADER_READ_ONLY_OPTIMAL)
            }
            Self::Indirect => (S::DRAW_INDIRECT, A::INDIRECT_COMMAND_READ, L::GENERAL),
            Self::VertexFetch => (S::VERTEX_ATTRIBUTE_INPUT, A::VERTEX_ATTRIBUTE_READ, L::GENERAL),
            Self::VertexStorageRead => (S::VERTEX_SHADER, A::SHADER_STORAGE_READ, L::GENERAL),
            Self::FragmentStorageRead => (S::FRAGMENT_SHADER, A::SHADER_STORAGE_READ, L::GENERAL),
            Self::FragmentStorageWrite => (S::FRAGMENT_SHADER, A::SHADER_STORAGE_WRITE, L::GENERAL),
            Self::FragmentStorageReadWrite => {
                (S::FRAGMENT_SHADER, A::SHADER_STORAGE_READ | A::SHADER_STORAGE_WRITE, L::GENERAL)
            }
            Self::ComputeStorageRead => (S::COMPUTE_SHADER, A::SHADER_STORAGE_READ, L::GENERAL),
            Self::ComputeStorageWrite => (S::COMPUTE_SHADER, A::SHADER_STORAGE_WRITE, L::GENERAL),
            Self::ComputeStorageReadWrite => {
                (S::COMPUTE_SHADER, A::SHADER_STORAGE_READ | A::SHADER_STORAGE_WRITE, L::GENERAL)
            }
            Self::CopyFrom => (S::COPY, A::TRANSFER_READ, L::TRANSFER_SRC_OPTIMAL),
            Self::CopyTo => (S::COPY, A::TRANSFER_WRITE, L::TRANSFER_DST_OPTIMAL),
            Self::Fill => (S::ALL_TRANSFER, A::TRANSFER_WRITE, L::TRANSFER_DST_OPTIMAL),
            Self::AccelerationBuild | Self::AccelerationUpdate => (
                S::ACCELERATION_STRUCTURE_BUILD_KHR,
                A::ACCELERATION_STRUCTURE_READ_KHR | A::ACCELERATION_STRUCTURE_WRITE_KHR,
                L::GENERAL,
            ),
            // Geometry and instances that a build reads are shader reads.
            Self::AccelerationInput => (
                S::ACCELERATION_STRUCTURE_BUILD_KHR,
                A::ACCELERATION_STRUCTURE_READ_KHR | A::SHADER_READ,
                L::GENERAL,
            ),
            Self::FragmentRayQuery => {
                (S::FRAGMENT_SHADER, A::ACCELERATION_STRUCTURE_READ_KHR, L::GENERAL)
            }
            Self::ComputeRayQuery => {
                (S::COMPUTE_SHADER, A::ACCELERATION_STRUCTURE_READ_KHR, L::GENERAL)
            }
            // The frame's final semaphore does the waiting.
            Self::Present => (S::ALL_COMMANDS, A::NONE, L::PRESENT_SRC_KHR),
        };
        State { stages, access, layout, writes: self.writes() }
    }

    /// True if the access writes.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(
            self,
            Self::ColorWrite
                | Self::ColorBlend
                | Self::DepthWrite
                | Self::DepthLoad
                | Self::FragmentStorageWrite
                | Self::FragmentStorageReadWrite
                | Self::ComputeStorageWrite
                | Self::ComputeStorageReadWrite
                | Self::CopyTo
                | Self::Fill
                | Self::AccelerationBuild
                | Self::AccelerationUpdate
                // Counts as a write, so that the presenting pass is kept and comes last.
                | Self::Present
        )
    }

    /// True if the access reads the previous content.
    #[must_use]
    pub fn reads(self) -> bool {
        !matches!(
            self,
            Self::ColorWrite
                | Self::FragmentStorageWrite
                | Self::ComputeStorageWrite
                | Self::CopyTo
                | Self::Fill
                | Self::DepthWrite
                | Self::AccelerationBuild
        )
    }

    /// Usage flag that an image needs for the access.
    #[must_use]
    pub fn usage(self) -> vk::ImageUsageFlags {
        use vk::ImageUsageFlags as U;
        match self {
            Self::ColorWrite | Self::ColorBlend => U::COLOR_ATTACHMENT,
            Self::DepthWrite | Self::DepthLoad | Self::DepthTest => U::DEPTH_STENCIL_ATTACHMENT,
            Self::FragmentSampled | Self::ComputeSampled => U::SAMPLED,
            // Buffer accesses: a buffer's usage follows from its kind.
            Self::Indirect
            | Self::AccelerationBuild
            | Self::AccelerationUpdate
            | Self::AccelerationInput
            | Self::FragmentRayQuery
            | Self::ComputeRayQuery
            | Self::Present => U::empty(),
            Self::VertexFetch
            | Self::VertexStorageRead
            | Self::FragmentStorageRead
            | Self::FragmentStorageWrite
            | Self::FragmentStorageReadWrite
            | Self::ComputeStorageRead
            | Self::ComputeStorageWrite
            | Self::ComputeStorageReadWrite => U::STORAGE,
            Self::CopyFrom => U::TRANSFER_SRC,
            Self::CopyTo | Self::Fill => U::TRANSFER_DST,
        }
    }
}
