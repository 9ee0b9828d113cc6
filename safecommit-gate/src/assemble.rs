//! From proposed worlds, their safety map and the probes at hand to a problem of `safecommit-core`.

use indexmap::IndexMap;
use safecommit_core::{Action, Cost, OutcomeModel, Probability, Problem, ProblemError, Subject};

use crate::fact::{Assignment, Facts};
use crate::policy::SafetyTable;
use crate::support::Support;

/// A probe as the gate offers it to the controller: what it costs, how often it errs, and the facts that an answer
/// reveals.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedProbe {
    /// The name, for records.
    pub id: String,
    /// What making it costs: finite, above zero.
    pub cost: f64,
    /// The probability that its answer is wrong, in [0, 1].
    pub error_rate: f64,
    /// The names of the facts whose values an answer reveals.
    pub reveals: Vec<String>,
}

/// A problem of `safecommit-core` with what its positions stand for.
///
/// Worlds stand in the order of the support, actions in that of the safety map, probes as they were offered. If the
/// support was cut, one world more stands for all that were left out: it has the score that none of them falls below
/// ([`crate::Cut::next`]), it may give any answer, and only reversible actions count as safe in it. So nothing
/// irreversible is certified unless the threshold excludes every world that is missing.
///
/// ```
/// use safecommit_conformal::Threshold;
/// use safecommit_core::{Action, Controller, Settings, Step, Subject, Workspace};
/// use safecommit_gate::{
///     ActionDescription, Assembled, Belief, Fact, Facts, OfferedProbe, PolicyText, SafetyPolicies,
///     ScoreWeights, Support, Terms,
/// };
///
/// let facts = Facts::new([Fact::new("kind", ["file", "link"])?])?;
/// let strange = Terms { provenance_or_age: 0.6, ..Terms::NONE };
/// let belief = Belief::new(&facts.as_slice()[0], [("link", strange)])?.supported("file", Terms::NONE)?;
/// let support = Support::enumerate(&facts, &[belief], &[], &ScoreWeights::EQUAL, 100)?;
/// let schema = PolicyText { name: "s", text: r#"
///     entity Kind enum ["file", "link"]; entity Agent; entity Entry = { kind: Kind };
///     action delete, inspect appliesTo { principal: [Agent], resource: [Entry] };
/// "# };
/// let policies = PolicyText { name: "p", text: r#"
///     @id("file") permit(principal, action == Action::"delete", resource) when { resource.kind == Kind::"file" };
///     @id("link") permit(principal, action == Action::"inspect", resource) when { resource.kind == Kind::"link" };
/// "# };
/// let map = SafetyPolicies::load(&[policies], schema)?.bind(&facts, &[
///     ActionDescription::new("delete", "agent", "run/latest"),
///     ActionDescription::new("inspect", "agent", "run/latest"),
/// ])?;
/// let worlds: Vec<_> = support.worlds().iter().map(|world| world.assignment.clone()).collect();
/// let table = map.evaluate(&worlds)?;
/// let look = OfferedProbe { id: "look".into(), cost: 1.0, error_rate: 0.0, reveals: vec!["kind".into()] };
/// let assembled =
///     Assembled::new(Subject([1; 32]), &facts, &support, &table, &[Action::default(); 2], &[look])?;
///
/// let (settings, mut workspace) = (Settings::default(), Workspace::default());
/// let mut controller =
///     Controller::start(assembled.problem(), &settings, Threshold::unbounded(), &mut workspace);
/// let Step::Probe(choice) = controller.next_step() else { panic!("the worlds disagree") };
/// let outcome = assembled.outcome(choice.probe, &[("kind", "link")]).ok_or("it says nothing")?;
/// controller.observe(choice.probe, outcome)?;
/// let Step::Commit(certificate) = controller.next_step() else { panic!("one world is left") };
/// assert_eq!(certificate.action(), 1); // to inspect, not to delete
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Assembled {
    problem: Problem,
    facts: Facts,
    worlds: Vec<Assignment>,
    probes: Vec<Answers>,
    has_rest: bool,
}

/// The answers of one probe: the facts that it reveals, and the combinations of their values that worlds have.
#[derive(Clone, Debug)]
struct Answers {
    facts: Vec<usize>,
    combinations: IndexMap<Vec<u8>, ()>,
}

/// Why no problem can be assembled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AssembleError {
    /// The safety map is not about these worlds and actions.
    #[error("the safety map has {map} {what}, expected {expected}")]
    OtherMap {
        /// What there are other numbers of.
        what: &'static str,
        /// How many the safety map has.
        map: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A probe that reveals a fact that is not declared.
    #[error("probe `{probe}` reveals `{fact}`, which is no declared fact")]
    UnknownFact {
        /// The probe.
        probe: String,
        /// The fact.
        fact: String,
    },
    /// A probe that reveals nothing.
    #[error("probe `{0}` reveals no fact")]
    RevealsNothing(String),
    /// A number that the core refuses.
    #[error(transparent)]
    Problem(#[from] ProblemError),
}

impl Assembled {
    /// The problem of deciding which of `actions` to take in the worlds of `support`, whose safety map `table` is.
    ///
    /// # Errors
    ///
    /// [`AssembleError`].
    pub fn new(
        subject: Subject,
        facts: &Facts,
        support: &Support,
        table: &SafetyTable<'_>,
        actions: &[Action],
        probes: &[OfferedProbe],
    ) -> Result<Self, AssembleError> {
        let numbers = [
            ("worlds", table.worlds(), support.worlds().len()),
            ("actions", table.actions(), actions.len()),
        ];
        for (what, map, expected) in numbers {
            if map != expected {
                return Err(AssembleError::OtherMap {
                    what,
                    map,
                    expected,
                });
            }
        }
        let mut problem = Problem::new(subject);
        for action in actions {
            problem.add_action(*action)?;
        }
        for (world, proposed) in support.worlds().iter().enumerate() {
            problem.add_world(proposed.score, table.safe(world))?;
        }
        if let Some(cut) = support.cut() {
            let reversible = (0..actions.len()).filter(|action| {
                actions[*action].reversibility() == safecommit_core::Reversibility::Reversible
            });
            problem.add_world(cut.next, reversible)?;
        }
        let worlds = support
            .worlds()
            .iter()
            .map(|world| world.assignment.clone());
        let mut assembled = Self {
            problem,
            facts: facts.clone(),
            worlds: worlds.collect(),
            probes: Vec::with_capacity(probes.len()),
            has_rest: support.cut().is_some(),
        };
        for probe in probes {
            assembled.offer(probe)?;
        }
        Ok(assembled)
    }

    fn offer(&mut self, probe: &OfferedProbe) -> Result<(), AssembleError> {
        let mut facts = Vec::with_capacity(probe.reveals.len());
        for fact in &probe.reveals {
            let position = self.facts.position(fact);
            facts.push(position.ok_or_else(|| AssembleError::UnknownFact {
                probe: probe.id.clone(),
                fact: fact.clone(),
            })?);
        }
        if facts.is_empty() {
            return Err(AssembleError::RevealsNothing(probe.id.clone()));
        }
        let mut combinations: IndexMap<Vec<u8>, ()> = IndexMap::new();
        let outcome_of: Vec<u32> = self
            .worlds
            .iter()
            .map(|world| {
                let values: Vec<u8> = facts.iter().map(|fact| world.positions()[*fact]).collect();
                combinations.insert_full(values, ()).0 as u32
            })
            .collect();
        // One outcome more, which no enumerated world yields: what nobody proposed.
        let outcomes = combinations.len() + 1;
        let cost = Cost::new(probe.cost)?;
        let error_rate = Probability::new(probe.error_rate)?;
        if self.has_rest {
            let mut rows = vec![0.0; (self.worlds.len() + 1) * outcomes];
            for (world, outcome) in outcome_of.iter().enumerate() {
                rows[world * outcomes + *outcome as usize] = 1.0;
            }
            // The worlds that were left out may give any answer.
            let rest = &mut rows[self.worlds.len() * outcomes..];
            rest.fill(1.0 / outcomes as f64);
            let model = OutcomeModel::Likelihood {
                outcomes,
                rows: &rows,
            };
            self.problem.add_probe(cost, error_rate, model)?;
        } else {
            let model = OutcomeModel::Partition {
                outcomes,
                outcome_of: &outcome_of,
            };
            self.problem.add_probe(cost, error_rate, model)?;
        }
        self.probes.push(Answers {
            facts,
            combinations,
        });
        Ok(())
    }

    /// The problem.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// What the world at a position says; `None` for the one that stands for all that were left out.
    #[must_use]
    pub fn world(&self, position: usize) -> Option<&Assignment> {
        self.worlds.get(position)
    }

    /// Whether the last world stands for all that were left out.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.has_rest
    }

    /// The outcome of a probe that found these values, as [`safecommit_core::Controller::observe`] takes it. Values of
    /// facts that the probe does not reveal say nothing. A combination that no enumerated world has and a value that is
    /// not declared are the outcome that refutes all of these worlds: evidence that does not fit any explanation ends in
    /// a fallback.
    ///
    /// `None` where a fact that the probe should reveal was not found, and for a probe that is not one of the problem:
    /// then it removes nothing, and is to be reported as failed ([`safecommit_core::Controller::probe_failed`]).
    #[must_use]
    pub fn outcome(&self, probe: usize, found: &[(&str, &str)]) -> Option<usize> {
        let answers = self.probes.get(probe)?;
        let mut values = Vec::with_capacity(answers.facts.len());
        for fact in &answers.facts {
            let fact = &self.facts.as_slice()[*fact];
            let (_, value) = found.iter().find(|(name, _)| *name == fact.name())?;
            values.push(fact.values().iter().position(|known| known == value));
        }
        let values: Option<Vec<u8>> = values
            .into_iter()
            .map(|position| u8::try_from(position?).ok())
            .collect();
        let known = values.and_then(|values| answers.combinations.get_index_of(&values));
        Some(known.unwrap_or(answers.combinations.len()))
    }
}
