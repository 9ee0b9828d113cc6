//! What a request may say, and what is said of one that may not.

use safecommit_core::{Case, Request};
use serde_json::{Value, json};

mod full;
mod observed;
mod parsing;

use full::{changed, full, parse};

/// The request with `new` at `pointer` is refused with exactly this message.
fn check(pointer: &str, new: Value, message: &str) {
    let request = parse(&changed(pointer, new)).unwrap();
    assert_eq!(Case::new(request).unwrap_err().to_string(), message);
}

#[test]
fn the_full_request_is_accepted_and_comes_back_as_it_was() {
    let request = parse(&full()).unwrap();
    assert_eq!(serde_json::to_value(&request).unwrap(), full());
    let case = Case::new(request.clone()).unwrap();
    assert_eq!(case.request(), &request);
    assert_eq!(
        (case.problem().worlds(), case.problem().probes().len()),
        (3, 4)
    );
    assert!(case.problem().is_contradicted(2));
    assert_eq!(
        case.problem().likelihood(2, 0, 1).to_bits(),
        0.75_f64.to_bits()
    );
    let look = |world, outcome| case.problem().likelihood(3, world, outcome).to_bits();
    let rows = [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]].map(|row: [f64; 2]| row.map(f64::to_bits));
    assert_eq!(
        [0, 1, 2].map(|world| [look(world, 0), look(world, 1)]),
        rows
    );
}

#[test]
fn what_is_possible_can_be_said_by_position_or_by_name() {
    let ways = [
        (
            json!([[1], [0], [0]]),
            json!([["shared", "impossible"], ["temporary"]]),
            "worlds",
        ),
        (
            json!([[0, 1], [0], [1]]),
            json!([{"temporary": 0.5, "shared": 1.0}, {"temporary": 0.5, "impossible": 1.0}]),
            "likelihood",
        ),
    ];
    for (possible, named, field) in ways {
        let decide = |outcomes: [Value; 2], possible: Value| {
            let mut request = changed("/probes/3/outcomes", json!(outcomes));
            request["probes"][3]["possible"] = possible;
            request["observed"] = json!([{"probe": "peek", "outcome": "used"}]);
            let case = Case::new(parse(&request).unwrap()).unwrap();
            let mut record = serde_json::to_value(case.decide(None).record()).unwrap();
            // The digest is of the words.
            record["subject"] = Value::Null;
            record
        };
        let ids = ["empty", "used"];
        let by_position = decide(ids.map(|id| json!({"id": id})), possible);
        let by_name = [0, 1].map(|at| json!({"id": ids[at], field: named[at]}));
        assert_eq!(by_position, decide(by_name, Value::Null));
    }
}

/// Few bytes can ask for much memory, which is refused before it is taken.
#[test]
fn probes_have_no_more_probabilities_than_fit_into_memory() {
    let outcomes = |many: usize| (0..many).map(|at| json!({"id": at.to_string()}));
    let certain = |many| json!(outcomes(many).collect::<Vec<_>>());
    let mut request = full();
    let probe = |many, possible| json!({"id": "wide", "cost": 1.0, "outcomes": certain(many), "possible": possible});
    let worlds = 8193;
    let world = |at: usize| json!({"id": format!("w{at}"), "score": 0.1, "safe": []});
    request["worlds"] = json!((0..worlds).map(world).collect::<Vec<_>>());
    request["hard_evidence"] = json!([]);
    request["observed"] = json!([]);
    let rows = |first: Value| {
        let mut rows = vec![json!([0]); worlds];
        rows[0] = first;
        json!(rows)
    };
    request["probes"] = json!([probe(8192, rows(json!([0, 1])))]);
    let error = Case::new(parse(&request).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "probes[0].possible: with this one probes take {} probabilities, at most 67108864 are possible",
            8193 * 8192
        )
    );
    // What is certain takes none.
    request["probes"] = json!([probe(8192, rows(json!([0])))]);
    assert!(Case::new(parse(&request).unwrap()).is_ok());
}

#[test]
fn a_row_of_what_is_possible_is_about_each_world() {
    for (possible, message) in [
        (json!([]), ": there are 0 rows for 3 worlds"),
        (
            json!([[0], [1], [0], [1]]),
            ": there are 4 rows for 3 worlds",
        ),
        (
            json!([[0], [], [0]]),
            "[1]: the list is empty, at least one outcome is needed",
        ),
        (
            json!([[0], [1], [0, 2]]),
            "[2][1]: there is no outcome at position `2`, the probe has 2",
        ),
        (
            json!([[0], [1], [1, 0]]),
            "[2][1]: `0` is not above the position before it",
        ),
        (
            json!([[0, 0], [1], [1]]),
            "[0][1]: `0` is not above the position before it",
        ),
    ] {
        check(
            "/probes/3/possible",
            possible,
            &format!("probes[3].possible{message}"),
        );
    }
    check(
        "/probes/0/possible",
        json!([[0], [1], [1]]),
        "probes[0].possible: `possible` stands beside `outcomes` only",
    );
    let already = "an outcome has no `worlds` and no `likelihood` where the probe has `possible`";
    check(
        "/probes/1/possible",
        json!([[0], [1], [1]]),
        &format!("probes[1].outcomes[0]: {already}"),
    );
    let mixed = "all outcomes of a probe have `worlds`, or all have `likelihood`";
    check(
        "/probes/3/possible",
        Value::Null,
        &format!("probes[3].outcomes[0]: {mixed}"),
    );
}

#[test]
fn names_are_unique_and_not_empty() {
    check(
        "/actions/1/id",
        json!("delete"),
        "actions[1].id: `delete` stands twice",
    );
    check(
        "/actions/0/id",
        json!(""),
        "actions[0].id: the name is empty",
    );
    check(
        "/worlds/2/id",
        json!("shared"),
        "worlds[2].id: `shared` stands twice",
    );
    check("/worlds/0/id", json!(""), "worlds[0].id: the name is empty");
    check(
        "/probes/1/id",
        json!("ask"),
        "probes[1].id: `ask` stands twice",
    );
    check("/probes/2/id", json!(""), "probes[2].id: the name is empty");
    check(
        "/probes/1/outcomes/1/id",
        json!("link"),
        "probes[1].outcomes[1].id: `link` stands twice",
    );
    check(
        "/probes/1/outcomes/0/id",
        json!(""),
        "probes[1].outcomes[0].id: the name is empty",
    );
    check(
        "/worlds/0/safe",
        json!(["delete", "delete"]),
        "worlds[0].safe[1]: `delete` stands twice",
    );
    let observed = json!([
        {"probe": "scan", "outcome": "hit"}, {"probe": "scan", "outcome": "miss"}
    ]);
    check(
        "/observed",
        observed,
        "observed[1].probe: `scan` stands twice",
    );
}

#[test]
fn names_are_declared() {
    check(
        "/worlds/1/safe/0",
        json!("move"),
        "worlds[1].safe[0]: `move` is not a declared action",
    );
    check(
        "/hard_evidence/0/world",
        json!("nowhere"),
        "hard_evidence[0].world: `nowhere` is not a declared world",
    );
    check(
        "/probes/0/asks",
        json!("nowhere"),
        "probes[0].asks: `nowhere` is not a declared world",
    );
    check(
        "/probes/1/outcomes/1/worlds/1",
        json!("nowhere"),
        "probes[1].outcomes[1].worlds[1]: `nowhere` is not a declared world",
    );
    check(
        "/probes/2/outcomes/0/likelihood/nowhere",
        json!(0.5),
        "probes[2].outcomes[0].likelihood.nowhere: `nowhere` is not a declared world",
    );
    check(
        "/observed/0/probe",
        json!("look"),
        "observed[0].probe: `look` is not a declared probe",
    );
    check(
        "/observed/0/outcome",
        json!("maybe"),
        "observed[0].outcome: `maybe` is not a declared outcome of the probe",
    );
    // A question declares `yes` and `no`.
    let observed = json!([{"probe": "ask", "outcome": "maybe"}]);
    check(
        "/observed",
        observed,
        "observed[0].outcome: `maybe` is not a declared outcome of the probe",
    );
}

#[test]
fn lists_have_what_they_need() {
    check(
        "/actions",
        json!([]),
        "actions: the list is empty, at least one action is needed",
    );
    check(
        "/probes/1/outcomes",
        json!([]),
        "probes[1].outcomes: the list is empty, at least one outcome is needed",
    );
    let both = json!([{"id": "link", "worlds": []}]);
    check(
        "/probes/0/outcomes",
        both,
        "probes[0]: a probe has exactly one of `asks` and `outcomes`",
    );
    check(
        "/probes/0/asks",
        Value::Null,
        "probes[0]: a probe has exactly one of `asks` and `outcomes`",
    );
}

#[test]
fn outcomes_cover_every_world_once() {
    check(
        "/probes/1/outcomes/1/worlds",
        json!(["temporary"]),
        "probes[1].outcomes: world `impossible` stands in 0 outcomes, in exactly one it must",
    );
    check(
        "/probes/1/outcomes/0/worlds",
        json!(["shared", "temporary"]),
        "probes[1].outcomes: world `temporary` stands in 2 outcomes, in exactly one it must",
    );
    let mixed = "all outcomes of a probe have `worlds`, or all have `likelihood`";
    let likelihood = json!({"shared": 1.0});
    check(
        "/probes/1/outcomes/0/likelihood",
        likelihood,
        &format!("probes[1].outcomes[0]: {mixed}"),
    );
    check(
        "/probes/1/outcomes/1/worlds",
        Value::Null,
        &format!("probes[1].outcomes[0]: {mixed}"),
    );
    check(
        "/probes/2/outcomes/1/likelihood",
        Value::Null,
        &format!("probes[2].outcomes[1]: {mixed}"),
    );
    check(
        "/probes/2/outcomes/0/likelihood/temporary",
        json!(0.5),
        "probes[2].outcomes: the outcome probabilities of world `temporary` sum to `1.25`, not to 1",
    );
    check(
        "/probes/2/outcomes/1/likelihood/impossible",
        json!(0.0),
        "probes[2].outcomes: the outcome probabilities of world `impossible` sum to `0`, not to 1",
    );
    check(
        "/probes/2/outcomes/0/likelihood/temporary",
        json!(-0.25),
        "probes[2].outcomes[0].likelihood.temporary: `-0.25` is not a probability in [0, 1]",
    );
}

#[test]
fn numbers_are_in_range() {
    for cost in [0.0, -1.0] {
        check(
            "/probes/0/cost",
            json!(cost),
            &format!("probes[0].cost: cost `{cost}` is not a finite number above zero"),
        );
    }
    check(
        "/probes/0/error_rate",
        json!(1.5),
        "probes[0].error_rate: `1.5` is not a probability in [0, 1]",
    );
    check(
        "/beta",
        json!(-0.5),
        "beta: `-0.5` is not a probability in [0, 1]",
    );
    check(
        "/actions/1/severity",
        json!(-1.0),
        "actions[1].severity: severity `-1` is not a finite number of at least zero",
    );
    check(
        "/settings/temperature",
        json!(0.0),
        "settings.temperature: temperature `0` is out of range: finite, above 0",
    );
    check(
        "/settings/eta",
        json!(-0.5),
        "settings.eta: eta `-0.5` is out of range: finite, at least 0",
    );
    check(
        "/settings/severity_weight",
        json!(-2.0),
        "settings.severity_weight: severity weight `-2` is out of range: finite, at least 0",
    );
    check(
        "/settings/max_cost",
        json!(-1.0),
        "settings.max_cost: `-1` is not a finite number of at least zero",
    );
}

/// JSON has no such numbers, a request that is built in memory may have them.
#[test]
fn numbers_are_finite() {
    let check = |change: fn(&mut Request, f64), message: &str| {
        for value in [f64::NAN, f64::INFINITY] {
            let mut request = parse(&full()).unwrap();
            change(&mut request, value);
            let error = Case::new(request).unwrap_err().to_string();
            assert_eq!(error, message.replace('#', &value.to_string()));
        }
    };
    check(
        |request, value| request.worlds[1].score = value,
        "worlds[1].score: score `#` is not a finite number",
    );
    check(
        |request, value| request.actions[0].reward = value,
        "actions[0].reward: reward `#` is not finite",
    );
    check(
        |request, value| request.actions[0].severity = value,
        "actions[0].severity: severity `#` is not a finite number of at least zero",
    );
    check(
        |request, value| request.probes[2].cost = value,
        "probes[2].cost: cost `#` is not a finite number above zero",
    );
    check(
        |request, value| request.probes[2].error_rate = value,
        "probes[2].error_rate: `#` is not a probability in [0, 1]",
    );
    check(
        |request, value| {
            let outcomes = request.probes[2].outcomes.as_mut().unwrap();
            let likelihood = outcomes[0].likelihood.as_mut().unwrap();
            likelihood.insert("shared".to_owned(), value);
        },
        "probes[2].outcomes[0].likelihood.shared: `#` is not a probability in [0, 1]",
    );
    check(
        |request, value| request.settings.temperature = Some(value),
        "settings.temperature: temperature `#` is out of range: finite, above 0",
    );
    check(
        |request, value| request.settings.max_cost = Some(value),
        "settings.max_cost: `#` is not a finite number of at least zero",
    );
    check(
        |request, value| request.beta = Some(value),
        "beta: `#` is not a probability in [0, 1]",
    );
}

#[test]
fn the_subject_changes_with_every_word() {
    let subject = |value: &Value| {
        Case::new(parse(value).unwrap())
            .unwrap()
            .problem()
            .subject()
    };
    let original = subject(&full());
    let changes = [
        ("/id", json!("clean-up-2")),
        ("/actions/0/family", json!("files")),
        ("/actions/0/severity", json!(2.5)),
        ("/actions/0/reversible", json!(true)),
        ("/actions/0/reward", json!(1.5)),
        ("/worlds/0/score", json!(0.100_000_000_000_000_02)),
        ("/worlds/0/safe", json!(["delete", "stage"])),
        ("/worlds/0/description", json!("as remembered")),
        ("/hard_evidence/0/reason", json!("")),
        ("/probes/0/cost", json!(2.5)),
        ("/probes/0/error_rate", json!(0.02)),
        ("/probes/0/repeatable_later", json!(false)),
        ("/probes/0/asks", json!("shared")),
        ("/probes/1/outcomes/0/id", json!("symlink")),
        ("/probes/2/outcomes/0/likelihood/impossible", json!(0.0)),
        ("/probes/3/possible/0", json!([0, 1])),
        ("/observed/0/outcome", json!("miss")),
        ("/authority_missing", json!(false)),
        ("/fresh_evidence_expected", json!(false)),
        ("/beta", json!(0.02)),
        ("/settings/temperature", json!(0.25)),
        ("/settings/eta", json!(0.0)),
        ("/settings/severity_weight", json!(1.0)),
        ("/settings/max_probes", json!(5)),
        ("/settings/max_cost", json!(9.0)),
        ("/settings/max_steps", json!(17)),
        ("/elapsed_steps", json!(4)),
        ("/settings/verification", json!("most_plausible")),
        ("/settings/probing", json!("optimal")),
        ("/settings/probing/random/seed", json!("run 2")),
    ];
    let mut subjects = vec![original];
    for (pointer, new) in changes {
        let changed = subject(&changed(pointer, new));
        assert!(!subjects.contains(&changed), "{pointer}");
        subjects.push(changed);
    }
    // It is about the request and not about how it is spaced or ordered.
    let pretty = serde_json::to_string_pretty(&full()).unwrap();
    assert_eq!(subject(&serde_json::from_str(&pretty).unwrap()), original);
}
