//! What is random in the corpus: one stream for each family and number, the same everywhere.

use rand::SeedableRng as _;
use rand::rand_core::Rng as _;
use rand::rngs::ChaCha8Rng;
use sha2::{Digest as _, Sha256};

/// A stream of random choices.
pub(crate) struct Draw {
    words: ChaCha8Rng,
    drawn: usize,
}

const WORDS: [&str; 16] = [
    "run", "build", "cache", "out", "report", "data", "draft", "notes", "model", "table", "figure",
    "result", "sample", "batch", "index", "plan",
];

impl Draw {
    /// The stream of one number of a family.
    pub(crate) fn new(family: &str, index: usize) -> Self {
        let key = Sha256::digest(format!("safecommit-gate corpus 1/{family}").as_bytes());
        let mut words = ChaCha8Rng::from_seed(key.into());
        words.set_stream(index as u64);
        Self { words, drawn: 0 }
    }

    /// A number below `bound`, which is small; the bias of the remainder does not matter here.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.words.next_u64() % bound as u64).unwrap()
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// A name that this stream gives once.
    pub(crate) fn name(&mut self) -> String {
        self.drawn += 1;
        let (word, number) = (*self.pick(&WORDS), self.below(256));
        format!("{word}-{number:02x}{}", self.drawn)
    }

    /// Some lines that no other file has.
    pub(crate) fn text(&mut self) -> String {
        let lines = 1 + self.below(4);
        let line = |_| format!("{:016x}\n", self.words.next_u64());
        (0..lines).map(line).collect()
    }
}
