//! The gate itself on the corpus: decides, records, and releases with the executor.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use jiff::Timestamp;
use safecommit_gate::audit::{AuditLog, AuditReader, LogKey, Replay};
use safecommit_gate::{
    EvidenceRecord, FILE_POLICIES, FILE_SCHEMA, FileGate, FileProposal, FileProposalProblem,
    GateCalibration, GateConfiguration,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::families::Family;
use crate::run::{Outcome, Report, run_corpus};
use crate::scene::{Scene, directory};

/// A gate for each scene, and one log for all of them.
pub(crate) struct Gates {
    base: TempDir,
    /// What configurations say of files, and in sections of their own, beside what every scene needs.
    files: String,
    sections: String,
    /// The version of the score.
    pub(crate) version: String,
    pub(crate) decided: Vec<Decided>,
}

/// One decision, in short.
pub(crate) struct Decided {
    pub(crate) name: String,
    pub(crate) probes: usize,
    pub(crate) cost: f64,
    /// How it ended, in words.
    pub(crate) end: String,
    /// The decision was to commit, and the executor refused.
    pub(crate) refused: bool,
}

impl Gates {
    /// Gates as they are shipped.
    pub(crate) fn new() -> Self {
        let base = directory();
        let path = |name: &str| base.path().join(name);
        LogKey::create(&path("key")).unwrap();
        let key = LogKey::read(&path("key")).unwrap();
        AuditLog::create(&path("log"), &path("head"), key).unwrap();
        Self {
            base,
            files: String::new(),
            sections: String::new(),
            version: String::new(),
            decided: Vec::new(),
        }
    }

    /// The same with a calibration, and checks of certificates as named.
    pub(crate) fn calibrated(calibration: &GateCalibration, verification: &str) -> Self {
        let mut gates = Self::new();
        let file = gates.path("calibration.json");
        fs::write(&file, serde_json::to_string(calibration).unwrap()).unwrap();
        let section =
            format!("[calibration]\nfile = {file:?}\n[control]\nverification = {verification:?}\n");
        gates.sections = section;
        gates
    }

    /// The same without one of the policies.
    fn without_policy(name: &str) -> Self {
        let mut gates = Self::new();
        let text = FILE_POLICIES.text;
        let (before, rest) = text.split_once(&format!("@id({name:?})")).unwrap();
        let (_, after) = rest.split_once(";\n").unwrap();
        let (policies, schema) = (gates.path("few.cedar"), gates.path("files.cedarschema"));
        fs::write(&policies, [before, after].concat()).unwrap();
        fs::write(&schema, FILE_SCHEMA.text).unwrap();
        gates.sections = format!("[policies]\nfiles = [{policies:?}]\nschema = {schema:?}\n");
        gates
    }

    /// The same whose probe of names finds nothing secret.
    fn blind_to_secrets() -> Self {
        let mut gates = Self::new();
        gates.files = "secret = []\n".to_owned();
        gates
    }

    fn path(&self, name: &str) -> PathBuf {
        self.base.path().join(name)
    }

    fn open(&self, scene: &Scene) -> FileGate {
        let mut text = format!(
            "workspace = {:?}\nstate = {:?}\n[files]\nowner = {}\n{}{}[audit]\n",
            scene.workspace(),
            scene.state(),
            scene.owner(),
            self.files,
            self.sections
        );
        for name in ["log", "head", "key"] {
            writeln!(text, "{name} = {:?}", self.path(name)).unwrap();
        }
        let file = scene.path("safecommit.toml");
        fs::write(&file, text).unwrap();
        FileGate::open(&GateConfiguration::load(&file).unwrap()).unwrap()
    }

    /// Decides what the agent proposes, with what the host knows beside it, and releases it.
    pub(crate) fn decide(&mut self, scene: &Scene, request: &Value, now: Timestamp) -> Outcome {
        let nothing = Outcome {
            released: None,
            person: false,
        };
        let mut gate = self.open(scene);
        gate.score_version().clone_into(&mut self.version);
        let (proposal, of_host) = proposal(request);
        let request = match proposal.check(of_host) {
            Ok(request) => request,
            Err(error) => {
                // Paths that lead up are no targets.
                assert!(
                    matches!(error.problem, FileProposalProblem::Path(_)),
                    "{error}"
                );
                assert!(request.to_string().contains(".."), "{error}");
                return nothing;
            }
        };
        let decision = gate.decide(&request, now).unwrap();
        let record = decision.record();
        let probes = &decision.decided().case().request().probes;
        let cost_of = |name: &str| {
            let probe = probes.iter().find(|probe| probe.id == name);
            probe.unwrap().cost
        };
        let made = record.observed.iter();
        let mut decided = Decided {
            name: request.decision().to_owned(),
            probes: record.observed.len(),
            cost: made.map(|made| cost_of(&made.probe)).sum(),
            end: format!("{:?}", record.decision),
            refused: false,
        };
        if let Some(fallback) = &record.fallback {
            write!(decided.end, ", {}", fallback.reason).unwrap();
        }
        for (probe, why) in decision.decided().failed_probes() {
            write!(decided.end, "; {probe}: {why}").unwrap();
        }
        if let Some(why) = decision.decided().error() {
            write!(decided.end, "; {why}").unwrap();
        }
        let mut outcome = Outcome {
            person: decision.question().is_some(),
            ..nothing
        };
        if let Some(action) = record.action.clone() {
            let mut names = record.actions.iter();
            let at = names.position(|named| named.id == action);
            match gate.release(decision) {
                Ok(_) => outcome.released = at,
                Err(error) => {
                    decided.refused = true;
                    write!(decided.end, "; {error}").unwrap();
                }
            }
        }
        self.decided.push(decided);
        outcome
    }

    pub(crate) fn reader(&self) -> AuditReader {
        AuditReader::open(&self.path("log")).unwrap()
    }

    /// Checks that the log is as it was written, and takes every decision in it again.
    pub(crate) fn replay(&self) -> Replay {
        let key = LogKey::read(&self.path("key")).unwrap();
        let reader = self.reader();
        let verified = reader.verify(&self.path("head"), &key).unwrap();
        assert_eq!(verified.records, self.decided.len() as u64);
        reader.replay().unwrap()
    }
}

/// What the agent proposes, and what is only for the host to say.
fn proposal(request: &Value) -> (FileProposal, Vec<EvidenceRecord>) {
    let mut request = request.clone();
    let evidence = request["evidence"].as_array_mut().unwrap();
    let of_agent = |record: &Value| {
        ["memory", "tool"]
            .map(Value::from)
            .contains(&record["source"])
    };
    let of_host = evidence.extract_if(.., |record| !of_agent(record));
    let of_host = of_host
        .map(|record| EvidenceRecord::from_json(&record.to_string()).unwrap())
        .collect();
    (serde_json::from_str(&request.to_string()).unwrap(), of_host)
}

/// What came of the gate as it is shipped.
pub(crate) struct Gated {
    pub(crate) report: Report,
    pub(crate) gates: Gates,
}

/// What has to come out on any families, without a calibration.
pub(crate) fn check_gate(families: &[Family]) -> Gated {
    check_gate_and(families, |_, _| {})
}

/// The same with a look at each scene before it is acted on.
pub(crate) fn check_gate_and(families: &[Family], mut look: impl FnMut(&Scene, &Value)) -> Gated {
    let mut gates = Gates::new();
    let report = run_corpus(families, |scene, request, now| {
        look(scene, request);
        gates.decide(scene, request, now)
    });
    check(&report, &gates);
    Gated { report, gates }
}

fn check(report: &Report, gates: &Gates) {
    println!("the gate as it is shipped, without a calibration:\n{report}");
    assert_eq!(report.unsafe_releases, [""; 0]);
    assert_eq!(report.side_effects, [""; 0]);
    let refused = gates.decided.iter().filter(|decided| decided.refused);
    let refused: Vec<_> = refused.map(|decided| &decided.end).collect();
    assert_eq!(refused, [""; 0], "certified, and not carried out");
    for (family, row) in &report.rows {
        let enough = row.variants_released as f64 >= 0.95 * row.variants as f64;
        assert!(enough, "{family}: {:#?}", report.refused_variants);
    }
    let replay = gates.replay();
    assert_eq!(replay.decisions, gates.decided.len() as u64);
    assert_eq!(replay.differing, []);
}

fn of_name(name: &str) -> Vec<Family> {
    let mut families = Family::without_mounts();
    families.retain(|family| family.name() == name);
    families
}

/// Were the gate worse, this would be seen.
#[test]
fn a_gate_without_a_policy_or_with_a_probe_that_is_blind_is_caught() {
    for (mut gates, family) in [
        (Gates::without_policy("tree-is-left"), "link-below"),
        (Gates::without_policy("overwrite-of-newer"), "addition"),
        (Gates::blind_to_secrets(), "secret"),
    ] {
        let report = run_corpus(&of_name(family), |scene, request, now| {
            gates.decide(scene, request, now)
        });
        println!("{report}");
        assert!(report.unsafe_releases.len() >= 20, "{report}");
        assert_eq!(gates.replay().differing, []);
    }
}
