//! The types of attributes that a schema declares.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use cedar_policy::EntityTypeName;
use serde::Deserialize;

/// The attributes of something, by name.
pub(crate) type Attributes = BTreeMap<String, Attribute>;

/// An attribute as the schema declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attribute {
    pub(crate) of: Arc<Type>,
    pub(crate) required: bool,
}

/// The types that an attribute can have here; any other is named so that it can be refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Text,
    Flag,
    Number,
    /// An enumerated entity type with its members.
    Enumeration {
        name: EntityTypeName,
        members: Vec<String>,
    },
    Other(String),
}

/// What a schema declares: attributes by entity type, context attributes by action (written out as in a policy).
#[derive(Clone, Debug, Default)]
pub(crate) struct Declared {
    pub(crate) entities: BTreeMap<String, Attributes>,
    pub(crate) contexts: BTreeMap<String, Attributes>,
    /// The entity types of which only some names exist.
    enumerated: BTreeSet<String>,
}

impl Declared {
    /// Whether only some names exist of an entity type.
    pub(crate) fn is_enumerated(&self, name: &EntityTypeName) -> bool {
        self.enumerated.contains(&name.to_string())
    }

    /// Reads the JSON form of a schema whose types are resolved.
    pub(crate) fn read(resolved: serde_json::Value) -> Result<Self, serde_json::Error> {
        let namespaces: BTreeMap<String, RawNamespace> = serde_json::from_value(resolved)?;
        let mut names = Names::default();
        for (namespace, raw) in &namespaces {
            for (name, of) in &raw.common_types {
                names.common.insert(qualified(namespace, name), of);
            }
            for (name, entity) in &raw.entity_types {
                if let Some(members) = &entity.members {
                    names
                        .enumerations
                        .insert(qualified(namespace, name), members);
                }
            }
        }
        let mut declared = Self {
            enumerated: names.enumerations.keys().cloned().collect(),
            ..Self::default()
        };
        for (namespace, raw) in &namespaces {
            for (name, entity) in &raw.entity_types {
                let attributes = entity.shape.as_ref().map(|shape| names.attributes(shape));
                let name = qualified(namespace, name);
                declared
                    .entities
                    .insert(name, attributes.unwrap_or_default());
            }
            for (name, action) in &raw.actions {
                let context = action
                    .applies_to
                    .as_ref()
                    .and_then(|to| to.context.as_ref());
                let attributes = context.map(|shape| names.attributes(shape));
                let kind = qualified(namespace, "Action");
                let uid = format!("{kind}::\"{}\"", name.escape_debug());
                declared
                    .contexts
                    .insert(uid, attributes.unwrap_or_default());
            }
        }
        Ok(declared)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => out.write_str("String"),
            Self::Flag => out.write_str("Bool (`yes` or `no`, `true` or `false`)"),
            Self::Number => out.write_str("Long"),
            Self::Enumeration { name, members } => write!(out, "{name} ({})", members.join(", ")),
            Self::Other(name) => out.write_str(name),
        }
    }
}

#[derive(Default)]
struct Names<'s> {
    common: BTreeMap<String, &'s RawType>,
    enumerations: BTreeMap<String, &'s Vec<String>>,
}

impl<'s> Names<'s> {
    /// Follows names of common types, of which Cedar allows no cycles.
    fn resolve(&self, of: &'s RawType) -> &'s RawType {
        let mut of = of;
        while let Some(next) = self.common.get(&of.kind) {
            of = next;
        }
        of
    }

    fn attributes(&self, record: &'s RawType) -> Attributes {
        let declared = self.resolve(record).attributes.iter();
        let attributes = declared.map(|(name, raw)| {
            let attribute = Attribute {
                of: Arc::new(self.type_of(raw)),
                required: raw.required.unwrap_or(true),
            };
            (name.clone(), attribute)
        });
        attributes.collect()
    }

    fn type_of(&self, raw: &'s RawType) -> Type {
        let raw = self.resolve(raw);
        match (raw.kind.trim_start_matches("__cedar::"), &raw.name) {
            ("String", _) => Type::Text,
            ("Bool" | "Boolean", _) => Type::Flag,
            ("Long", _) => Type::Number,
            ("Entity", Some(name)) => {
                let members = self.enumerations.get(name);
                match members.zip(EntityTypeName::from_str(name).ok()) {
                    Some((members, name)) => Type::Enumeration {
                        name,
                        members: (*members).clone(),
                    },
                    None => Type::Other(name.clone()),
                }
            }
            (other, _) => Type::Other(other.to_owned()),
        }
    }
}

fn qualified(namespace: &str, name: &str) -> String {
    if namespace.is_empty() {
        name.to_owned()
    } else {
        format!("{namespace}::{name}")
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawNamespace {
    #[serde(default)]
    common_types: BTreeMap<String, RawType>,
    #[serde(default)]
    entity_types: BTreeMap<String, RawEntity>,
    #[serde(default)]
    actions: BTreeMap<String, RawAction>,
}

#[derive(Deserialize)]
struct RawEntity {
    #[serde(default, rename = "enum")]
    members: Option<Vec<String>>,
    #[serde(default)]
    shape: Option<RawType>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawAction {
    #[serde(default)]
    applies_to: Option<RawApplication>,
}

#[derive(Deserialize)]
struct RawApplication {
    #[serde(default)]
    context: Option<RawType>,
}

#[derive(Deserialize)]
struct RawType {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    attributes: BTreeMap<String, RawType>,
    #[serde(default)]
    required: Option<bool>,
}
