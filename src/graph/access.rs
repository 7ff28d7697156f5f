//! How a pass uses a resource. One access type a use: stages, access masks and layouts all follow
//! from it.

use ash::vk;

/// One use of a resource by a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Colour attachment whose old content is not needed.
    ColorWrite,
    /// Colour attachment that is blended with or kept in part.
    ColorBlend,
    /// Depth attachment that is tested and written.
    DepthWrite,
    /// Depth attachment that is tested and written and kept in part.
    DepthLoad,
    /// Depth attachment that is tested only.
    DepthTest,
    /// Read in a fragment shader, by texel or sampler.
    FragmentSampled,
    /// Read in a compute shader, by texel or sampler.
    ComputeSampled,
    /// Draw commands.
    Indirect,
    /// Vertices that pipelines fetch.
    VertexFetch,
    /// Storage read in a vertex shader.
    VertexStorageRead,
    /// Storage read in a fragment shader.
    FragmentStorageRead,
    /// Storage read in a compute shader.
    ComputeStorageRead,
    /// Storage written in a compute shader whose old content is not needed.
    ComputeStorageWrite,
    /// Storage read and written in a compute shader.
    ComputeStorageReadWrite,
    /// Source of a copy.
    CopyFrom,
    /// Target of a copy.
    CopyTo,
    /// Target of a fill.
    Fill,
    /// Acceleration structure, or scratch memory of its build, whose old content is not needed.
    AccelerationBuild,
    /// Acceleration structure that takes over moved triangles.
    AccelerationUpdate,
    /// Acceleration structure or triangles that the build of another one reads.
    AccelerationInput,
    /// Acceleration structure that rays of a fragment shader go through.
    FragmentRayQuery,
    /// Acceleration structure that rays of a compute shader go through.
    ComputeRayQuery,
    /// Shown in a window: the last thing that happens to an image of a swapchain.
    Present,
}

/// What a use means to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Pipeline stages that touch the resource.
    pub stages: vk::PipelineStageFlags2,
    /// How they touch it.
    pub access: vk::AccessFlags2,
    /// The layout of an image.
    pub layout: vk::ImageLayout,
    /// Whether the use writes.
    pub writes: bool,
}

impl State {
    /// Untouched: nothing to wait for, no content.
    pub const NEW: Self = Self {
        stages: vk::PipelineStageFlags2::NONE,
        access: vk::AccessFlags2::NONE,
        layout: vk::ImageLayout::UNDEFINED,
        writes: false,
    };
}

impl Access {
    /// What the use means to the device (Vulkan 1.3, table of supported access types).
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
            // Vertices and instances that a build reads count as read by shaders.
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
            // Waiting is the semaphore's, which the frame's end signals.
            Self::Present => (S::ALL_COMMANDS, A::NONE, L::PRESENT_SRC_KHR),
        };
        State { stages, access, layout, writes: self.writes() }
    }

    /// Whether the use writes.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(
            self,
            Self::ColorWrite
                | Self::ColorBlend
                | Self::DepthWrite
                | Self::DepthLoad
                | Self::ComputeStorageWrite
                | Self::ComputeStorageReadWrite
                | Self::CopyTo
                | Self::Fill
                | Self::AccelerationBuild
                | Self::AccelerationUpdate
                // So that the pass that hands the image over is kept, and comes last.
                | Self::Present
        )
    }

    /// Whether the use needs what was there before.
    #[must_use]
    pub fn reads(self) -> bool {
        !matches!(
            self,
            Self::ColorWrite
                | Self::ComputeStorageWrite
                | Self::CopyTo
                | Self::Fill
                | Self::DepthWrite
                | Self::AccelerationBuild
        )
    }

    /// The usage flag that an image needs for it.
    #[must_use]
    pub fn usage(self) -> vk::ImageUsageFlags {
        use vk::ImageUsageFlags as U;
        match self {
            Self::ColorWrite | Self::ColorBlend => U::COLOR_ATTACHMENT,
            Self::DepthWrite | Self::DepthLoad | Self::DepthTest => U::DEPTH_STENCIL_ATTACHMENT,
            Self::FragmentSampled | Self::ComputeSampled => U::SAMPLED,
            // Of buffers alone, whose usage follows from their kind.
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
            | Self::ComputeStorageRead
            | Self::ComputeStorageWrite
            | Self::ComputeStorageReadWrite => U::STORAGE,
            Self::CopyFrom => U::TRANSFER_SRC,
            Self::CopyTo | Self::Fill => U::TRANSFER_DST,
        }
    }
}
