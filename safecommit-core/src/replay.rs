//! What the controller would have done on a case whose truth is known, at every threshold.

use safecommit_conformal::{RiskCurve, Score};

use crate::controller::{Controller, Step, Workspace, relative_score};
use crate::problem::Problem;
use crate::settings::Settings;

/// A case whose truth is known: what every probe would have answered, and which actions were safe.
pub trait AuditedCase {
    /// The outcome of a probe, or `None` if it would have failed.
    fn answer(&mut self, probe: usize) -> Option<usize>;

    /// Whether an action was safe.
    fn is_safe(&self, action: usize) -> bool;
}

/// The controller's own loss on an audited case as a function of the threshold: 1 where it commits an action
/// that was not safe, else 0.
///
/// The controller is run once at the score of every proposed world that hard evidence leaves, which is
/// everywhere that its behaviour can change (and where scores are relative, at every score that these can
/// become); below all of them no world is plausible, and it falls back. The loss need not fall as the threshold
/// rises: a larger plausible set asks other probes. So what
/// [`Calibration::risk_controlled`](safecommit_conformal::Calibration::risk_controlled) takes is the envelope of
/// these curves, and [`Calibration::learn_then_test`](safecommit_conformal::Calibration::learn_then_test)
/// takes them as they are.
///
/// The losses are those of `settings` and bound the decisions of no others, while a request chooses its own.
/// So state the policy with the curves, as in the example: [`RiskCurves::of_policy`](safecommit_conformal::RiskCurves::of_policy) of
/// [`Settings::digest`]. A decision under other settings then escalates
/// ([`Fault::OtherPolicy`](crate::Fault::OtherPolicy)), and without the statement the total of
/// [`ErrorBound`](crate::ErrorBound) is unknown.
///
/// Where the answers of probes that were not made are unknown, this cannot be computed; the coverage loss
/// ([`RiskCurve::coverage`]) bounds it, for every policy, and needs none.
///
/// ```
/// use safecommit_conformal::{Calibration, RiskCurves, Score};
/// use safecommit_core::{
///     Action, AuditedCase, Budget, Problem, Settings, Subject, Workspace, unsafe_commit_curve,
/// };
///
/// /// No probe was ever made, and action 1 was the safe one.
/// struct Audited;
///
/// impl AuditedCase for Audited {
///     fn answer(&mut self, _: usize) -> Option<usize> {
///         None
///     }
///     fn is_safe(&self, action: usize) -> bool {
///         action == 1
///     }
/// }
///
/// let mut problem = Problem::new(Subject([1; 32]));
/// let (delete, keep) =
///     (problem.add_action(Action::default())?, problem.add_action(Action::default())?);
/// let (low, high) = (Score::new(0.1)?, Score::new(0.6)?);
/// problem.add_world(low, [delete])?;
/// problem.add_world(high, [keep])?;
/// let settings = Settings::default().with_budget(Budget::probes(2));
/// let curve = unsafe_commit_curve(&problem, &settings, &mut Audited, &mut Workspace::default());
/// // Unsafe while only the world that suggests deleting is plausible, blocked once the other one is.
/// assert_eq!(curve.steps(), [(low, 1), (high, 0)]);
///
/// let curves = RiskCurves::binary(vec![curve; 99])?.of_policy(settings.digest()).envelope();
/// let calibration = Calibration::risk_controlled("0.05".parse()?, &curves)?;
/// assert_eq!(calibration.threshold().finite(), Some(high));
/// assert_eq!(calibration.guarantee().policy(), Some(settings.digest()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn unsafe_commit_curve(
    problem: &Problem,
    settings: &Settings,
    case: &mut impl AuditedCase,
    workspace: &mut Workspace,
) -> RiskCurve {
    let proposed: Vec<Score> = problem.support().scores_left().collect();
    let mut scores = proposed.clone();
    if settings.relative_scores()
        && let Some(&first) = proposed.iter().min()
    {
        // Any of them can be the smallest that is left.
        for &smallest in &proposed {
            let risen = proposed.iter();
            scores.extend(risen.map(|&score| relative_score(score, first, smallest)));
        }
    }
    RiskCurve::replay(scores, 0, |threshold| {
        let mut controller = Controller::start(problem, settings, threshold, workspace);
        loop {
            match controller.next_step() {
                Step::Commit(certificate) => return u32::from(!case.is_safe(certificate.action())),
                Step::Fallback(_) => return 0,
                Step::Probe(choice) => {
                    // A report that is refused makes the next step a fallback.
                    let _ = match case.answer(choice.probe) {
                        Some(outcome) => controller.observe(choice.probe, outcome),
                        None => controller.probe_failed(choice.probe),
                    };
                }
            }
        }
    })
}
