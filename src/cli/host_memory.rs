//! Memory of the host.

/// Memory available without swapping in bytes (`MemAvailable` of `/proc/meminfo`, proc(5)); `None`
/// on systems without it.
pub fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
