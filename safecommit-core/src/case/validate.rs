//! From a request to a case: every name known, every number in range.

use thiserror::Error;

use super::Case;
use super::names::Names;
use super::request::{Observation, ProbingProposal, Request, VerificationProposal};
use super::subject::Head;
use crate::action::{Action, Reversibility};
use crate::probing::Probing;
use crate::problem::{Problem, ProblemError, Situation, Subject};
use crate::settings::{Budget, Settings, Verification};
use crate::signature::ActionSet;
use crate::units::Probability;
use safecommit_conformal::{LoggedSeed, Score, ScoreError};

mod probes;

use probes::{MOST_ENTRIES, Room, add_probe};

/// A request that cannot be decided, with the field at fault.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{path}: {problem}")]
pub struct RequestError {
    /// Path of the field, as in `worlds[2].safe[0]`.
    pub path: String,
    /// What is wrong with it.
    pub problem: RequestProblem,
}

/// What is wrong with a field of a request.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RequestProblem {
    /// A list that may not be empty is.
    #[error("the list is empty, at least one {0} is needed")]
    Empty(&'static str),
    /// A name that is the empty string.
    #[error("the name is empty")]
    EmptyName,
    /// A name that was used before.
    #[error("`{0}` stands twice")]
    Duplicate(String),
    /// A name that was not declared.
    #[error("`{name}` is not a declared {what}")]
    Unknown {
        /// The name.
        name: String,
        /// What it should name.
        what: &'static str,
    },
    /// A probe must have exactly one of `asks` and `outcomes`.
    #[error("a probe has exactly one of `asks` and `outcomes`")]
    AsksOrOutcomes,
    /// `possible` is about the outcomes that a probe declares.
    #[error("`possible` stands beside `outcomes` only")]
    PossibleWithoutOutcomes,
    /// An outcome that says which worlds yield it, of a probe that says so itself.
    #[error("an outcome has no `worlds` and no `likelihood` where the probe has `possible`")]
    PossibleAlready,
    /// Probes that would take too much memory.
    #[error(
        "with this one probes take {entries} probabilities, at most {MOST_ENTRIES} are possible"
    )]
    TooManyEntries {
        /// Worlds times outcomes, over the probes that are not certain.
        entries: usize,
    },
    /// A probe must say of each world what is possible.
    #[error("there are {rows} rows for {worlds} worlds")]
    PossibleSize {
        /// How many there are.
        rows: usize,
        /// How many worlds there are.
        worlds: usize,
    },
    /// The position of an outcome that there is not.
    #[error("there is no outcome at position `{outcome}`, the probe has {outcomes}")]
    NoSuchOutcome {
        /// The position.
        outcome: u32,
        /// How many outcomes there are.
        outcomes: usize,
    },
    /// Positions must ascend, so that none stands twice.
    #[error("`{0}` is not above the position before it")]
    NotAscending(u32),
    /// The outcomes of one probe must all have `worlds`, or all `likelihood`.
    #[error("all outcomes of a probe have `worlds`, or all have `likelihood`")]
    WorldsOrLikelihood,
    /// A world that stands in no outcome, or in two.
    #[error("world `{world}` stands in {times} outcomes, in exactly one it must")]
    NotAPartition {
        /// The world.
        world: String,
        /// In how many.
        times: usize,
    },
    /// Outcome probabilities that do not sum to one.
    #[error("the outcome probabilities of world `{world}` sum to `{sum}`, not to 1")]
    ProbabilitiesDoNotSumToOne {
        /// The world.
        world: String,
        /// Their sum.
        sum: f64,
    },
    /// A cost limit that is not a number of at least zero.
    #[error("`{0}` is not a finite number of at least zero")]
    BadLimit(f64),
    /// A score that is not finite.
    #[error(transparent)]
    Score(#[from] ScoreError),
    /// A number out of range.
    #[error(transparent)]
    Number(#[from] ProblemError),
    /// The request has no canonical form.
    #[error("the request cannot be written down: {0}")]
    NotSerialisable(String),
}

type Checked<T> = Result<T, RequestError>;

/// Turns an error into one at `path`, which is only rendered when needed.
trait At<T> {
    fn at(self, path: impl FnOnce() -> String) -> Checked<T>;
}

impl<T, E: Into<RequestProblem>> At<T> for Result<T, E> {
    fn at(self, path: impl FnOnce() -> String) -> Checked<T> {
        self.map_err(|problem| RequestError {
            path: path(),
            problem: problem.into(),
        })
    }
}

pub(super) fn validate(request: Request) -> Checked<Case> {
    // The canonical form of a request with a number that JSON cannot hold would lose it, so the
    // subject is taken last, once every number is known to be finite.
    let mut problem = Problem::new(Subject([0; 32]));
    let actions = add_actions(&request, &mut problem)?;
    let worlds = add_worlds(&request, &actions, &mut problem)?;
    add_hard_evidence(&request, &worlds, &mut problem)?;
    let mut probes = Names::default();
    let mut outcomes = Vec::new();
    let mut room = Room::default();
    for (at, probe) in request.probes.iter().enumerate() {
        let path = || format!("probes[{at}]");
        add_name(&mut probes, &probe.id, || path() + ".id")?;
        outcomes.push(add_probe(probe, &worlds, &mut problem, &mut room, &path)?);
    }
    let observed = read_observations(&request, &probes, &outcomes)?;
    problem.set_situation(Situation {
        authority_missing: request.authority_missing,
        fresh_evidence_expected: request.fresh_evidence_expected,
    });
    let settings = read_settings(&request)?;
    let beta = request
        .beta
        .map(Probability::new)
        .transpose()
        .at(|| "beta".to_owned())?;
    let (head, subject) = written(Head::of(&request))?;
    problem.set_subject(subject);
    Ok(Case {
        request,
        head,
        problem,
        settings,
        observed,
        outcomes,
        beta,
    })
}

/// The case with other reports.
pub(super) fn observe(
    mut case: Case,
    observed: Vec<Observation>,
    elapsed_steps: u64,
) -> Checked<Case> {
    case.request.observed = observed;
    case.request.elapsed_steps = elapsed_steps;
    let mut probes = Names::default();
    for probe in &case.request.probes {
        probes.add(&probe.id);
    }
    case.observed = read_observations(&case.request, &probes, &case.outcomes)?;
    let subject = written(case.head.subject(&case.request))?;
    case.problem.set_subject(subject);
    Ok(case)
}

fn written<T>(digested: Result<T, serde_json::Error>) -> Checked<T> {
    digested
        .map_err(|error| RequestProblem::NotSerialisable(error.to_string()))
        .at(|| ".".to_owned())
}

fn add_actions(request: &Request, problem: &mut Problem) -> Checked<Names> {
    let mut names = Names::default();
    if request.actions.is_empty() {
        return Err(RequestProblem::Empty("action")).at(|| "actions".to_owned());
    }
    for (at, action) in request.actions.iter().enumerate() {
        add_name(&mut names, &action.id, || format!("actions[{at}].id"))?;
        let reversibility = if action.reversible {
            Reversibility::Reversible
        } else {
            Reversibility::Irreversible
        };
        let field = |error: &ProblemError| match error {
            ProblemError::SeverityInvalid { .. } => "severity",
            _ => "reward",
        };
        let action =
            Action::new(action.reward, action.severity, reversibility).map_err(|error| {
                RequestError {
                    path: format!("actions[{at}].{}", field(&error)),
                    problem: error.into(),
                }
            })?;
        problem.add_action(action).at(|| format!("actions[{at}]"))?;
    }
    Ok(names)
}

fn add_worlds(request: &Request, actions: &Names, problem: &mut Problem) -> Checked<Names> {
    let mut names = Names::default();
    let mut safe = Vec::new();
    for (at, world) in request.worlds.iter().enumerate() {
        add_name(&mut names, &world.id, || format!("worlds[{at}].id"))?;
        let score = Score::new(world.score).at(|| format!("worlds[{at}].score"))?;
        safe.clear();
        let mut listed = ActionSet::empty(request.actions.len());
        for (place, action) in world.safe.iter().enumerate() {
            let path = || format!("worlds[{at}].safe[{place}]");
            let action = find(actions, action, "action", path)?;
            if listed.contains(action) {
                let twice = RequestProblem::Duplicate(world.safe[place].clone());
                return Err(twice).at(path);
            }
            listed.insert(action);
            safe.push(action);
        }
        problem
            .add_world(score, safe.iter().copied())
            .at(|| format!("worlds[{at}]"))?;
    }
    Ok(names)
}

fn add_hard_evidence(request: &Request, worlds: &Names, problem: &mut Problem) -> Checked<()> {
    for (at, evidence) in request.hard_evidence.iter().enumerate() {
        let path = || format!("hard_evidence[{at}].world");
        let world = find(worlds, &evidence.world, "world", path)?;
        problem.contradict(world).at(path)?;
    }
    Ok(())
}

fn read_observations(
    request: &Request,
    probes: &Names,
    outcomes: &[Names],
) -> Checked<Vec<(usize, Option<usize>)>> {
    let mut seen = vec![false; outcomes.len()];
    let mut observed = Vec::new();
    for (at, observation) in request.observed.iter().enumerate() {
        let path = || format!("observed[{at}].probe");
        let probe = find(probes, &observation.probe, "probe", path)?;
        if std::mem::replace(&mut seen[probe], true) {
            return Err(RequestProblem::Duplicate(observation.probe.clone())).at(path);
        }
        let outcome = match &observation.outcome {
            None => None,
            Some(outcome) => Some(find(
                &outcomes[probe],
                outcome,
                "outcome of the probe",
                || format!("observed[{at}].outcome"),
            )?),
        };
        observed.push((probe, outcome));
    }
    Ok(observed)
}

fn read_settings(request: &Request) -> Checked<Settings> {
    let given = &request.settings;
    let mut settings = Settings::default();
    if let Some(temperature) = given.temperature {
        settings = settings
            .with_temperature(temperature)
            .at(|| "settings.temperature".to_owned())?;
    }
    if let Some(eta) = given.eta {
        settings = settings.with_eta(eta).at(|| "settings.eta".to_owned())?;
    }
    if let Some(weight) = given.severity_weight {
        settings = settings
            .with_severity_weight(weight)
            .at(|| "settings.severity_weight".to_owned())?;
    }
    if let Some(limit) = given.max_cost
        && !(limit.is_finite() && limit >= 0.0)
    {
        return Err(RequestProblem::BadLimit(limit)).at(|| "settings.max_cost".to_owned());
    }
    let verification = match given.verification {
        None | Some(VerificationProposal::Never) => Verification::Never,
        Some(VerificationProposal::MostPlausible) => Verification::MostPlausible,
        Some(VerificationProposal::WholeSupport { price }) => Verification::WholeSupport { price },
    };
    settings = settings
        .with_verification(verification)
        .at(|| "settings.verification.whole_support.price".to_owned())?;
    let probing = match &given.probing {
        None | Some(ProbingProposal::Shrinkage) => Probing::Shrinkage,
        Some(ProbingProposal::Optimal) => Probing::Optimal,
        Some(ProbingProposal::Rollout) => Probing::Rollout,
        Some(ProbingProposal::InformationGain) => Probing::InformationGain,
        Some(ProbingProposal::SafetyInformation) => Probing::SafetyInformation,
        Some(ProbingProposal::Random { seed }) => Probing::Random {
            seed: LoggedSeed::new(seed),
        },
    };
    let budget = Budget {
        max_probes: given.max_probes,
        max_cost: given.max_cost,
        max_steps: given.max_steps,
    };
    Ok(settings
        .with_probing(probing)
        .with_budget(budget)
        .with_relative_scores(given.relative_scores))
}

fn add_name(names: &mut Names, name: &str, path: impl Fn() -> String) -> Checked<()> {
    if name.is_empty() {
        return Err(RequestProblem::EmptyName).at(path);
    }
    match names.add(name) {
        Some(_) => Ok(()),
        None => Err(RequestProblem::Duplicate(name.to_owned())).at(path),
    }
}

fn find(
    names: &Names,
    name: &str,
    what: &'static str,
    path: impl FnOnce() -> String,
) -> Checked<usize> {
    names
        .position(name)
        .ok_or_else(|| RequestProblem::Unknown {
            name: name.to_owned(),
            what,
        })
        .at(path)
}
