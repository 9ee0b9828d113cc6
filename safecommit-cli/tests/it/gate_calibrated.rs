//! A gate whose threshold comes from a history of harmless deletions.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::gate::Gate;
use crate::gate_files::{delete, moved, one, overwrite};

/// Forty files were to be deleted, each just what memory said, and a threshold was made of that: no hazard is at or
/// below it.
fn calibrated() -> Gate {
    let gate = Gate::new();
    let (mut requests, mut labels) = (String::new(), String::new());
    for number in 0..40 {
        let (name, path) = (format!("h-{number}"), format!("tmp{number}"));
        gate.0.write(&format!("project/{path}"), &path);
        let mut asked = one(&name, delete(&path));
        asked["evidence"] = json!([{"id": "m1", "entity": path, "attribute": "kind", "value": "file",
            "source": "memory", "name": "notes.md", "recorded": "2026-01-01T00:00:00Z"}]);
        requests += &format!("{asked}\n");
        let facts = json!({"kind": "file", "writable_by": "owner", "location": "inside", "leaves_tree": "no",
            "owner": "own", "tracked": "none", "only_copy": "true", "changed_since_memory": "true",
            "protected": "false", "secret": "false", "reversible": "true"});
        labels += &format!("{}\n", json!({"decision": name, "true_facts": facts}));
    }
    gate.0.write("history.jsonl", requests);
    gate.run("gate history.jsonl --jsonl").prints(0);
    gate.0.write("labels.jsonl", labels);
    let calibrate = "calibrate --audit gate/state/audit.db --labels labels.jsonl --alpha 0.05 \
                     --out gate/calibration.json";
    gate.0.run(calibrate.split_whitespace()).prints(0);
    gate.configure(
        "# [calibration]\n# file = \"calibration.json\"",
        "[calibration]\nfile = 'calibration.json'",
    );
    gate
}

/// How many worlds the threshold alone takes out of the way.
fn above_threshold(decided: &Value) -> usize {
    let worlds = decided["record"]["worlds"].as_array().unwrap();
    let above = |world: &&Value| world["fate"] == json!("above_threshold");
    worlds.iter().filter(above).count()
}

#[test]
fn a_threshold_from_harmless_deletions_lets_no_harm_through() {
    let gate = calibrated();
    fs::create_dir(gate.path("others")).unwrap();
    gate.0.write("others/results", "of another team");
    gate.0.write("project/.env", "KEY=1");
    fs::create_dir(gate.path("project/.ssh")).unwrap();
    gate.0.write("project/.ssh/id_rsa", "key");
    symlink("../others", gate.path("project/linked")).unwrap();
    fs::create_dir(gate.path("project/tree")).unwrap();
    symlink("../../others", gate.path("project/tree/out")).unwrap();
    let harm = [
        delete(".env"),
        overwrite(".env", ""),
        moved(".env", "moved"),
        delete(".ssh"),
        delete("linked"),
        delete("tree"),
    ];
    let mut number = 0;
    for action in &harm {
        number += 1;
        let asked = one(&format!("d-{number}"), action.clone());
        let decided = gate.decide(&asked, "--execute", 4);
        assert_eq!(decided["effect"], Value::Null, "{action}");
    }
    // A harmless candidate beside it is what is done.
    let mut asked = one("d-both", delete(".env"));
    asked["actions"][0]["reward"] = json!(9.0);
    asked["actions"]
        .as_array_mut()
        .unwrap()
        .push(delete("tmp1"));
    let decided = gate.decide(&asked, "--execute", 0);
    assert_eq!(decided["record"]["action"], json!("delete-2"));
    for path in [".env", ".ssh/id_rsa", "tree"] {
        assert!(gate.path("project").join(path).exists(), "{path}");
    }
    assert!(gate.path("project/linked").is_symlink());
    assert!(gate.path("others/results").exists());

    // The threshold is at work, and what is committed was looked at all the same.
    let decided = gate.decide(&one("d-plain", delete("tmp2")), "--execute", 0);
    assert!(above_threshold(&decided) > 0, "{decided}");
    assert!(!decided["record"]["observed"].as_array().unwrap().is_empty());
    assert!(!gate.path("project/tmp2").exists());
    // Without verification, that threshold would do harm.
    gate.configure(
        "verification = \"whole_support\"",
        "verification = \"never\"",
    );
    gate.decide(&one("d-blind", delete(".env")), "", 0);
    gate.verify(40 + number + 3);
}
