use safecommit_conformal::{
    Alpha, Calibration, CoverageLaw, Guarantee, Misses, clopper_pearson, ranks,
};

use crate::{alpha, delta, fixture, scores, share, uniforms};

#[test]
fn training_conditional_ranks_of_the_reference() {
    let rows: Vec<(u64, Alpha, f64, u64)> = fixture("/training_conditional/rows");
    for (n, level, d, rank) in rows {
        assert_eq!(
            ranks::training_conditional(level, n, delta(d)),
            Ok(rank),
            "{n} {level} {d}"
        );
    }
    let least: Vec<(Alpha, f64, u64)> = fixture("/training_conditional/least_n");
    for (level, d, n) in least {
        let rank = |n| ranks::training_conditional(level, n, delta(d)).unwrap();
        assert_eq!(
            (rank(n), rank(n - 1)),
            (n, n),
            "{level}: finite at n, above n - 1 before"
        );
    }
}

#[test]
fn simultaneous_ranks_of_the_reference() {
    let rows: Vec<(u64, Alpha, f64, Option<u64>)> = fixture("/simultaneous/rows");
    for (n, level, d, rank) in rows {
        let ours = ranks::simultaneous(level, n, delta(d));
        assert_eq!(ours, Ok(rank.unwrap_or(n + 1)), "{n} {level} {d}");
    }
}

/// The smallest rank whose coverage law falls short with probability at most delta, by trying all.
#[test]
fn the_training_conditional_rank_is_the_smallest_that_the_coverage_law_allows() {
    for (n, level) in [
        (1, "0.5"),
        (10, "0.3"),
        (40, "0.1"),
        (60, "0.05"),
        (200, "0.07"),
        (30, "0.9"),
    ] {
        for d in [0.5, 0.2, 0.05, 0.01, 1e-6] {
            let level = alpha(level);
            let fine = |rank: &u64| {
                CoverageLaw::new(n, *rank)
                    .unwrap()
                    .shortfall_probability(level)
                    <= d
            };
            let smallest = (1..=n + 1).find(fine).unwrap();
            assert_eq!(
                ranks::training_conditional(level, n, delta(d)),
                Ok(smallest),
                "{n} {level} {d}"
            );
        }
    }
}

#[test]
fn ranks_at_the_ends() {
    let tenth = alpha("0.1");
    assert_eq!(ranks::training_conditional(tenth, 0, delta(0.05)), Ok(1));
    assert_eq!(ranks::simultaneous(tenth, 0, delta(0.05)), Ok(1));
    let n = clopper_pearson::MAX_TRIALS;
    for rank in [
        ranks::training_conditional(tenth, n, delta(0.05)).unwrap(),
        ranks::simultaneous(tenth, n, delta(0.05)).unwrap(),
    ] {
        assert!(
            tenth.rank(n) < rank && rank < tenth.rank(n) + n / 10_000,
            "{rank}"
        );
    }
    assert!(ranks::training_conditional(tenth, n + 1, delta(0.05)).is_err());
    assert!(ranks::simultaneous(tenth, n + 1, delta(0.05)).is_err());
    let error = ranks::simultaneous(tenth, 10, delta(0.6))
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "delta `0.6` exceeds one half, where the simultaneous rank is not proved"
    );
}

/// How often the coverage of the set at hand falls short: for uniform scores the coverage of a
/// threshold is the threshold itself.
#[test]
fn one_calibration_set_falls_short_as_often_as_stated() {
    let (level, d) = (alpha("0.1"), delta(0.05));
    let mut uniform = uniforms(17);
    let mut shortfall = |calibrate: &dyn Fn(&[f64]) -> Calibration| {
        share(20_000, || {
            let values: Vec<f64> = (0..100).map(|_| uniform()).collect();
            calibrate(&values)
                .threshold()
                .finite()
                .is_some_and(|kappa| kappa.value() < 0.9)
        })
    };
    let (pac, error) = shortfall(&|values| {
        Calibration::training_conditional(level, d, &scores(values), Misses::AsListed).unwrap()
    });
    let expect = CoverageLaw::new(100, 96)
        .unwrap()
        .shortfall_probability(level);
    assert!(
        (pac - expect).abs() <= error && pac <= 0.05 + error,
        "{pac} {expect}"
    );
    let (marginal, error) =
        shortfall(&|values| Calibration::split_conformal(level, &scores(values)));
    assert!((marginal - 0.451_290).abs() <= error, "{marginal}");
    // One rank lower is not enough: the reference says 96.
    let lower = CoverageLaw::new(100, 95)
        .unwrap()
        .shortfall_probability(level);
    assert!(lower > 0.05, "{lower}");
}

/// With probability at least 1 - delta, no alpha at all falls short, the worst one after looking
/// included; the training-conditional ranks, each right for its own alpha, do fall short together.
#[test]
fn simultaneous_ranks_hold_for_the_worst_alpha() {
    const N: u64 = 200;
    let d = delta(0.1);
    let levels: Vec<Alpha> = (1..100)
        .map(|i| Alpha::from_digits(i, 2).unwrap())
        .collect();
    type Rank = fn(Alpha, u64, safecommit_conformal::Delta) -> Result<u64, ranks::RankError>;
    let run = |rank: Rank| {
        let ranks: Vec<u64> = levels.iter().map(|l| rank(*l, N, d).unwrap()).collect();
        let mut uniform = uniforms(23);
        share(10_000, || {
            let mut values: Vec<f64> = (0..N).map(|_| uniform()).collect();
            values.sort_by(f64::total_cmp);
            levels.iter().zip(&ranks).any(|(level, rank)| {
                let kappa = values.get(*rank as usize - 1);
                kappa.is_some_and(|kappa| *kappa < 1.0 - level.to_f64())
            })
        })
    };
    let (together, error) = run(ranks::simultaneous);
    assert!(together <= 0.1 + error && together > 0.02, "{together}");
    let (each, error) = run(ranks::training_conditional);
    assert!(each > 0.1 + error, "{each}");
}

#[test]
fn calibrations_say_what_they_promise() {
    let values: Vec<f64> = (0..1000).map(f64::from).collect();
    let (level, d) = (alpha("0.1"), delta(0.05));
    let pac =
        Calibration::training_conditional(level, d, &scores(&values), Misses::AllListed).unwrap();
    assert_eq!(
        pac.guarantee(),
        &Guarantee::TrainingConditional { delta: d }
    );
    assert_eq!(
        (pac.rank(), pac.threshold().to_string().as_str()),
        (916, "915")
    );
    let all = Calibration::simultaneous(level, d, &scores(&values), Misses::AllListed).unwrap();
    assert_eq!(all.guarantee(), &Guarantee::Simultaneous { delta: d });
    assert_eq!(
        (all.rank(), all.threshold().to_string().as_str()),
        (939, "938")
    );
    // Too few scores: unbounded, not the largest score.
    let few = Calibration::training_conditional(level, d, &scores(&values[..28]), Misses::AsListed);
    assert!(few.unwrap().threshold().is_unbounded());
}
