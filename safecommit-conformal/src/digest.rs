//! SHA-256 digests in hexadecimal.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::score::CalibrationScore;

/// A SHA-256 digest. Text and JSON form: 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of a list of scores in the order given.
    ///
    /// Each score contributes the eight bytes of its IEEE 754 double, least significant first
    /// (0.0 for -0.0), and a missing score contributes eight bytes 0xFF, which are no finite
    /// number. Nothing precedes or separates them.
    ///
    /// # Examples
    ///
    /// ```
    /// use safecommit_conformal::Digest;
    ///
    /// let empty = Digest::of_scores(&[]).to_string();
    /// assert!(empty.starts_with("e3b0c44298fc1c14"));
    /// ```
    pub fn of_scores(scores: &[CalibrationScore]) -> Self {
        let mut hasher = Sha256::new();
        let mut buffer = Vec::with_capacity(8 * BATCH);
        for batch in scores.chunks(BATCH) {
            buffer.clear();
            for score in batch {
                let bits = score
                    .observed()
                    .map_or(u64::MAX, |score| score.value().to_bits());
                buffer.extend_from_slice(&bits.to_le_bytes());
            }
            hasher.update(&buffer);
        }
        Self(hasher.finalize().into())
    }

    /// The digest of some bytes.
    ///
    /// ```
    /// use safecommit_conformal::Digest;
    ///
    /// let empty = Digest::of_bytes(b"");
    /// assert_eq!(empty, Digest::of_scores(&[]));
    /// assert_eq!(empty.to_string().parse(), Ok(empty));
    /// ```
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of a sequence of 64-bit words, least significant byte first.
    pub(crate) fn of_words(words: impl IntoIterator<Item = u64>) -> Self {
        let mut hasher = Sha256::new();
        for word in words {
            hasher.update(word.to_le_bytes());
        }
        Self(hasher.finalize().into())
    }

    /// The 32 bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Scores that are hashed at a time: large enough to make the calls negligible.
const BATCH: usize = 1024;

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            write!(formatter, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(input: &str) -> Result<Self, DigestError> {
        let error = || DigestError {
            input: input.to_owned(),
        };
        let digits = input.as_bytes();
        if digits.len() != 64 {
            return Err(error());
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            for digit in pair {
                let value = match digit {
                    b'0'..=b'9' => digit - b'0',
                    b'a'..=b'f' => digit - b'a' + 10,
                    _ => return Err(error()),
                };
                *byte = *byte << 4 | value;
            }
        }
        Ok(Self(bytes))
    }
}

impl From<[u8; 32]> for Digest {
    /// The digest with these bytes, computed elsewhere.
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl TryFrom<String> for Digest {
    type Error = DigestError;

    fn try_from(input: String) -> Result<Self, DigestError> {
        input.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

/// A text that is not a [`Digest`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("digest `{input}` is not 64 lower-case hexadecimal digits")]
pub struct DigestError {
    /// The text as given.
    input: String,
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Digest {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Digest".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "SHA-256 in lower-case hexadecimal",
            "pattern": "^[0-9a-f]{64}$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Score;

    #[test]
    fn the_bytes_are_as_documented() {
        let scores = [
            CalibrationScore::Observed(Score::new(1.5).unwrap()),
            CalibrationScore::Missing,
            CalibrationScore::Observed(Score::new(-0.0).unwrap()),
        ];
        // sha256sum of 000000000000f83f ffffffffffffffff 0000000000000000
        let expect = "b2645386f821716c0ff7c69fff10274494c82a2e0a6b05259f743c1997c2ea1f";
        assert_eq!(Digest::of_scores(&scores).to_string(), expect);
    }

    #[test]
    fn a_batch_boundary_changes_nothing() {
        let scores = vec![CalibrationScore::Missing; 2 * BATCH + 1];
        let whole = Digest(Sha256::digest(vec![0xFF; 8 * scores.len()]).into());
        assert_eq!(Digest::of_scores(&scores), whole);
    }

    #[test]
    fn only_64_lower_case_digits_are_read() {
        let good = "0123456789abcdef".repeat(4);
        assert_eq!(good.parse::<Digest>().unwrap().to_string(), good);
        for bad in [
            "",
            &good[1..],
            &good.to_uppercase(),
            &good.replace('0', "g"),
            &"é".repeat(32),
        ] {
            assert!(bad.parse::<Digest>().is_err(), "`{bad}`");
        }
    }
}
