//! What a method can see: nothing of the true world but the answers, not even whether it was proposed.

use safecommit_bench::{
    DrawnEpisode, Environment, Memory, Method, ProposedProbe, ProposedWorld, Scratch, Verdict,
    decide,
};
use safecommit_core::{FallbackKind, YES};

use crate::{project, spare_generator};

type Seen = (Vec<ProposedWorld>, Vec<ProposedProbe>, Vec<usize>);

/// Writes down all that it sees.
#[derive(Default)]
struct Spy(std::sync::Mutex<Vec<Seen>>);

impl Method for Spy {
    fn decide(&self, environment: &mut Environment<'_>, _: &mut Scratch) -> Verdict {
        let seen = (
            environment.proposed().to_vec(),
            environment.probes().to_vec(),
            environment.scan().to_vec(),
        );
        self.0.lock().unwrap().push(seen);
        Verdict::Fallback {
            kind: FallbackKind::Escalate,
            reason: None,
        }
    }
}

#[test]
fn a_missed_true_world_leaves_no_gap() {
    let parameters = project();
    let generator = spare_generator(&parameters);
    let spy = Spy::default();
    for index in 0..200 {
        let mut drawn = generator.draw(index);
        let policy = || generator.policy_stream(index);
        if index % 2 == 0 {
            drawn.episode_mut().drop_true_world();
        }
        decide(&spy, drawn.episode(), &policy, &mut Memory::default());
    }
    for (worlds, probes, scan) in spy.0.into_inner().unwrap() {
        let numbers = || 0..worlds.len();
        assert!(numbers().eq(worlds.iter().map(|world| world.position)));
        assert!(numbers().eq(probes.iter().map(|probe| probe.asks)));
        let mut sorted = worlds.clone();
        sorted.sort_by_key(ProposedWorld::rank);
        assert!(scan.iter().copied().eq(sorted.iter().map(|it| it.position)));
    }
}

#[test]
fn answers_are_about_the_true_world_whatever_is_left_out() {
    let generator = spare_generator(&project());
    let mut drawn = DrawnEpisode::default();
    for index in 0..200 {
        generator.draw_into(index, &mut drawn);
        let proposed = asked(&drawn);
        assert_eq!(proposed.iter().filter(|answer| **answer == YES).count(), 1);
        assert_eq!(proposed[drawn.episode().true_world()], YES);
        drawn.episode_mut().drop_true_world();
        assert!(!asked(&drawn).contains(&YES));
    }

    /// The answers to all probes.
    fn asked(drawn: &DrawnEpisode) -> Vec<usize> {
        struct AskAll(std::sync::Mutex<Vec<usize>>);
        impl Method for AskAll {
            fn decide(&self, environment: &mut Environment<'_>, _: &mut Scratch) -> Verdict {
                let probes = environment.probes().len();
                let answers = (0..probes).map(|probe| environment.ask(probe)).collect();
                *self.0.lock().unwrap() = answers;
                Verdict::Commit { action: 0 }
            }
        }
        let method = AskAll(std::sync::Mutex::default());
        let generator = spare_generator(&project());
        let policy = || generator.policy_stream(0);
        decide(&method, drawn.episode(), &policy, &mut Memory::default());
        method.0.into_inner().unwrap()
    }
}
