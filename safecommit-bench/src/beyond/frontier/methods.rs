//! The methods behind the policies: what is fixed on the frozen splits, what each run calibrates, what they counted.

use safecommit_conformal::{
    Alpha, Calibration, CalibrationScore, Delta, LoggedSeed, Misses, Threshold,
};
use safecommit_core::{Budget, Settings, Verification};

use super::super::error::StudyError;
use super::super::workbench::{Run, Workbench, total};
use super::super::{groups, risk_control};
use super::policy::{BUDGETS, CONTROLLED, Cut, Policy, Score};
use super::{PROBES, STATED};
use crate::episode::{Episode, Family};
use crate::experiments::{draw, tuned};
use crate::generator::{Generator, Split, Suite};
use crate::learned::LearnedScore;
use crate::methods::{
    ConfidenceThreshold, ConflictAbstention, GenericOneProbe, SafeCommit, ScalarConfidence,
    SingleWorld, calibrate, calibration_score, tune_confidence,
};
use crate::parameters::Parameters;
use crate::simulate::{Cell, FamilyCounts, simulate_on};

/// What verification of the whole support may ask a probe to be worth.
const PRICES: [f64; 6] = [0.0, 0.02, 0.03, 0.035, 0.04, 0.05];

/// The share of calibration sets for which a training-conditional threshold may fall short.
const DELTA: f64 = 0.05;

/// What is fixed on the frozen splits.
pub(super) struct Frozen {
    /// The price that spends at most [`PROBES`] on validation.
    pub(super) price: f64,
    conflict: ConflictAbstention,
    /// By budget.
    confidence: Vec<ConfidenceThreshold>,
}

impl Frozen {
    /// The prices of the tables, with the chosen one in its place.
    pub(super) fn prices(&self) -> Vec<f64> {
        let mut prices: Vec<f64> = PRICES.into_iter().chain([self.price]).collect();
        prices.sort_unstable_by(f64::total_cmp);
        prices.dedup();
        prices
    }
}

/// Chooses and tunes on the frozen splits.
pub(super) fn freeze(parameters: &Parameters) -> Result<Frozen, StudyError> {
    let suite = Suite::Frozen {
        seed: parameters.frozen.seed,
    };
    let frozen = |split| draw(parameters, suite, split, parameters.frozen.episodes(split));
    let (calibration, validation) = (frozen(Split::Calibration), frozen(Split::Validation));
    let experiments = &parameters.experiments;
    let (alpha, temperature) = (experiments.alpha, experiments.temperature);
    let confidence = BUDGETS.map(|budget| tune_confidence(alpha, temperature, budget, &validation));

    let threshold = calibrate(alpha, &calibration);
    let plain = SafeCommit::new(threshold.threshold(), temperature.get(), STATED);
    let prices: Vec<f64> = (0..=100)
        .map(|thousandths| f64::from(thousandths) / 1e3)
        .collect();
    let cell = |&price: &f64| -> Result<Cell, StudyError> {
        let verification = Verification::WholeSupport { price };
        Ok(Cell::certifying(plain.clone().verifying(verification)?))
    };
    let cells = prices.iter().map(cell).collect::<Result<Vec<_>, _>>()?;
    let generator = Generator::new(&parameters.generator, suite, Split::Validation);
    let counts = simulate_on(&generator, &validation, &cells);
    let mut spent = prices.iter().zip(&counts);
    let cheap = spent.find(|(_, counts)| total(counts).mean_probes() <= PROBES);
    Ok(Frozen {
        price: cheap.map_or(1.0, |(price, _)| *price),
        conflict: tuned(alpha, &calibration, &validation),
        confidence: confidence.into(),
    })
}

/// The thresholds of a run under every kind of promise and the default score, by family.
struct Thresholds {
    marginal: groups::Thresholds,
    conditional: groups::Thresholds,
    training: groups::Thresholds,
    /// By budget.
    controlled: Vec<groups::Thresholds>,
}

impl Thresholds {
    fn of(run: &Run<'_>, parameters: &Parameters) -> Result<Self, StudyError> {
        let experiments = &parameters.experiments;
        let alpha = experiments.alpha;
        let scores: Vec<CalibrationScore> =
            run.calibration().iter().map(calibration_score).collect();
        let delta = Delta::new(DELTA)?;
        let training = Calibration::training_conditional(alpha, delta, &scores, Misses::AllListed)?;
        let level: Alpha = CONTROLLED.parse()?;
        let settings = Settings::default().with_temperature(experiments.temperature.get())?;
        let controlled = BUDGETS.map(|budget| {
            let settings = settings.with_budget(Budget::probes(budget));
            let curves = risk_control::unsafe_commit_curves(run, &settings)?.envelope();
            let calibration = Calibration::risk_controlled(level, &curves)?;
            Ok::<_, StudyError>(everywhere(calibration.threshold()))
        });
        Ok(Self {
            marginal: groups::marginal(run, alpha),
            conditional: groups::conditional(run, alpha)?,
            training: everywhere(training.threshold()),
            controlled: controlled.into_iter().collect::<Result<_, _>>()?,
        })
    }

    fn at(&self, cut: Cut, budget: u32) -> groups::Thresholds {
        match cut {
            Cut::Marginal => self.marginal.clone(),
            Cut::GroupConditional => self.conditional.clone(),
            Cut::TrainingConditional => self.training.clone(),
            Cut::RiskControlled => {
                let own = self.controlled.get(budget as usize).cloned();
                own.unwrap_or_else(|| everywhere(Threshold::unbounded()))
            }
        }
    }
}

fn everywhere(threshold: &Threshold) -> groups::Thresholds {
    Family::ALL.map(|_| threshold.clone())
}

/// What every policy did under every budget, in the order of `settings`.
pub(super) fn counts(
    bench: &Workbench<'_>,
    run: &Run<'_>,
    frozen: &Frozen,
    learned: [&LearnedScore; 2],
    settings: &[(Policy, u32)],
) -> Result<Vec<FamilyCounts>, StudyError> {
    let experiments = &bench.parameters().experiments;
    let default = Thresholds::of(run, bench.parameters())?;
    let generator = run.generator(Split::Test);
    let mut counted = vec![FamilyCounts::default(); settings.len()];
    for score in [
        Score::Default,
        Score::LearnedOfOneWorld,
        Score::LearnedOfAll,
    ] {
        let own: Vec<usize> = (0..settings.len())
            .filter(|at| settings[*at].0.score() == score)
            .collect();
        let rescored: Option<(Vec<Episode>, groups::Thresholds)> = match score {
            Score::Default => None,
            Score::LearnedOfOneWorld => Some(learned[0]),
            Score::LearnedOfAll => Some(learned[1]),
        }
        .map(|score| {
            let calibration =
                calibrate(experiments.alpha, &run.rescored(Split::Calibration, score));
            (
                run.rescored(Split::Test, score),
                everywhere(calibration.threshold()),
            )
        });
        let cell = |at: &usize| {
            let (policy, budget) = settings[*at];
            let thresholds = |cut| match &rescored {
                Some((_, thresholds)) => thresholds.clone(),
                None => default.at(cut, budget),
            };
            build(policy, budget, bench.parameters(), frozen, thresholds)
        };
        let cells = own
            .iter()
            .map(cell)
            .collect::<Result<Vec<_>, StudyError>>()?;
        let episodes = rescored
            .as_ref()
            .map_or(run.test(), |(episodes, _)| episodes);
        for (at, counts) in own
            .into_iter()
            .zip(simulate_on(&generator, episodes, &cells))
        {
            counted[at] = counts;
        }
    }
    Ok(counted)
}

fn build(
    policy: Policy,
    budget: u32,
    parameters: &Parameters,
    frozen: &Frozen,
    thresholds: impl Fn(Cut) -> groups::Thresholds,
) -> Result<Cell, StudyError> {
    let temperature = parameters.experiments.temperature;
    Ok(match policy {
        Policy::SingleWorld => Cell::uncertified(SingleWorld),
        Policy::ConflictAbstention => Cell::uncertified(frozen.conflict.clone()),
        Policy::GenericOneProbe => {
            let [threshold, ..] = &thresholds(Cut::Marginal);
            Cell::uncertified(GenericOneProbe::new(threshold))
        }
        Policy::ScalarConfidence => {
            let own = frozen.confidence.get(budget as usize).copied();
            let threshold = own.unwrap_or(ConfidenceThreshold::Never);
            Cell::uncertified(ScalarConfidence::new(temperature, threshold, budget))
        }
        Policy::SafeCommit(_, cut, rule, verification) => {
            let probing = rule.probing(LoggedSeed::new("frontier"));
            let method = SafeCommit::by_family(thresholds(cut), temperature.get(), budget);
            Cell::certifying(method.probing(probing).verifying(verification)?)
        }
    })
}
