//! `init`: a gate that works, and nothing else.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use safecommit_gate::{FILE_POLICIES, GateConfiguration};

use crate::gate::{CONFIGURATION, Gate};
use crate::program::{Folder, command};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// A folder with a workspace.
fn folder() -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.path().join("project")).unwrap();
    folder
}

fn init(folder: &Folder, directory: &str) -> crate::program::Run {
    folder.run(["init", "--workspace", "project", "--directory", directory])
}

fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn the_gate_that_is_made_works() {
    let gate = Gate::new();
    assert_eq!(gate.0.names(), ["gate", "project"]);
    let directory = gate.path("gate");
    assert_eq!(
        names(&directory),
        [
            "files.cedar",
            "files.cedarschema",
            "safecommit.toml",
            "state"
        ]
    );
    assert_eq!(
        names(&directory.join("state")),
        ["audit.db", "audit.head", "audit.key"]
    );
    for (name, expect) in [
        ("gate", 0o700),
        ("gate/state", 0o700),
        ("gate/state/audit.key", 0o600),
        ("gate/state/audit.db", 0o600),
        ("gate/state/audit.head", 0o600),
    ] {
        assert_eq!(mode(&gate.path(name)), expect, "{name}");
    }
    assert!(names(&gate.path("project")).is_empty());

    let configuration = gate.load();
    assert_eq!(configuration.workspace(), gate.path("project"));
    assert_eq!(configuration.state(), gate.path("gate/state"));
    let policies = configuration.policies().unwrap();
    assert!(!policies.policies().is_empty());
    let copy = gate.0.read("gate/files.cedar");
    assert!(
        copy.starts_with("// This copy is yours to edit.") && copy.ends_with(FILE_POLICIES.text)
    );
    assert!(
        configuration
            .guarded_paths()
            .contains(&gate.path("gate/files.cedar"))
    );
    // They are read, not the ones of the program.
    gate.0
        .write("gate/files.cedar", "permit (principal, action);");
    let error = configuration.policies().unwrap_err().to_string();
    assert!(error.contains("files.cedar"), "{error}");

    let verified = gate.run("audit verify").prints(0);
    assert!(
        verified.starts_with("0 records, as written; "),
        "{verified}"
    );
    assert_eq!(gate.run("restore --list").prints(0), "no effect yet\n");
}

#[test]
fn it_says_what_it_made_and_what_comes_next() {
    let folder = folder();
    let text = init(&folder, "gate's").prints(0);
    let root = fs::canonicalize(folder.path()).unwrap();
    let text = text.replace(root.to_str().unwrap(), "DIR");
    insta::assert_snapshot!("init", text);
}

#[test]
fn nothing_is_overwritten() {
    let folder = folder();
    init(&folder, "gate").prints(0);
    let root = fs::canonicalize(folder.path()).unwrap();
    let before = folder.read(CONFIGURATION);
    let there = |name: &str| {
        format!(
            "`{}` is there already (say another --directory)",
            root.join(name).display()
        )
    };
    init(&folder, "gate").fails(1, &there("gate"));
    assert_eq!(folder.read(CONFIGURATION), before);
    folder.write("file", "precious");
    init(&folder, "file").fails(1, &there("file"));
    symlink("nowhere", root.join("link")).unwrap();
    init(&folder, "link").fails(1, &there("link"));
    fs::create_dir(root.join("empty")).unwrap();
    init(&folder, "empty").fails(1, &there("empty"));
    assert_eq!(folder.read("file"), "precious");
    assert_eq!(folder.names(), ["empty", "file", "gate", "link", "project"]);
}

#[test]
fn a_gate_in_the_workspace_is_refused_and_nothing_is_made() {
    let folder = folder();
    let root = fs::canonicalize(folder.path()).unwrap();
    symlink("project", root.join("alias")).unwrap();
    symlink(&root, root.join("project/out")).unwrap();
    for directory in [
        "project",
        "project/gate",
        "project/a/b",
        "alias/gate",
        "./project/../project/g",
    ] {
        let run = init(&folder, directory);
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.stderr.contains("is in the workspace `"), "{run:?}");
    }
    // It lies outside, but a link in the workspace was not what it will be known by.
    init(&folder, "project/out/gate").prints(0);
    assert!(GateConfiguration::load(&root.join(CONFIGURATION)).is_ok());
    let through = GateConfiguration::load(&root.join("project/out").join(CONFIGURATION));
    assert!(through.is_err());
    init(&folder, "new/../gate").fails(
        1,
        "cannot make `new/../gate`: `..` comes after what does not exist",
    );
    assert_eq!(folder.names(), ["alias", "gate", "project"]);
    assert_eq!(names(&root.join("project")), ["out"]);
}

#[test]
fn what_fails_leaves_nothing_behind() {
    let folder = folder();
    folder.write("file", "");
    let run = init(&folder, "file/below/gate");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.starts_with("error: cannot make `"), "{run:?}");
    for (workspace, expect) in [
        (
            "missing",
            "cannot use the workspace `missing`: No such file",
        ),
        ("file", "`file` is no directory"),
    ] {
        let run = folder.run(["init", "--workspace", workspace, "--directory", "gate"]);
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.stderr.contains(expect), "{run:?}");
    }
    assert_eq!(folder.names(), ["file", "project"]);
}

#[test]
fn the_default_directory_is_among_the_settings_of_the_user() {
    let folder = folder();
    let root = fs::canonicalize(folder.path()).unwrap();
    let run = |variables: &[(&str, &str)]| {
        let mut command = command();
        command.args(["init", "--workspace", "project"]);
        command.current_dir(&root).env_clear();
        command.envs(variables.iter().copied());
        let output = command.output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let of = |name: &str| root.join(name).display().to_string();
    let (home, settings) = (of("home"), of("settings"));
    let (code, error) = run(&[]);
    assert_eq!(code, Some(1));
    assert!(
        error.contains("neither XDG_CONFIG_HOME nor HOME says"),
        "{error}"
    );
    // A relative directory does not count.
    assert_eq!(
        run(&[("HOME", &home), ("XDG_CONFIG_HOME", "here")]).0,
        Some(0)
    );
    assert!(
        root.join("home/.config/safecommit/project/safecommit.toml")
            .is_file()
    );
    assert_eq!(
        run(&[("HOME", &home), ("XDG_CONFIG_HOME", &settings)]).0,
        Some(0)
    );
    assert!(
        root.join("settings/safecommit/project/state/audit.db")
            .is_file()
    );
    assert_eq!(run(&[("HOME", &home)]).0, Some(1), "it is there already");
    assert_eq!(folder.names(), ["home", "project", "settings"]);
}

#[test]
fn a_workspace_of_any_name_is_written_so_that_it_reads_back() {
    let folder = Folder::new();
    let root = fs::canonicalize(folder.path()).unwrap();
    for (at, name) in ["it's", "a \"b\"", "line\nbreak", "\\n", "é漢", "'''"]
        .iter()
        .enumerate()
    {
        fs::create_dir(root.join(name)).unwrap();
        let directory = format!("gate-{at}");
        folder
            .run(["init", "--workspace", name, "--directory", &directory])
            .prints(0);
        let file = root.join(directory).join("safecommit.toml");
        let configuration = GateConfiguration::load(&file).unwrap();
        assert_eq!(configuration.workspace(), root.join(name));
    }
}
