//! A gate that is damaged, in use, full or gone: no decision without its record, no effect without its decision.

use std::fs;
use std::process::Command;

use rusqlite::Connection;
use safecommit_conformal::{
    Calibration, CalibrationScore, Misses, MondrianCalibration, Score, Taxonomy,
};
use safecommit_gate::GateCalibration;
use safecommit_gate::audit::GroupBy;
use serde_json::{Value, json};

use crate::gate::{CONFIGURATION, Gate};
use crate::gate_files::{delete, one, overwrite, write};
use crate::program::command;

/// Policies that read no attribute.
const OPEN: &str = "@id(\"open\") permit(principal, action, resource);\n";

fn gate() -> Gate {
    let gate = Gate::new();
    gate.0.write("project/a", "mine");
    gate
}

/// The gate says this, and the file stays.
#[track_caller]
fn refuses(gate: &Gate, parts: &[&str]) {
    let run = gate.ask(&one("d-1", delete("a")), "--execute");
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{run:?}");
    for part in parts {
        assert!(run.stderr.contains(part), "{part}: {run:?}");
    }
    assert_eq!(gate.0.read("project/a"), "mine");
}

/// It works, once what was wrong is put right.
#[track_caller]
fn works(gate: &Gate) {
    gate.decide(&one("d-1", delete("a")), "--execute", 0);
    assert!(!gate.path("project/a").exists());
}

#[test]
fn a_log_that_cannot_be_appended_to_stops_everything() {
    let gate = gate();
    let state = gate.path("gate/state");
    for name in ["audit.db", "audit.head", "audit.key"] {
        let (there, aside) = (state.join(name), gate.path(name));
        fs::rename(&there, &aside).unwrap();
        refuses(&gate, &[name]);
        fs::remove_file(&there).ok();
        fs::write(&there, vec![0xa5; 3000]).unwrap();
        fs::set_permissions(&there, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        refuses(&gate, &[name]);
        fs::rename(&aside, &there).unwrap();
    }
    let other = Gate::with(&["d-1"]);
    let (head, mine) = (
        state.join("audit.head"),
        fs::read(state.join("audit.head")).unwrap(),
    );
    fs::copy(other.path("gate/state/audit.head"), &head).unwrap();
    refuses(
        &gate,
        &["audit.head", "it was changed, or written with another key"],
    );
    fs::write(&head, mine).unwrap();

    let version = |change: i64| {
        let connection = Connection::open(state.join("audit.db")).unwrap();
        let now: i64 = connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .unwrap();
        connection
            .pragma_update(None, "user_version", now + change)
            .unwrap();
    };
    version(1);
    refuses(
        &gate,
        &[
            "audit.db",
            "has format 2, this program knows formats up to 1",
        ],
    );
    version(-1);
    works(&gate);
    gate.verify(1);
}

/// An older head, or an older log beside a newer head, under the right key.
#[test]
fn a_log_that_was_put_back_is_found_before_anything_happens() {
    for name in ["audit.head", "audit.db"] {
        let gate = gate();
        let (file, aside) = (gate.path("gate/state").join(name), gate.path("old"));
        fs::copy(&file, &aside).unwrap();
        gate.decide(&one("first", delete("missing")), "", 4);
        let newer = fs::read(&file).unwrap();
        fs::rename(&aside, &file).unwrap();
        refuses(&gate, &["the decision was not recorded: "]);
        fs::write(&file, newer).unwrap();
        works(&gate);
    }
}

#[test]
fn a_log_that_another_process_holds_is_waited_for_and_then_named() {
    let gate = gate();
    let connection = Connection::open(gate.path("gate/state/audit.db")).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    refuses(&gate, &["is locked by another process"]);
    connection.execute_batch("ROLLBACK").unwrap();
    works(&gate);
}

#[test]
fn a_state_that_is_in_use_leaves_a_decision_without_effect() {
    let gate = gate();
    let configuration = gate.load();
    let workspace = safecommit_gate::Workspace::open(configuration.workspace()).unwrap();
    let held = safecommit_gate::Executor::open(workspace, configuration.state()).unwrap();
    let decided = gate.decide(&one("d-0", delete("a")), "--execute", 1);
    let failed = decided["effect"]["failed"].as_str().unwrap();
    assert!(failed.ends_with("is in use"), "{failed}");
    assert_eq!(gate.0.read("project/a"), "mine");
    drop(held);
    works(&gate);
    gate.verify(2);
}

#[test]
fn a_configuration_that_does_not_hold_is_named_with_its_place() {
    let gate = gate();
    for (file, more, parts) in [
        (
            "files.cedar",
            "permit (principal, action",
            &["`files.cedar`, line "][..],
        ),
        (
            "files.cedar",
            "@id(\"n\") permit (principal, action, resource) when { resource.colour == \"red\" };",
            &["policy `n` in `files.cedar`, line ", "attribute `colour`"],
        ),
        ("files.cedarschema", "entity", &["`files.cedarschema`"]),
        (
            "safecommit.toml",
            "[calibration]\nfile = 'none.json'\n",
            &["none.json: cannot be read: No such file"],
        ),
        (
            "safecommit.toml",
            "[calibration]\nfile = 'files.cedar'\n",
            &["files.cedar:"],
        ),
        (
            "safecommit.toml",
            "[nonsense]\n",
            &["safecommit.toml:", ": nonsense: unknown field `nonsense`"],
        ),
    ] {
        let name = format!("gate/{file}");
        let whole = gate.0.read(&name);
        gate.0.write(&name, format!("{whole}\n{more}"));
        refuses(&gate, parts);
        gate.0.write(&name, whole);
    }
    // What the schema asks of every file, and no file has: each request would escalate.
    let schema = gate.0.read("gate/files.cedarschema");
    for (part, other, parts) in [
        (
            "  kind: Kind,",
            "  kind: Kind,\n  colour: String,",
            &[
                "gate/safecommit.toml: schema `files.cedarschema`, line ",
                ", column 3: action `delete` has no value for the attribute `colour`; the attribute stands on the \
                 entity type `Entry`",
            ][..],
        ),
        (
            "\"link\", \"mount\", \"missing\"];",
            "\"link\", \"missing\"];",
            &[
                "attribute `kind` of action `delete` is of type Kind ",
                "cannot be `mount`",
            ],
        ),
        (
            "    base: Base,",
            "    base: Bool,",
            &[
                "attribute `base` of action `overwrite` is of type Bool",
                "the context of `Action::\"overwrite\"`",
            ],
        ),
        (
            "    destination_kind: Kind,",
            "    destination_kind: Kind,\n    destination_path: String,",
            &["action `move` has no value for the attribute `destination_path`"],
        ),
        (
            "  path: String,",
            "",
            &["the schema declares no attribute `path` for action `delete`"],
        ),
        (
            "    discards: Bool,",
            "    discards: Bool,\n    kind_2: Kind,",
            &["action `overwrite` has no value for the attribute `kind_2`"],
        ),
    ] {
        assert!(schema.contains(part), "{part}");
        gate.0
            .write("gate/files.cedarschema", schema.replacen(part, other, 1));
        // Whether a policy reads it makes no difference.
        gate.0.write("gate/files.cedar", OPEN);
        refuses(&gate, parts);
    }
    gate.0.write("gate/files.cedarschema", &schema);
    let all = gate.path("gate/files.cedar");
    fs::write(&all, safecommit_gate::FILE_POLICIES.text).unwrap();
    for file in [
        "gate/files.cedar",
        "gate/files.cedarschema",
        "gate/safecommit.toml",
        "project",
    ] {
        fs::rename(gate.path(file), gate.path("aside")).unwrap();
        let run = gate.ask(&one("d-1", delete("a")), "--execute");
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{run:?}");
        let name = file.rsplit('/').next().unwrap();
        assert!(
            run.stderr.contains(name) && run.stderr.contains("No such file"),
            "{run:?}"
        );
        assert!(!gate.path(file).exists());
        fs::rename(gate.path("aside"), gate.path(file)).unwrap();
    }
    works(&gate);
    gate.verify(1);
}

/// A threshold is for scores of one version, and for the strata that it was calibrated on.
#[test]
fn a_calibration_of_something_else_is_refused_or_falls_back() {
    let gate = gate();
    let configured = gate.0.read(CONFIGURATION);
    gate.0.write(
        CONFIGURATION,
        format!("{configured}\n[calibration]\nfile = 'calibration.json'\n"),
    );
    let version = gate.load().score_version().unwrap();
    let alpha = "0.2".parse().unwrap();
    let scores: Vec<CalibrationScore> = (1..40)
        .map(|score| Score::new(f64::from(score)).unwrap().into())
        .collect();
    let one_for_all = Calibration::split_conformal(alpha, &scores);
    let of = |stratum: &str| {
        let taxonomy = Taxonomy::new([stratum.parse().unwrap()]).unwrap();
        let cases = scores
            .iter()
            .map(|score| (stratum.parse().unwrap(), *score));
        let cases: Vec<_> = cases.collect();
        let thresholds = MondrianCalibration::new(alpha, taxonomy, &cases, Misses::AsListed);
        GateCalibration::by_stratum(&version, [GroupBy::Severity], thresholds.unwrap()).unwrap()
    };
    let write = |calibration: &Value| {
        gate.0
            .write("gate/calibration.json", calibration.to_string());
    };

    let older = version.replace("files-1", "files-0");
    let other = GateCalibration::one(&older, one_for_all.clone()).unwrap();
    write(&json!(other));
    let parts = [
        "is for scores of version `files-0 ",
        "these are of version `files-1 ",
    ];
    refuses(&gate, &parts);
    // One that is not of a gate.
    write(&json!(one_for_all));
    refuses(
        &gate,
        &[
            "safecommit.toml: calibration.file: ",
            "calibration.json:1: this is a calibration of scores with the guarantee `marginal`, as `safecommit calibrate \
             --scores` makes it; a gate takes one that names the version of its scores, which `safecommit calibrate --audit \
             LOG --labels FILE` makes",
        ],
    );

    // A deletion is grave.
    write(&json!(of("low")));
    let refused = gate.ask(&one("d-0", delete("a")), "--execute");
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert!(refused.stdout.starts_with("ESCALATE"), "{refused:?}");
    assert!(refused.stdout.contains("stratum"), "{refused:?}");
    assert_eq!(gate.0.read("project/a"), "mine");
    write(&json!(of("high")));
    works(&gate);
}

/// Runs the gate with files that may not get longer than so many blocks of 512 bytes.
fn bounded(gate: &Gate, blocks: usize, name: &str) -> (Option<i32>, String) {
    let request = one(name, overwrite("a", &"x".repeat(60_000)));
    gate.0.write("request.json", request.to_string());
    let program = command().get_program().to_owned();
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let output = Command::new("sh")
        .args(["-c", &script])
        .arg(program)
        .args([
            "gate",
            "request.json",
            "--execute",
            "--format",
            "json",
            "--config",
            CONFIGURATION,
        ])
        .current_dir(gate.path(""))
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn without_room_there_is_no_decision_or_no_effect_but_nothing_half_written() {
    let gate = gate();
    let new = "x".repeat(60_000);
    let (mut failed, mut done) = (0, 0);
    for blocks in (0..600).step_by(12) {
        gate.0.write("project/a", "mine");
        let (code, said) = bounded(&gate, blocks, &format!("d-{blocks}"));
        let found = gate.0.read("project/a");
        match code {
            Some(0) => {
                done += 1;
                assert!(found == new, "{blocks}: it said that it was done");
            }
            Some(1) => {
                failed += 1;
                assert!(found == "mine", "{blocks}: {said}");
            }
            other => panic!("{blocks}: {other:?} {said}"),
        }
        assert_eq!(
            fs::read_dir(gate.path("project")).unwrap().count(),
            1,
            "{blocks}"
        );
        let run = gate.run("audit verify");
        assert_eq!(run.code, Some(0), "{blocks}: {run:?}");
    }
    assert!(failed > 3 && done > 3, "{failed} failed, {done} done");
    let replayed = gate.run("audit replay").prints(0);
    assert!(replayed.ends_with("each to the same bytes\n"), "{replayed}");
    gate.run("restore --list").prints(0);
}

/// Runs a script with mounts of its own; `None` where this system lets nobody have them.
fn with_mounts(gate: &Gate, mounts: &str, arguments: &[&str]) -> Option<(Option<i32>, String)> {
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
        command.arg(crate::program::command().get_program());
        command.current_dir(gate.path(""));
        command
    };
    let allowed = unshare(mounts).status();
    if !allowed.is_ok_and(|status| status.success()) {
        return None;
    }
    let output = unshare(&format!("{mounts} && exec \"$0\" \"$@\""))
        .args(arguments)
        .output()
        .unwrap();
    Some((
        output.status.code(),
        String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr),
    ))
}

#[test]
fn a_workspace_or_a_state_that_is_read_only_changes_nothing() {
    let gate = gate();
    let options = [
        "gate",
        "request.json",
        "--execute",
        "--config",
        CONFIGURATION,
    ];
    // Where nothing can be put back the only copy stays; that nothing can be written shows when it is tried.
    for (place, name, action, expected, words) in [
        (
            "project",
            "r-1",
            overwrite("a", "new"),
            4,
            "`only-copy` forbids it",
        ),
        (
            "project",
            "r-2",
            write("b", "new"),
            1,
            "Read-only file system",
        ),
        (
            "gate/state",
            "r-3",
            overwrite("a", "new"),
            1,
            "the audit log cannot be used",
        ),
    ] {
        gate.0.write("request.json", one(name, action).to_string());
        let mounts = format!("mount --bind {place} {place} && mount -o remount,ro,bind {place}");
        let Some((code, said)) = with_mounts(&gate, &mounts, &options) else {
            return;
        };
        assert_eq!(code, Some(expected), "{said}");
        assert!(said.contains(words), "{said}");
        assert_eq!(gate.0.read("project/a"), "mine");
        assert_eq!(fs::read_dir(gate.path("project")).unwrap().count(), 1);
    }
    gate.verify(2);
    // A disk with no room for the record.
    gate.0.write(
        "request.json",
        one("d-2", overwrite("a", "new")).to_string(),
    );
    let mounts = "mkdir -p keep && cp -a gate/state/. keep/ && mount -t tmpfs -o size=160k,mode=0700 tmpfs gate/state && cp -a keep/. gate/state/ \
                  && (cat /dev/zero > gate/state/filler || true) 2>/dev/null";
    let (code, said) = with_mounts(&gate, mounts, &options).unwrap();
    assert_eq!(code, Some(1), "{said}");
    assert_eq!(gate.0.read("project/a"), "mine");
    works(&gate);
}
