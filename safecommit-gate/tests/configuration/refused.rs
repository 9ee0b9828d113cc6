//! What does not hold, with its place.

use safecommit_gate::GateConfiguration;

use crate::{LEAST, Place};

#[test]
fn what_does_not_hold_is_named_with_line_and_field() {
    let place = Place::new();
    let check = |text: &str, expect: &str| {
        let error = place.load(text).unwrap_err().to_string();
        let shown = error.rsplit_once("safecommit.toml:").unwrap().1;
        assert!(shown.starts_with(expect), "{text:?}: {error}");
    };
    check("", "1: workspace: it is missing");
    check("workspace = 'project'\n", "1: state: it is missing");
    check("workspace = 'project", "1: ");
    check("workspace = 'no'\nstate = 's'\n", "1: workspace: `");
    check("workspace = 3\n", "1: workspace: invalid type: integer `3`");
    check(
        "\nworkspace = 'safecommit.toml'\nstate = 's'",
        "2: workspace: `",
    );
    for (more, expect) in [
        ("stat = 1", "3: stat: unknown field `stat`, expected one of"),
        ("principal = ''", "3: principal: `` is no name"),
        ("principal = \"a\\nb\"", "3: principal: `a\nb` is no name"),
        (
            "\n[score]\nhalf_life_days = 0",
            "5: score.half_life_days: `0` is not finite, above 0",
        ),
        (
            "[score]\nhalf_life_days = inf",
            "4: score.half_life_days: `inf` is not",
        ),
        (
            "[score]\nweights = [1, 2, 3, 4]",
            "4: score.weights: it has to be a table",
        ),
        (
            "[score]\nweights = { age = 1 }",
            "4: score.weights.age: unknown field `age`",
        ),
        (
            "[score.weights]\ninconsistency = -1",
            "4: score.weights.inconsistency: the weight of",
        ),
        (
            "[score.weights]\ninconsistency = nan",
            "4: score.weights.inconsistency: the weight of",
        ),
        (
            "[support]\nmax_worlds = 0",
            "4: support.max_worlds: `0` is not at least 1",
        ),
        (
            "[support]\nmax_worlds = 1.5",
            "4: support.max_worlds: invalid type: floating",
        ),
        (
            "[budget]\nmax_cost = -1",
            "4: budget.max_cost: `-1` is not finite, at least 0",
        ),
        (
            "[budget]\nmax_probes = -1",
            "4: budget.max_probes: invalid value",
        ),
        (
            "[control]\ntemperature = 0.0",
            "4: control.temperature: `0` is not finite, above 0",
        ),
        (
            "[control]\nprice = nan",
            "4: control.price: `NaN` is not finite",
        ),
        (
            "[control]\nverification = 'always'",
            "4: control.verification: unknown variant `always`",
        ),
        ("probes = 1", "3: probes: it has to be a table"),
        (
            "[probes]\nstatus = [1.0, 5, 0.0]",
            "4: probes.status: it has to be a table",
        ),
        (
            "[probes.stat]\ncost = 1",
            "3: probes.stat: there is no probe `stat`; there are status",
        ),
        (
            "[probes.status]\nprice = 1",
            "4: probes.status.price: unknown field `price`",
        ),
        (
            "[probes.tree]\n\ncost = 0",
            "5: probes.tree.cost: the cost `0` is not finite",
        ),
        (
            "[probes.tree]\ntimeout_milliseconds = 0",
            "4: probes.tree.timeout_milliseconds: the",
        ),
        (
            "[probes.tree]\nerror_rate = 1.5",
            "4: probes.tree.error_rate: the error rate `1.5`",
        ),
        (
            "[files]\nsecret = ['a', '..']",
            "4: files.secret[1]: `..` is no pattern",
        ),
        (
            "[files]\nprotected = 'a'",
            "4: files.protected: invalid type: string",
        ),
        ("[files]\nowner = -1", "4: files.owner: invalid value"),
        (
            "[limits]\nentries = 0",
            "4: limits.entries: `0` is not at least 1",
        ),
        (
            "[limits]\ndepth = 513",
            "4: limits.depth: `513` is not at most 512",
        ),
        (
            "[severity]\nmove = 1.5",
            "4: severity.move: `1.5` is not in [0, 1]",
        ),
        (
            "[severity]\nwrite = -0.1",
            "4: severity.write: `-0.1` is not in [0, 1]",
        ),
        (
            "[budget]\nmax_side_effect = 'changes'",
            "4: budget.max_side_effect: unknown variant `changes`, expected one of `reads_names`",
        ),
        (
            "[deletion]\nmode = 'shred'",
            "4: deletion.mode: unknown variant `shred`, expected `trash` or `permanent`",
        ),
        ("deletion = 'trash'", "3: deletion: it has to be a table"),
        ("[calibration]", "3: calibration.file: it is missing"),
        (
            "[audit]\nhide = ['paths', 'worlds']",
            "4: audit.hide[1]: unknown variant `worlds`",
        ),
        ("[audit]\nlog = 'a'\nlog = 'b'", "5: duplicate key"),
    ] {
        check(&format!("{LEAST}{more}\n"), expect);
    }
    let missing = place.path("missing.toml");
    let error = GateConfiguration::load(&missing).unwrap_err();
    assert!(error.to_string().contains("missing.toml: cannot be read: "));
    assert_eq!((error.line(), error.field()), (None, None));
}
