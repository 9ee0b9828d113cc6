//! What the paper's text states in words.

use super::compare::{Claim, find};
use super::{Metric, Published, TOLERANCES};
use crate::counts::Estimate;
use crate::episode::Family;
use crate::experiments::{Experiment, Results, Row};
use crate::methods::MethodName;
use crate::parameters::Parameters;

/// All statements about results, in the order of the paper's tables.
pub(super) fn check(published: &Published, results: &Results) -> Vec<Claim> {
    let mut claims = Vec::from(generic_against_safecommit(results));
    claims.push(hardest(
        published,
        results,
        MethodName::Safecommit,
        &published.family.hardest,
    ));
    claims.push(hardest(
        published,
        results,
        MethodName::SingleWorld,
        &published.family.single_world_hardest,
    ));
    claims.push(hardest(
        published,
        results,
        MethodName::GenericOneProbe,
        &[published.family.generic_one_probe_weakest],
    ));
    claims.push(generic_below_single_world(published, results));
    for &(budget, other) in &published.same_budgets {
        claims.push(same_budgets(results, budget, other));
    }
    claims
}

/// A claim that cannot hold because the experiments lack its rows.
fn missing(statement: String) -> Claim {
    Claim {
        statement,
        evidence: "the parameters leave this setting out".to_owned(),
        holds: false,
    }
}

/// That seeds, sizes and limits are those that the text states.
pub(super) fn setting(published: &Published, parameters: &Parameters) -> Claim {
    let (stated, experiments) = (&published.setting, &parameters.experiments);
    let worlds = &parameters.generator.worlds;
    let ours = [
        experiments.seeds.get().len() as u64,
        experiments.calibration.get(),
        experiments.test.get(),
        u64::from(experiments.max_probes),
        u64::from(worlds.min.get()),
        u64::from(worlds.max.get()),
        parameters.generator.actions.get() as u64,
    ];
    let theirs = [
        stated.seeds as u64,
        stated.calibration_episodes,
        stated.test_episodes,
        u64::from(stated.max_probes),
        u64::from(stated.worlds[0]),
        u64::from(stated.worlds[1]),
        stated.actions as u64,
    ];
    let [seeds, calibration, test, probes, fewest, most, actions] = ours;
    Claim {
        statement: "the setting is the published one".to_owned(),
        evidence: format!(
            "{seeds} seeds, {calibration} calibration and {test} test episodes each, alpha {}, at most \
             {probes} probes, {fewest} to {most} worlds, {actions} actions, {} families",
            experiments.alpha,
            Family::ALL.len()
        ),
        holds: ours == theirs
            && experiments.alpha == stated.alpha
            && stated.families == Family::ALL,
    }
}

fn generic_against_safecommit(results: &Results) -> [Claim; 2] {
    let [low, high] = TOLERANCES.about_twice;
    let twice = format!(
        "main: UCR of generic_one_probe is about twice that of safecommit ({low} to {high} times)"
    );
    let lower = "main: TS of generic_one_probe is lower than that of safecommit".to_owned();
    let row = |method| {
        find(results, Experiment::Main, &|setting| {
            setting.method == method
        })
    };
    let (Some(generic), Some(safecommit)) = (
        row(MethodName::GenericOneProbe),
        row(MethodName::Safecommit),
    ) else {
        return [missing(twice), missing(lower)];
    };
    let ucr = (
        Metric::Ucr.of(generic).mean,
        Metric::Ucr.of(safecommit).mean,
    );
    let ts = (Metric::Ts.of(generic).mean, Metric::Ts.of(safecommit).mean);
    // Compared by products, so that a rate of zero is no division.
    let within = ucr.0 >= low * ucr.1 && ucr.0 <= high * ucr.1 && ucr.1 > 0.0;
    [
        Claim {
            statement: twice,
            evidence: format!("{:.2} / {:.2} = {:.2}", ucr.0, ucr.1, ucr.0 / ucr.1),
            holds: within,
        },
        Claim {
            statement: lower,
            evidence: format!("{:.2} < {:.2}", ts.0, ts.1),
            holds: ts.0 < ts.1,
        },
    ]
}

/// That the unsafe commit rate of each family in `hardest` is above that of every other.
fn hardest(
    published: &Published,
    results: &Results,
    method: MethodName,
    hardest: &[Family],
) -> Claim {
    let names: Vec<&str> = hardest.iter().map(|family| family.name()).collect();
    let statement = format!(
        "family: UCR of {method} is highest on {}",
        names.join(" and ")
    );
    let rows = published.by_family(results, method);
    let rates = |inside: bool| -> Vec<(Family, Estimate)> {
        rows.iter()
            .filter(|(family, _)| hardest.contains(family) == inside)
            .map(|(family, row)| (*family, Metric::Ucr.of(row)))
            .collect()
    };
    let (hard, others) = (rates(true), rates(false));
    let (Some(least), Some(largest)) = (
        super::compare::lowest(&hard),
        super::compare::highest(&others),
    ) else {
        return missing(statement);
    };
    Claim {
        statement,
        evidence: format!("{} > {}", list(&hard), list(&others)),
        holds: hard.len() == hardest.len() && least.1.mean > largest.1.mean,
    }
}

fn list(rates: &[(Family, Estimate)]) -> String {
    let rates = rates.iter();
    let rates = rates.map(|(family, rate)| format!("{family} {:.2}", rate.mean));
    rates.collect::<Vec<_>>().join(", ")
}

fn generic_below_single_world(published: &Published, results: &Results) -> Claim {
    let statement =
        "family: UCR of generic_one_probe is below that of single_world in every family".to_owned();
    let generic = published.by_family(results, MethodName::GenericOneProbe);
    let single = published.by_family(results, MethodName::SingleWorld);
    let rate = |row: &Row| Metric::Ucr.of(row).mean;
    let mut evidence = Vec::new();
    let mut below = 0;
    for family in Family::ALL {
        let of = |rows: &[(Family, &Row)]| {
            rows.iter()
                .find(|(known, _)| *known == family)
                .map(|(_, row)| rate(row))
        };
        let (Some(generic), Some(single)) = (of(&generic), of(&single)) else {
            return missing(statement);
        };
        below += usize::from(generic < single);
        evidence.push(format!("{family} {generic:.2} < {single:.2}"));
    }
    Claim {
        statement,
        evidence: evidence.join(", "),
        holds: below == Family::ALL.len(),
    }
}

fn same_budgets(results: &Results, budget: u32, other: u32) -> Claim {
    let statement = format!(
        "probe_budget: {budget} probes give the same as {other} (within {} points)",
        TOLERANCES.same
    );
    let row = |probes| {
        find(results, Experiment::ProbeBudget, &|setting| {
            setting.max_probes == probes
        })
    };
    let (Some(one), Some(two)) = (row(budget), row(other)) else {
        return missing(statement);
    };
    let rates = [Metric::Ucr, Metric::Ts, Metric::Fr]
        .map(|metric| (metric, metric.of(one).mean, metric.of(two).mean));
    let evidence = rates.map(|(metric, a, b)| format!("{} {a:.2} and {b:.2}", metric.name()));
    Claim {
        statement,
        evidence: evidence.join(", "),
        holds: rates
            .iter()
            .all(|(_, a, b)| (a - b).abs() <= TOLERANCES.same),
    }
}
