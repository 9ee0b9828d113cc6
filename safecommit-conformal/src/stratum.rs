//! Groups of cases in a tree.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A group of cases, as a path of labels from the whole to the part: for example action family,
/// then severity, then source.
///
/// Text and JSON form: the labels joined with `/`, such as `delete/high/memory`; the empty text is
/// the group of all cases. A label is not empty and has neither `/` nor control characters. There are at most
/// [`Stratum::MAX_LABELS`] of them, in a path of at most [`Stratum::MAX_BYTES`] bytes. Ordered label by label.
///
/// Which stratum a case belongs to must follow from what is known before its true world is.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::Stratum;
///
/// let secrets: Stratum = "secret_access/high".parse()?;
/// assert_eq!(secrets.labels().collect::<Vec<_>>(), ["secret_access", "high"]);
/// assert!(Stratum::ALL.contains(&secrets));
/// assert!("secret_access".parse::<Stratum>()?.contains(&secrets));
/// assert!(!"secret".parse::<Stratum>()?.contains(&secrets));
/// # Ok::<(), safecommit_conformal::StratumError>(())
/// ```
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Stratum {
    /// A path that begins with that of this stratum, shared with the groups that contain it.
    shared: Option<Arc<str>>,
    /// How much of it is the path: up to a `/`, or all.
    end: usize,
}

impl Stratum {
    /// The group of all cases.
    pub const ALL: Self = Self {
        shared: None,
        end: 0,
    };

    /// The most labels in a path.
    pub const MAX_LABELS: usize = 32;

    /// The longest path, in bytes.
    pub const MAX_BYTES: usize = 1024;

    /// The labels, from the whole to the part.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        let path = self.as_path();
        path.split('/').filter(|label| !label.is_empty())
    }

    /// The smallest group that contains this one and is larger; `None` for all cases.
    pub fn parent(&self) -> Option<Self> {
        if self.end == 0 {
            return None;
        }
        Some(match self.as_path().rfind('/') {
            Some(end) => Self {
                shared: self.shared.clone(),
                end,
            },
            None => Self::ALL,
        })
    }

    /// Whether every case of `other` is a case of this one.
    pub fn contains(&self, other: &Self) -> bool {
        let rest = other.as_path().strip_prefix(self.as_path());
        rest.is_some_and(|rest| self.end == 0 || rest.is_empty() || rest.starts_with('/'))
    }

    /// This group, then those that contain it, up to all cases. Copies no path.
    pub(crate) fn ancestry(&self) -> impl Iterator<Item = Self> {
        std::iter::successors(Some(self.clone()), Self::parent)
    }

    /// The labels joined with `/`.
    pub(crate) fn as_path(&self) -> &str {
        let shared = self.shared.as_deref().unwrap_or_default();
        shared.get(..self.end).unwrap_or_default()
    }

    /// The bytes of the path, in which the end of a label comes before all others: no label has a byte 0.
    fn key(&self) -> impl Iterator<Item = u8> {
        let bytes = self.as_path().bytes();
        bytes.map(|byte| if byte == b'/' { 0 } else { byte })
    }
}

impl PartialEq for Stratum {
    fn eq(&self, other: &Self) -> bool {
        self.as_path() == other.as_path()
    }
}

impl Eq for Stratum {}

impl Ord for Stratum {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(other.key())
    }
}

impl PartialOrd for Stratum {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Stratum {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_path().hash(state);
    }
}

impl fmt::Debug for Stratum {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("Stratum")
            .field(&self.as_path())
            .finish()
    }
}

impl fmt::Display for Stratum {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_path() {
            "" => formatter.pad("all cases"),
            path => formatter.pad(path),
        }
    }
}

impl FromStr for Stratum {
    type Err = StratumError;

    fn from_str(input: &str) -> Result<Self, StratumError> {
        if input.is_empty() {
            return Ok(Self::ALL);
        }
        if input.len() > Self::MAX_BYTES {
            return Err(StratumError::TooLong { bytes: input.len() });
        }
        let labels = input.split('/').count();
        if labels > Self::MAX_LABELS {
            let input = input.to_owned();
            return Err(StratumError::TooManyLabels { input, labels });
        }
        let bad = |label: &str| label.is_empty() || label.chars().any(char::is_control);
        if input.split('/').any(bad) {
            let input = input.to_owned();
            return Err(StratumError::Label { input });
        }
        Ok(Self {
            end: input.len(),
            shared: Some(input.into()),
        })
    }
}

impl TryFrom<String> for Stratum {
    type Error = StratumError;

    fn try_from(input: String) -> Result<Self, StratumError> {
        input.parse()
    }
}

impl From<Stratum> for String {
    fn from(stratum: Stratum) -> Self {
        stratum.as_path().to_owned()
    }
}

/// Why a text is not a [`Stratum`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StratumError {
    /// A label that is empty or has a control character.
    #[error("stratum `{input}` has an empty label or a control character")]
    Label {
        /// The text as given.
        input: String,
    },
    /// More labels than [`Stratum::MAX_LABELS`].
    #[error(
        "stratum `{input}` has `{labels}` labels, at most {} are allowed",
        Stratum::MAX_LABELS
    )]
    TooManyLabels {
        /// The text as given.
        input: String,
        /// How many labels it has.
        labels: usize,
    },
    /// A path longer than [`Stratum::MAX_BYTES`]; the message leaves it out.
    #[error(
        "a stratum of `{bytes}` bytes is too long, at most {} are allowed",
        Stratum::MAX_BYTES
    )]
    TooLong {
        /// The length of the text.
        bytes: usize,
    },
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Stratum {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Stratum".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let label = r"[^/\u0000-\u001f\u007f-\u009f]+";
        schemars::json_schema!({
            "type": "string",
            "description": "labels from the whole to the part, joined with `/`; empty for all cases",
            "maxLength": Self::MAX_BYTES,
            "pattern": format!("^({label}(/{label}){{0,{}}})?$", Self::MAX_LABELS - 1)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_and_written() {
        for path in ["", "a", "a/b", "a/b c/d"] {
            let stratum: Stratum = path.parse().unwrap();
            assert_eq!(String::from(stratum), path);
        }
        for bad in ["/", "a/", "/a", "a//b", "a\n"] {
            assert!(bad.parse::<Stratum>().is_err(), "`{bad}`");
        }
    }

    #[test]
    fn paths_are_bounded() {
        let deepest = ["a"; Stratum::MAX_LABELS].join("/");
        assert_eq!(
            deepest.parse::<Stratum>().unwrap().labels().count(),
            Stratum::MAX_LABELS
        );
        let input = format!("{deepest}/a");
        let error = input.parse::<Stratum>().unwrap_err();
        assert_eq!(error, StratumError::TooManyLabels { input, labels: 33 });
        let longest = "é".repeat(Stratum::MAX_BYTES / 2);
        assert!(longest.parse::<Stratum>().is_ok());
        let error = format!("{longest}a").parse::<Stratum>().unwrap_err();
        assert_eq!(error, StratumError::TooLong { bytes: 1025 });
        assert_eq!(
            error.to_string(),
            "a stratum of `1025` bytes is too long, at most 1024 are allowed"
        );
    }

    /// As lists of labels are ordered, which is not how texts are: `-` comes before `/`.
    #[test]
    fn order_is_by_labels() {
        let paths = ["", "a", "a/b", "a/b/c", "a/c", "a-b", "a-b/c", "a.", "b"];
        let strata: Vec<Stratum> = paths.iter().map(|path| path.parse().unwrap()).collect();
        assert!(strata.is_sorted(), "{strata:?}");
        for (one, other) in strata
            .iter()
            .flat_map(|one| strata.iter().map(move |other| (one, other)))
        {
            let labels = |stratum: &Stratum| -> Vec<String> {
                stratum.labels().map(str::to_owned).collect()
            };
            assert_eq!(one.cmp(other), labels(one).cmp(&labels(other)));
            assert_eq!(one == other, labels(one) == labels(other));
        }
    }

    #[test]
    fn containment_is_by_whole_labels() {
        let stratum = |path: &str| path.parse::<Stratum>().unwrap();
        assert!(stratum("a").contains(&stratum("a")));
        assert!(!stratum("a/b").contains(&stratum("a")));
        assert!(!stratum("a").contains(&stratum("ab")));
        let up: Vec<String> = stratum("a/b").ancestry().map(String::from).collect();
        assert_eq!(up, ["a/b", "a", ""]);
    }
}
