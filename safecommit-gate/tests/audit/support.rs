//! Logs of a few decisions, and ways to get at their tables.

use std::path::PathBuf;

use rusqlite::Connection;
use safecommit_conformal::{
    Calibration, CalibrationScore, Misses, MondrianCalibration, Score, Taxonomy,
};
use safecommit_core::{Case, Request};
use safecommit_gate::audit::{AuditError, AuditLog, AuditReader, Entry, LogKey, UsedCalibration};
use tempfile::TempDir;

pub(crate) struct Place {
    pub(crate) directory: TempDir,
    pub(crate) path: PathBuf,
    pub(crate) head: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (path, head) = (
            directory.path().join("log.db"),
            directory.path().join("log.head"),
        );
        Self {
            directory,
            path,
            head,
        }
    }

    pub(crate) fn create(&self) -> AuditLog {
        AuditLog::create(&self.path, &self.head, key()).unwrap()
    }

    pub(crate) fn open(&self) -> AuditLog {
        AuditLog::open(&self.path, &self.head, key()).unwrap()
    }

    pub(crate) fn reader(&self) -> AuditReader {
        AuditReader::open(&self.path).unwrap()
    }

    /// How many records verify.
    pub(crate) fn verify(&self) -> Result<u64, AuditError> {
        let reader = AuditReader::open(&self.path)?;
        Ok(reader.verify(&self.head, &key())?.records)
    }
}

pub(crate) fn key() -> LogKey {
    LogKey::from_bytes([42; 32])
}

/// Two actions, three worlds, a probe; everything that a request can hold stands in it.
pub(crate) const REQUEST: &str = r#"{"id": "r", "stratum": "file",
    "actions": [{"id": "delete", "family": "file", "severity": 1.5, "reward": 2.0},
                {"id": "trash", "reversible": true}],
    "worlds": [{"id": "temporary", "score": 0.1, "safe": ["delete", "trash"], "description": "scratch"},
               {"id": "shared", "score": 0.3, "safe": ["trash"]},
               {"id": "precious", "score": 0.85, "safe": []}],
    "hard_evidence": [],
    "probes": [{"id": "stat", "cost": 1.0, "outcomes": [
                    {"id": "plain", "likelihood": {"temporary": 1.0, "precious": 0.5}},
                    {"id": "link", "likelihood": {"shared": 1.0, "precious": 0.5}}]},
               {"id": "ask", "cost": 5.0, "error_rate": 0.01, "asks": "temporary"}]}"#;

pub(crate) fn request() -> Request {
    serde_json::from_str(REQUEST).unwrap()
}

pub(crate) fn scores(n: u32) -> Vec<CalibrationScore> {
    (1..=n)
        .map(|i| Score::new(f64::from(i) / f64::from(n + 1)).unwrap().into())
        .collect()
}

pub(crate) fn calibration() -> Calibration {
    Calibration::split_conformal("0.2".parse().unwrap(), &scores(19))
}

pub(crate) fn by_stratum() -> MondrianCalibration {
    let file: safecommit_conformal::Stratum = "file".parse().unwrap();
    let taxonomy = Taxonomy::new([file.clone()]).unwrap();
    let cases: Vec<_> = scores(19)
        .into_iter()
        .map(|score| (file.clone(), score))
        .collect();
    MondrianCalibration::new("0.2".parse().unwrap(), taxonomy, &cases, Misses::AsListed).unwrap()
}

/// The entry of a decision on a request.
pub(crate) fn entry(name: &str, request: Request, used: UsedCalibration<'_>) -> Entry {
    let case = Case::new(request.clone()).unwrap();
    let decision = match used {
        UsedCalibration::None => case.decide(None),
        UsedCalibration::One(calibration) => case.decide(Some(calibration)),
        UsedCalibration::ByStratum(calibrations) => case.decide_among(calibrations),
    };
    let at = "2026-03-01T12:00:00.25Z".parse().unwrap();
    let mut entry = Entry::new(name, at, request, decision.record().clone());
    entry.versions.program = "1.0".to_owned();
    entry
        .details
        .insert("path".to_owned(), "/home/ada/scratch".to_owned());
    entry
}

/// Five records, two of them under each kind of calibration that is stored.
pub(crate) fn five() -> Place {
    let place = Place::new();
    let (one, many) = (calibration(), by_stratum());
    let used = [
        UsedCalibration::None,
        UsedCalibration::One(&one),
        UsedCalibration::ByStratum(&many),
        UsedCalibration::One(&one),
        UsedCalibration::ByStratum(&many),
    ];
    let mut log = place.create();
    for (number, used) in (1..).zip(used) {
        let entry = entry(&format!("d-{number}"), request(), used);
        assert_eq!(log.append(&entry, used).unwrap().sequence, number);
    }
    drop(log);
    assert_eq!(place.verify().unwrap(), 5);
    place
}

/// The tables without the triggers that guard them, for as long as `change` runs.
pub(crate) fn tamper<T>(place: &Place, change: impl FnOnce(&Connection) -> T) -> T {
    let connection = Connection::open(&place.path).unwrap();
    connection.execute_batch("PRAGMA synchronous=OFF").unwrap();
    let triggers: Vec<(String, String)> = connection
        .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    for (name, _) in &triggers {
        connection
            .execute_batch(&format!("DROP TRIGGER {name}"))
            .unwrap();
    }
    let result = change(&connection);
    for (_, sql) in &triggers {
        connection.execute_batch(sql).unwrap();
    }
    result
}
