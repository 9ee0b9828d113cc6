//! The gate with a threshold from the history of half of the corpus, on the other half.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use std::thread;

use safecommit_conformal::beta::Beta;
use safecommit_conformal::{
    Calibration, CalibrationScore, Misses, MondrianCalibration, Stratum, Taxonomy, Threshold,
};
use safecommit_gate::GateCalibration;
use safecommit_gate::audit::{GroupBy, Labels, ScoredDecision};

use crate::draw::Draw;
use crate::families::Family;
use crate::gated::{Decided, Gated, Gates, check_gate_and};
use crate::run::run_some;
use crate::truth;

const ALPHA: f64 = 0.05;

const BY: [GroupBy; 2] = [GroupBy::Severity, GroupBy::Source];

/// Every scene decided without a calibration, and labelled with what is true of it.
struct History {
    version: String,
    scored: Vec<ScoredDecision>,
    decided: BTreeMap<String, Decided>,
}

/// Taken once in each run of the program, by two threads with a log each: the other tests here wait for it.
static HISTORY: LazyLock<History> = LazyLock::new(|| {
    let families = Family::without_mounts();
    let (some, others) = families.split_at(families.len() / 2);
    thread::scope(|scope| {
        let others = scope.spawn(|| History::of(others));
        let mut history = History::of(some);
        let others = others.join().unwrap();
        assert_eq!(history.version, others.version);
        history.scored.extend(others.scored);
        history.decided.extend(others.decided);
        history
    })
});

/// A half of the decisions, and the rest.
type Halves<'h> = (Vec<&'h ScoredDecision>, Vec<&'h ScoredDecision>);

impl History {
    fn of(families: &[Family]) -> Self {
        let mut labels = Vec::new();
        let Gated { gates, .. } = check_gate_and(families, |scene, request| {
            labels.push(truth::label(scene, request));
        });
        let known: BTreeSet<&str> = gates.decided.iter().map(|one| one.name.as_str()).collect();
        labels.retain(|label| known.contains(label.decision.as_str()));
        let labels = Labels::new(labels).unwrap();
        let version = gates.version.clone();
        let scored = gates
            .reader()
            .calibration_scores(&labels, &BY, Some(&version));
        let decided = gates.decided.into_iter();
        Self {
            version,
            scored: scored.unwrap(),
            decided: decided.map(|one| (one.name.clone(), one)).collect(),
        }
    }

    /// Hazards, variants and the rest are shuffled together, so that the halves are exchangeable: halves by family, by
    /// number or by role would differ.
    fn halves(&self, seed: usize) -> Halves<'_> {
        let mut draw = Draw::new("halves", seed);
        let mut all: Vec<_> = self.scored.iter().collect();
        for last in (1..all.len()).rev() {
            all.swap(last, draw.below(last + 1));
        }
        let rest = all.split_off(all.len() / 2);
        (all, rest)
    }
}

fn marginal(history: &[&ScoredDecision], alpha: f64) -> Calibration {
    let scores: Vec<CalibrationScore> = history.iter().map(|one| one.score).collect();
    let alpha = alpha.to_string().parse().unwrap();
    Calibration::split_conformal_with(alpha, &scores, Misses::AsListed)
}

fn by_stratum(history: &[&ScoredDecision], all: &[ScoredDecision]) -> MondrianCalibration {
    let strata: BTreeSet<Stratum> = all.iter().map(|one| one.stratum.clone()).collect();
    let cases = history.iter().map(|one| (one.stratum.clone(), one.score));
    let cases: Vec<_> = cases.collect();
    let alpha = ALPHA.to_string().parse().unwrap();
    let taxonomy = Taxonomy::new(strata).unwrap();
    MondrianCalibration::new(alpha, taxonomy, &cases, Misses::AsListed).unwrap()
}

fn is_missed(one: &ScoredDecision, threshold: &Threshold) -> bool {
    match one.score {
        CalibrationScore::Observed(score) => !threshold.retains(score),
        CalibrationScore::Missing => true,
    }
}

/// The uncalibrated run checks what has to hold in it.
#[test]
fn nothing_that_does_harm_is_released_and_what_is_safe_is() {
    assert_eq!(HISTORY.decided.len(), HISTORY.scored.len());
    // Worlds cover every combination of facts, so none is ever missing.
    let mut scores = HISTORY.scored.iter();
    assert!(scores.all(|one| one.score != CalibrationScore::Missing));
}

/// On average over halves, a threshold excludes no more true worlds than it may.
#[test]
fn thresholds_from_one_half_hold_in_the_other() {
    const SEEDS: usize = 400;
    // Few different scores occur. A threshold at a low level is the largest of them, and excludes nothing.
    let means = [ALPHA, 0.1, 0.2, 0.45, 0.6].map(|alpha| {
        let shares = (0..SEEDS).map(|seed| {
            let (history, rest) = HISTORY.halves(seed);
            let calibration = marginal(&history, alpha);
            let missed = rest
                .iter()
                .filter(|one| is_missed(one, calibration.threshold()));
            missed.count() as f64 / rest.len() as f64
        });
        let shares: Vec<f64> = shares.collect();
        let mean = shares.iter().sum::<f64>() / SEEDS as f64;
        let squares = shares.iter().map(|share| (share - mean).powi(2));
        let error = (squares.sum::<f64>() / (SEEDS * (SEEDS - 1)) as f64).sqrt();
        println!(
            "{alpha}: true worlds above the threshold: {mean:.4} +- {error:.4} over {SEEDS} splits"
        );
        assert!(mean <= alpha + 4.0 * error, "{alpha} {mean} {error}");
        mean
    });
    // It is no empty statement: some threshold excludes some.
    assert!(means.iter().any(|mean| *mean > 0.0), "{means:?}");
}

/// P(X >= count) for a binomial X.
fn binomial_tail(count: usize, cases: usize, rate: f64) -> f64 {
    if count == 0 {
        return 1.0;
    }
    let law = Beta::new(count as f64, (cases - count + 1) as f64).unwrap();
    law.lower_tail(rate)
}

#[test]
fn unsafe_releases_keep_within_the_bound() {
    let history = &*HISTORY;
    let (earlier, rest) = history.halves(0);
    let one = marginal(&earlier, ALPHA);
    let beta = one.missing() as f64 / one.n() as f64;
    println!(
        "threshold {:?} from {} decisions",
        one.threshold().finite(),
        one.n()
    );
    let one = GateCalibration::one(&history.version, one).unwrap();
    let strata = by_stratum(&earlier, &history.scored);
    let strata = GateCalibration::by_stratum(&history.version, BY, strata).unwrap();
    let names: BTreeSet<&str> = rest.iter().map(|one| one.decision.as_str()).collect();
    let mean = |of: &dyn Fn(&Decided) -> f64, decided: &[&Decided]| -> f64 {
        decided.iter().map(|one| of(one)).sum::<f64>() / decided.len() as f64
    };
    let uncalibrated: Vec<&Decided> = names.iter().map(|name| &history.decided[*name]).collect();
    let runs = [
        (
            "one threshold, the whole support verified",
            &one,
            "whole_support",
        ),
        ("one threshold, nothing verified", &one, "never"),
        (
            "a threshold for each stratum, nothing verified",
            &strata,
            "never",
        ),
    ];
    let check = |(shown, calibration, verification): (&str, &GateCalibration, &str)| {
        let mut gates = Gates::calibrated(calibration, verification);
        let report = run_some(
            &Family::without_mounts(),
            |plan| names.contains(plan.name().as_str()),
            |scene, request, now| gates.decide(scene, request, now),
        );
        let (row, cases) = (report.total(), gates.decided.len());
        let decided: Vec<&Decided> = gates.decided.iter().collect();
        println!(
            "{shown}: {} unsafe releases among {cases} (at most {:.1} expected), {} of {} variants released, probes {:.2} \
             (uncalibrated {:.2}), cost {:.2} (uncalibrated {:.2})\n{report}",
            row.unsafe_releases,
            (ALPHA + beta) * cases as f64,
            row.variants_released,
            row.variants,
            mean(&|one| one.probes as f64, &decided),
            mean(&|one| one.probes as f64, &uncalibrated),
            mean(&|one| one.cost, &decided),
            mean(&|one| one.cost, &uncalibrated),
        );
        assert_eq!(cases, names.len());
        assert!(binomial_tail(row.unsafe_releases, cases, ALPHA + beta) >= 1e-6);
        assert!(row.variants_released as f64 >= 0.95 * row.variants as f64);
        assert_eq!(report.side_effects, [""; 0]);
        assert_eq!(gates.replay().differing, []);
        // The threshold excludes some worlds, about which nothing has to be asked.
        assert!(
            mean(&|one| one.probes as f64, &decided)
                < mean(&|one| one.probes as f64, &uncalibrated)
        );
    };
    thread::scope(|scope| {
        for run in runs {
            let check = &check;
            scope.spawn(move || check(run));
        }
    });
}
