//! Methods of other kinds under the same budgets: risk against coverage over their thresholds.

use safecommit_conformal::Alpha;

use super::chart::{Chart, Mark, Point};
use super::error::StudyError;
use super::report::{Report, claim};
use super::rule::WHOLE_SUPPORT;
use super::sheet::{Sheet, Value, per_cent};
use super::summary::{HEADINGS, Summary};
use super::workbench::{Run, Workbench, transposed};
use crate::bounded::Probability;
use crate::counts::Estimate;
use crate::episode::Episode;
use crate::experiments::draw;
use crate::generator::{Generator, Split, Suite};
use crate::methods::{
    ConfidenceThreshold, ConflictAbstention, ExecutionContainment, GenericOneProbe, Margin,
    PolicyOnly, SafeCommit, ScalarConfidence, SingleWorld, calibrate, tune_confidence, tune_margin,
};
use crate::parameters::Parameters;
use crate::published::Claim;
use crate::simulate::{Cell, FamilyCounts, simulate};

const BUDGETS: [u32; 3] = [0, 1, 2];

/// Levels of the curves of certificate methods, as a threshold on scores each.
const LEVELS: [&str; 14] = [
    "0.002", "0.005", "0.01", "0.02", "0.03", "0.05", "0.07", "0.1", "0.15", "0.2", "0.3", "0.4",
    "0.5", "0.6",
];

/// How many confidence thresholds and margins the other curves have, evenly over their range.
const STEPS: u32 = 40;

/// The rates of unsafe commits at which the best task success is looked up.
const RISKS: [f64; 3] = [0.05, 0.02, 0.005];

/// A family of methods with one threshold, under one budget.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Curve {
    kind: Kind,
    budget: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    SingleWorld,
    GenericOneProbe,
    PolicyOnly,
    ExecutionContainment,
    ConflictAbstention,
    ScalarConfidence,
    SafeCommit,
    Verifying,
}

impl Kind {
    const ALL: [Self; 8] = [
        Self::SingleWorld,
        Self::GenericOneProbe,
        Self::PolicyOnly,
        Self::ExecutionContainment,
        Self::ConflictAbstention,
        Self::ScalarConfidence,
        Self::SafeCommit,
        Self::Verifying,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::SingleWorld => "single_world",
            Self::GenericOneProbe => "generic_one_probe",
            Self::PolicyOnly => "policy_only",
            Self::ExecutionContainment => "execution_containment",
            Self::ConflictAbstention => "conflict_abstention",
            Self::ScalarConfidence => "scalar_confidence",
            Self::SafeCommit => "safecommit",
            Self::Verifying => "safecommit, verifying the whole support above 0.03",
        }
    }

    /// Whether it spends a budget of so many probes, or is the same as under a smaller one.
    fn spends(self, budget: u32) -> bool {
        match self {
            Self::SingleWorld | Self::PolicyOnly | Self::ConflictAbstention => budget == 0,
            Self::GenericOneProbe => budget == 1,
            Self::ExecutionContainment => budget <= 1,
            Self::ScalarConfidence | Self::SafeCommit => true,
            Self::Verifying => budget > 0,
        }
    }

    fn certifies(self) -> bool {
        matches!(self, Self::SafeCommit | Self::Verifying)
    }
}

fn curves() -> impl Iterator<Item = Curve> {
    let budgets = BUDGETS.into_iter();
    budgets.flat_map(|budget| {
        let kinds = Kind::ALL
            .into_iter()
            .filter(move |kind| kind.spends(budget));
        kinds.map(move |kind| Curve { kind, budget })
    })
}

/// What was fixed on episodes of no run: thresholds tuned on validation at the level of the main experiment.
struct Tuned {
    margin: ConflictAbstention,
    /// By budget.
    confidence: Vec<ConfidenceThreshold>,
}

/// The tuned setting first, then the curve.
struct Measured {
    curve: Curve,
    tuned: Summary,
    points: Vec<Summary>,
}

pub(super) fn run(bench: &Workbench<'_>) -> Result<Report, StudyError> {
    let parameters = bench.parameters();
    let levels: Vec<Alpha> = LEVELS
        .iter()
        .map(|level| level.parse())
        .collect::<Result<_, _>>()?;
    let tuned = tune(parameters);
    let by_run = bench.try_over_runs(|run| counts(parameters, run, &tuned, &levels))?;
    let measured: Vec<Measured> = curves()
        .zip(transposed(by_run))
        .map(|(curve, runs)| {
            let mut settings = transposed(runs)
                .into_iter()
                .map(|counts| Summary::of_all(&counts));
            Measured {
                curve,
                tuned: settings.next().unwrap_or(Summary::of(&[])),
                points: settings.collect(),
            }
        })
        .collect();

    let [a, b, c, d] = HEADINGS;
    let mut sheet = Sheet::new(
        &["method", "most probes"],
        &[
            a,
            b,
            c,
            d,
            "TS at UCR 5 %",
            "TS at UCR 2 %",
            "TS at UCR 0.5 %",
        ],
    );
    for measured in &measured {
        let keys = [
            Value::text(measured.curve.kind.name()),
            Value::text(measured.curve.budget.to_string()),
        ];
        let best = RISKS.map(|risk| match best(&measured.points, risk) {
            Some(point) => Value::rate(point.ts),
            None => Value::text("none"),
        });
        sheet.push(keys.into_iter().chain(measured.tuned.cells()).chain(best));
    }
    let experiments = &parameters.experiments;
    Ok(Report::new(
        "compared",
        "Compared methods: risk against coverage under the same budgets",
        &format!(
            "Episodes of their own, with two more fields that every method sees: which actions are reversible (each \
             with probability 0.5), and which are forbidden by policy (in half of the authorization_drift episodes, the \
             actions that deceptive worlds alone support). UCR, TS, FR and probes: each method as tuned at alpha \
             {alpha}: thresholds of the others on a validation split (highest TS with UCR at most alpha there), those of \
             the certificate methods by calibration, a seed each. The last columns are of the curves: the highest TS at \
             any threshold of the method whose UCR is at most that much, looked up on the test episodes themselves for \
             every method alike. single_world and generic_one_probe have no threshold. scalar_confidence acts on the \
             action with the largest share of w; while that share does not pass, and budget is left, it asks about the \
             heaviest world. policy_only and execution_containment act as single_world where the share of its action \
             passes; policy_only never takes a forbidden action, and execution_containment stages reversible ones first, \
             an inspection counting as a probe. Verifying checks irreversible actions alone, so here, where half of \
             them are reversible, its UCR is higher than in the frontier. Methods without a certificate promise nothing on \
             other data. {units}",
            alpha = experiments.alpha,
            units = crate::tables::UNITS,
        ),
        &sheet,
        chart(&measured),
        claims(&measured, experiments.alpha),
    ))
}

/// The setting with the highest task success among those whose unsafe commit rate is at most `risk`.
fn best(points: &[Summary], risk: f64) -> Option<&Summary> {
    let passing = points.iter().filter(|point| point.ucr.mean <= risk);
    passing.max_by(|one, other| one.ts.mean.total_cmp(&other.ts.mean))
}

fn chart(measured: &[Measured]) -> Chart {
    let budget = BUDGETS[BUDGETS.len() - 1];
    let mut chart = Chart::new(
        "Risk against coverage with at most two probes",
        "commits of either kind (CC), per cent of episodes",
        "UCR, per cent of episodes",
    );
    for kind in Kind::ALL {
        // A method that spends less is the same under more.
        let mut own = measured.iter();
        let own = own.rfind(|own| own.curve.kind == kind && own.curve.budget <= budget);
        let Some(own) = own else { continue };
        let mark = if own.points.len() > 1 {
            Mark::Line
        } else {
            Mark::Dots
        };
        let points = own.points.iter();
        let points = points.map(|point| Point::per_cent(100.0 * point.cc.mean, point.ucr));
        chart = chart.with(kind.name(), mark, points);
    }
    chart
}

fn claims(measured: &[Measured], alpha: Alpha) -> Vec<Claim> {
    let certified = measured
        .iter()
        .filter(|measured| measured.curve.kind.certifies());
    let within = certified.clone().all(|measured| {
        let ucr = measured.tuned.ucr;
        ucr.mean <= alpha.to_f64() + 3.0 * ucr.se
    });
    let rates = certified.map(|measured| per_cent(measured.tuned.ucr));
    let mut claims = vec![claim(
        format!(
            "UCR of every certificate method is at most alpha {alpha} + 3 s.e. under every budget"
        ),
        rates.collect::<Vec<_>>().join(", "),
        within,
    )];
    let at = |kind, budget| {
        let mut measured = measured.iter();
        measured.find(|measured| measured.curve == Curve { kind, budget })
    };
    for budget in BUDGETS.into_iter().filter(|budget| *budget > 0) {
        let pair = (
            at(Kind::Verifying, budget),
            at(Kind::ScalarConfidence, budget),
        );
        let (Some(verifying), Some(scalar)) = pair else {
            continue;
        };
        for risk in RISKS {
            let success = |measured: &Measured| best(&measured.points, risk).map(|point| point.ts);
            let (ours, theirs) = (success(verifying), success(scalar));
            let number = |rate: Option<Estimate>| rate.map_or("none".to_owned(), per_cent);
            claims.push(claim(
                format!(
                    "{budget} probes, UCR at most {:.1} per cent: verifying reaches at least the TS of scalar_confidence",
                    100.0 * risk
                ),
                format!("{} against {}", number(ours), number(theirs)),
                ours.map_or(0.0, |rate| rate.mean) >= theirs.map_or(0.0, |rate| rate.mean),
            ));
        }
    }
    claims
}

/// Tunes on episodes of a seed that no run has.
fn tune(parameters: &Parameters) -> Tuned {
    let seeds = parameters.experiments.seeds.get().iter();
    let suite = Suite::Compared {
        seed: seeds.fold(0, |largest, seed| largest.max(*seed)) + 1,
    };
    let frozen = |split| draw(parameters, suite, split, parameters.frozen.episodes(split));
    let (calibration, validation) = (frozen(Split::Calibration), frozen(Split::Validation));
    let experiments = &parameters.experiments;
    let calibrated = calibrate(experiments.alpha, &calibration);
    let margin = tune_margin(experiments.alpha, calibrated.threshold(), &validation);
    let confidence = BUDGETS.map(|budget| {
        tune_confidence(
            experiments.alpha,
            experiments.temperature,
            budget,
            &validation,
        )
    });
    Tuned {
        margin: ConflictAbstention::new(calibrated.threshold(), margin),
        confidence: confidence.into(),
    }
}

/// By curve and setting, the tuned one first.
fn counts(
    parameters: &Parameters,
    run: &Run<'_>,
    tuned: &Tuned,
    levels: &[Alpha],
) -> Result<Vec<Vec<FamilyCounts>>, StudyError> {
    let suite = Suite::Compared { seed: run.seed() };
    let experiments = &parameters.experiments;
    let calibration = draw(
        parameters,
        suite,
        Split::Calibration,
        experiments.calibration.get(),
    );
    let mut cells = Vec::new();
    let mut lengths = Vec::new();
    for curve in curves() {
        let own = cells_of(curve, parameters, tuned, levels, &calibration)?;
        lengths.push(own.len());
        cells.extend(own);
    }
    let generator = Generator::new(&parameters.generator, suite, Split::Test);
    let mut counts = simulate(&generator, experiments.test.get(), &cells).into_iter();
    Ok(lengths
        .into_iter()
        .map(|length| counts.by_ref().take(length).collect())
        .collect())
}

/// The method as tuned, then at every threshold of its curve.
fn cells_of(
    Curve { kind, budget }: Curve,
    parameters: &Parameters,
    tuned: &Tuned,
    levels: &[Alpha],
    calibration: &[Episode],
) -> Result<Vec<Cell>, StudyError> {
    let experiments = &parameters.experiments;
    let temperature = experiments.temperature;
    let calibrated = |alpha| calibrate(alpha, calibration);
    let at_level = |alpha: Alpha| -> Result<Cell, StudyError> {
        let plain = SafeCommit::new(calibrated(alpha).threshold(), temperature.get(), budget);
        Ok(Cell::certifying(match kind {
            Kind::Verifying => plain.verifying(WHOLE_SUPPORT.1)?,
            _ => plain,
        }))
    };
    let confident = |threshold| match kind {
        Kind::PolicyOnly => Cell::uncertified(PolicyOnly::new(temperature, threshold)),
        Kind::ExecutionContainment => {
            Cell::uncertified(ExecutionContainment::new(temperature, threshold, budget))
        }
        _ => Cell::uncertified(ScalarConfidence::new(temperature, threshold, budget)),
    };
    let shares = (0..=STEPS).filter_map(|step| {
        let share = Probability::try_from(f64::from(step) / f64::from(STEPS)).ok()?;
        Some(ConfidenceThreshold::AtLeast(share))
    });
    Ok(match kind {
        Kind::SingleWorld => (0..2).map(|_| Cell::uncertified(SingleWorld)).collect(),
        Kind::GenericOneProbe => (0..2)
            .map(|_| {
                let calibration = calibrated(experiments.alpha);
                Cell::uncertified(GenericOneProbe::new(calibration.threshold()))
            })
            .collect(),
        Kind::ConflictAbstention => {
            let calibration = calibrated(experiments.alpha);
            let margins = (0..=STEPS).map(|step| Margin::Millionths(1_000_000 / STEPS * step));
            let margins = margins.chain([Margin::Infinite]);
            let at = |margin| ConflictAbstention::new(calibration.threshold(), margin);
            let methods = [tuned.margin.clone()].into_iter().chain(margins.map(at));
            methods.map(Cell::uncertified).collect()
        }
        Kind::PolicyOnly | Kind::ExecutionContainment => [ConfidenceThreshold::ALWAYS]
            .into_iter()
            .chain(shares)
            .map(confident)
            .collect(),
        Kind::ScalarConfidence => {
            let own = tuned.confidence.get(budget as usize).copied();
            let own = own.unwrap_or(ConfidenceThreshold::Never);
            [own].into_iter().chain(shares).map(confident).collect()
        }
        Kind::SafeCommit | Kind::Verifying => {
            let all = [experiments.alpha]
                .into_iter()
                .chain(levels.iter().copied());
            all.map(at_level).collect::<Result<_, _>>()?
        }
    })
}
