//! Safety maps as Cedar policies: Gamma(omega) is what the policies permit in the world omega.

mod action;
mod attribute;
mod bind;
mod error;
mod evaluate;
mod fit;
mod limits;
mod load;
mod memory;
mod place;
mod reads;
mod schema;
mod table;
mod three_valued;

use std::sync::Arc;

pub use action::{ActionDescription, AttributeValue};
pub(crate) use bind::MapAnswers;
pub use bind::SafetyMap;
pub use error::{BindError, ForeignWorld, PolicyError};
pub use place::Place;
pub use table::{Blocker, SafetyTable};
pub(crate) use three_valued::{Judge, Part, Reason, Reasons, Verdict};

use crate::support::Splits;
use reads::Reads;

/// A text with the name that errors call it by, such as its file name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyText<'t> {
    /// The name.
    pub name: &'t str,
    /// The text.
    pub text: &'t str,
}

/// The policies for file actions that come with this crate.
pub const FILE_POLICIES: PolicyText<'static> = PolicyText {
    name: "files.cedar",
    text: include_str!("../policies/files.cedar"),
};

/// The schema of [`FILE_POLICIES`]: actions `delete`, `move`, `overwrite` and `write`, and the attributes of their
/// targets.
pub const FILE_SCHEMA: PolicyText<'static> = PolicyText {
    name: "files.cedarschema",
    text: include_str!("../policies/files.cedarschema"),
};

/// Cedar policies, each validated against a schema, from which safety maps are made.
///
/// The safety map Gamma of Akewar and Ranjan, arXiv:2608.04289, section 3, says which actions are safe in a world.
/// Here an action is safe in a world if Cedar permits it there (some `permit` applies and no `forbid`) and no policy
/// fails: Cedar itself passes over a policy that fails, which would let an action through because of the very rule
/// that should have stopped it.
///
/// Facts become attributes: wherever the schema declares an attribute of a fact's name, for the principal, the
/// resource or the context of the action, it has the fact's value. An attribute's type can be an enumerated entity
/// type with the fact's values as members (then a policy that misspells one is refused), `String`, or `Bool` for a
/// fact with the values `yes` and `no` (or `true` and `false`).
///
/// ```
/// use safecommit_gate::{ActionDescription, Fact, Facts, PolicyText, SafetyPolicies};
///
/// let schema = PolicyText {
///     name: "links.cedarschema",
///     text: r#"
///         entity Kind enum ["file", "link"];
///         entity Agent;
///         entity Entry = { kind: Kind, dirty: Bool };
///         action delete, inspect appliesTo { principal: [Agent], resource: [Entry] };
///     "#,
/// };
/// let policies = PolicyText {
///     name: "links.cedar",
///     text: r#"
///         @id("any") permit(principal, action, resource);
///         @id("link") forbid(principal, action == Action::"delete", resource)
///         when { resource.kind == Kind::"link" };
///     "#,
/// };
/// let policies = SafetyPolicies::load(&[policies], schema)?;
///
/// let facts = Facts::new([
///     Fact::new("kind", ["file", "link"])?,
///     Fact::new("dirty", ["no", "yes"])?,
/// ])?;
/// let map = policies.bind(&facts, &[
///     ActionDescription::new("delete", "agent", "run/latest"),
///     ActionDescription::new("inspect", "agent", "run/latest"),
/// ])?;
/// let worlds = [
///     facts.assignment([("kind", "file"), ("dirty", "no")])?,
///     facts.assignment([("kind", "link"), ("dirty", "no")])?,
/// ];
/// let table = map.evaluate(&worlds)?;
/// assert!(table.safe(0).eq([0, 1]));
/// assert!(table.safe(1).eq([1])); // what `Problem::add_world` takes
/// let why: Vec<String> = table.blockers(1, 0).map(|blocker| blocker.to_string()).collect();
/// assert_eq!(why, ["policy `link` forbids it"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SafetyPolicies(Arc<Loaded>);

#[derive(Debug)]
struct Loaded {
    schema: cedar_policy::Schema,
    declared: schema::Declared,
    /// The actions with their groups, which every evaluation needs.
    actions: cedar_policy::Entities,
    /// The principal and resource types to which each action applies.
    pairs: Vec<cedar_policy::RequestEnv>,
    policies: Vec<SafetyPolicy>,
    splits: Splits,
    /// To say where in it something stands.
    schema_name: String,
    schema_text: String,
    digest: [u8; 32],
}

/// One of the policies.
#[derive(Clone, Debug)]
pub struct SafetyPolicy {
    id: String,
    policy: cedar_policy::Policy,
    alone: cedar_policy::PolicySet,
    actions: cedar_policy::ActionConstraint,
    reads: Reads,
    /// Its answers so far.
    memory: Arc<memory::Memory>,
}

impl SafetyPolicies {
    /// Parses the policies and the schema and validates each policy against the schema, strictly. A policy is called
    /// by its `@id`; one without is called by the name of its text and its number in it, from 1 (`files.cedar#3`).
    ///
    /// # Errors
    ///
    /// [`PolicyError`], with the policy and the place: for what does not parse; for an attribute, an action, an
    /// enumerated value or a type that the schema does not declare; for what Cedar warns of, since a policy that can
    /// never apply, or that mixes look-alike letters, protects nothing; for templates and for ids that stand twice;
    /// for brackets nested more than 100 deep and policies with more than 1,000 operators.
    pub fn load(policies: &[PolicyText<'_>], schema: PolicyText<'_>) -> Result<Self, PolicyError> {
        limits::with_room(|| load::load(policies, schema)).map(|loaded| Self(Arc::new(loaded)))
    }

    /// The policies for file actions that come with this crate: [`FILE_POLICIES`] under [`FILE_SCHEMA`].
    ///
    /// # Errors
    ///
    /// None that a test does not exclude; the type is that of [`Self::load`].
    pub fn for_files() -> Result<Self, PolicyError> {
        Self::load(&[FILE_POLICIES], FILE_SCHEMA)
    }

    /// The safety map of these actions over these facts.
    ///
    /// # Errors
    ///
    /// [`BindError`] if facts and actions do not give every attribute that the schema requires a value of its type.
    pub fn bind(
        &self,
        facts: &crate::Facts,
        actions: &[ActionDescription],
    ) -> Result<SafetyMap, BindError> {
        SafetyMap::bind(self, facts, actions)
    }

    /// Whether the schema declares an action of this name.
    #[must_use]
    pub fn declares(&self, action: &str) -> bool {
        self.0
            .schema
            .actions()
            .any(|uid| bind::is_called(uid, action))
    }

    /// SHA-256 of the texts and their names, in their order, the schema last: the version of the policies, for
    /// records of what was decided under them and for certificates that hold under no others.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        self.0.digest
    }

    /// The [digest](Self::digest) in hexadecimal.
    #[must_use]
    pub fn version(&self) -> String {
        let digest = self.0.digest.iter();
        digest.map(|byte| format!("{byte:02x}")).collect()
    }

    /// The policies, in the order in which they are written.
    #[must_use]
    pub fn policies(&self) -> &[SafetyPolicy] {
        &self.0.policies
    }
}

impl SafetyPolicy {
    /// The `@id`, or the name of the text and the policy's number in it.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The text of an annotation: `advice` for `@advice("...")`.
    #[must_use]
    pub fn annotation(&self, name: &str) -> Option<&str> {
        self.policy.annotation(name)
    }

    /// Whether the policy forbids; it permits otherwise.
    #[must_use]
    pub fn forbids(&self) -> bool {
        self.policy.effect() == cedar_policy::Effect::Forbid
    }
}
