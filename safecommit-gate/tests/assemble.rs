//! Evidence, facts, policies and probes of real files, decided by the controller of `safecommit-core`.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::path::Path;

use safecommit_conformal::{Calibration, Score, Threshold};
use safecommit_core::{
    Action, Controller, FallbackKind, Probing, Reversibility, Settings, Step, Subject,
    Workspace as Memory,
};
use safecommit_gate::{
    ActionDescription, AssembleError, Assembled, Assignment, Belief, Facts, FileProbe,
    FileQuestion, FileSettings, OfferedProbe, ProbeOutcome, SafetyMap, SafetyPolicies, SafetyTable,
    ScoreWeights, Support, Terms, Workspace, file_facts,
};

const QUESTIONS: [FileQuestion; 7] = [
    FileQuestion::Status,
    FileQuestion::Location,
    FileQuestion::DryRun,
    FileQuestion::Patterns,
    FileQuestion::Age,
    FileQuestion::Tree,
    FileQuestion::Repository,
];

/// What a memory says of a disposable path, and every value that could do harm.
fn beliefs() -> Vec<Belief> {
    let remembered = Terms {
        provenance_or_age: 0.1,
        ..Terms::NONE
    };
    let hazard = Terms {
        provenance_or_age: 0.4,
        ..Terms::NONE
    };
    let facts = file_facts().unwrap();
    let table: [(&str, &[&str]); 11] = [
        ("directory", &["link", "mount"]),
        ("inside", &["outside"]),
        ("no", &["link", "mount"]),
        ("own", &["other"]),
        ("owner", &[]),
        ("none", &["dirty"]),
        ("false", &[]),
        ("false", &["true"]),
        ("false", &["true"]),
        ("false", &["true"]),
        ("true", &[]),
    ];
    let beliefs = facts
        .as_slice()
        .iter()
        .zip(table)
        .map(|(fact, (usual, hazards))| {
            let hazards = hazards.iter().map(|value| (*value, hazard));
            Belief::new(fact, hazards)
                .unwrap()
                .supported(usual, remembered)
                .unwrap()
        });
    beliefs.collect()
}

/// Worlds of one path, and the policies for actions on it.
struct Proposed {
    facts: Facts,
    support: Support,
    map: SafetyMap,
}

impl Proposed {
    /// The best `limit` worlds.
    fn new(path: &str, actions: &[&str], limit: usize) -> Self {
        let facts = file_facts().unwrap();
        let support =
            Support::enumerate(&facts, &beliefs(), &[], &ScoreWeights::EQUAL, limit).unwrap();
        let describe = |action| ActionDescription::new(action, "agent", path).with("path", path);
        let actions: Vec<ActionDescription> = actions.iter().copied().map(describe).collect();
        let map = SafetyPolicies::for_files()
            .unwrap()
            .bind(&facts, &actions)
            .unwrap();
        Self {
            facts,
            support,
            map,
        }
    }

    fn table(&self) -> SafetyTable<'_> {
        let worlds = self.support.worlds().iter();
        let worlds: Vec<Assignment> = worlds.map(|world| world.assignment.clone()).collect();
        self.map.evaluate(&worlds).unwrap()
    }
}

struct Decided {
    /// The action committed, or why none was.
    ended: Result<usize, FallbackKind>,
    probes: Vec<String>,
}

/// Decides whether to delete a path, or to leave it, with the probes of real files.
fn decide(root: &Path, path: &str, limit: usize, threshold: &Threshold) -> Decided {
    let proposed = Proposed::new(path, &["delete", "overwrite"], limit);
    let (facts, support, table) = (&proposed.facts, &proposed.support, proposed.table());
    let probes = QUESTIONS.map(FileProbe::new);
    let offered = probes.each_ref().map(|probe| OfferedProbe {
        id: probe.question().name().to_owned(),
        cost: probe.cost(),
        error_rate: probe.error_rate(),
        reveals: probe
            .question()
            .facts()
            .iter()
            .map(|fact| (*fact).to_owned())
            .collect(),
    });
    let actions = [Action::new(1.0, 0.0, Reversibility::Irreversible).unwrap(); 2];
    let assembled =
        Assembled::new(Subject([9; 32]), facts, support, &table, &actions, &offered).unwrap();

    let workspace = Workspace::open(root).unwrap();
    let settings = FileSettings::new().unwrap();
    // In a world in which no candidate is safe the expected certificate shrinkage of every probe is zero, so the gate
    // asks what tells most.
    let controls = Settings::default().with_probing(Probing::InformationGain);
    let mut memory = Memory::default();
    let mut controller = Controller::start(assembled.problem(), &controls, threshold, &mut memory);
    let mut made = Vec::new();
    loop {
        match controller.next_step() {
            Step::Commit(certificate) => {
                return Decided {
                    ended: Ok(certificate.action()),
                    probes: made,
                };
            }
            Step::Fallback(fallback) => {
                return Decided {
                    ended: Err(fallback.kind),
                    probes: made,
                };
            }
            Step::Probe(choice) => {
                let probe = &probes[choice.probe];
                made.push(probe.question().name().to_owned());
                let outcome = match workspace.target(path) {
                    Ok(target) => probe.make(&workspace, &target, &settings),
                    Err(error) => ProbeOutcome::of_refused_path(error),
                };
                match &outcome {
                    ProbeOutcome::Found(found) => match assembled.outcome(choice.probe, found) {
                        Some(outcome) => controller.observe(choice.probe, outcome).unwrap(),
                        None => controller.probe_failed(choice.probe).unwrap(),
                    },
                    _ => controller.probe_failed(choice.probe).unwrap(),
                }
            }
        }
    }
}

/// A workspace with a directory of outputs, and a link of that name beside it.
fn workspace() -> (tempfile::TempDir, tempfile::TempDir) {
    let (root, shared) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::create_dir_all(root.path().join("run/plain")).unwrap();
    std::fs::write(root.path().join("run/plain/part"), "temporary").unwrap();
    std::os::unix::fs::symlink(shared.path(), root.path().join("run/latest")).unwrap();
    std::fs::create_dir_all(root.path().join("run/mixed")).unwrap();
    std::os::unix::fs::symlink(shared.path(), root.path().join("run/mixed/out")).unwrap();
    (root, shared)
}

#[test]
fn a_plain_directory_may_go_once_every_hazard_is_probed_away() {
    let (root, _shared) = workspace();
    let decided = decide(root.path(), "run/plain", 100_000, Threshold::unbounded());
    assert_eq!(decided.ended, Ok(0), "{:?}", decided.probes);
    assert!(
        decided.probes.contains(&"status".to_owned()),
        "{:?}",
        decided.probes
    );
}

#[test]
fn a_link_a_way_out_and_a_secret_stop_it() {
    let (root, _shared) = workspace();
    std::fs::create_dir_all(root.path().join("run/keys")).unwrap();
    std::fs::write(root.path().join("run/keys/id_rsa"), "key").unwrap();
    for path in ["run/latest", "run/mixed", "run/keys", "run/nothing"] {
        let decided = decide(root.path(), path, 100_000, Threshold::unbounded());
        assert!(decided.ended.is_err(), "{path}: {:?}", decided.probes);
    }
}

/// With a support that is cut nothing irreversible is certified, unless the threshold excludes what is missing.
#[test]
fn a_cut_support_certifies_nothing_irreversible() {
    let (root, _shared) = workspace();
    let decided = decide(root.path(), "run/plain", 40, Threshold::unbounded());
    assert!(decided.ended.is_err());
    // The likeliest world scores 1.1; everything stranger than 1.15 is implausible here.
    let scores = vec![Score::new(1.15).unwrap().into(); 19];
    let calibration = Calibration::split_conformal("0.05".parse().unwrap(), &scores);
    let decided = decide(root.path(), "run/plain", 40, calibration.threshold());
    assert_eq!(decided.ended, Ok(0));
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let proposed = Proposed::new("a", &["delete"], 10);
    let (facts, support, table) = (&proposed.facts, &proposed.support, proposed.table());
    let refused = |actions: usize, probe: Option<(&str, f64)>| {
        let probes: Vec<OfferedProbe> = probe
            .into_iter()
            .map(|(fact, cost)| OfferedProbe {
                id: "look".to_owned(),
                cost,
                error_rate: 0.0,
                reveals: Some(fact.to_owned())
                    .into_iter()
                    .filter(|fact| !fact.is_empty())
                    .collect(),
            })
            .collect();
        let actions = vec![Action::default(); actions];
        Assembled::new(Subject([0; 32]), facts, support, &table, &actions, &probes).unwrap_err()
    };
    assert!(matches!(
        refused(2, None),
        AssembleError::OtherMap {
            what: "actions",
            ..
        }
    ));
    assert!(matches!(
        refused(1, Some(("size", 1.0))),
        AssembleError::UnknownFact { .. }
    ));
    assert!(matches!(
        refused(1, Some(("", 1.0))),
        AssembleError::RevealsNothing(_)
    ));
    assert!(matches!(
        refused(1, Some(("kind", 0.0))),
        AssembleError::Problem(_)
    ));
}

/// What an answer says of the worlds: one combination of values, none that anybody proposed, or nothing at all.
#[test]
fn an_answer_that_leaves_a_fact_open_says_nothing() {
    let proposed = Proposed::new("a", &["delete"], 100_000);
    let (facts, support, table) = (&proposed.facts, &proposed.support, proposed.table());
    let look = OfferedProbe {
        id: "look".to_owned(),
        cost: 1.0,
        error_rate: 0.0,
        reveals: vec!["kind".to_owned(), "owner".to_owned()],
    };
    let assembled = Assembled::new(
        Subject([0; 32]),
        facts,
        support,
        &table,
        &[Action::default()],
        &[look],
    )
    .unwrap();
    // Three kinds and two owners were proposed.
    let outcome = |found: &[(&str, &str)]| assembled.outcome(0, found);
    let known = outcome(&[("owner", "own"), ("kind", "link")]);
    assert!(known.is_some_and(|known| known < 6));
    assert_eq!(
        outcome(&[("kind", "file"), ("owner", "own")]),
        Some(6),
        "nobody proposed a file"
    );
    assert_eq!(
        outcome(&[("kind", "socket"), ("owner", "own")]),
        Some(6),
        "no kind that is declared"
    );
    assert_eq!(outcome(&[("kind", "link")]), None);
    assert_eq!(outcome(&[]), None);
    assert_eq!(
        assembled.outcome(1, &[("kind", "link"), ("owner", "own")]),
        None
    );
}
