//! What a controller's probes are expected to cost on a problem.

use thiserror::Error;

use crate::controller::{Controller, Step, Workspace};
use crate::fallback::{Fallback, Fault, Reason};
use crate::plausible::Plausibility;
use crate::probe::Kind;
use crate::problem::Problem;
use crate::settings::Settings;
use safecommit_conformal::Threshold;

/// What comes of a decision, on average over the plausible worlds; see [`expected_probing`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExpectedProbing {
    /// Mass of the worlds in which the decision ends with a commit, in [0, 1] up to rounding.
    pub committed: f64,
    /// Expected sum of the costs of the probes made, at least zero.
    pub cost: f64,
    /// Expected number of probes made, at least zero.
    pub probes: f64,
}

/// Why there is no expectation.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum NoExpectation {
    /// No world is plausible, so that there is nothing to weigh by.
    #[error("no world is plausible")]
    NothingPlausible,
    /// A probe that the controller makes has an outcome that is not certain.
    #[error("the outcome of probe {probe} is given by probabilities")]
    Uncertain {
        /// Position of the probe.
        probe: usize,
    },
    /// An error on the decision path.
    #[error("an error on the decision path: {0}")]
    Fault(Fault),
}

/// What `settings` come to on `problem`: drives the controller to its end with each plausible world as the
/// truth, every answer truthful and every probe successful, and averages under the normalised weights w,
/// sum over omega of w(omega) x(omega). No time passes.
///
/// Worlds that answer alike are driven once together, so it takes as many runs as there are ways for the
/// decision to end. For questions ([`crate::OutcomeModel::Identity`]) and partitions only. Allocates
/// nothing after the first use of the workspace, whose earlier contents are lost.
///
/// ```
/// use safecommit_conformal::{Score, Threshold};
/// use safecommit_core::{
///     Action, Cost, OutcomeModel, Probability, Problem, Settings, Subject, Workspace, expected_probing,
/// };
///
/// let mut problem = Problem::new(Subject([3; 32]));
/// for _ in 0..3 {
///     problem.add_action(Action::default())?;
/// }
/// for world in 0..3 {
///     problem.add_world(Score::ZERO, [world])?;
/// }
/// for world in 0..3 {
///     let question = OutcomeModel::Identity { world };
///     problem.add_probe(Cost::new(3.0)?, Probability::ZERO, question)?;
/// }
/// // One question in a third of the cases, two in the others.
/// let (settings, mut workspace) = (Settings::default(), Workspace::default());
/// let expected =
///     expected_probing(&problem, &settings, Threshold::unbounded(), &mut workspace)?;
/// assert!((expected.probes - 5.0 / 3.0).abs() < 1e-12);
/// assert!((expected.cost - 5.0).abs() < 1e-12);
/// assert!((expected.committed - 1.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`NoExpectation`].
pub fn expected_probing(
    problem: &Problem,
    settings: &Settings,
    threshold: &Threshold,
    workspace: &mut Workspace,
) -> Result<ExpectedProbing, NoExpectation> {
    let mut uncounted = std::mem::take(&mut workspace.planner.uncounted);
    let expected = average(problem, settings, threshold, workspace, &mut uncounted);
    workspace.planner.uncounted = uncounted;
    expected
}

fn average(
    problem: &Problem,
    settings: &Settings,
    threshold: &Threshold,
    workspace: &mut Workspace,
    uncounted: &mut Vec<(u32, Option<f64>)>,
) -> Result<ExpectedProbing, NoExpectation> {
    uncounted.clear();
    uncounted.reserve(problem.worlds());
    let mut controller = Controller::start(problem, settings, threshold, workspace);
    match controller.plausible() {
        Plausibility::Plausible(plausible) => {
            let weights = plausible.weights().iter().map(|&weight| Some(weight));
            let worlds = plausible.worlds().map(|world| world as u32);
            uncounted.extend(worlds.zip(weights));
        }
        Plausibility::Empty => return Err(NoExpectation::NothingPlausible),
        Plausibility::Faulty(fault) => return Err(NoExpectation::Fault(fault)),
    }
    let mut expected = ExpectedProbing::default();
    for at in 0..uncounted.len() {
        if uncounted[at].1.is_none() {
            continue;
        }
        let truth = uncounted[at].0 as usize;
        let mut controller = Controller::start(problem, settings, threshold, workspace);
        let run = run(&mut controller, truth)?;
        // Whatever world is left gave the same answers, so it leads to the same end.
        let mut mass = 0.0;
        if let Plausibility::Plausible(plausible) = controller.view() {
            for world in plausible.worlds() {
                let entry = uncounted.binary_search_by_key(&world, |entry| entry.0 as usize);
                mass += entry
                    .ok()
                    .and_then(|entry| uncounted[entry].1.take())
                    .unwrap_or(0.0);
            }
        }
        expected.committed += mass * run.committed;
        expected.cost += mass * run.cost;
        expected.probes += mass * run.probes;
    }
    Ok(expected)
}

/// One decision to its end, with `truth` as the true world.
fn run(controller: &mut Controller<'_>, truth: usize) -> Result<ExpectedProbing, NoExpectation> {
    let problem = controller.problem();
    let mut run = ExpectedProbing::default();
    loop {
        let choice = match controller.next_step() {
            Step::Commit(_) => {
                run.committed = 1.0;
                return Ok(run);
            }
            Step::Fallback(Fallback {
                reason: Reason::Error(fault),
                ..
            }) => return Err(NoExpectation::Fault(fault)),
            Step::Fallback(_) => return Ok(run),
            Step::Probe(choice) => choice,
        };
        let probe = &problem.probes()[choice.probe];
        let outcome = match probe.kind {
            Kind::Likelihood { .. } => None,
            Kind::Identity { .. } | Kind::Partition { .. } => problem.outcomes().only(probe, truth),
        };
        let outcome = outcome.ok_or(NoExpectation::Uncertain {
            probe: choice.probe,
        })?;
        controller
            .observe(choice.probe, outcome)
            .map_err(|error| NoExpectation::Fault(Fault::Report(error)))?;
        run.cost += probe.cost().value();
        run.probes += 1.0;
    }
}
