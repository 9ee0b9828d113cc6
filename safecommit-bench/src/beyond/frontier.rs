//! Every policy under every budget: unsafe commits, task success, probes.

use safecommit_conformal::{
    Alpha, Calibration, CalibrationScore, Delta, LoggedSeed, Misses, Threshold,
};
use safecommit_core::{Budget, Settings, Verification};

use super::chart::{Chart, Mark, Point};
use super::error::StudyError;
use super::report::{Report, claim};
use super::rule::Rule;
use super::sheet::{Sheet, Value};
use super::summary::{HEADINGS, Summary};
use super::workbench::{Run, Workbench, total, transposed};
use super::{groups, risk_control};
use crate::counts::Estimate;
use crate::episode::{Episode, Family};
use crate::experiments::tuned;
use crate::generator::{Generator, Split, Suite};
use crate::learned::LearnedScore;
use crate::methods::{
    ConfidenceThreshold, ConflictAbstention, GenericOneProbe, SafeCommit, ScalarConfidence,
    SingleWorld, calibrate, calibration_score, tune_confidence,
};
use crate::parameters::Parameters;
use crate::published::Claim;
use crate::simulate::{Cell, FamilyCounts, simulate_on};

const BUDGETS: [u32; 5] = [0, 1, 2, 3, 4];

/// The budget at which the statements are about.
const STATED: u32 = 2;

/// What verification of the whole support may ask a probe to be worth.
const PRICES: [f64; 6] = [0.0, 0.02, 0.03, 0.035, 0.04, 0.05];

/// The probes at which verification is compared with the paper's rule, and how much smaller its UCR has to be.
const PROBES: f64 = 1.05;
const A_FIFTH: f64 = 0.2;

/// What verifying the most plausible world has to reach.
const VERIFIED_UCR: f64 = 0.0015;
const VERIFIED_TS: f64 = 0.983;

/// The level of the policy whose threshold controls its own risk.
const CONTROLLED: &str = "0.03";
const DELTA: f64 = 0.05;

/// A policy under test.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Policy {
    SingleWorld,
    ConflictAbstention,
    GenericOneProbe,
    ScalarConfidence,
    /// The controller under a threshold, with a rule of probing and verification or without.
    SafeCommit(Score, Cut, Rule, Verification),
}

/// Whose scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Score {
    Default,
    LearnedOfOneWorld,
    LearnedOfAll,
}

/// What the threshold promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    Marginal,
    GroupConditional,
    TrainingConditional,
    RiskControlled,
}

const PAPER: Policy = Policy::SafeCommit(
    Score::Default,
    Cut::Marginal,
    Rule::Greedy,
    Verification::Never,
);

impl Policy {
    fn all(prices: &[f64]) -> Vec<Self> {
        use Policy::SafeCommit as Of;
        use Verification::{MostPlausible, Never, WholeSupport};

        let (default, marginal, greedy) = (Score::Default, Cut::Marginal, Rule::Greedy);
        let mut all = vec![
            Self::SingleWorld,
            Self::ConflictAbstention,
            Self::GenericOneProbe,
            Self::ScalarConfidence,
            PAPER,
        ];
        for rule in [
            Rule::Random,
            Rule::InformationGain,
            Rule::Rollout,
            Rule::Optimal,
        ] {
            all.push(Of(default, marginal, rule, Never));
        }
        for cut in [
            Cut::GroupConditional,
            Cut::TrainingConditional,
            Cut::RiskControlled,
        ] {
            all.push(Of(default, cut, greedy, Never));
        }
        all.push(Of(default, marginal, greedy, MostPlausible));
        for &price in prices {
            all.push(Of(default, marginal, greedy, WholeSupport { price }));
        }
        for score in [Score::LearnedOfOneWorld, Score::LearnedOfAll] {
            for verification in [Never, WholeSupport { price: 0.0 }] {
                all.push(Of(score, marginal, greedy, verification));
            }
        }
        all
    }

    fn name(self) -> String {
        let Self::SafeCommit(score, cut, rule, verification) = self else {
            return match self {
                Self::SingleWorld => "single_world",
                Self::ConflictAbstention => "conflict_abstention",
                Self::GenericOneProbe => "generic_one_probe",
                _ => "scalar_confidence",
            }
            .to_owned();
        };
        let mut name = "safecommit".to_owned();
        name.push_str(match cut {
            Cut::Marginal => "",
            Cut::GroupConditional => ", group-conditional",
            Cut::TrainingConditional => ", training-conditional",
            Cut::RiskControlled => ", risk control at 0.03",
        });
        if rule != Rule::Greedy {
            name.push_str(&format!(", {} probing", rule.name()));
        }
        name.push_str(match score {
            Score::Default => "",
            Score::LearnedOfOneWorld => ", learned score of one world",
            Score::LearnedOfAll => ", learned score of all worlds",
        });
        match verification {
            Verification::MostPlausible => name.push_str(", verify the most plausible"),
            Verification::WholeSupport { price } => {
                name.push_str(&format!(", verify the whole support above {price}"));
            }
            _ => {}
        }
        name
    }

    fn certifies(self) -> bool {
        matches!(self, Self::SafeCommit(..))
    }

    fn score(self) -> Score {
        match self {
            Self::SafeCommit(score, ..) => score,
            _ => Score::Default,
        }
    }

    /// The budgets that make a difference to it.
    fn budgets(self) -> &'static [u32] {
        match self {
            Self::SingleWorld | Self::ConflictAbstention => &[0],
            Self::GenericOneProbe => &[1],
            Self::ScalarConfidence => &BUDGETS,
            Self::SafeCommit(_, _, Rule::Greedy, Verification::Never) => &BUDGETS,
            // Without probes these are the greedy rule.
            Self::SafeCommit(_, _, Rule::Greedy, _) | Self::SafeCommit(..) => &BUDGETS[1..],
        }
    }
}

/// What a policy did under a budget.
struct Row {
    policy: Policy,
    budget: u32,
    summary: Summary,
}

/// The row of a policy at the budget that statements are about, or the largest below it that differs.
fn stated(rows: &[Row], policy: Policy) -> Option<&Row> {
    let mut rows = rows.iter();
    rows.rfind(|row| row.policy == policy && row.budget <= STATED)
}

/// What is fixed on the frozen splits.
struct Frozen {
    /// The price that spends at most [`PROBES`] on validation.
    price: f64,
    conflict: ConflictAbstention,
    /// By budget.
    confidence: Vec<ConfidenceThreshold>,
}

pub(super) fn run(bench: &Workbench<'_>) -> Result<Report, StudyError> {
    let frozen = freeze(bench.parameters())?;
    let choice = bench.learned()?;
    let of_one = choice
        .best_of_one_world()
        .map_or(&choice.chosen().score, |own| &own.score);
    let learned = [of_one, &choice.chosen().score];
    let settings: Vec<(Policy, u32)> = Policy::all(&frozen.prices())
        .into_iter()
        .flat_map(|policy| policy.budgets().iter().map(move |budget| (policy, *budget)))
        .collect();
    let by_run = bench.try_over_runs(|run| counts(bench, run, &frozen, learned, &settings))?;
    let mut rows: Vec<Row> = Vec::new();
    let mut before: Option<(Policy, Vec<FamilyCounts>)> = None;
    for ((policy, budget), counts) in settings.into_iter().zip(transposed(by_run)) {
        let own = Some((policy, counts));
        // A larger budget that changes no count is no other row.
        if own != before {
            let summary = Summary::of_all(own.as_ref().map_or(&[], |(_, counts)| counts));
            rows.push(Row {
                policy,
                budget,
                summary,
            });
        }
        before = own;
    }

    let [a, b, c, d] = HEADINGS;
    let mut sheet = Sheet::new(&["policy", "most probes"], &[a, b, c, d, "frontier"]);
    for row in &rows {
        let keys = [
            Value::text(row.policy.name()),
            Value::text(row.budget.to_string()),
        ];
        let place = if is_undominated(row, &rows) {
            "yes"
        } else {
            ""
        };
        let cells = keys.into_iter().chain(row.summary.cells());
        sheet.push(cells.chain([Value::text(place)]));
    }
    let experiments = &bench.parameters().experiments;
    Ok(Report::new(
        "frontier",
        "Frontier: every policy under every budget",
        &format!(
            "All policies on the same episodes at alpha {}. Those of the paper's rule choose probes by expected \
             certificate shrinkage (Eq. 12, 13) and stop at the first certificate. Verifying policies spend what is left of \
             the budget on checking a certificate, since all actions here are irreversible: they ask about the most \
             plausible world, or make the best probe over the whole support if it is worth more than a price; and they \
             reopen a plausible set that answers have refuted. conflict_abstention and scalar_confidence were tuned on \
             the frozen splits and promise nothing; scalar_confidence asks about the heaviest world until the share of \
             an action passes. Optimal probing and rollout minimise the expected cost until a \
             certificate under the weights w, which need not raise TS here. Risk control has a level of its own, {CONTROLLED}. One price was chosen on the frozen \
             validation split: the smallest with at most {PROBES} mean probes there. What a policy does the same under a \
             larger budget stands once. Frontier: no other policy with the same score has at most its UCR, at least its TS \
             and at most its probes, and is better in one of them, on these means. {}",
            experiments.alpha,
            crate::tables::UNITS
        ),
        &sheet,
        chart(&rows),
        claims(&rows, experiments.alpha, frozen.price)?,
    )
    .with_extract(
        "headlines",
        "What more can be had",
        &format!(
            "Some policies at alpha {} with at most {STATED} probes, of all in [BEYOND.md](BEYOND.md); risk control has a \
             level of its own. Every figure is new. The learned scores rest on an assumed split of the score into four \
             terms that tells deceptive worlds apart almost everywhere; the one of all worlds can be moved by whoever adds \
             worlds. {}",
            experiments.alpha,
            crate::tables::UNITS
        ),
        &headlines(&rows, frozen.price),
    ))
}

/// The rows that say most, without the mark of the frontier.
fn headlines(rows: &[Row], price: f64) -> Sheet {
    use Verification::{MostPlausible, Never, WholeSupport};

    let of = |score, cut, verification| Policy::SafeCommit(score, cut, Rule::Greedy, verification);
    let cheap = WholeSupport { price };
    let shown = [
        Policy::ScalarConfidence,
        PAPER,
        of(Score::Default, Cut::RiskControlled, Never),
        of(Score::Default, Cut::Marginal, MostPlausible),
        of(Score::Default, Cut::Marginal, cheap),
        of(Score::LearnedOfOneWorld, Cut::Marginal, Never),
        of(Score::LearnedOfAll, Cut::Marginal, Never),
    ];
    let mut sheet = Sheet::new(&["policy"], &HEADINGS);
    for policy in shown {
        if let Some(row) = stated(rows, policy) {
            let name = [Value::text(policy.name())];
            sheet.push(name.into_iter().chain(row.summary.cells()));
        }
    }
    sheet
}

/// Whether no policy with the same score is as good in every way and better in one.
fn is_undominated(row: &Row, rows: &[Row]) -> bool {
    let key = |row: &Row| {
        let summary = &row.summary;
        [summary.ucr.mean, -summary.ts.mean, summary.probes.mean]
    };
    let own = key(row);
    let mut others = rows
        .iter()
        .filter(|other| other.policy.score() == row.policy.score());
    !others.any(|other| {
        let other = key(other);
        let mut pairs = other.iter().zip(&own);
        pairs.clone().all(|(other, own)| other <= own) && pairs.any(|(other, own)| other < own)
    })
}

fn chart(rows: &[Row]) -> Chart {
    use Verification::{MostPlausible, Never, WholeSupport};

    let of = |score, cut, rule, verification| Policy::SafeCommit(score, cut, rule, verification);
    let whole = WholeSupport { price: 0.0 };
    let shown = [
        PAPER,
        of(Score::Default, Cut::RiskControlled, Rule::Greedy, Never),
        of(Score::Default, Cut::Marginal, Rule::Greedy, MostPlausible),
        of(Score::Default, Cut::Marginal, Rule::Greedy, whole),
        Policy::ScalarConfidence,
        of(Score::LearnedOfOneWorld, Cut::Marginal, Rule::Greedy, Never),
        of(Score::LearnedOfOneWorld, Cut::Marginal, Rule::Greedy, whole),
    ];
    let chart = Chart::new(
        "Unsafe commits against probes",
        "probes an episode",
        "UCR, per cent of episodes",
    );
    shown.into_iter().fold(chart, |chart, policy| {
        let own = rows.iter().filter(|row| row.policy == policy);
        let points = own.map(|row| Point::per_cent(row.summary.probes.mean, row.summary.ucr));
        chart.with(policy.name(), Mark::Line, points)
    })
}

fn claims(rows: &[Row], alpha: Alpha, price: f64) -> Result<Vec<Claim>, StudyError> {
    let written = |rate: Estimate| format!("{:.2} ± {:.2}", 100.0 * rate.mean, 100.0 * rate.se);
    let controlled: Alpha = CONTROLLED.parse()?;
    let level = |policy: Policy| match policy {
        Policy::SafeCommit(_, Cut::RiskControlled, ..) => controlled.to_f64(),
        _ => alpha.to_f64(),
    };
    let certified = rows.iter().filter(|row| row.policy.certifies());
    let margin = |row: &Row| (level(row.policy) - row.summary.ucr.mean) / row.summary.ucr.se;
    let closest = certified.min_by(|one, other| margin(one).total_cmp(&margin(other)));
    let mut claims: Vec<Claim> = closest
        .map(|row| {
            claim(
                "UCR of every certificate policy under every budget is at most its level + 3 s.e.",
                format!(
                    "closest {} at level {} per cent ({}, at most {} probes)",
                    written(row.summary.ucr),
                    100.0 * level(row.policy),
                    row.policy.name(),
                    row.budget
                ),
                margin(row) >= -3.0,
            )
        })
        .into_iter()
        .collect();
    let verifying = |verification| {
        Policy::SafeCommit(Score::Default, Cut::Marginal, Rule::Greedy, verification)
    };
    if let Some(row) = stated(rows, verifying(Verification::MostPlausible)) {
        let (ucr, ts) = (row.summary.ucr, row.summary.ts);
        claims.push(claim(
            format!(
                "verifying the most plausible, at most {STATED} probes: UCR at most {:.2} and TS at least {:.1} per cent",
                100.0 * VERIFIED_UCR,
                100.0 * VERIFIED_TS
            ),
            format!("UCR {}, TS {}", written(ucr), written(ts)),
            ucr.mean <= VERIFIED_UCR && ts.mean >= VERIFIED_TS,
        ));
    }
    let cheap = stated(rows, verifying(Verification::WholeSupport { price }));
    if let (Some(row), Some(paper)) = (cheap, stated(rows, PAPER)) {
        let (ucr, bar) = (row.summary.ucr, paper.summary.ucr.mean);
        let probes = row.summary.probes;
        claims.push(claim(
            format!(
                "verifying the whole support above {price}: mean probes at most {PROBES} + 3 s.e., and UCR at most a fifth of \
                 the paper's rule's"
            ),
            format!(
                "{:.3} ± {:.3} probes, UCR {}, {:.3} of {:.2}",
                probes.mean,
                probes.se,
                written(ucr),
                ucr.mean / bar,
                100.0 * bar
            ),
            probes.mean <= PROBES + 3.0 * probes.se && ucr.mean <= A_FIFTH * bar,
        ));
    }
    Ok(claims)
}

impl Frozen {
    /// The prices of the tables, with the chosen one in its place.
    fn prices(&self) -> Vec<f64> {
        let mut prices: Vec<f64> = PRICES.into_iter().chain([self.price]).collect();
        prices.sort_unstable_by(f64::total_cmp);
        prices.dedup();
        prices
    }
}

fn freeze(parameters: &Parameters) -> Result<Frozen, StudyError> {
    let suite = Suite::Frozen {
        seed: parameters.frozen.seed,
    };
    let draw = |split| {
        crate::experiments::draw(parameters, suite, split, parameters.frozen.episodes(split))
    };
    let (calibration, validation) = (draw(Split::Calibration), draw(Split::Validation));
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
fn counts(
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
