//! Uniform numbers that a log can reproduce.

use std::fmt;
use std::num::NonZeroU64;

use sha2::{Digest as _, Sha256};

use crate::digest::Digest;

/// A secret or public seed that is written to the log, from which each case gets its own uniform
/// number: `HMAC-SHA256(seed, case id)`.
///
/// This is the only source of the random part of smoothed p-values and of the assignment of cases
/// to folds: whoever has the seed and the case ids gets the same numbers again, in any order and on
/// any platform. The seed must be fixed before scores are looked at.
///
/// Held as the key block of the code, which fills a seed up with zero bytes and hashes one of more than
/// 64 bytes: seeds that differ in zero bytes at their end alone are one seed.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::LoggedSeed;
///
/// let seed = LoggedSeed::new("2026-08-04 mission 7");
/// assert_eq!(seed.uniform("case-1"), LoggedSeed::new("2026-08-04 mission 7").uniform("case-1"));
/// assert_ne!(seed.uniform("case-1"), seed.uniform("case-2"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct LoggedSeed([u8; BLOCK]);

/// The block length of SHA-256 in bytes.
const BLOCK: usize = 64;

impl LoggedSeed {
    /// The seed with these bytes.
    pub fn new(seed: impl AsRef<[u8]>) -> Self {
        let seed = seed.as_ref();
        let mut block = [0_u8; BLOCK];
        if seed.len() > BLOCK {
            block[..32].copy_from_slice(&Sha256::digest(seed));
        } else {
            block[..seed.len()].copy_from_slice(seed);
        }
        Self(block)
    }

    /// The uniform number of a case, strictly between 0 and 1: the first 52 bits of the code `c`,
    /// as `(c + 1/2) / 2^52`.
    pub fn uniform(&self, case: &str) -> f64 {
        // Exact: 53 significant bits.
        ((self.first_word(case.as_bytes()) >> 12) as f64 + 0.5) * 2.0_f64.powi(-52)
    }

    /// The whole number below `limit` that belongs to `message`, each about equally likely:
    /// `floor(c limit / 2^64)` of the first 64 bits `c` of the code. The probability of a number
    /// differs from `1 / limit` by less than `2^-64`. Allocates nothing.
    ///
    /// Messages of two purposes are kept apart by whoever writes them, as by a first word.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use safecommit_conformal::LoggedSeed;
    ///
    /// let three = NonZeroU64::new(3).unwrap();
    /// let drawn = LoggedSeed::new("run 1").below(b"which probe, step 0", three);
    /// assert!(drawn < 3);
    /// assert_eq!(drawn, LoggedSeed::new("run 1").below(b"which probe, step 0", three));
    /// ```
    pub fn below(&self, message: &[u8], limit: NonZeroU64) -> u64 {
        let wide = u128::from(self.first_word(message)) * u128::from(limit.get());
        (wide >> 64) as u64
    }

    /// What tells this seed from others without giving it away: the code of `safecommit seed fingerprint`.
    /// Allocates nothing.
    ///
    /// ```
    /// use safecommit_conformal::LoggedSeed;
    ///
    /// let print = LoggedSeed::new("run 1").fingerprint();
    /// assert_eq!(print, LoggedSeed::new("run 1").fingerprint());
    /// assert_ne!(print, LoggedSeed::new("run 2").fingerprint());
    /// ```
    pub fn fingerprint(&self) -> Digest {
        Digest::from(self.code(b"safecommit seed fingerprint"))
    }

    /// The first 64 bits of the code of `message`, the most significant byte first.
    fn first_word(&self, message: &[u8]) -> u64 {
        self.code(message)
            .iter()
            .take(8)
            .fold(0_u64, |word, byte| word << 8 | u64::from(*byte))
    }

    /// HMAC-SHA256 (RFC 2104) of `message`.
    fn code(&self, message: &[u8]) -> [u8; 32] {
        let hashed = |pad: u8, message: &[u8]| {
            Sha256::new()
                .chain_update(self.0.map(|byte| byte ^ pad))
                .chain_update(message)
                .finalize()
        };
        let inner = hashed(0x36, message);
        hashed(0x5C, &inner).into()
    }
}

impl fmt::Debug for LoggedSeed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Where a seed is to be kept from those who choose case ids, it stays out of messages.
        formatter.write_str("LoggedSeed(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(key: &[u8], message: &[u8], expect: &str) {
        let code: String = LoggedSeed::new(key)
            .code(message)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(code, expect);
    }

    #[test]
    fn codes_are_those_of_rfc_4231() {
        check(
            b"Jefe",
            b"what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        );
        check(
            &[0xAA; 131],
            b"Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
        );
    }

    #[test]
    fn numbers_are_uniform() {
        let seed = LoggedSeed::new("test");
        let mut counts = [0_u32; 10];
        for case in 0..20_000 {
            let u = seed.uniform(&case.to_string());
            assert!(0.0 < u && u < 1.0);
            counts[(u * 10.0) as usize] += 1;
        }
        // Chi-squared with 9 degrees of freedom exceeds 33.7 once in 10,000.
        let distance: f64 = counts
            .iter()
            .map(|c| (f64::from(*c) - 2e3).powi(2) / 2e3)
            .sum();
        assert!(distance < 33.7, "{counts:?}");
    }

    #[test]
    fn whole_numbers_are_uniform_and_below_their_limit() {
        let seed = LoggedSeed::new("test");
        let seven = NonZeroU64::new(7).unwrap();
        let mut counts = [0_u32; 7];
        for case in 0..14_000_u32 {
            counts[seed.below(&case.to_be_bytes(), seven) as usize] += 1;
        }
        // Chi-squared with 6 degrees of freedom exceeds 27.9 once in 10,000.
        let distance: f64 = counts
            .iter()
            .map(|c| (f64::from(*c) - 2e3).powi(2) / 2e3)
            .sum();
        assert!(distance < 27.9, "{counts:?}");
        assert_eq!(seed.below(b"anything", NonZeroU64::MIN), 0);
    }

    #[test]
    fn seeds_are_told_apart() {
        assert_ne!(LoggedSeed::new("a"), LoggedSeed::new("b"));
        assert_ne!(LoggedSeed::new([7; 64]), LoggedSeed::new([7; 65]));
    }
}
