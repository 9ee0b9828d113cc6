//! What is known of a candidate action before any world is looked at.

use std::collections::BTreeMap;

/// A candidate action as policies see it: its name in the schema, who acts, on what, and the attributes that are the
/// same in every world. All others are facts.
///
/// An attribute that the schema declares takes its value from [`Self::with`], else from the fact of its name or of
/// the name given by [`Self::reading`]. So two actions with different targets can be judged in the same worlds:
///
/// ```
/// use safecommit_gate::ActionDescription;
///
/// let first = ActionDescription::new("delete", "agent", "run/latest").with("path", "run/latest");
/// let second = ActionDescription::new("delete", "agent", "run/old")
///     .with("path", "run/old")
///     .reading("kind", "kind_of_old");
/// assert_eq!((first.action(), second.resource()), ("delete", "run/old"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionDescription {
    pub(crate) action: String,
    pub(crate) principal: Party,
    pub(crate) resource: Party,
    pub(crate) constants: BTreeMap<String, AttributeValue>,
    pub(crate) facts: BTreeMap<String, String>,
    /// A prefix of attributes, and what follows the rest of the name in the fact's.
    pub(crate) named: BTreeMap<String, String>,
}

/// A principal or a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Party {
    pub(crate) id: String,
    pub(crate) of_type: Option<String>,
    pub(crate) groups: Vec<String>,
}

/// The value of an attribute that is the same in every world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeValue {
    /// A String in the schema, or a member of an enumerated entity type.
    Text(String),
    /// A Bool.
    Flag(bool),
    /// A Long.
    Number(i64),
}

impl ActionDescription {
    /// `action` is its name in the schema, `principal` and `resource` are the names of entities.
    #[must_use]
    pub fn new(
        action: impl Into<String>,
        principal: impl Into<String>,
        resource: impl Into<String>,
    ) -> Self {
        let party = |id| Party {
            id,
            of_type: None,
            groups: Vec::new(),
        };
        Self {
            action: action.into(),
            principal: party(principal.into()),
            resource: party(resource.into()),
            constants: BTreeMap::new(),
            facts: BTreeMap::new(),
            named: BTreeMap::new(),
        }
    }

    /// Gives an attribute of principal, resource or context a value for every world.
    #[must_use]
    pub fn with(mut self, attribute: impl Into<String>, value: impl Into<AttributeValue>) -> Self {
        self.constants.insert(attribute.into(), value.into());
        self
    }

    /// Lets an attribute take its value from a fact of another name.
    #[must_use]
    pub fn reading(mut self, attribute: impl Into<String>, fact: impl Into<String>) -> Self {
        self.facts.insert(attribute.into(), fact.into());
        self
    }

    /// Lets every attribute whose name begins with `prefix` take its value from the fact that is named by the rest and
    /// `suffix`, if there is one; of several prefixes the longest counts. So the attributes of one thing among several
    /// need not be listed, and a schema may leave any of them out.
    ///
    /// ```
    /// use safecommit_gate::ActionDescription;
    ///
    /// // `kind` from the fact `kind`, `destination_kind` from the fact `kind_2`.
    /// let moved = ActionDescription::new("move", "agent", "run/latest").reading_each("destination_", "_2");
    /// # let _ = moved;
    /// ```
    #[must_use]
    pub fn reading_each(mut self, prefix: impl Into<String>, suffix: impl Into<String>) -> Self {
        self.named.insert(prefix.into(), suffix.into());
        self
    }

    /// The fact that an attribute takes its value from, unless [`reading`](Self::reading) names one.
    pub(crate) fn fact_of(&self, attribute: &str) -> String {
        let longest = self
            .named
            .iter()
            .filter_map(|(prefix, suffix)| {
                Some((
                    prefix.len(),
                    attribute.strip_prefix(prefix.as_str())?,
                    suffix,
                ))
            })
            .max_by_key(|(length, ..)| *length);
        longest.map_or_else(
            || attribute.to_owned(),
            |(_, rest, suffix)| format!("{rest}{suffix}"),
        )
    }

    /// The types of principal and resource; needed only where the schema lets the action apply to several.
    #[must_use]
    pub fn of_types(mut self, principal: impl Into<String>, resource: impl Into<String>) -> Self {
        self.principal.of_type = Some(principal.into());
        self.resource.of_type = Some(resource.into());
        self
    }

    /// Puts the principal into a group, written as in a policy (`Team::"builders"`). Groups of the group have to be
    /// named too.
    #[must_use]
    pub fn principal_in(mut self, group: impl Into<String>) -> Self {
        self.principal.groups.push(group.into());
        self
    }

    /// Puts the resource into a group, as [`Self::principal_in`].
    #[must_use]
    pub fn resource_in(mut self, group: impl Into<String>) -> Self {
        self.resource.groups.push(group.into());
        self
    }

    /// The action's name in the schema.
    #[must_use]
    pub fn action(&self) -> &str {
        &self.action
    }

    /// The name of the resource.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.resource.id
    }
}

impl From<&str> for AttributeValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for AttributeValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for AttributeValue {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<i64> for AttributeValue {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl std::fmt::Display for AttributeValue {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => out.write_str(text),
            Self::Flag(flag) => write!(out, "{flag}"),
            Self::Number(number) => write!(out, "{number}"),
        }
    }
}
