//! Sampling of discrete distributions.

/// Samples a cumulative sum (up to its last entry): the index, and the remainder of `u`, again
/// uniform in 0 to 1.
pub(super) fn sample_cdf(sums: &[f64], u: f64) -> Option<(usize, f64)> {
    let value = u * *sums.last()?;
    let index = sums.partition_point(|&sum| sum <= value).min(sums.len() - 1);
    let before = index.checked_sub(1).and_then(|i| sums.get(i)).copied().unwrap_or(0.0);
    let part = sums.get(index)? - before;
    Some((index, if part > 0.0 { ((value - before) / part).clamp(0.0, 1.0) } else { 0.5 }))
}
