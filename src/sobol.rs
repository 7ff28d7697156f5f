//! Sobol sequence: direction numbers and Owen's scramble. Photons and the path tracer draw from it,
//! each in its own order.
//!
//! Sobol 1967; Joe and Kuo, "Constructing Sobol Sequences with Better Two-Dimensional Projections"
//! (SIAM J. Sci. Comput. 30(5), 2008).

/// Number of dimensions.
pub const DIMENSIONS: usize = 5;

/// Primitive polynomials and first direction numbers of dimensions 2 to 5: degree, inner
/// coefficients, numbers.
const POLYNOMIALS: [(u32, u32, [u32; 3]); DIMENSIONS - 1] =
    [(1, 0, [1, 0, 0]), (2, 1, [1, 3, 0]), (3, 1, [1, 3, 1]), (3, 2, [1, 1, 1])];

/// Direction numbers of each dimension, by the bit of the index.
pub const DIRECTIONS: [[u32; 32]; DIMENSIONS] = directions();

const fn directions() -> [[u32; 32]; DIMENSIONS] {
    let mut all = [[0; 32]; DIMENSIONS];
    let mut bit = 0;
    while bit < 32 {
        all[0][bit] = 1 << (31 - bit);
        bit += 1;
    }
    let mut dimension = 1;
    while dimension < DIMENSIONS {
        let (degree, inner, first) = POLYNOMIALS[dimension - 1];
        let degree = degree as usize;
        let mut k = 0;
        while k < 32 {
            all[dimension][k] = if k < degree {
                first[k] << (31 - k)
            } else {
                // Joe and Kuo 2008, equation 2, with numbers shifted to the top.
                let before = all[dimension][k - degree];
                let mut v = before ^ before >> degree;
                let mut i = 1;
                while i < degree {
                    if inner >> (degree - 1 - i) & 1 == 1 {
                        v ^= all[dimension][k - i];
                    }
                    i += 1;
                }
                v
            };
            k += 1;
        }
        dimension += 1;
    }
    all
}

/// A permutation of the bits in which only lower bits affect higher ones: Laine and Karras,
/// "Stratified Sampling for Stochastic Transparency" (2011), section 3.1, with the rounds of
/// Vegdahl, "Building a Better LK Hash" (2021). On reversed bits it is Owen's nested scramble in
/// base 2: Burley, "Practical Hash-based Owen Scrambling" (JCGT 9(4), 2020), section 2.2.
#[must_use]
#[inline]
pub const fn laine_karras(mut x: u32, seed: u32) -> u32 {
    x ^= x.wrapping_mul(0x3d20_adea);
    x = x.wrapping_add(seed);
    x = x.wrapping_mul((seed >> 16) | 1);
    x ^= x.wrapping_mul(0x0552_6c56);
    x ^= x.wrapping_mul(0x53a2_2864);
    x
}
