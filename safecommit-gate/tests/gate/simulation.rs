//! The guarantee, by simulation: a domain whose true worlds are drawn, decided by the gate with thresholds that were
//! calibrated on its own history.

use jiff::Timestamp;
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha12Rng};
use safecommit_conformal::{Alpha, Calibration, CalibrationScore};
use safecommit_core::{DecisionKind, SettingsProposal, VerificationProposal, WorldFate};
use safecommit_gate::audit::{AuditLog, Fit, Labels, LogKey, UsedCalibration, WorldName};
use safecommit_gate::{
    ActionDescription, Answer, Asked, Belief, Candidate, Decided, Domain, DomainError, Fact, Facts,
    Frame, Gate, OfferedProbe, PolicyText, SafetyPolicies, SideEffect, Terms,
};

const SCHEMA: PolicyText<'static> = PolicyText {
    name: "s",
    text: "entity Agent; entity Thing = { a: Bool, b: Bool, c: Bool, d: Bool };
           action first, second, third appliesTo { principal: [Agent], resource: [Thing] };",
};

/// Each action is unsafe with some hazard; one hazard counts only together with another.
const POLICIES: PolicyText<'static> = PolicyText {
    name: "p",
    text: r#"
        permit(principal, action, resource);
        forbid(principal, action == Action::"first", resource) when { resource.a || (resource.b && resource.c) };
        forbid(principal, action == Action::"second", resource) when { resource.d };
        forbid(principal, action == Action::"third", resource) when { resource.b || resource.d };
    "#,
};

const FACTS: [&str; 4] = ["a", "b", "c", "d"];
const NAMES: [&str; 3] = ["first", "second", "third"];

/// One case: what is true, and what speaks against each value. `lies` is how often an answer is wrong.
struct Case {
    truth: [bool; 4],
    terms: [[f64; 2]; 4],
    lies: f64,
    random: ChaCha12Rng,
}

impl Case {
    fn draw(random: &mut ChaCha12Rng) -> Self {
        let truth = [(); 4].map(|()| random.random_bool(0.2));
        // What is true is mostly less strange than what is not.
        let terms = truth.map(|truth| {
            let (right, wrong) = (
                random.random::<f64>() * 0.6,
                random.random::<f64>() * 0.6 + 0.25,
            );
            if truth {
                [wrong, right]
            } else {
                [right, wrong]
            }
        });
        Self {
            truth,
            terms,
            lies: 0.0,
            random: ChaCha12Rng::seed_from_u64(random.random()),
        }
    }

    fn is_safe(&self, action: &str) -> bool {
        let [a, b, c, d] = self.truth;
        match action {
            "first" => !(a || (b && c)),
            "second" => !d,
            _ => !(b || d),
        }
    }

    fn label(&self, decision: &str) -> String {
        let facts = FACTS.iter().zip(self.truth);
        let facts: Vec<String> = facts
            .map(|(fact, truth)| format!("\"{fact}\":\"{truth}\""))
            .collect();
        format!(
            "{{\"decision\":\"{decision}\",\"true_facts\":{{{}}}}}\n",
            facts.join(",")
        )
    }
}

impl Domain for Case {
    fn family(&self) -> &str {
        "simulated"
    }

    fn frame(&mut self, _: Timestamp) -> Result<Frame, DomainError> {
        let facts = FACTS.map(|name| Fact::new(name, ["false", "true"]).unwrap());
        let beliefs = facts.iter().zip(self.terms).map(|(fact, [no, yes])| {
            let terms = |value| Terms {
                provenance_or_age: value,
                ..Terms::NONE
            };
            Belief::new(fact, [("false", terms(no)), ("true", terms(yes))]).unwrap()
        });
        let beliefs = beliefs.collect();
        let candidates = NAMES.map(|name| Candidate {
            reward: 1.0,
            ..Candidate::new(name, ActionDescription::new(name, "agent", "thing"))
        });
        let probe = |id, facts: &[&str]| OfferedProbe {
            error_rate: self.lies,
            ..OfferedProbe::new(id, SideEffect::ReadsNames, facts.iter().copied())
        };
        Ok(Frame {
            facts: Facts::new(facts).unwrap(),
            beliefs,
            candidates: candidates.to_vec(),
            probes: vec![
                probe("ab", &["a", "b"]),
                probe("c", &["c"]),
                probe("d", &["d"]),
            ],
            ..Frame::default()
        })
    }

    fn make(&mut self, probe: usize) -> Answer {
        let of = [&FACTS[..2], &FACTS[2..3], &FACTS[3..]][probe];
        let lie = self.lies > 0.0 && self.random.random_bool(self.lies);
        let found = of.iter().map(|fact| {
            let at = FACTS.iter().position(|known| known == fact).unwrap();
            (fact.to_string(), (self.truth[at] ^ lie).to_string())
        });
        Answer::Found(found.collect())
    }
}

fn gate(probes: u32, verification: VerificationProposal) -> Gate {
    let gate = Gate::new(SafetyPolicies::load(&[POLICIES], SCHEMA).unwrap());
    gate.with_settings(SettingsProposal {
        max_probes: Some(probes),
        verification: Some(verification),
        probing: Some(safecommit_core::ProbingProposal::SafetyInformation),
        ..SettingsProposal::default()
    })
}

fn now() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

/// Whether the region of the true world is below the threshold.
fn covers(decided: &Decided, case: &Case) -> bool {
    let facts = FACTS.iter().zip(case.truth);
    let facts = facts
        .map(|(fact, truth)| (fact.to_string(), truth.to_string()))
        .collect();
    let worlds = &decided.record().worlds;
    let mut fitting = worlds
        .iter()
        .filter(|world| world.id.parse::<WorldName>().unwrap().fit(&facts) == Fit::Certain);
    let (one, more) = (fitting.next().unwrap(), fitting.next());
    assert!(more.is_none(), "regions are disjoint");
    one.fate != WorldFate::AboveThreshold
}

/// The scores of the true worlds of `n` decisions, through the audit log and labels by facts.
fn history(random: &mut ChaCha12Rng, n: usize) -> Vec<CalibrationScore> {
    let memory = std::path::Path::new("/dev/shm");
    let directory = if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    let directory = directory.unwrap();
    let (path, head) = (directory.path().join("db"), directory.path().join("head"));
    let mut log = AuditLog::create(&path, &head, LogKey::from_bytes([1; 32])).unwrap();
    let gate = gate(8, VerificationProposal::Never);
    let mut labels = String::new();
    for number in 0..n {
        let mut case = Case::draw(random);
        let name = format!("d-{number}");
        let decided = gate
            .decide(&mut case, &Asked::new(&name), UsedCalibration::None, now())
            .unwrap();
        log.append(&decided.entry(&name, now()), UsedCalibration::None)
            .unwrap();
        labels.push_str(&case.label(&name));
    }
    let labels = Labels::read(labels.as_bytes()).unwrap();
    let scored = log
        .reader()
        .unwrap()
        .calibration_scores(&labels, &[], None)
        .unwrap();
    assert_eq!(scored.len(), n);
    scored.into_iter().map(|scored| scored.score).collect()
}

/// What came of some decisions.
#[derive(Default)]
struct Counts {
    decisions: f64,
    covered: f64,
    commits: f64,
    unsafe_commits: f64,
    bound: f64,
}

fn decide(
    random: &mut ChaCha12Rng,
    gate: &Gate,
    calibration: &Calibration,
    lies: f64,
    cases: usize,
    counts: &mut Counts,
) {
    for _ in 0..cases {
        let mut case = Case {
            lies,
            ..Case::draw(random)
        };
        let decided = gate
            .decide(
                &mut case,
                &Asked::new("d"),
                UsedCalibration::One(calibration),
                now(),
            )
            .unwrap();
        counts.decisions += 1.0;
        let record = decided.record();
        if let (DecisionKind::Commit, Some(action)) = (record.decision, &record.action) {
            counts.commits += 1.0;
            counts.unsafe_commits += f64::from(u8::from(!case.is_safe(action)));
            // That the true world is among the proposed ones is known here.
            let errors: f64 = record
                .bound
                .probe_errors
                .iter()
                .map(|error| error.error_rate)
                .sum();
            counts.bound += record.bound.alpha.map_or(0.0, |alpha| alpha.to_f64()) + errors;
        }
        counts.covered += f64::from(u8::from(covers(&decided, &case)));
    }
}

/// Coverage is at least 1 - alpha and at most 1/(n + 1) more, over history and the next case together; unsafe commits are
/// fewer than alpha, with and without probes; truthful looks past the threshold leave none.
#[test]
fn thresholds_from_history_cover_what_they_promise() {
    const N: usize = 99;
    let alpha: Alpha = "0.1".parse().unwrap();
    let mut random = ChaCha12Rng::seed_from_u64(17);
    let (mut without, mut with, mut verified) =
        (Counts::default(), Counts::default(), Counts::default());
    let histories = 20;
    for _ in 0..histories {
        let calibration = Calibration::split_conformal(alpha, &history(&mut random, N));
        for (probes, verification, counts) in [
            (0, VerificationProposal::Never, &mut without),
            (8, VerificationProposal::Never, &mut with),
            (
                8,
                VerificationProposal::WholeSupport { price: 0.0 },
                &mut verified,
            ),
        ] {
            decide(
                &mut random,
                &gate(probes, verification),
                &calibration,
                0.0,
                150,
                counts,
            );
        }
    }
    for counts in [&without, &with, &verified] {
        let coverage = counts.covered / counts.decisions;
        // The standard deviation of the coverage of one history is that of Beta(90, 10), 0.03.
        let error = (0.03_f64.powi(2) / f64::from(histories) + 0.09 / counts.decisions).sqrt();
        assert!(
            (0.9 - 4.0 * error..=0.91 + 4.0 * error).contains(&coverage),
            "{coverage}"
        );
        assert!(
            counts.unsafe_commits <= 0.1 * counts.decisions,
            "{}",
            counts.unsafe_commits
        );
        assert!(
            counts.commits >= 0.15 * counts.decisions,
            "{}",
            counts.commits
        );
    }
    // The test could see it: without a look past the threshold there are unsafe commits, with one there are none.
    assert!(with.unsafe_commits >= 10.0, "{}", with.unsafe_commits);
    assert!(verified.unsafe_commits < 0.5, "{}", verified.unsafe_commits);
}

/// Answers that are wrong with a known probability: what the records claim is not exceeded, and alpha alone would be.
#[test]
fn answers_that_lie_stay_within_the_terms_of_the_bound() {
    let mut random = ChaCha12Rng::seed_from_u64(18);
    let unbounded = Calibration::split_conformal("0.1".parse().unwrap(), &[]);
    let mut counts = Counts::default();
    let gate = gate(8, VerificationProposal::Never);
    decide(&mut random, &gate, &unbounded, 0.2, 2_000, &mut counts);
    let (rate, claimed) = (
        counts.unsafe_commits / counts.decisions,
        counts.bound / counts.decisions,
    );
    assert!(rate <= claimed, "{rate} <= {claimed}");
    assert!(rate >= 0.02, "{rate}");
}

/// Without a calibration and with truthful answers no commit is unsafe, and whatever is safe is found.
#[test]
fn every_hazard_is_probed_away_without_a_calibration() {
    let mut random = ChaCha12Rng::seed_from_u64(19);
    let gate = gate(8, VerificationProposal::Never);
    for _ in 0..500 {
        let mut case = Case::draw(&mut random);
        let decided = gate
            .decide(&mut case, &Asked::new("d"), UsedCalibration::None, now())
            .unwrap();
        let safe = NAMES.iter().any(|action| case.is_safe(action));
        match &decided.record().action {
            Some(action) => assert!(case.is_safe(action)),
            None => assert!(!safe, "{:?}", case.truth),
        }
    }
}
