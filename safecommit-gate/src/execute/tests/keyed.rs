//! What the journal tells of contents, and the key that it is written under.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::Scene;
use crate::execute::action::Content;
use crate::execute::error::ExecuteError;
use crate::execute::interrupt::stopped_at;
use crate::execute::kept::{Code, Kept};
use crate::execute::key::JournalKey;
use crate::execute::ledger::Ledger;
use crate::execute::receipt::Resolution;
use crate::execute::record::{Effect, Record, Source};
use crate::files::{Digest, Identity, Limits};

fn journal(scene: &Scene) -> String {
    std::fs::read_to_string(scene.state.join("journal")).unwrap()
}

fn plain(scene: &Scene, path: &str) -> Identity {
    let target = scene.opened.as_ref().unwrap().workspace.target(path);
    let found = target.unwrap().identity(&Limits::default());
    found.unwrap().unwrap()
}

#[test]
fn no_line_has_a_digest_of_what_was_in_a_file() {
    for across in [false, true] {
        let mut scene = if across {
            Scene::across_file_systems()
        } else {
            Scene::new()
        };
        let content = Content::new("yes");
        let mut secrets = vec![content.digest(), Digest::of_bytes(b"precious")];
        for path in ["folder", "folder/file"] {
            let found = plain(&scene, path);
            secrets.extend([found.content, found.tree].into_iter().flatten());
            secrets.push(found.digest());
        }
        let new = scene.bytes(&content);
        let (old, path) = (scene.identity("folder/file").unwrap(), "folder/file");
        let replace = Effect::Replace {
            path: path.to_owned(),
            old,
            new,
        };
        scene.begin(replace, &content).unwrap();
        let found = plain(&scene, "folder");
        secrets.extend([found.content, found.tree].into_iter().flatten());
        for (from, to) in [("folder", "moved"), ("moved", "folder")] {
            let old = scene.identity(from).unwrap();
            let (from, to) = (from.to_owned(), to.to_owned());
            scene
                .begin(Effect::Move { from, to, old }, &content)
                .unwrap();
        }
        let new = scene.bytes(&content);
        let path = "made".to_owned();
        scene.begin(Effect::Put { path, new }, &content).unwrap();
        for permanent in [false, true] {
            let old = scene.identity("folder").unwrap();
            let path = "folder".to_owned();
            let take = Effect::Take {
                path,
                old,
                permanent,
            };
            let entry = scene.begin(take, &content).unwrap().entry;
            if !permanent {
                scene.executor().restore(entry).unwrap();
            }
        }
        let said = journal(&scene);
        assert!(said.matches("\"hmac:").count() > 10, "{said}");
        for secret in secrets {
            assert!(!said.contains(&secret.to_string()), "{secret}");
        }
        // The contents that are the same have the same code, so that they can be compared.
        let key = &scene.opened.as_ref().unwrap().key;
        assert!(said.contains(&String::from(key.code(content.digest()))));
        let other = JournalKey::from_bytes([7; 32]);
        assert!(!said.contains(&String::from(other.code(content.digest()))));
    }
}

/// What journals had before there was a key, with the digests as they are.
fn without_key(found: &Identity) -> Kept {
    serde_json::from_value(serde_json::to_value(found).unwrap()).unwrap()
}

/// A journal of before there was a key, in place of the one that there is.
fn write_journal(scene: &Scene, records: &[Record]) {
    let mut text = Vec::new();
    for record in records {
        let ledger = Ledger::read(&text).unwrap();
        let (_, line) = ledger.line_of(record).unwrap();
        text.extend_from_slice(&line);
    }
    std::fs::write(scene.state.join("journal"), text).unwrap();
    std::fs::remove_file(scene.state.join("journal.key")).unwrap();
}

#[test]
fn what_journals_without_a_key_say_is_settled_and_undone() {
    let content = Content::new("new");
    // How far it had come: announced, hidden, in the trash, done.
    for progress in 0..4 {
        let mut scene = Scene::new();
        let before = scene.tree();
        let old = without_key(&plain(&scene, "folder"));
        assert!(matches!(old.content, Some(Code::Plain(_))));
        let made = Identity {
            content: Some(content.digest()),
            ..plain(&scene, "folder/file")
        };
        scene.close();
        let workspace = scene.path("workspace").canonicalize().unwrap();
        let put = |entry, new| Record::Intent {
            entry,
            subject: None,
            undoes: None,
            effect: Box::new(Effect::Put {
                path: "made".to_owned(),
                new,
            }),
        };
        let done = |entry| Record::Done {
            entry,
            resolution: Resolution::Done,
        };
        let mut records = vec![
            Record::Opened {
                format: 1,
                workspace: workspace.display().to_string(),
            },
            put(
                1,
                Source::Bytes {
                    content: Code::Plain(content.digest()),
                },
            ),
            Record::Staged {
                entry: 1,
                staged: without_key(&made),
            },
            done(1),
            Record::Intent {
                entry: 2,
                subject: None,
                undoes: None,
                effect: Box::new(Effect::Take {
                    path: "folder".to_owned(),
                    old,
                    permanent: false,
                }),
            },
        ];
        if progress == 3 {
            records.push(done(2));
        }
        write_journal(&scene, &records);
        std::fs::write(scene.path("workspace/made"), "new").unwrap();
        let text = std::fs::read(scene.state.join("journal")).unwrap();
        assert!(!String::from_utf8(text.clone()).unwrap().contains("hmac"));
        let ledger = Ledger::read(&text).unwrap();
        let hidden = scene.path("workspace").join(&ledger.entries()[&2].hidden);
        let item = scene.state.join("trash/2/item");
        match progress {
            0 => {}
            1 => std::fs::rename(scene.path("workspace/folder"), hidden).unwrap(),
            _ => {
                std::fs::create_dir(item.parent().unwrap()).unwrap();
                std::fs::rename(scene.path("workspace/folder"), &item).unwrap();
            }
        }
        scene.opened = Some(scene.try_open().unwrap());
        let ends = scene.executor().entries();
        let expect = [Resolution::RolledBack, Resolution::Done][usize::from(progress > 1)];
        assert_eq!(ends[1].resolution, Some(expect), "{progress}");
        if progress > 1 {
            scene.executor().restore(2).unwrap();
        }
        let undone = scene.executor().restore(1).unwrap();
        assert_eq!(scene.tree(), before, "{progress}");
        // From here on there is a key, and what was undone can be undone in turn.
        assert!(journal(&scene).contains("\"record\":\"keyed\""));
        scene.close();
        scene.opened = Some(scene.try_open().unwrap());
        scene.executor().restore(undone.entry).unwrap();
        assert_eq!(std::fs::read(scene.path("workspace/made")).unwrap(), b"new");
    }
}

#[test]
fn what_was_changed_is_not_taken_for_what_a_journal_without_a_key_knew() {
    let mut scene = Scene::new();
    let old = without_key(&plain(&scene, "folder"));
    let key = &scene.opened.as_ref().unwrap().key;
    assert!(key.is(&old, &plain(&scene, "folder")));
    std::fs::write(scene.path("workspace/folder/file"), "changed!").unwrap();
    assert!(!key.is(&old, &plain(&scene, "folder")));
    let take = Effect::Take {
        path: "folder".to_owned(),
        old,
        permanent: false,
    };
    let refused = scene.begin(take, &Content::new("")).unwrap_err();
    assert!(matches!(refused, ExecuteError::Changed(_)), "{refused}");
}

#[test]
fn a_key_that_is_missing_or_another_one_is_refused_and_left_alone() {
    let mut scene = Scene::new();
    scene.close();
    let (path, said) = (scene.state.join("journal.key"), journal(&scene));
    let key = std::fs::read(&path).unwrap();
    assert_eq!(key.len(), 32);
    let mode = path.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
    let expect = |problem: &str| {
        let refused = scene.try_open().unwrap_err().to_string();
        assert!(
            refused.contains("journal.key") && refused.contains(problem),
            "{refused}"
        );
        assert_eq!(journal(&scene), said);
    };
    std::fs::remove_file(&path).unwrap();
    expect("it is missing");
    assert!(!path.exists());
    std::fs::write(&path, [7; 32]).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    expect("the journal was written under another one");
    std::fs::write(&path, &key[..31]).unwrap();
    expect("has 31 bytes");
    std::fs::write(&path, &key).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    expect("has mode 0640");
    std::fs::rename(&path, scene.state.join("aside")).unwrap();
    symlink("aside", &path).unwrap();
    expect("cannot open");
    std::fs::rename(scene.state.join("aside"), &path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    scene.try_open().unwrap();
    assert_eq!(journal(&scene), said);
}

#[test]
fn stopped_while_the_key_is_made_the_next_start_has_one() {
    for stop in 0.. {
        let mut scene = Scene::new();
        scene.close();
        std::fs::remove_dir_all(&scene.state).unwrap();
        let finished = stopped_at(stop, || scene.try_open()).is_some();
        scene.opened = Some(scene.try_open().unwrap());
        let old = scene.identity("folder").unwrap();
        let path = "folder".to_owned();
        let take = Effect::Take {
            path,
            old,
            permanent: false,
        };
        let entry = scene.begin(take, &Content::new("")).unwrap().entry;
        scene.close();
        scene.opened = Some(scene.try_open().unwrap());
        scene.executor().restore(entry).unwrap();
        assert!(!scene.state.join("journal.key.new").exists());
        if finished {
            assert!(stop > 5, "{stop}");
            break;
        }
    }
}
