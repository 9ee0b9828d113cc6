//! What a kind of actions brings to the gate: facts, beliefs, candidates and probes.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::fact::Facts;
use crate::policy::ActionDescription;
use crate::support::{Belief, Impossible};

/// A kind of actions, such as those on files: all that the gate needs to decide about candidates of this kind.
///
/// The gate asks for the [`Frame`] once a decision, then makes the probes that the controller chooses. What is safe is said
/// by policies, what is plausible by calibration, and what is decided by the controller; a domain knows none of these.
///
/// ```
/// use jiff::Timestamp;
/// use safecommit_gate::audit::UsedCalibration;
/// use safecommit_gate::{
///     ActionDescription, Answer, Asked, Belief, Candidate, Domain, DomainError, Fact, Facts, Frame, Gate, OfferedProbe,
///     PolicyText, SafetyPolicies, SideEffect, Terms,
/// };
/// use safecommit_core::DecisionKind;
///
/// /// Mail to one recipient, who may not be the right one any more.
/// struct Mail;
///
/// impl Domain for Mail {
///     fn family(&self) -> &str {
///         "mail"
///     }
///
///     fn frame(&mut self, _now: Timestamp) -> Result<Frame, DomainError> {
///         let recipient = Fact::new("recipient", ["current", "superseded"]).map_err(DomainError::new)?;
///         let strange = Terms { provenance_or_age: 0.6, ..Terms::NONE };
///         let belief = Belief::new(&recipient, [("superseded", strange), ("current", Terms::NONE)]);
///         Ok(Frame {
///             beliefs: vec![belief.map_err(DomainError::new)?],
///             facts: Facts::new([recipient]).map_err(DomainError::new)?,
///             candidates: vec![Candidate::new("send-1", ActionDescription::new("send", "agent", "note"))],
///             probes: vec![OfferedProbe::new("directory", SideEffect::AsksSystem, ["recipient"])],
///             ..Frame::default()
///         })
///     }
///
///     fn make(&mut self, _probe: usize) -> Answer {
///         Answer::Found(vec![("recipient".to_owned(), "current".to_owned())]) // a look into the directory
///     }
/// }
///
/// let schema = PolicyText { name: "mail.cedarschema", text: r#"
///     entity Recipient enum ["current", "superseded"];
///     entity Agent;
///     entity Message = { recipient: Recipient };
///     action send appliesTo { principal: [Agent], resource: [Message] };
/// "# };
/// let policies = PolicyText { name: "mail.cedar", text: r#"
///     @id("current") permit(principal, action, resource) when { resource.recipient == Recipient::"current" };
/// "# };
/// let gate = Gate::new(SafetyPolicies::load(&[policies], schema)?);
/// let now = "2026-03-01T12:00:00Z".parse()?;
/// let decided = gate.decide(&mut Mail, &Asked::new("note-17"), UsedCalibration::None, now)?;
/// assert_eq!(decided.record().decision, DecisionKind::Commit);
/// assert_eq!(decided.record().observed[0].outcome.as_deref(), Some("recipient=current"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Domain {
    /// The name of the family of actions.
    fn family(&self) -> &str;

    /// What is to be decided, as the evidence has it at `now`.
    ///
    /// # Errors
    ///
    /// [`DomainError`]; the decision then falls back with that reason.
    fn frame(&mut self, now: Timestamp) -> Result<Frame, DomainError>;

    /// Makes the probe at a position of the frame. Whatever goes wrong is an answer.
    fn make(&mut self, probe: usize) -> Answer;
}

/// What is to be decided.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// The facts that can change whether a candidate is safe.
    pub facts: Facts,
    /// What the evidence says of each, in the order of the facts.
    pub beliefs: Vec<Belief>,
    /// Values that cannot be together.
    pub impossible: Vec<Impossible>,
    /// The names of facts about who may decide: where only these stand in the way, somebody with authority is asked.
    pub authority: Vec<String>,
    /// The candidate actions.
    pub candidates: Vec<Candidate>,
    /// The probes that may be made.
    pub probes: Vec<OfferedProbe>,
}

/// A candidate action.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its name in records.
    pub id: String,
    /// What policies see of it.
    pub description: ActionDescription,
    /// What succeeding is worth: finite.
    pub reward: f64,
    /// How grave its side effect is: finite, at least zero.
    pub severity: f64,
    /// Whether its effect can be undone in every world.
    pub reversible: bool,
    /// Why it is not safe in any world, whatever policies say; `None` if that is for them to say.
    pub refused: Option<String>,
}

/// What making a probe may do, from the least to the most. A gate makes none without a person that may do more than it allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SideEffect {
    /// Reads what the system says about names.
    ReadsNames,
    /// Reads the content of files, which may change their time of access.
    ReadsContent,
    /// Runs a program that only reads.
    RunsProgram,
    /// Asks another system, which learns what is looked for and may keep it, such as a directory behind a network.
    AsksSystem,
    /// Asks a person, who learns what is planned and whose time it takes.
    AsksPerson,
    /// Changes something.
    Changes,
}

/// A probe that may be made.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedProbe {
    /// Its name in records.
    pub id: String,
    /// What making it costs: finite, above zero.
    pub cost: f64,
    /// The probability that its answer is wrong, in [0, 1]. It joins the bound of the decision.
    pub error_rate: f64,
    /// What making it may do.
    pub side_effect: SideEffect,
    /// The names of the facts whose values an answer reveals.
    pub reveals: Vec<String>,
    /// Whether it may be repeated later with a new answer.
    pub repeatable_later: bool,
    /// The question to a person, for a clarification: where nobody answered yet, the decision stops there.
    pub question: Option<String>,
}

/// What asking a person costs, and how far the answer is to be relied on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clarifications {
    /// The cost: finite, above zero.
    pub cost: f64,
    /// The probability that an answer is wrong, in [0, 1]. It joins the bound of a decision that uses one.
    pub error_rate: f64,
}

/// A cost of 100, more than that of all probes of a file together, and answers of which one in twenty is wrong.
impl Default for Clarifications {
    fn default() -> Self {
        Self {
            cost: 100.0,
            error_rate: 0.05,
        }
    }
}

/// What came of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Facts with the values that they have.
    Found(Vec<(String, String)>),
    /// It failed or ran out of time, for this reason, and removes no world.
    Failed(String),
    /// Nobody has answered yet.
    NotYet,
}

/// Why there is no frame.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct DomainError(Box<dyn std::error::Error + Send + Sync>);

impl DomainError {
    /// This error.
    #[must_use]
    pub fn new(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(error.into())
    }
}

impl Candidate {
    /// A candidate of no reward and no severity whose effect cannot be undone.
    #[must_use]
    pub fn new(id: impl Into<String>, description: ActionDescription) -> Self {
        Self {
            id: id.into(),
            description,
            reward: 0.0,
            severity: 0.0,
            reversible: false,
            refused: None,
        }
    }
}

impl SideEffect {
    /// The name, as records have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadsNames => "reads_names",
            Self::ReadsContent => "reads_content",
            Self::RunsProgram => "runs_program",
            Self::AsksSystem => "asks_system",
            Self::AsksPerson => "asks_person",
            Self::Changes => "changes",
        }
    }
}

impl OfferedProbe {
    /// A probe of cost 1 whose answers are right. What making it may do has to be said: nothing is harmless unless somebody
    /// says so.
    #[must_use]
    pub fn new<F: Into<String>>(
        id: impl Into<String>,
        side_effect: SideEffect,
        reveals: impl IntoIterator<Item = F>,
    ) -> Self {
        Self {
            id: id.into(),
            cost: 1.0,
            error_rate: 0.0,
            side_effect,
            reveals: reveals.into_iter().map(Into::into).collect(),
            repeatable_later: false,
            question: None,
        }
    }
}
