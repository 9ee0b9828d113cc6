//! Which rows there will be, and what is fixed before a test episode is drawn.

use safecommit_conformal::Alpha;

use super::{Experiment, Setting};
use crate::episode::{Episode, Family};
use crate::generator::{DrawnEpisode, Generator, Split, Suite};
use crate::methods::{ConflictAbstention, MethodName, calibrate, tune_margin};
use crate::parameters::Parameters;

/// A row to come: where its counts stand in the list of settings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planned {
    pub(super) experiment: Experiment,
    pub(super) setting: usize,
    pub(super) family: Option<usize>,
}

/// The rows of all experiments, and the distinct settings behind them.
pub(super) fn plan(parameters: &Parameters) -> (Vec<Planned>, Vec<Setting>) {
    let experiments = &parameters.experiments;
    let mut settings: Vec<Setting> = Vec::new();
    let mut plan = Vec::new();
    let mut add = |experiment, method: MethodName, alpha, max_probes, beta, by_family: bool| {
        let setting = Setting {
            method,
            alpha,
            max_probes: method.probes_within(max_probes),
            beta,
        };
        let known = settings.iter().position(|known| *known == setting);
        let setting = known.unwrap_or_else(|| {
            settings.push(setting);
            settings.len() - 1
        });
        let families = if by_family {
            0..Family::ALL.len()
        } else {
            0..0
        };
        let all = (!by_family).then_some(None);
        for family in all.into_iter().chain(families.map(Some)) {
            plan.push(Planned {
                experiment,
                setting,
                family,
            });
        }
    };
    let (alpha, budget) = (experiments.alpha, experiments.max_probes);
    let safecommit = MethodName::Safecommit;
    for method in MethodName::ALL {
        add(Experiment::Main, method, alpha, budget, 0.0, false);
    }
    for method in MethodName::ALL {
        add(Experiment::Family, method, alpha, budget, 0.0, true);
    }
    for &budget in &experiments.probe_budgets {
        add(
            Experiment::ProbeBudget,
            safecommit,
            alpha,
            budget,
            0.0,
            false,
        );
    }
    for &alpha in &experiments.alphas {
        add(Experiment::Alpha, safecommit, alpha, budget, 0.0, false);
    }
    for beta in &experiments.proposal_misses {
        for method in MethodName::ALL {
            add(
                Experiment::ProposalMiss,
                method,
                alpha,
                budget,
                beta.get(),
                false,
            );
        }
    }
    (plan, settings)
}

/// The distinct levels of some settings, in their order.
pub(super) fn levels<'s>(settings: impl IntoIterator<Item = &'s Setting>) -> Vec<Alpha> {
    let mut levels = Vec::new();
    for setting in settings {
        if !levels.contains(&setting.alpha) {
            levels.push(setting.alpha);
        }
    }
    levels
}

/// Tunes conflict abstention on the frozen validation split, with the threshold of the frozen
/// calibration split, at every level at which it runs.
pub(super) fn tune(
    parameters: &Parameters,
    settings: &[Setting],
) -> Vec<(Alpha, ConflictAbstention)> {
    let conflict = MethodName::ConflictAbstention;
    let alphas = levels(settings.iter().filter(|setting| setting.method == conflict));
    let suite = Suite::Frozen {
        seed: parameters.frozen.seed,
    };
    let frozen = |split| draw(parameters, suite, split, parameters.frozen.episodes(split));
    let (calibration, validation) = (frozen(Split::Calibration), frozen(Split::Validation));
    alphas
        .into_iter()
        .map(|alpha| (alpha, tuned(alpha, &calibration, &validation)))
        .collect()
}

/// Conflict abstention with the threshold of `calibration` and the margin tuned on `validation`.
#[must_use]
pub fn tuned(alpha: Alpha, calibration: &[Episode], validation: &[Episode]) -> ConflictAbstention {
    let calibration = calibrate(alpha, calibration);
    let margin = tune_margin(alpha, calibration.threshold(), validation);
    ConflictAbstention::new(calibration.threshold(), margin)
}

pub(crate) fn draw(
    parameters: &Parameters,
    suite: Suite,
    split: Split,
    count: u64,
) -> Vec<Episode> {
    let generator = Generator::new(&parameters.generator, suite, split);
    let mut drawn = DrawnEpisode::default();
    (0..count)
        .map(|index| {
            generator.draw_into(index, &mut drawn);
            drawn.episode().clone()
        })
        .collect()
}
