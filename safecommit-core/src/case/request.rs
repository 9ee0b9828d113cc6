//! The request as somebody writes it: plain data, validated by [`crate::Case::new`].

use std::fmt;

use indexmap::IndexMap;
use safecommit_conformal::Stratum;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::outcome_rows::OutcomeRows;

/// One decision to take. Fields that are not declared here are refused, so that a misspelt flag is
/// never taken for an absent one.
///
/// ```
/// use safecommit_core::{Case, Request};
///
/// let request = r#"{
///     "actions": [{"id": "send"}],
///     "worlds": [{"id": "usual", "score": 0.1, "safe": ["sent"]}]
/// }"#;
/// let error = Case::new(serde_json::from_str::<Request>(request)?).unwrap_err();
/// assert_eq!(error.to_string(), "worlds[0].safe[0]: `sent` is not a declared action");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// A name for the decision, repeated in its record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The group of cases that it belongs to, as a path such as `delete/high/memory`; it has to follow
    /// from what is known before the true world is. A calibration for a group decides no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stratum: Option<Stratum>,
    /// Candidate actions, at least one. The first wins a tie of the release rule.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub actions: Vec<ActionProposal>,
    /// The proposed worlds. None at all is a decision too: it escalates.
    pub worlds: Vec<WorldProposal>,
    /// Worlds that hard evidence contradicts, whatever their score; an entry a reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hard_evidence: Vec<Contradiction>,
    /// Probes that may be made. The first wins a tie.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<ProbeProposal>,
    /// What came of the probes made so far, in their order. They count against the budget.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observed: Vec<Observation>,
    /// Steps of the time budget that have passed, in the unit of `settings.max_steps`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub elapsed_steps: u64,
    /// Somebody with authority has to decide: a fallback is then to escalate, unless nothing is safe in any plausible world.
    #[serde(default)]
    pub authority_missing: bool,
    /// Evidence is under way: a fallback is then to defer, unless nothing is safe in any plausible world.
    #[serde(default)]
    pub fresh_evidence_expected: bool,
    /// The probability that the true world is not among the proposed ones, if known, in [0, 1].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub beta: Option<f64>,
    /// How to decide.
    #[serde(default, skip_serializing_if = "SettingsProposal::is_default")]
    pub settings: SettingsProposal,
}

/// A candidate action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ActionProposal {
    /// Unique among the actions.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub id: String,
    /// The kind of action, such as `file` or `mail`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// How grave the side effect is: finite, at least zero.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0)))]
    pub severity: f64,
    /// Whether the effect can be undone.
    #[serde(default)]
    pub reversible: bool,
    /// What succeeding is worth.
    #[serde(default)]
    pub reward: f64,
}

/// A proposed world: one explanation of the evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WorldProposal {
    /// Unique among the worlds.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub id: String,
    /// Nonconformity score, larger is stranger: finite.
    pub score: f64,
    /// The actions that are safe in this world.
    pub safe: Vec<String>,
    /// What the world says, for the reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Hard evidence against a world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Contradiction {
    /// The world that it contradicts.
    pub world: String,
    /// Why, for the record.
    pub reason: String,
}

/// A probe that may be made: either `asks` about one world, or declares its `outcomes`. Which of them each world yields is
/// said by the outcomes themselves, or by `possible`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProbeProposal {
    /// Unique among the probes.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub id: String,
    /// What making it costs: finite, above zero.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub cost: f64,
    /// The probability that its answer is wrong, in [0, 1]. It joins the bound of the decision.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub error_rate: f64,
    /// Whether it may be repeated later with a new answer.
    #[serde(default)]
    pub repeatable_later: bool,
    /// Asks whether this world is the true one; its outcomes are `yes` and `no`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<String>,
    /// The outcomes that it may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub outcomes: Option<Vec<OutcomeProposal>>,
    /// A row for each world, in their order: the positions of the outcomes that it may yield, from 0 and ascending, each
    /// equally likely. It is short, for programs that propose many worlds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<Vec<u32>>>"))]
    pub possible: Option<OutcomeRows>,
}

/// An outcome of a probe: the `worlds` that certainly yield it, or its `likelihood` in each, unless the probe says what is
/// `possible`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OutcomeProposal {
    /// Unique among the outcomes of the probe.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub id: String,
    /// The worlds that yield this outcome for certain; each world in exactly one outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worlds: Option<Vec<String>>,
    /// P(outcome | world), zero for a world that is not listed; over the outcomes they sum to one in
    /// every world.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "unique_keys"
    )]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<std::collections::BTreeMap<String, f64>>")
    )]
    pub likelihood: Option<IndexMap<String, f64>>,
}

/// What came of a probe that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// The probe.
    pub probe: String,
    /// Its outcome, or `null` if it failed or ran out of time.
    #[serde(deserialize_with = "required_option")]
    #[cfg_attr(feature = "schema", schemars(required, extend("type" = ["string", "null"])))]
    pub outcome: Option<String>,
}

/// How to decide; what is absent takes its default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SettingsProposal {
    /// Temperature of the mass over worlds: finite, above zero; 0.25 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub temperature: Option<f64>,
    /// Probing stops at a score of this or less: finite, at least zero; 0 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0)))]
    pub eta: Option<f64>,
    /// Weight of severity in the release rule: finite, at least zero; 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0)))]
    pub severity_weight: Option<f64>,
    /// How many probes may be made; no limit by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(max = 4_294_967_295_u32)))]
    pub max_probes: Option<u32>,
    /// What the probes may cost together: at least zero; no limit by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0)))]
    pub max_cost: Option<f64>,
    /// How many steps of time may pass before no further probe is made, in any unit that whoever makes
    /// the probes counts; no limit by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u64>,
    /// Whether certificates of irreversible actions are checked before they are used; never by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<VerificationProposal>,
    /// How the next probe is chosen as long as no action is certified; by expected certificate shrinkage
    /// per unit cost by default. It changes what probes cost, never what may be committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probing: Option<ProbingProposal>,
    /// Whether scores say by how much a world is stranger than the best explanation: then the best one that is left counts,
    /// and worlds above the threshold become plausible as answers refute better ones. No by default.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub relative_scores: bool,
}

/// How the next probe is chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ProbingProposal {
    /// Largest expected certificate shrinkage per unit cost, one answer ahead.
    Shrinkage,
    /// Least expected cost to a certificate, on at most 16 plausible worlds with certain outcomes; beyond
    /// that as `shrinkage`.
    Optimal,
    /// Least expected cost of a probe that `shrinkage` follows to the end, on at most 64 plausible worlds
    /// with certain outcomes; beyond that as `shrinkage`.
    Rollout,
    /// Largest mutual information between the true world and the answer, in nats per unit cost.
    InformationGain,
    /// Largest mutual information between the actions that are safe in the true world and the answer, in nats
    /// per unit cost; where no answer tells anything about those, as `information_gain`.
    SafetyInformation,
    /// Any probe that can remove a plausible world. The draw depends on the whole request, what was observed
    /// included: a decision comes out again for its own request, not for one that tells of other answers.
    Random {
        /// What the draw is derived from, together with the request.
        seed: String,
    },
}

/// Whether budget that is left is spent on checking the certificate of an irreversible action, and what
/// becomes of a plausible set that answers have refuted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum VerificationProposal {
    /// No probe is made once an action is certified.
    Never,
    /// Asks about the most plausible world until an answer confirms a world or the budget is spent.
    MostPlausible,
    /// Makes probes that tell the proposed worlds apart, above the threshold too, while they are worth it.
    WholeSupport {
        /// Shrinkage per unit cost that such a probe has to exceed: finite, at least zero.
        #[cfg_attr(feature = "schema", schemars(range(min = 0.0)))]
        price: f64,
    },
}

impl SettingsProposal {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

fn is_zero(steps: &u64) -> bool {
    *steps == 0
}

/// A field that may be null but not absent.
fn required_option<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    Option::deserialize(input)
}

/// A map in which a key that comes twice is an error: the parser would keep the last one silently.
struct UniqueKeys(IndexMap<String, f64>);

fn unique_keys<'de, D: Deserializer<'de>>(
    input: D,
) -> Result<Option<IndexMap<String, f64>>, D::Error> {
    let map = Option::<UniqueKeys>::deserialize(input)?;
    Ok(map.map(|UniqueKeys(map)| map))
}

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = UniqueKeys;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a map from world to probability")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<UniqueKeys, A::Error> {
                let mut map = IndexMap::new();
                while let Some((world, probability)) = entries.next_entry::<String, f64>()? {
                    if map.contains_key(&world) {
                        return Err(serde::de::Error::custom(format_args!(
                            "world `{world}` stands twice"
                        )));
                    }
                    map.insert(world, probability);
                }
                Ok(UniqueKeys(map))
            }
        }

        input.deserialize_map(Entries)
    }
}
