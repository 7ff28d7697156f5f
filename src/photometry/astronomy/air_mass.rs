//! Relative optical air mass.

/// Relative optical air mass at an apparent elevation in radians: 1 at the zenith, 37.9 at the
/// horizon; `None` below it.
///
/// Kasten and Young, "Revised optical air mass tables and approximation formula", Applied Optics 28
/// (1989), equation 3.
#[must_use]
pub fn air_mass(elevation: f64) -> Option<f64> {
    let degrees = elevation.to_degrees();
    (0.0..=90.0)
        .contains(&degrees)
        .then(|| 1.0 / (elevation.sin() + 0.505_72 * (degrees + 6.079_95).powf(-1.6364)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn air_masses_of_the_paper() {
        // Kasten and Young 1989, table II.
        for (degrees, mass) in
            [(90.0, 1.0), (60.0, 1.154), (30.0, 1.994), (10.0, 5.586), (5.0, 10.32), (0.0, 37.92)]
        {
            let got = air_mass(f64::to_radians(degrees)).unwrap();
            assert!((got / mass - 1.0).abs() < 2e-3, "{degrees} degrees: {got}, not {mass}");
        }
        assert_eq!(air_mass(-0.01), None);
        assert_eq!(air_mass(f64::NAN), None);
    }
}
