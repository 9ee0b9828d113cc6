//! What is kept out of the workspace, and what is guarded.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use safecommit_gate::GateConfiguration;

use crate::{LEAST, Place};

#[test]
fn nothing_of_the_gate_may_be_in_the_workspace_or_reached_through_it() {
    let place = Place::new();
    fs::create_dir_all(place.path("project/deep")).unwrap();
    fs::create_dir(place.path("outer")).unwrap();
    // A link in the workspace that leads out of it, one outside that leads over it, one into it.
    symlink(place.path("outer"), place.path("project/out")).unwrap();
    symlink(place.path("project/out/x"), place.path("over")).unwrap();
    symlink("project/deep", place.path("into")).unwrap();
    let check = |text: &str, field: Option<&str>| {
        let error = place.load(text).unwrap_err();
        assert_eq!(error.field(), field, "{text}: {error}");
        let shown = error.to_string();
        assert!(
            shown.contains("is in the workspace or reached through it"),
            "{shown}"
        );
    };
    for path in [
        "project",
        "project/state",
        "project/../project/a",
        "into",
        "over",
        "into/../s",
    ] {
        check(
            &format!("workspace = 'project'\nstate = '{path}'"),
            Some("state"),
        );
        for (table, key) in [
            ("policies", "schema"),
            ("calibration", "file"),
            ("audit", "log"),
            ("audit", "head"),
            ("audit", "key"),
        ] {
            let path = place.path(path).display().to_string();
            let field = format!("{table}.{key}");
            check(&format!("{LEAST}[{table}]\n{key} = '{path}'"), Some(&field));
        }
        let more = format!("{LEAST}[policies]\nfiles = ['a.cedar', '{path}']");
        check(&more, Some("policies.files[1]"));
    }
    // The configuration itself, by its place and by a link.
    place.write(
        "project/safecommit.toml",
        "workspace = '.'\nstate = '../state'",
    );
    for name in ["project/safecommit.toml", "project/deep/../safecommit.toml"] {
        let error = GateConfiguration::load(&place.path(name)).unwrap_err();
        assert!(error.to_string().contains("is in the workspace"), "{error}");
    }
    let real = "workspace = '../project'\nstate = '../state'";
    place.write("outer/real.toml", real);
    assert!(GateConfiguration::load(&place.path("outer/real.toml")).is_ok());
    let error = GateConfiguration::load(&place.path("project/out/real.toml")).unwrap_err();
    assert!(error.to_string().contains("reached through it"), "{error}");
    // The other way round.
    let error = place
        .load("workspace = 'project/deep'\nstate = 'project'")
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the workspace is in the state directory")
    );
    let error = place
        .load("workspace = 'project'\nstate = '.'")
        .unwrap_err();
    assert_eq!(error.field(), Some("state"));
}

#[test]
fn what_belongs_to_the_gate_is_guarded() {
    let place = Place::new();
    fs::create_dir(place.path("key-store")).unwrap();
    symlink("key-store", place.path("keys")).unwrap();
    let more = "[policies]\nfiles = ['own.cedar']\nschema = 'own.cedarschema'\n\
                [calibration]\nfile = 'c.json'\n[audit]\nkey = '../keys/k'\n\
                [self_protection]\npaths = ['project/.agent/settings.json', '/etc/agent']\n";
    let configuration = place.with(more).unwrap();
    let guarded = configuration.guarded_paths();
    for name in [
        "safecommit.toml",
        "own.cedar",
        "own.cedarschema",
        "c.json",
        "state",
        "state/audit.db",
        "state/audit.db-wal",
        "state/audit.head",
        "keys",
        "key-store/k",
        "project/.agent/settings.json",
    ] {
        assert!(guarded.contains(&place.path(name)), "{name}: {guarded:?}");
    }
    assert!(guarded.contains(&PathBuf::from("/etc/agent")));
    let program = fs::canonicalize(std::env::current_exe().unwrap()).unwrap();
    assert!(guarded.contains(&program));
    assert!(guarded.iter().all(|path| path.is_absolute()));
    assert!(
        !guarded.iter().any(|path| path.parent().is_none()),
        "not everything"
    );
}
