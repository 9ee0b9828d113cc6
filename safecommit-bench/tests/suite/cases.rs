//! Small episodes written by hand.

use std::cell::Cell;

use safecommit_bench::{
    Ending, Episode, EpisodeRecord, Memory, Method, RandomStream, StreamKey, Verdict, calibrate,
    decide,
};
use safecommit_conformal::Threshold;
use safecommit_core::FallbackKind;
use serde_json::json;

/// An episode of three actions, by position.
pub(crate) struct Case<'a> {
    /// Score in millionths and safe actions of each world.
    pub(crate) worlds: &'a [(u32, &'a [usize])],
    pub(crate) proposed: &'a [usize],
    /// The world that each probe asks about.
    pub(crate) probes: &'a [usize],
    pub(crate) true_world: usize,
}

impl Case<'_> {
    pub(crate) fn episode(&self) -> Episode {
        let name = |letter: &str, at: usize| format!("{letter}{at}");
        let worlds = self.worlds.iter().enumerate().map(|(at, (score, safe))| {
            json!({
                "id": name("w", at),
                "score": f64::from(*score) / 1e6,
                "safe": safe.iter().map(|action| name("a", *action)).collect::<Vec<_>>(),
            })
        });
        let probes = self.probes.iter().enumerate();
        let probes = probes
            .map(|(at, asks)| json!({"id": name("p", at), "cost": 1.0, "asks": name("w", *asks)}));
        let record = json!({
            "id": "case",
            "family": "conflict",
            "actions": ["a0", "a1", "a2"],
            "worlds": worlds.collect::<Vec<_>>(),
            "proposed": self.proposed.iter().map(|at| name("w", *at)).collect::<Vec<_>>(),
            "probes": probes.collect::<Vec<_>>(),
            "true_world": name("w", self.true_world),
        });
        let record = EpisodeRecord::from_json(record.to_string().as_bytes()).unwrap();
        record.to_episode().unwrap()
    }
}

/// An episode in which every world is proposed and has a probe.
pub(crate) fn episode(worlds: &[(u32, &[usize])], true_world: usize) -> Episode {
    let all: Vec<usize> = (0..worlds.len()).collect();
    Case {
        worlds,
        proposed: &all,
        probes: &all,
        true_world,
    }
    .episode()
}

/// The threshold that retains scores of up to this many millionths; kept for good, so that it can be
/// borrowed anywhere.
pub(crate) fn threshold(millionths: u32) -> &'static Threshold {
    // Of one score, the first smallest at level 1/2.
    let calibration = [episode(&[(millionths, &[0])], 0)];
    let calibration = calibrate("0.5".parse().unwrap(), &calibration);
    Box::leak(Box::new(calibration.threshold().clone()))
}

pub(crate) fn commit(action: usize) -> Verdict {
    Verdict::Commit { action }
}

pub(crate) const ESCALATE: Verdict = Verdict::Fallback {
    kind: FallbackKind::Escalate,
    reason: None,
};

pub(crate) const ABSTAIN: Verdict = Verdict::Fallback {
    kind: FallbackKind::Abstain,
    reason: None,
};

/// The first stream whose first choice among `bound` is `choice`.
pub(crate) fn stream_choosing(choice: usize, bound: usize) -> RandomStream {
    let key = StreamKey::derive("cases", 1, "test", "policy");
    let chooses = |index: &u64| key.stream(*index).index_below(bound) == choice;
    key.stream((0..).find(chooses).unwrap())
}

/// Decides one episode with a method that makes no random choice.
pub(crate) fn ending(method: &dyn Method, episode: &Episode, memory: &mut Memory) -> Ending {
    let drawn = Cell::new(false);
    let policy = || {
        drawn.set(true);
        stream_choosing(0, 2)
    };
    let ending = decide(method, episode, &policy, memory);
    assert!(!drawn.get(), "a random choice was made");
    ending
}
