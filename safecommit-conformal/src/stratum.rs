//! Groups of cases in a tree.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A group of cases, as a path of labels from the whole to the part: for example action family,
/// then severity, then source.
///
/// Text and JSON form: the labels joined with `/`, such as `delete/high/memory`; the empty text is
/// the group of all cases. A label is not empty and has neither `/` nor control characters.
///
/// Which stratum a case belongs to must follow from what is known before its true world is.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::Stratum;
///
/// let secrets: Stratum = "secret_access/high".parse()?;
/// assert!(Stratum::ALL.contains(&secrets));
/// assert!("secret_access".parse::<Stratum>()?.contains(&secrets));
/// assert!(!"secret".parse::<Stratum>()?.contains(&secrets));
/// # Ok::<(), safecommit_conformal::StratumError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Stratum(Vec<String>);

impl Stratum {
    /// The group of all cases.
    pub const ALL: Self = Self(Vec::new());

    /// The labels, from the whole to the part.
    pub fn labels(&self) -> &[String] {
        &self.0
    }

    /// The smallest group that contains this one and is larger; `None` for all cases.
    pub fn parent(&self) -> Option<Self> {
        let (_, labels) = self.0.split_last()?;
        Some(Self(labels.to_vec()))
    }

    /// Whether every case of `other` is a case of this one.
    pub fn contains(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    /// This group, then those that contain it, up to all cases.
    pub(crate) fn ancestry(&self) -> impl Iterator<Item = Self> {
        std::iter::successors(Some(self.clone()), Self::parent)
    }

    pub(crate) fn to_path(&self) -> String {
        self.0.join("/")
    }
}

impl fmt::Display for Stratum {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            formatter.pad("all cases")
        } else {
            formatter.pad(&self.to_path())
        }
    }
}

impl FromStr for Stratum {
    type Err = StratumError;

    fn from_str(input: &str) -> Result<Self, StratumError> {
        if input.is_empty() {
            return Ok(Self::ALL);
        }
        let labels: Vec<String> = input.split('/').map(str::to_owned).collect();
        let bad = |label: &String| label.is_empty() || label.chars().any(char::is_control);
        if labels.iter().any(bad) {
            return Err(StratumError {
                input: input.to_owned(),
            });
        }
        Ok(Self(labels))
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
        stratum.to_path()
    }
}

/// A text that is not a [`Stratum`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("stratum `{input}` has an empty label or a control character")]
pub struct StratumError {
    /// The text as given.
    input: String,
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
            "pattern": format!("^({label}(/{label})*)?$")
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
    fn containment_is_by_whole_labels() {
        let stratum = |path: &str| path.parse::<Stratum>().unwrap();
        assert!(stratum("a").contains(&stratum("a")));
        assert!(!stratum("a/b").contains(&stratum("a")));
        assert!(!stratum("a").contains(&stratum("ab")));
        let up: Vec<String> = stratum("a/b").ancestry().map(String::from).collect();
        assert_eq!(up, ["a/b", "a", ""]);
    }
}
