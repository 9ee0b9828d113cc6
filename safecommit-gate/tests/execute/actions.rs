//! Effects of certified actions, what is refused, and undoing.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use crate::support::{Scene, act, delete, overwrite, probe, propose, release, rename, write};
use safecommit_conformal::{Score, Threshold};
use safecommit_core::{Action, CertificateError, Controller, Problem, Settings, Step, Subject};
use safecommit_gate::{
    ActionError, Authority, ExecuteError, Executor, Proposal, Resolution, Workspace,
};

/// A workspace with a file, a link out of it, and a directory with both.
fn filled(scene: Scene) -> Scene {
    scene.write("file", "old");
    scene.write("folder/a", "first");
    scene.write("folder/deeper/b", "second");
    std::fs::set_permissions(
        scene.path("folder/a"),
        std::fs::Permissions::from_mode(0o640),
    )
    .unwrap();
    symlink("../../outside/secret", scene.path("folder/link")).unwrap();
    symlink("../outside", scene.path("link")).unwrap();
    scene
}

fn scenes() -> [Scene; 2] {
    [filled(Scene::new()), filled(Scene::across_file_systems())]
}

#[test]
fn every_action_has_its_effect_and_is_undone_exactly() {
    for scene in scenes() {
        let (before, outside) = (scene.tree(), scene.outside());
        let mut executor = scene.open();
        let mut entries = Vec::new();
        for action in [
            overwrite("file", "new"),
            delete("folder"),
            rename("file", "renamed"),
            write("made", "made here"),
            delete("link"),
            overwrite("renamed", "newer"),
        ] {
            entries.push(act(&mut executor, action).unwrap().entry);
        }
        let after = scene.tree();
        let names: Vec<_> = after.keys().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(names, ["", "made", "renamed"]);
        assert_eq!(after[std::path::Path::new("renamed")].2, b"newer");
        for &entry in entries.iter().rev() {
            executor.restore(entry).unwrap();
        }
        assert_eq!((scene.tree(), scene.outside()), (before, outside));
        let entries = executor.entries();
        assert!(
            entries
                .iter()
                .all(|entry| entry.resolution == Some(Resolution::Done))
        );
        assert_eq!(
            entries
                .iter()
                .filter(|entry| entry.undone_by.is_some())
                .count(),
            6
        );
    }
}

#[test]
fn what_is_overwritten_keeps_owner_mode_and_attributes() {
    let scene = filled(Scene::new());
    let file = scene.path("file");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o4751)).unwrap();
    let name = "user.note";
    rustix::fs::setxattr(&file, name, b"kept", rustix::fs::XattrFlags::empty()).unwrap();
    act(&mut scene.open(), overwrite("file", "new")).unwrap();
    // Another program that writes clears the set-id bits, too.
    assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o7777, 0o751);
    let mut value = [0; 16];
    let length = rustix::fs::getxattr(&file, name, &mut value[..]).unwrap();
    assert_eq!(&value[..length], b"kept");
}

#[test]
fn nothing_is_done_unless_what_was_probed_is_there() {
    for scene in scenes() {
        let mut executor = scene.open();
        for action in [
            delete("file"),
            overwrite("file", "new"),
            rename("file", "elsewhere"),
        ] {
            let probed = probe(&executor, &action);
            let proposal = propose(&executor, vec![action.clone()]);
            scene.write("file", "odd");
            let before = scene.tree();
            let refused = release(&mut executor, &proposal, &probed).unwrap_err();
            assert!(matches!(refused, ExecuteError::Changed(_)), "{refused}");
            // There was nothing when it was probed.
            let (file, aside) = (scene.path("file"), scene.path("aside"));
            std::fs::rename(&file, &aside).unwrap();
            let probed = probe(&executor, &action);
            std::fs::rename(&aside, &file).unwrap();
            let proposal = propose(&executor, vec![action, delete("link")]);
            let missing = release(&mut executor, &proposal, &probed).unwrap_err();
            let article = match proposal.actions()[0].name() {
                "overwrite" => "an overwrite",
                "delete" => "a delete",
                _ => "a move",
            };
            assert_eq!(
                missing.to_string(),
                format!("{article} needs the identity of what was probed")
            );
            assert_eq!(scene.tree(), before);
        }
        // A change deep in a directory, and one that leaves everything but a link's goal.
        let probed = probe(&executor, &delete("folder"));
        scene.write("folder/deeper/b", "changed");
        let proposal = propose(&executor, vec![delete("folder")]);
        let refused = release(&mut executor, &proposal, &probed).unwrap_err();
        assert_eq!(refused.to_string(), "`folder` is not what was probed");
        let occupied = act(&mut executor, rename("file", "link")).unwrap_err();
        assert_eq!(
            occupied.to_string(),
            "something is at `link`, and nothing may be"
        );
        let probed = probe(&executor, &write("late", "over it"));
        let proposal = propose(&executor, vec![write("late", "over it")]);
        scene.write("late", "somebody else's");
        let occupied = release(&mut executor, &proposal, &probed).unwrap_err();
        assert!(matches!(occupied, ExecuteError::Occupied(_)), "{occupied}");
        let not_a_file = act(&mut executor, overwrite("link", "through it")).unwrap_err();
        assert_eq!(not_a_file.to_string(), "`link` is no regular file");
        let through = executor.workspace().target("link/secret").unwrap_err();
        assert_eq!(through.to_string(), "`link/secret` is or passes a link");
        assert!(executor.entries().is_empty());
    }
}

#[test]
fn a_certificate_is_good_for_one_proposal_one_action_and_once() {
    let scene = filled(Scene::new());
    let mut executor = scene.open();
    let proposal = propose(&executor, vec![delete("file"), delete("folder")]);
    let probed = probe(&executor, &delete("file"));
    let before = scene.tree();
    let mut attempt = |subject: Subject, issued: usize, asked: usize| {
        let mut problem = Problem::new(subject);
        let actions = [(); 2].map(|()| problem.add_action(Action::default()).unwrap());
        problem.add_world(Score::ZERO, [actions[issued]]).unwrap();
        let (settings, mut memory) = (Settings::default(), safecommit_core::Workspace::default());
        let mut controller =
            Controller::start(&problem, &settings, Threshold::unbounded(), &mut memory);
        let Step::Commit(certificate) = controller.next_step() else {
            panic!("one action is safe");
        };
        let authority = Authority::Controller(&mut controller);
        executor.execute(certificate, authority, &proposal, asked, &probed)
    };
    let other = attempt(Subject([7; 32]), 0, 0).unwrap_err();
    assert!(matches!(
        other,
        ExecuteError::Certificate(CertificateError::OtherSubject)
    ));
    let other = attempt(proposal.subject(), 1, 0).unwrap_err();
    assert!(matches!(
        other,
        ExecuteError::Certificate(CertificateError::OtherAction { .. })
    ));
    let other = attempt(proposal.subject(), 0, 2).unwrap_err();
    assert!(matches!(other, ExecuteError::NoSuchAction(2)));
    assert_eq!(scene.tree(), before);
    let entry = attempt(proposal.subject(), 0, 0).unwrap().entry;
    let twice = attempt(proposal.subject(), 0, 0).unwrap_err();
    assert!(matches!(twice, ExecuteError::ReleasedBefore(1)));
    // Not even when it was undone, and not by another executor.
    executor.restore(entry).unwrap();
    drop(executor);
    let mut executor = scene.open();
    let twice = release(&mut executor, &proposal, &probed).unwrap_err();
    assert!(matches!(twice, ExecuteError::ReleasedBefore(1)), "{twice}");
}

#[test]
fn every_part_of_a_proposal_changes_its_subject() {
    let scene = filled(Scene::new());
    let executor = scene.open();
    let base = propose(&executor, vec![write("file", "a"), rename("file", "b")]);
    let mut seen = vec![base.subject()];
    let mut differs = |proposal: Proposal| {
        assert!(!seen.contains(&proposal.subject()), "{proposal:?}");
        seen.push(proposal.subject());
    };
    for field in 0..7 {
        let mut context = base.context().clone();
        match field {
            0 => context.decision.push('x'),
            1 => context.tool.push('x'),
            2 => context.directory.push('x'),
            3 => context.principal.push('x'),
            4 => context.policy_version.push('x'),
            5 => context.calibration_version = Some(String::new()),
            _ => context.evidence = safecommit_gate::Digest::of_bytes(b"other"),
        }
        differs(Proposal::new(context, base.actions().to_vec()).unwrap());
    }
    for actions in [
        vec![write("file", "b"), rename("file", "b")],
        vec![overwrite("file", "a"), rename("file", "b")],
        vec![write("file", "a"), rename("file", "c")],
        vec![rename("file", "b"), write("file", "a")],
        vec![write("file", "a")],
    ] {
        differs(Proposal::new(base.context().clone(), actions).unwrap());
    }
    let nested = Proposal::new(base.context().clone(), vec![rename("file", "file/in")]);
    assert!(matches!(nested, Err(ActionError::IntoItself { .. })));
    assert!(Proposal::new(base.context().clone(), vec![rename("file", "files")]).is_ok());
    assert_eq!(
        Proposal::new(base.context().clone(), Vec::new()),
        Err(ActionError::NoAction)
    );
}

#[test]
fn restore_never_overwrites_and_undoes_once() {
    for scene in scenes() {
        let mut executor = scene.open();
        let deleted = act(&mut executor, delete("file")).unwrap().entry;
        let made = act(&mut executor, write("made", "by us")).unwrap().entry;
        scene.write("file", "somebody else's");
        scene.write("made", "changed since");
        let before = scene.tree();
        let refused = executor.restore(deleted).unwrap_err();
        assert!(matches!(refused, ExecuteError::Occupied(_)), "{refused}");
        // It is not what was probed that changed: nothing was.
        let refused = executor.restore(made).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "`made` is no longer what entry 2 left there, and nothing that came since is overwritten"
        );
        assert_eq!(scene.tree(), before);
        std::fs::remove_file(scene.path("file")).unwrap();
        let undone = executor.restore(deleted).unwrap().entry;
        assert_eq!(std::fs::read(scene.path("file")).unwrap(), b"old");
        let twice = executor.restore(deleted).unwrap_err();
        assert_eq!(
            twice.to_string(),
            "entry 1 cannot be undone: it was undone before"
        );
        assert!(matches!(
            executor.restore(99),
            Err(ExecuteError::NotRestorable { .. })
        ));
        // What was undone can be done again by undoing that.
        executor.restore(undone).unwrap();
        assert!(!scene.path("file").exists());
    }
}

#[test]
fn the_state_is_apart_private_and_for_one() {
    let scene = filled(Scene::new());
    let workspace = || Workspace::open(scene.path("")).unwrap();
    let before = scene.tree();
    for inside in ["state", "folder/state", "folder"] {
        let refused = Executor::open(workspace(), scene.path(inside)).unwrap_err();
        assert!(
            matches!(refused, ExecuteError::StateInWorkspace(_)),
            "{refused}"
        );
    }
    symlink(scene.path("folder"), scene.base.path().join("way-in")).unwrap();
    for around in ["", "way-in", "way-in/state"] {
        let refused = Executor::open(workspace(), scene.base.path().join(around)).unwrap_err();
        assert!(
            matches!(refused, ExecuteError::StateInWorkspace(_)),
            "{around}: {refused}"
        );
    }
    assert_eq!(scene.tree(), before);
    let open = scene.open();
    assert!(matches!(scene.try_open(), Err(ExecuteError::Locked(_))));
    drop(open);
    let other = Workspace::open(scene.base.path().join("outside")).unwrap();
    let refused = Executor::open(other, &scene.state).unwrap_err();
    assert!(
        matches!(refused, ExecuteError::OtherWorkspace { .. }),
        "{refused}"
    );
    std::fs::set_permissions(&scene.state, std::fs::Permissions::from_mode(0o750)).unwrap();
    assert!(matches!(
        scene.try_open(),
        Err(ExecuteError::StateExposed(_))
    ));
}
