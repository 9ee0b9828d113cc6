//! The parameter file: what it refuses, and that every number in it matters.

use safecommit_bench::{Parameters, Split, render_rows};

use crate::project;

/// Replaces a part of the project's file and checks which field the error names and what it says.
fn check(part: &str, replacement: &str, field: &str, reason: &str) {
    let text = Parameters::project_toml();
    assert!(text.contains(part), "{part}");
    let error = Parameters::from_toml(&text.replacen(part, replacement, 1)).unwrap_err();
    assert_eq!(error.field(), field, "{error}");
    assert!(error.reason().contains(reason), "{error}");
}

#[test]
fn a_bad_value_is_named() {
    check(
        "true_sd = 0.107",
        "true_sd = -0.1",
        "generator.family.stale.true_sd",
        "`-0.1` is not",
    );
    check(
        "true_sd = 0.107",
        "true_sd = nan",
        "generator.family.stale.true_sd",
        "`NaN` is not",
    );
    check(
        "true_mean = 0.479",
        "true_mean = inf",
        "generator.family.stale.true_mean",
        "`inf` is not finite",
    );
    check(
        "deceptive_same = 0.776",
        "deceptive_same = 1.1",
        "generator.family.stale.deceptive_same",
        "`1.1` is not in [0, 1]",
    );
    check(
        "probe_cost = 1.0",
        "probe_cost = 0.0",
        "generator.probe_cost",
        "`0` is not",
    );
    check(
        "actions = 3",
        "actions = 1",
        "generator.actions",
        "`1` is not in 2..=64",
    );
    check(
        "actions = 3",
        "actions = 65",
        "generator.actions",
        "`65` is not in 2..=64",
    );
    check("min = 3", "min = 1", "generator.worlds", "`min` is `1`");
    check(
        "max = 6",
        "max = 2",
        "generator.worlds",
        "`max` is `2`, below `min`",
    );
    check("train = 2000", "train = 0", "frozen.train", "0");
    check(
        "seeds = [1, 2,",
        "seeds = [2, 2,",
        "experiments.seeds",
        "seed `2` twice",
    );
    check(
        "alpha = \"0.05\"",
        "alpha = \"1.5\"",
        "experiments.alpha",
        "1.5",
    );
    check(
        "[0.0, 0.01,",
        "[0.0, -0.01,",
        "experiments.proposal_misses[1]",
        "`-0.01` is not in [0, 1]",
    );
    check(
        "telling = 0.10",
        "telling = 0.0",
        "generator.components.true_world.telling",
        "`0` is not",
    );
}

#[test]
fn a_missing_or_unknown_field_is_named() {
    check(
        "background_sd = 0.145",
        "",
        "generator.background_sd",
        "missing field `background_sd`",
    );
    check(
        "[frozen]",
        "[frozen]\nsede = 1",
        "frozen.sede",
        "unknown field `sede`",
    );
    check("[generator]", "[generator", ".", "");
}

#[test]
fn a_list_is_no_table() {
    check(
        "{ min = 3, max = 6 }",
        "[3, 6]",
        "generator.worlds",
        "invalid type: sequence",
    );
}

#[test]
fn every_generator_parameter_moves_the_episodes() {
    let base: toml::Table = Parameters::project_toml().parse().unwrap();
    let before = rows(&project());
    let mut paths = Vec::new();
    collect(
        &toml::Value::Table(base["generator"].as_table().unwrap().clone()),
        &mut vec!["generator".to_owned()],
        &mut paths,
    );
    paths.push(vec!["frozen".to_owned(), "seed".to_owned()]);
    // Four families of seven, the background's two, three pairs of term weights, actions, range and cost, seed.
    assert_eq!(paths.len(), 4 * 7 + 2 + 3 * 2 + 4 + 1);
    for path in paths {
        let mut changed = base.clone();
        let mut value = &mut changed[&path[0]];
        for part in &path[1..] {
            value = &mut value[part.as_str()];
        }
        *value = match value {
            toml::Value::Float(number) => toml::Value::Float(*number + 0.05),
            toml::Value::Integer(number) => toml::Value::Integer(*number + 1),
            other => panic!("{other}"),
        };
        let changed = Parameters::from_toml(&changed.to_string()).unwrap();
        assert_ne!(rows(&changed), before, "{path:?}");
    }
}

fn rows(parameters: &Parameters) -> Vec<u8> {
    render_rows(parameters, Split::Test, 0..400)
}

fn collect(value: &toml::Value, path: &mut Vec<String>, paths: &mut Vec<Vec<String>>) {
    let Some(table) = value.as_table() else {
        paths.push(path.clone());
        return;
    };
    for (name, value) in table {
        path.push(name.clone());
        collect(value, path, paths);
        path.pop();
    }
}
