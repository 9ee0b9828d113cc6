//! The comparison on results that are made to hold, and on each way in which they may not.

use super::*;
use crate::experiments::{Prepared, Results};
use crate::parameters::Parameters;

#[test]
fn every_number_of_the_file_is_a_figure() {
    let published = Published::project().unwrap();
    let values: Vec<f64> = published.figures.iter().map(|cell| cell.value).collect();
    let expected = [
        41.2, 2.5, 44.7, 52.8, 2.6, 97.4, 0.55, // main
        44.7, 52.8, 95.1, 2.4, 97.4, // probe budget
        0.6, 0.68, 2.6, 0.55, 4.8, 0.50, // alpha
    ];
    assert_eq!(values, expected);
    let [low, high] = published.family.ucr_range;
    assert_eq!(
        format!("{low} {high} {}", published.family.ts_min),
        "1.2 3.9 96.1"
    );
    assert_eq!(published.same_budgets, [(4, 2)]);
}

#[test]
fn what_the_file_may_not_say() {
    let check = |from: &str, to: &str, field: &str, part: &str| {
        assert!(PROJECT.contains(from), "{from}");
        let error = Published::from_toml(&PROJECT.replacen(from, to, 1)).unwrap_err();
        assert_eq!(error.field(), field);
        assert!(error.to_string().contains(part), "{error}");
    };
    check(
        "ucr = 41.2",
        "ucr = nan",
        "main.single_world.ucr",
        "per cent",
    );
    check("ts_min", "ts_least", "family.ts_least", "unknown field");
    check(
        "\"about twice\"",
        "\"thrice\"",
        "main.generic_one_probe.ucr_vs_safecommit",
        "thrice",
    );
    check("\"0.10\" =", "\"1.10\" =", "alpha.1.10", "1.10");
    check("\"1\" = {", "\"one\" = {", "probe_budget.one", "one");
    check("[1.2, 3.9]", "[3.9, 1.2]", "family.ucr_range", "`1.2`");
    check(
        "same_as = \"2\"",
        "same_as = \"3\"",
        "probe_budget.4",
        "`3`",
    );
    check(
        "\"conflict\"\ngeneric",
        "\"clash\"\ngeneric",
        "family.generic_one_probe_weakest",
        "clash",
    );
}

/// Results of few episodes, overwritten so that everything that is compared and checked holds.
fn holding() -> (Parameters, Published, Results) {
    let small = Parameters::project_toml().replace(
        "calibration = 2000\ntest = 4000\nalpha",
        "calibration = 100\ntest = 40\nalpha",
    );
    let published = Published::project().unwrap();
    let mut results = Prepared::new(&Parameters::from_toml(&small).unwrap()).run(&|_| ());
    for row in &mut results.rows {
        let family = row.family.map(|family| family as usize);
        let (ucr, ts) = match (row.setting.method, family) {
            (MethodName::SingleWorld, Some(family)) => ([20.0, 30.0, 60.0, 50.0][family], 50.0),
            (MethodName::SingleWorld, None) => (41.2, 58.8),
            (MethodName::GenericOneProbe, Some(family)) => ([1.5, 6.0, 5.0, 4.0][family], 90.0),
            (MethodName::GenericOneProbe, None) => (4.4, 91.0),
            (_, Some(family)) => (
                [1.2, 1.6, 3.9, 3.5][family],
                [98.8, 98.4, 96.1, 96.5][family],
            ),
            (_, None) => (
                if row.setting.alpha.to_f64() < 0.05 {
                    0.6
                } else {
                    2.6
                },
                97.4,
            ),
        };
        set(row, Metric::Ucr, ucr);
        set(row, Metric::Ts, ts);
        set(row, Metric::Fr, 0.0);
    }
    for figure in published.figures() {
        set(row_of(&mut results, figure), figure.metric, figure.value);
    }
    for coverage in &mut results.coverage {
        coverage.observed.mean = coverage.expected;
    }
    (Parameters::project().unwrap(), published, results)
}

fn set(row: &mut Row, metric: Metric, value: f64) {
    let (field, scale) = match metric {
        Metric::Ucr => (&mut row.ucr, 0.01),
        Metric::Ts => (&mut row.ts, 0.01),
        Metric::Cc => (&mut row.cc, 0.01),
        Metric::Fr => (&mut row.fr, 0.01),
        Metric::Probes => (&mut row.probes, 1.0),
    };
    *field = Estimate {
        mean: value * scale,
        se: 1e-6,
    };
}

fn row_of<'a>(results: &'a mut Results, figure: &Figure) -> &'a mut Row {
    let mut rows = results.rows.iter_mut();
    rows.find(|row| row.experiment == figure.experiment && figure.is_about(&row.setting))
        .unwrap()
}

/// The failures after a change to results that hold.
fn failures(change: impl FnOnce(&mut Results)) -> Vec<String> {
    let (parameters, published, mut results) = holding();
    change(&mut results);
    published.compare(&parameters, &results).failures()
}

#[test]
fn results_that_hold_have_no_failure() {
    assert_eq!(failures(|_| ()), Vec::<String>::new());
}

#[test]
fn a_figure_beyond_its_tolerance_fails_and_is_named() {
    let (parameters, published, results) = holding();
    for figure in published.figures() {
        let tolerance = TOLERANCES.of(figure, published.setting.alpha);
        for (share, fails) in [(0.99, false), (-0.99, false), (1.01, true), (-1.01, true)] {
            let mut results = results.clone();
            set(
                row_of(&mut results, figure),
                figure.metric,
                figure.value + share * tolerance,
            );
            let failures = published.compare(&parameters, &results).failures();
            let name = format!("{}, ", figure.experiment.name());
            let named = failures.iter().any(|failure| {
                failure.starts_with("published figure not met") && failure.contains(&name)
            });
            assert_eq!(named, fails, "{figure:?} {share}: {failures:?}");
        }
    }
}

#[test]
fn every_statement_and_guarantee_can_fail() {
    type Change<'a> = &'a dyn Fn(&mut Row) -> bool;
    let check = |expected: &str, change: Change| {
        let failures = failures(|results| {
            let changed = results
                .rows
                .iter_mut()
                .map(change)
                .filter(|changed| *changed);
            assert!(changed.count() > 0, "{expected}");
        });
        assert!(
            failures.iter().any(|failure| failure.contains(expected)),
            "{expected}: {failures:?}"
        );
    };
    let rate = |experiment, method, family: Option<Family>, metric, value| {
        move |row: &mut Row| {
            let here = row.experiment == experiment
                && row.setting.method == method
                && (family.is_none() || row.family == family);
            if here {
                set(row, metric, value);
            }
            here
        }
    };
    use Experiment::{Family as ByFamily, Main, ProposalMiss};
    use MethodName::{GenericOneProbe, Safecommit, SingleWorld};
    check(
        "about twice",
        &rate(Main, GenericOneProbe, None, Metric::Ucr, 1.29 * 2.6),
    );
    check(
        "about twice",
        &rate(Main, GenericOneProbe, None, Metric::Ucr, 2.51 * 2.6),
    );
    check(
        "is lower than",
        &rate(Main, GenericOneProbe, None, Metric::Ts, 97.5),
    );
    let stale = Some(Family::Stale);
    check(
        "UCR of safecommit is highest",
        &rate(ByFamily, Safecommit, stale, Metric::Ucr, 3.6),
    );
    check(
        "UCR of single_world is highest",
        &rate(ByFamily, SingleWorld, stale, Metric::Ucr, 50.5),
    );
    check(
        "UCR of generic_one_probe is highest",
        &rate(ByFamily, GenericOneProbe, stale, Metric::Ucr, 6.1),
    );
    check(
        "in every family",
        &rate(ByFamily, GenericOneProbe, stale, Metric::Ucr, 20.5),
    );
    check(
        "lowest family (stale), UCR",
        &rate(ByFamily, Safecommit, stale, Metric::Ucr, 0.5),
    );
    let poison = Some(Family::Poison);
    check(
        "highest family (poison), UCR",
        &rate(ByFamily, Safecommit, poison, Metric::Ucr, 4.6),
    );
    check(
        "lowest family (poison), TS",
        &rate(ByFamily, Safecommit, poison, Metric::Ts, 95.0),
    );
    check(
        "guarantee not met: proposal_miss",
        &rate(ProposalMiss, Safecommit, None, Metric::Ucr, 24.1),
    );
    check(
        "guarantee not met: family",
        &rate(ByFamily, Safecommit, poison, Metric::Ucr, 5.1),
    );
    check("4 probes give the same as 2", &|row: &mut Row| {
        let here = row.experiment == Experiment::ProbeBudget && row.setting.max_probes == 4;
        if here {
            set(row, Metric::Ts, 97.55);
        }
        here
    });
    check(
        "is a failure of proposal or calibration",
        &|row: &mut Row| {
            row.counts.unsafe_causes.safety_map += 1;
            true
        },
    );
    check("is attributed to one cause", &|row: &mut Row| {
        row.counts.unsafe_commits += 1;
        true
    });
}

#[test]
fn coverage_beyond_four_standard_errors_fails() {
    for (errors, fails) in [(3.9, false), (-3.9, false), (4.1, true), (-4.1, true)] {
        let failures = failures(|results| {
            let coverage = &mut results.coverage[1];
            coverage.observed.mean += errors * coverage.exact_se;
        });
        let named = failures
            .iter()
            .any(|failure| failure.contains("coverage at alpha 0.05"));
        assert_eq!(
            (named, failures.len()),
            (fails, usize::from(fails)),
            "{failures:?}"
        );
    }
}

#[test]
fn a_changed_setting_is_not_the_published_one() {
    let (_, published, results) = holding();
    for (from, to) in [
        ("max_probes = 2", "max_probes = 3"),
        ("{ min = 3", "{ min = 2"),
    ] {
        let toml = Parameters::project_toml();
        assert!(toml.contains(from), "{from}");
        let parameters = Parameters::from_toml(&toml.replacen(from, to, 1)).unwrap();
        let failures = published.compare(&parameters, &results).failures();
        assert!(
            failures
                .iter()
                .any(|failure| failure.contains("the setting")),
            "{failures:?}"
        );
    }
}
