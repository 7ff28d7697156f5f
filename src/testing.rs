//! Assertions of unit tests.

/// Fails if `got` is farther from `want` than `tolerance`.
pub fn near(got: f64, want: f64, tolerance: f64) {
    assert!((got - want).abs() <= tolerance, "{got} is not {want} within {tolerance}");
}
