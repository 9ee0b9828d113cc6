//! Random numbers whose values are part of the frozen data.
//!
//! Everything drawn comes from ChaCha8 (64-bit block counter from 0, 64-bit stream number), read as
//! little-endian 64-bit words in order. The samplers are written out here, because the values that a
//! library's samplers give may change in any of its releases and these may not.

use rand::SeedableRng as _;
use rand::rand_core::Rng as _;
use rand::rngs::ChaCha8Rng;
use sha2::{Digest as _, Sha256};

/// The key of one family of streams: who draws, for which split, for which purpose.
///
/// The key is SHA-256 of the UTF-8 text `safecommitbench-controlled/1/SUITE/SEED/SPLIT/PURPOSE`, the seed in
/// decimal. Different texts give unrelated streams, so suites, seeds, splits and purposes are disjoint.
///
/// ```
/// use safecommit_bench::StreamKey;
///
/// let key = StreamKey::derive("frozen", 1, "test", "worlds");
/// assert_ne!(key, StreamKey::derive("frozen", 2, "test", "worlds"));
/// let first = key.stream(17).next_u64();
/// assert_eq!(first, key.stream(17).next_u64());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamKey([u8; 32]);

impl StreamKey {
    /// Derives the key for a suite, seed, split and purpose.
    #[must_use]
    pub fn derive(suite: &str, seed: u64, split: &str, purpose: &str) -> Self {
        let text = format!("safecommitbench-controlled/1/{suite}/{seed}/{split}/{purpose}");
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// The stream numbered `index` under this key, from its beginning.
    #[must_use]
    pub fn stream(&self, index: u64) -> RandomStream {
        let mut generator = ChaCha8Rng::from_seed(self.0);
        generator.set_stream(index);
        RandomStream(generator)
    }

    /// The 32 bytes of the key.
    #[must_use]
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// A stream of random 64-bit words and the samplers that read it.
#[derive(Debug)]
pub struct RandomStream(ChaCha8Rng);

impl RandomStream {
    /// The next 64-bit word: two consecutive 32-bit ChaCha words, the lower half first.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform number in [0, 1): the top 53 bits of one word, times 2^-53.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        const SCALE: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.next_u64() >> 11) as f64 * SCALE
    }

    /// Whether an event of this probability happens: one uniform number below it. 0 never, 1 always.
    #[inline]
    pub fn happens(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// A uniform integer in `0..bound`, without bias; 0 when `bound` is 0 or 1.
    ///
    /// With x one word and m = x * bound in 128 bits, the result is m / 2^64. The word is drawn again while
    /// m mod 2^64 is below 2^64 mod bound (Lemire, "Fast random integer generation in an interval", 2019).
    /// At least one word is drawn, whatever the bound, so that what follows does not depend on it.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        let mut product = u128::from(self.next_u64()) * u128::from(bound);
        if (product as u64) < bound {
            let remainder = bound.wrapping_neg() % bound;
            while (product as u64) < remainder {
                product = u128::from(self.next_u64()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// A uniform index in `0..bound`; see [`RandomStream::below`].
    #[inline]
    pub fn index_below(&mut self, bound: usize) -> usize {
        // The result is below `bound`, which came from a usize.
        self.below(bound as u64) as usize
    }

    /// A normal number with this mean and standard deviation, by Marsaglia's polar method.
    ///
    /// Draw u = 2 U - 1 and v = 2 V - 1 until 0 < s = u^2 + v^2 < 1; the result is
    /// mean + sd * (u * sqrt(-2 ln(s) / s)). The second number that the method could give is not kept, so that
    /// the sampler has no state. ln is `libm`'s: the standard library's differs between platforms.
    #[inline]
    pub fn normal(&mut self, mean: f64, sd: f64) -> f64 {
        loop {
            let u = 2.0 * self.uniform() - 1.0;
            let v = 2.0 * self.uniform() - 1.0;
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                return mean + sd * (u * (-2.0 * libm::log(s) / s).sqrt());
            }
        }
    }
}
