//! Random numbers as pure functions of a key: Threefry-2x32 with 20 rounds.
//!
//! `key`, `split`, `fold_in` and `uniform` give the numbers JAX gives with 64-bit types. The values
//! belong to the language and do not change within a major version.
//!
//! Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).

use crate::double;

/// The state a stream of random numbers is a function of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Key(pub u32, pub u32);

impl Key {
    /// The key of a seed.
    #[must_use]
    pub fn new(seed: i64) -> Key {
        let bits = seed as u64;
        Key((bits >> 32) as u32, bits as u32)
    }

    /// The two words as one, the first in the upper half.
    #[must_use]
    pub fn to_bits(self) -> u64 {
        u64::from(self.0) << 32 | u64::from(self.1)
    }

    /// The inverse of [`Key::to_bits`].
    #[must_use]
    pub fn from_bits(bits: u64) -> Key {
        Key((bits >> 32) as u32, bits as u32)
    }

    /// Two keys that are independent of each other and of this one.
    #[must_use]
    pub fn split(self) -> (Key, Key) {
        (self.at(0), self.at(1))
    }

    /// A key made from this one and a number.
    #[must_use]
    pub fn fold_in(self, data: i64) -> Key {
        self.at(data as u64)
    }

    /// The key with number `i` of a split into many.
    #[must_use]
    pub fn at(self, i: u64) -> Key {
        let (a, b) = threefry(self, ((i >> 32) as u32, i as u32));
        Key(a, b)
    }

    /// The 64 random bits with number `i`.
    #[must_use]
    pub fn bits(self, i: u64) -> u64 {
        self.at(i).to_bits()
    }

    /// Number `i` of a uniform sequence on `[0, 1)`, a multiple of 2^-52.
    #[must_use]
    pub fn uniform(self, i: u64) -> f64 {
        f64::from_bits(self.bits(i) >> 12 | 0x3FF0_0000_0000_0000) - 1.0
    }

    /// Number `i` of a uniform sequence of singles on `[0, 1)`, a multiple of 2^-23.
    #[must_use]
    pub fn uniform_f32(self, i: u64) -> f32 {
        let Key(a, b) = self.at(i);
        f32::from_bits((a ^ b) >> 9 | 0x3F80_0000) - 1.0
    }

    /// Number `i` of a standard normal sequence: `sqrt2 erf_inv(u)`, `u` uniform on `(-1, 1)`.
    #[must_use]
    pub fn normal(self, i: u64) -> f64 {
        // The double just above -1, so that the result is finite.
        let low = (-1.0_f64).next_up();
        let u = (self.uniform(i) * (1.0 - low) + low).max(low);
        std::f64::consts::SQRT_2 * double::erf_inv(u)
    }

    /// Number `i` of a uniform sequence of whole numbers on `[0, n)`; 0 where `n` is below 1.
    ///
    /// The high half of the product of the bits and `n`: the bias is below `n / 2^64`.
    #[must_use]
    pub fn below(self, i: u64, n: i64) -> i64 {
        if n < 1 {
            return 0;
        }
        ((u128::from(self.bits(i)) * u128::from(n.unsigned_abs())) >> 64) as i64
    }
}

const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];

/// Encrypts a counter under a key.
fn threefry(Key(k0, k1): Key, (c0, c1): (u32, u32)) -> (u32, u32) {
    let ks = [k0, k1, k0 ^ k1 ^ 0x1BD1_1BDA];
    let (mut x0, mut x1) = (c0.wrapping_add(ks[0]), c1.wrapping_add(ks[1]));
    for group in 0..5_usize {
        for r in ROTATIONS[group % 2] {
            x0 = x0.wrapping_add(x1);
            x1 = x1.rotate_left(r) ^ x0;
        }
        x0 = x0.wrapping_add(ks[(group + 1) % 3]);
        x1 = x1.wrapping_add(ks[(group + 2) % 3]).wrapping_add(group as u32 + 1);
    }
    (x0, x1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers_of_random123() {
        assert_eq!(
            threefry(Key(0x1319_8a2e, 0x0370_7344), (0x243f_6a88, 0x85a3_08d3)),
            (0xc492_3a9c, 0x483d_f7a0)
        );
        assert_eq!(threefry(Key(0, 0), (0, 0)), (0x6b20_0159, 0x99ba_4efe));
        let ones = u32::MAX;
        assert_eq!(threefry(Key(ones, ones), (ones, ones)), (0x1cb9_96fc, 0xbb00_2be7));
    }

    #[test]
    fn keys_equal_those_of_jax() {
        let key = Key::new(42);
        assert_eq!(key.split(), (Key(1_832_780_943, 270_669_613), Key(64_467_757, 2_916_123_636)));
        assert_eq!(key.fold_in(7), Key(2_547_012_911, 1_371_500_959));
        assert_eq!(Key::from_bits(key.to_bits()), key);
    }

    #[test]
    fn uniforms_equal_those_of_jax() {
        let want: [f64; 4] = [
            0.426_727_566_649_909_1,
            0.015_010_069_515_314_584,
            0.574_144_417_899_535_2,
            0.729_818_896_904_630_9,
        ];
        for (i, want) in want.into_iter().enumerate() {
            assert_eq!(Key::new(42).uniform(i as u64).to_bits(), want.to_bits());
        }
    }

    #[test]
    fn normals_agree_with_jax() {
        // The two inverse error functions differ in the last digits.
        let want = [-0.184_711_745_281_911_62, -2.169_824_560_397_754, 0.186_935_551_793_825_82];
        for (i, want) in want.into_iter().enumerate() {
            let got = Key::new(42).normal(i as u64);
            assert!((got - want).abs() <= 1e-14 * want.abs(), "{got} is not {want}");
        }
    }

    #[test]
    fn below_stays_below() {
        let key = Key::new(1);
        assert!((0..1000).all(|i| (0..7).contains(&key.below(i, 7))));
        assert_eq!([key.below(0, 0), key.below(0, -3), key.below(0, 1)], [0; 3]);
    }
}
