//! The trash is emptied: stopped at every moment, and again while what is left is removed.

use super::Scene;
use crate::execute::interrupt::stopped_at;
use crate::execute::ledger::Ledger;
use crate::execute::record::{Effect, Record};

/// A scene whose trash has a directory, taken away by entry 1, and a file, by entry 2.
fn prepare(across: bool) -> Scene {
    let mut scene = if across {
        Scene::across_file_systems()
    } else {
        Scene::new()
    };
    std::fs::write(scene.path("workspace/other"), "other").unwrap();
    for path in ["folder", "other"] {
        let old = scene.identity(path).unwrap();
        let path = path.to_owned();
        let take = Effect::Take {
            path,
            old,
            permanent: false,
        };
        scene.executor().begin(None, None, take, None).unwrap();
    }
    scene
}

#[test]
fn stopped_at_every_moment_it_is_whole_or_gone_for_good() {
    for across in [false, true] {
        let (mut whole, mut gone) = (0, 0);
        'stops: for first in 0.. {
            for second in 0.. {
                let mut scene = prepare(across);
                let slot = scene.state.join("trash/1");
                if let Some(result) = stopped_at(first, || scene.executor().empty_trash([1])) {
                    assert_eq!(result.unwrap(), [1]);
                    break 'stops;
                }
                scene.close();
                let opened = stopped_at(second, || scene.try_open());
                let stopped = opened.is_none();
                scene.opened = Some(opened.unwrap_or_else(|| scene.try_open()).unwrap());
                let emptied = scene.executor().entries()[0].emptied;
                assert_eq!(slot.exists(), !emptied);
                let restored = scene.executor().restore(1);
                assert_eq!(restored.is_ok(), !emptied);
                *if emptied { &mut gone } else { &mut whole } += 1;
                if !emptied {
                    let file = scene.path("workspace/folder/file");
                    assert_eq!(std::fs::read(file).unwrap(), b"precious");
                }
                scene.executor().restore(2).unwrap();
                scene.expect_outside_untouched();
                if !stopped {
                    break;
                }
            }
        }
        assert!(whole > 0 && gone > 5, "{whole} and {gone}");
    }
}

#[test]
fn a_line_that_empties_what_is_not_settled_is_refused() {
    let mut scene = Scene::new();
    let old = scene.identity("folder").unwrap();
    let intent = Record::Intent {
        entry: 1,
        subject: None,
        undoes: None,
        effect: Box::new(Effect::Take {
            path: "folder".to_owned(),
            old,
            permanent: false,
        }),
    };
    let journal = &mut scene.executor().journal;
    journal.append(Record::Emptied { entry: 1 }).unwrap_err();
    journal.append(intent).unwrap();
    journal.append(Record::Emptied { entry: 1 }).unwrap_err();
    scene.executor().empty_trash([1]).unwrap_err();
}

/// Lines of a journal, with checksums computed by Python's hashlib. The last is of a kind that older journals lack.
const LINES: [(&str, &str); 4] = [
    (
        "9b8f48b629d33eafe1358651a796caf0c376fd56cdb4431c1cb09547c4b1ad89",
        r#"{"record":"opened","format":1,"workspace":"/srv/project"}"#,
    ),
    (
        "ad13dc820283d3b3f021e3bd73c91b97fab6b7bec09ad8e0da1450ee6088bf4b",
        r#"{"record":"intent","entry":1,"subject":null,"undoes":null,"effect":{"effect":"put","path":"made","new":{"source":"bytes","content":"11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437"}}}"#,
    ),
    (
        "ad4d217bc6296b7a0830161b5db2609db802fcc3f7ed1b2ae9ee116cfa4f030e",
        r#"{"record":"done","entry":1,"resolution":"done"}"#,
    ),
    (
        "edbbfc5a3dbecc8fc6cc553aa763ecaa0c439db73ccb6d757faf66f61d56126e",
        r#"{"record":"emptied","entry":1}"#,
    ),
];

#[test]
fn journals_with_and_without_emptied_entries_are_read() {
    for (lines, emptied) in [(&LINES[..3], false), (&LINES[..], true)] {
        let text: String = lines
            .iter()
            .map(|(sum, json)| format!("{sum} {json}\n"))
            .collect();
        let ledger = Ledger::read(text.as_bytes()).unwrap();
        assert_eq!(ledger.workspace(), Some("/srv/project"));
        assert_eq!(ledger.length(), text.len() as u64);
        let entries = ledger.describe();
        assert_eq!(entries.len(), 1);
        assert_eq!(
            (entries[0].path.as_str(), entries[0].emptied),
            ("made", emptied)
        );
    }
}
