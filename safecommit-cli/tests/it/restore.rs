//! `restore`: effects listed and undone.

use std::fs;

use safecommit_conformal::{Score, Threshold};
use safecommit_core::{Action, Controller, Problem, Settings, Step};
use safecommit_gate::{
    Authority, Content, Deletion, Digest, Executor, FileAction, Limits, Proposal, ReleaseContext,
    TargetPath, Workspace,
};

use crate::gate::Gate;

fn path(name: &str) -> TargetPath {
    TargetPath::new(name).unwrap()
}

/// Has the executor of the gate take an action, and gives its number.
fn execute(gate: &Gate, action: FileAction) -> u64 {
    let configuration = gate.load();
    let workspace = Workspace::open(configuration.workspace()).unwrap();
    let context = ReleaseContext {
        decision: "d-1".to_owned(),
        tool: "shell".to_owned(),
        directory: workspace.path().display().to_string(),
        principal: "ada".to_owned(),
        policy_version: "1".to_owned(),
        calibration_version: None,
        deletion: Deletion::Trash,
        evidence: Digest::of_bytes(b"none"),
    };
    let probed = action.probe(&workspace, &Limits::default()).unwrap();
    let proposal = Proposal::new(context, vec![action]).unwrap();
    let mut problem = Problem::new(proposal.subject());
    let only = problem.add_action(Action::default()).unwrap();
    problem.add_world(Score::ZERO, [only]).unwrap();
    let (settings, mut memory) = (Settings::default(), safecommit_core::Workspace::default());
    let threshold = Threshold::unbounded();
    let mut controller = Controller::start(&problem, &settings, threshold, &mut memory);
    let certificate = match controller.next_step() {
        Step::Commit(certificate) => Some(certificate),
        Step::Probe(_) | Step::Fallback(_) => None,
    };
    // It is safe in the one world that there is.
    let certificate = certificate.unwrap();
    let mut executor = Executor::open(workspace, configuration.state()).unwrap();
    let authority = Authority::Controller(&mut controller);
    let receipt = executor.execute(certificate, authority, &proposal, only, &probed);
    receipt.unwrap().entry
}

fn gate() -> Gate {
    let gate = Gate::new();
    gate.0.write("project/out.txt", "42");
    gate.0.write("project/a\u{1b}[31m.txt", "red");
    gate
}

#[test]
fn what_was_done_is_listed_and_undone() {
    let gate = gate();
    let out = "project/out.txt";
    let text = |content: &str| Content::new(content);
    let overwrite = FileAction::Overwrite {
        path: path("out.txt"),
        content: text("43"),
    };
    assert_eq!(execute(&gate, overwrite), 1);
    let delete = FileAction::Delete {
        path: path("out.txt"),
    };
    assert_eq!(execute(&gate, delete), 2);
    let to_move = FileAction::Move {
        from: path("a\u{1b}[31m.txt"),
        to: path("b.txt"),
    };
    assert_eq!(execute(&gate, to_move), 3);
    insta::assert_snapshot!("restore_list", gate.run("restore --list").prints(0));

    assert!(!gate.path(out).exists());
    let run = gate.run("restore 2").prints(0);
    assert_eq!(run, "entry 2 is undone, by entry 4\n");
    assert_eq!(gate.0.read(out), "43");
    gate.run("restore 1").prints(0);
    assert_eq!(gate.0.read(out), "42");
    insta::assert_snapshot!("restore_list_undone", gate.run("restore --list").prints(0));
}

#[test]
fn what_cannot_be_undone_is_an_error_and_changes_nothing() {
    let gate = gate();
    gate.run("restore 1").fails(
        1,
        "entry 1 cannot be undone: there is none; `safecommit restore --list` shows all entries",
    );
    let delete = FileAction::Delete {
        path: path("out.txt"),
    };
    assert_eq!(execute(&gate, delete), 1);
    // Somebody else is there by now.
    gate.0.write("project/out.txt", "new");
    let run = gate.run("restore 1");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert_eq!(gate.0.read("project/out.txt"), "new");
    fs::remove_file(gate.path("project/out.txt")).unwrap();
    gate.run("restore 1").prints(0);
    assert_eq!(gate.0.read("project/out.txt"), "42");

    // What stands at the place changed, or what the trash has.
    let overwrite = FileAction::Overwrite {
        path: path("out.txt"),
        content: Content::new("43"),
    };
    assert_eq!(execute(&gate, overwrite), 3);
    gate.0.write("project/out.txt", "44");
    gate.run("restore 3").fails(
        1,
        "`out.txt` is no longer what entry 3 left there, and nothing that came since is overwritten",
    );
    gate.0.write("project/out.txt", "43");
    gate.0.write("gate/state/trash/3/item", "45");
    gate.run("restore 3").fails(
        1,
        "entry 3 cannot be undone: the trash has something else in its place; `safecommit restore --list` shows all \
         entries",
    );
    assert_eq!(gate.0.read("project/out.txt"), "43");
}

#[test]
fn what_the_trash_keeps_is_removed_for_good() {
    let gate = gate();
    let trash = gate.path("gate/state/trash");
    let kept = || fs::read_dir(&trash).unwrap().count();
    for content in ["43", "44"] {
        let overwrite = FileAction::Overwrite {
            path: path("out.txt"),
            content: Content::new(content),
        };
        execute(&gate, overwrite);
    }
    assert_eq!(kept(), 2);
    // One of them does not exist, so none is emptied.
    let run = gate.run("restore --empty 1 9");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert_eq!(kept(), 2);
    let run = gate.run("restore --empty 1").prints(0);
    assert_eq!(run, "the trash of these is empty: 1\n");
    assert_eq!(kept(), 1);
    let run = gate.run("restore --empty 1").prints(0);
    assert_eq!(run, "nothing was in the trash of these\n");
    let list = gate.run("restore --list").prints(0);
    assert!(list.contains("done, its trash emptied"), "{list}");
    // The other one is undone all the same, and what is emptied is not.
    gate.run("restore 2").prints(0);
    assert_eq!(gate.0.read("project/out.txt"), "43");
    let run = gate.run("restore 1");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert_eq!(gate.0.read("project/out.txt"), "43");
}

#[test]
fn what_is_deleted_for_good_is_said_to_be_and_is_not_undone() {
    let gate = gate();
    gate.0.write("project/twice", "42");
    gate.configure("mode = \"trash\"", "mode = \"permanent\"");
    let delete = |name: &str| {
        let action = serde_json::json!({"action": "delete", "path": name});
        serde_json::json!({"decision": name, "actions": [action]})
    };
    let run = gate.ask(&delete("out.txt"), "--execute").prints(0);
    assert!(
        run.contains("effect: done for good, as entry 1; nothing undoes it")
            && run.contains("delete-1: delete `out.txt` permanently"),
        "{run}"
    );
    assert!(!gate.path("project/out.txt").exists());
    let list = gate.run("restore --list").prints(0);
    assert!(
        list.contains("remove") && list.contains("done for good"),
        "{list}"
    );
    let refused = "entry 1 cannot be undone: it was a permanent deletion; `safecommit restore --list` shows all entries";
    gate.run("restore 1").fails(1, refused);
    // The other one is the only copy by now.
    let decided = gate.decide(&delete("twice"), "--execute", 4);
    assert!(
        decided["blocked"]
            .to_string()
            .contains("policy `only-copy` forbids it")
    );
    gate.0.write("project/again", "42");
    let decided = gate.decide(&delete("again"), "--execute", 0);
    assert_eq!(decided["effect"], serde_json::json!({"permanent": 2}));
    gate.verify(3);
}

#[test]
fn a_state_that_cannot_be_used_is_named() {
    let gate = gate();
    let configuration = gate.load();
    let workspace = Workspace::open(configuration.workspace()).unwrap();
    let held = Executor::open(workspace, configuration.state()).unwrap();
    let run = gate.run("restore 1");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("is in use"), "{run:?}");
    // To look at the list nobody has to wait.
    assert_eq!(gate.run("restore --list").prints(0), "no effect yet\n");
    drop(held);

    let state = gate.path("gate/state");
    let exposed = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&state, exposed).unwrap();
    for what in ["--list", "1"] {
        let run = gate.run(&format!("restore {what}"));
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.stderr.contains("with mode 0700"), "{run:?}");
    }
}
