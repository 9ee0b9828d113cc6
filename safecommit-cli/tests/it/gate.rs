//! A gate in a folder, with decisions in its log.

use std::path::PathBuf;

use rusqlite::Connection;
use safecommit_core::{Case, Request};
use safecommit_gate::GateConfiguration;
use safecommit_gate::audit::{AuditLog, Entry, LogKey, UsedCalibration};

use crate::program::{Folder, Run};

/// A gate in the directory `gate` beside the workspace `project`.
pub(crate) struct Gate(pub(crate) Folder);

pub(crate) const CONFIGURATION: &str = "gate/safecommit.toml";

/// Decides a stream of requests, and releases what it commits.
pub(crate) const STREAM: [&str; 6] = [
    "gate",
    "-",
    "--jsonl",
    "--execute",
    "--config",
    CONFIGURATION,
];

impl Gate {
    pub(crate) fn new() -> Self {
        let folder = Folder::new();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        let made = folder.run(["init", "--workspace", "project", "--directory", "gate"]);
        made.prints(0);
        Self(folder)
    }

    /// A gate whose log has a decision under each of these names.
    pub(crate) fn with(names: &[&str]) -> Self {
        let gate = Self::new();
        gate.append(names.iter().map(|name| entry(name, request(0.1))));
        gate
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        std::fs::canonicalize(self.0.path()).unwrap().join(name)
    }

    pub(crate) fn load(&self) -> GateConfiguration {
        GateConfiguration::load(&self.path(CONFIGURATION)).unwrap()
    }

    /// Adds sections to the configuration in place of its own of the same name.
    pub(crate) fn configure(&self, line: &str, other: &str) {
        let text = self.0.read(CONFIGURATION);
        let changed = text.replacen(line, other, 1);
        assert_ne!(changed, text);
        self.0.write(CONFIGURATION, changed);
    }

    /// Records decisions, as the configuration says.
    pub(crate) fn append(&self, entries: impl IntoIterator<Item = Entry>) {
        let configuration = self.load();
        let key = LogKey::read(configuration.key()).unwrap();
        let log = AuditLog::open(configuration.log(), configuration.head(), key.clone()).unwrap();
        let mut log = match configuration.redaction(key, ["target-1"]) {
            Some(redaction) => log.with_redaction(redaction),
            None => log,
        };
        for entry in entries {
            log.append(&entry, UsedCalibration::None).unwrap();
        }
    }

    pub(crate) fn run(&self, arguments: &str) -> Run {
        let configuration = ["--config", CONFIGURATION];
        self.0
            .run(arguments.split_whitespace().chain(configuration))
    }

    /// Changes the tables of the log behind the back of the triggers that guard them.
    pub(crate) fn tamper(&self, change: &str) {
        let connection = Connection::open(self.path("gate/state/audit.db")).unwrap();
        let triggers: Vec<(String, String)> = connection
            .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
            .unwrap()
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        for (name, _) in &triggers {
            let drop = format!("DROP TRIGGER {name}");
            connection.execute_batch(&drop).unwrap();
        }
        connection.execute_batch(change).unwrap();
        for (_, sql) in &triggers {
            connection.execute_batch(sql).unwrap();
        }
    }
}

/// Deleting is safe if the target is temporary, and nothing is if it is shared; the score is that of the first.
pub(crate) fn request(score: f64) -> Request {
    let request = serde_json::json!({
        "actions": [{"id": "delete-1", "family": "file"}, {"id": "move-2", "reversible": true}],
        "worlds": [
            {"id": "use=temporary", "score": score, "safe": ["delete-1", "move-2"]},
            {"id": "use=shared", "score": score + 0.2, "safe": ["move-2"]}
        ],
        "probes": [{"id": "status", "cost": 1.0, "asks": "use=shared"}]
    });
    serde_json::from_value(request).unwrap()
}

/// The decision on a request, without a calibration.
pub(crate) fn entry(name: &str, request: Request) -> Entry {
    let decision = Case::new(request.clone()).unwrap().decide(None);
    let at = "2026-03-01T12:00:00.25Z".parse().unwrap();
    let mut entry = Entry::new(name, at, request, decision.record().clone());
    entry.versions.program = "safecommit 0.1.0".to_owned();
    entry.versions.score = Some("files-1".to_owned());
    entry.group.family = Some("file".to_owned());
    entry.group.severity = Some("high".to_owned());
    entry.group.source = Some("memory".to_owned());
    entry.durations.proposing = 120;
    entry.durations.deciding = 30;
    let path = "run/latest".to_owned();
    entry.details.insert("target-1".to_owned(), path);
    entry
}
