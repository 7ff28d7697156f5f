//! Heap settings for software drivers, whose frames are host memory.

/// Freed memory (bytes) that the heap keeps.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT: i32 = 256 << 20;

/// Allocations from this size (bytes) on have their own mapping: the greatest threshold that glibc
/// raises itself to.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const OWN_MAPPING: i32 = 32 << 20;

/// Keeps freed memory instead of returning it to the system. Software drivers allocate the binned
/// triangles of a frame and free them after it; without this, each frame faults in the same pages
/// again, on the thread that processes vertices. Has no effect without glibc.
pub(super) fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const M_TRIM_THRESHOLD: i32 = -1;
        const M_MMAP_THRESHOLD: i32 = -3;
        unsafe extern "C" {
            fn mallopt(parameter: i32, value: i32) -> i32;
        }
        // SAFETY: glibc declares `int mallopt(int, int)`, which may be called at any time from any
        // thread. It rejects values that it does not support, which leaves the defaults.
        unsafe {
            mallopt(M_TRIM_THRESHOLD, KEPT);
            mallopt(M_MMAP_THRESHOLD, OWN_MAPPING);
        }
    }
}
