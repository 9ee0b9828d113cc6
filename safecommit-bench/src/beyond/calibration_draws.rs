//! How often one calibration set falls short: the marginal rank against ranks that allow for it.

use safecommit_conformal::{
    Alpha, Calibration, CalibrationScore, CoverageLaw, Delta, Misses, RankError, Score,
};

use super::chart::{Chart, Mark, Point};
use super::error::StudyError;
use super::report::{Report, claim};
use super::sheet::{Sheet, Value, per_cent};
use super::workbench::{Run, Workbench};
use crate::counts::Estimate;
use crate::episode::Family;
use crate::generator::{DrawnEpisode, Split};
use crate::micros::Micros;
use crate::parameters::GeneratorParameters;
use crate::published::Claim;
use crate::random::StreamKey;

/// Calibration sets that a seed draws; a thousand with ten seeds.
const DRAWS: u64 = 100;

/// The share of calibration sets that may fall short.
const DELTA: f64 = 0.05;

/// How a rank is chosen.
type Rule = fn(Alpha, &[CalibrationScore], Delta) -> Result<Calibration, RankError>;

const MARGINAL: &str = "marginal";
const TRAINING: &str = "training-conditional (PAC)";
const SIMULTANEOUS: &str = "simultaneous (DKW)";

const RULES: [(&str, Rule); 3] = [
    (MARGINAL, |alpha, scores, _| {
        Ok(Calibration::split_conformal(alpha, scores))
    }),
    (TRAINING, |alpha, scores, delta| {
        Calibration::training_conditional(alpha, delta, scores, Misses::AsListed)
    }),
    (SIMULTANEOUS, |alpha, scores, delta| {
        Calibration::simultaneous(alpha, delta, scores, Misses::AsListed)
    }),
];

/// What one calibration set gave under one rule.
#[derive(Clone, Copy)]
struct Drawn {
    rank: u64,
    threshold: f64,
    coverage: f64,
}

pub(super) fn run(bench: &Workbench<'_>) -> Result<Report, StudyError> {
    let experiments = &bench.parameters().experiments;
    let delta = Delta::new(DELTA)?;
    let n = experiments.calibration.get();
    let levels = &experiments.alphas;
    let settings: Vec<(Alpha, (&str, Rule))> = levels
        .iter()
        .flat_map(|alpha| RULES.map(|rule| (*alpha, rule)))
        .collect();
    // By seed, by draw, by setting.
    let by_run = bench.try_over_runs(|run| {
        let calibrated = |draw| -> Result<Vec<Drawn>, StudyError> {
            let scores = scores(run, draw, n);
            let of = |(alpha, (_, rule)): &(Alpha, (&str, Rule))| {
                let calibration = rule(*alpha, &scores, delta)?;
                let kappa = calibration.threshold().finite();
                Ok(Drawn {
                    rank: calibration.rank(),
                    threshold: kappa.map_or(f64::INFINITY, Score::value),
                    coverage: kappa
                        .map_or(1.0, |kappa| coverage(&bench.parameters().generator, kappa)),
                })
            };
            settings.iter().map(of).collect()
        };
        (0..DRAWS).map(calibrated).collect::<Result<Vec<_>, _>>()
    })?;

    let mut sheet = Sheet::new(
        &["alpha", "rank"],
        &[
            "rank of n",
            "mean threshold",
            "mean coverage",
            "share below 1 - alpha",
            "exact share",
        ],
    );
    let mut chart = Chart::new(
        "Coverage of one calibration set",
        "calibration sets, per cent, the worst first",
        "true coverage, per cent",
    );
    let mut claims = Vec::new();
    for (place, (alpha, (name, _))) in settings.iter().enumerate() {
        let over = |of: &dyn Fn(&Drawn) -> f64| {
            let means = by_run.iter().map(|draws| {
                draws.iter().map(|draw| of(&draw[place])).sum::<f64>() / draws.len() as f64
            });
            Estimate::over(&means.collect::<Vec<_>>())
        };
        let level = 1.0 - alpha.to_f64();
        let below = over(&|drawn| f64::from(u8::from(drawn.coverage < level)));
        let rank = by_run
            .first()
            .and_then(|draws| draws.first())
            .map_or(0, |draw| draw[place].rank);
        let exact = CoverageLaw::new(n, rank)?.shortfall_probability(*alpha);
        sheet.push([
            Value::text(alpha.to_string()),
            Value::text(*name),
            Value::Count(rank),
            Value::Number(over(&|drawn| drawn.threshold).mean, 4),
            Value::rate(over(&|drawn| drawn.coverage)),
            Value::rate(below),
            Value::Share(exact),
        ]);
        claims.extend(holds(*alpha, name, below, exact));
        if *alpha == experiments.alpha {
            let coverages = by_run.iter().flatten().map(|draw| draw[place].coverage);
            chart = chart.with(*name, Mark::Line, percentiles(coverages.collect()));
        }
    }
    claims.push(at_any_level(&settings, &by_run));
    let target = 100.0 * (1.0 - experiments.alpha.to_f64());
    let ends = [0.0, 100.0].map(|x| Point::at(x, target));
    chart = chart.with("1 - alpha", Mark::Limit, ends);

    Ok(Report::new(
        "calibration_draws",
        "Calibration draws: what one calibration set covers",
        &format!(
            "Each seed draws {DRAWS} calibration sets of {n} episodes, their families independent and uniform. The \
             coverage of each threshold is computed exactly from the generator's law of the true world's score, \
             not simulated. The marginal guarantee is an average over calibration sets; whoever holds one of \
             them may hold one that falls short. The training-conditional rank allows that with probability \
             {DELTA} at one level, the simultaneous one with the same probability at all levels together. The \
             exact share is that of the law of coverage for independent scores without ties, Beta(rank, \
             n + 1 - rank). Where a rank exceeds n, the threshold is unbounded and covers everything. Shares in per cent."
        ),
        &sheet,
        chart,
        claims,
    ))
}

/// What has to hold for the share of calibration sets that fall short at one level; nothing for the simultaneous
/// rank, whose promise is about all levels together.
fn holds(alpha: Alpha, name: &str, below: Estimate, exact: f64) -> Option<Claim> {
    let evidence = format!("{} per cent, exactly {:.2}", per_cent(below), 100.0 * exact);
    match name {
        MARGINAL => Some(claim(
            format!(
                "alpha {alpha}: the marginal rank falls short about as often as its law says, within 3 s.e."
            ),
            evidence,
            (below.mean - exact).abs() <= 3.0 * below.se && (exact - 0.5).abs() < 0.1,
        )),
        TRAINING => Some(claim(
            format!(
                "alpha {alpha}: the {name} rank falls short in at most delta = {DELTA} of the sets, + 3 s.e."
            ),
            evidence,
            below.mean <= DELTA + 3.0 * below.se,
        )),
        _ => None,
    }
}

/// What has to hold for the share of calibration sets that fall short at any level.
fn at_any_level(settings: &[(Alpha, (&str, Rule))], by_run: &[Vec<Vec<Drawn>>]) -> Claim {
    let falls_short = |draw: &Vec<Drawn>| {
        let mut settings = settings.iter().zip(draw);
        settings.any(|((alpha, (name, _)), drawn)| {
            *name == SIMULTANEOUS && drawn.coverage < 1.0 - alpha.to_f64()
        })
    };
    let shares = by_run.iter().map(|draws| {
        draws.iter().filter(|draw| falls_short(draw)).count() as f64 / draws.len() as f64
    });
    let share = Estimate::over(&shares.collect::<Vec<_>>());
    claim(
        format!(
            "the {SIMULTANEOUS} rank falls short at any of the levels in at most delta = {DELTA} of the sets, + 3 s.e."
        ),
        format!("{} per cent", per_cent(share)),
        share.mean <= DELTA + 3.0 * share.se,
    )
}

/// The scores of the true worlds of one calibration set: episode i is one of four in a row, of a family that is
/// drawn, so that families are independent.
fn scores(run: &Run<'_>, draw: u64, n: u64) -> Vec<CalibrationScore> {
    let generator = run.generator(Split::Calibration);
    let mut families =
        StreamKey::derive("experiment", run.seed(), "calibration", "families").stream(draw);
    let mut drawn = DrawnEpisode::default();
    let count = Family::ALL.len() as u64;
    (0..n)
        .map(|case| {
            let index = (draw * n + case) * count + families.below(count);
            generator.draw_into(index, &mut drawn);
            crate::methods::calibration_score(drawn.episode())
        })
        .collect()
}

/// The probability that the true world of a new episode scores at most `kappa`: the mean over the families of
/// the normal law, cut half a grid step above, since scores are rounded to the grid and clipped to [0, 1].
fn coverage(parameters: &GeneratorParameters, kappa: Score) -> f64 {
    let count = Micros::clipped(kappa.value()).count();
    if count == Micros::ONE.count() {
        return 1.0;
    }
    let cut = (f64::from(count) + 0.5) / 1e6;
    let of_family = |family| {
        let law = parameters.family.of(family);
        let z = (cut - law.true_mean.get()) / law.true_sd.get();
        0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
    };
    Family::ALL.into_iter().map(of_family).sum::<f64>() / Family::ALL.len() as f64
}

/// Coverage in per cent at every fiftieth of the calibration sets, the worst first.
fn percentiles(mut coverages: Vec<f64>) -> Vec<Point> {
    coverages.sort_unstable_by(f64::total_cmp);
    let last = coverages.len().saturating_sub(1);
    (0..=50_u32)
        .filter_map(|part| {
            let place = (last as f64 * f64::from(part) / 50.0).round() as usize;
            let coverage = coverages.get(place)?;
            Some(Point::at(2.0 * f64::from(part), 100.0 * coverage))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::Parameters;

    /// The formula against counting, at thresholds over the whole range.
    #[test]
    fn coverage_is_how_often_a_score_is_at_most_the_threshold() {
        let parameters = Parameters::project().unwrap();
        let bench = Workbench::new(&parameters);
        let seeds = bench.over_runs(|run| scores(run, 7, 4000));
        let all: Vec<Score> = seeds
            .into_iter()
            .flatten()
            .filter_map(|score| score.observed())
            .collect();
        for kappa in [0.0, 0.1, 0.25, 0.481_234, 0.66, 0.8, 0.999_999, 1.0] {
            let kappa = Score::new(kappa).unwrap();
            let exact = coverage(&parameters.generator, kappa);
            let observed =
                all.iter().filter(|score| **score <= kappa).count() as f64 / all.len() as f64;
            let error = (exact * (1.0 - exact) / all.len() as f64).sqrt();
            assert!(
                (observed - exact).abs() <= 4.0 * error + 1e-12,
                "{kappa}: {observed} {exact}"
            );
        }
    }

    #[test]
    fn calibration_sets_of_a_seed_share_no_episode() {
        let parameters = Parameters::project().unwrap();
        let bench = Workbench::new(&parameters);
        let sets = bench.over_runs(|run| [scores(run, 0, 50), scores(run, 1, 50)]);
        for [one, other] in &sets {
            assert_ne!(one, other);
        }
        assert_ne!(sets[0], sets[1]);
    }
}
