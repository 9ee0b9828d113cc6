//! What a method can see: nothing of the true world but the answers, not even whether it was proposed.

use safecommit_bench::{
    Cell, Counts, DrawnEpisode, Environment, Episode, Family, Memory, Method, ProposedProbe,
    ProposedWorld, SafeCommit, Scratch, Split, Verdict, decide, simulate, simulate_on,
};
use safecommit_core::{FallbackKind, YES};

use crate::cases::threshold;
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

/// One uniform number a probe decides whether its answer is wrong, whatever the rate.
#[test]
fn a_larger_rate_only_adds_wrong_answers() {
    let generator = spare_generator(&project());
    let (mut wrong, mut answers) = (0_u32, 0_u32);
    for index in 0..2000 {
        assert_eq!(generator.wrong_answers(index, 6, 0.0), 0);
        assert_eq!(generator.wrong_answers(index, 6, 1.0), 0b11_1111);
        let masks = [0.1, 0.3, 0.7].map(|rate| generator.wrong_answers(index, 6, rate));
        assert_eq!((masks[0] & !masks[1], masks[1] & !masks[2]), (0, 0));
        // More probes do not change the answers of the first ones.
        assert_eq!(generator.wrong_answers(index, 4, 0.3), masks[1] & 0b1111);
        wrong += masks[1].count_ones();
        answers += 6;
    }
    let (share, error) = (
        f64::from(wrong) / f64::from(answers),
        (0.21 / f64::from(answers)).sqrt(),
    );
    assert!((share - 0.3).abs() < 4.0 * error, "{share}");
}

/// The first world that is asked about is the true one, and every answer is wrong: then nothing is left of the
/// true world, and failures are those of evidence.
#[test]
fn a_wrong_answer_is_counted_as_a_failure_of_evidence() {
    let parameters = project();
    let generator = spare_generator(&parameters);
    let cell = |rate| Cell {
        probe_error: rate,
        ..Cell::certifying(SafeCommit::new(threshold(1_000_000), 0.25, 6))
    };
    let total = |counts: &[Counts]| {
        let mut total = Counts::default();
        for counts in counts {
            total += *counts;
        }
        total
    };
    let counts = simulate(&generator, 4000, &[cell(0.0), cell(0.2), cell(1.0)]);
    let [truthful, erring, lying] = [0, 1, 2].map(|cell| total(&counts[cell]));
    assert_eq!(
        (truthful.unsafe_commits, truthful.truth_retained),
        (0, 4000)
    );
    assert!(erring.unsafe_commits > 0 && erring.unsafe_commits < lying.unsafe_commits);
    for counts in [erring, lying] {
        let causes = counts.unsafe_causes;
        assert_eq!(causes.evidence, counts.unsafe_commits, "{causes:?}");
        assert!(counts.truth_retained < 4000);
    }
}

#[test]
fn episodes_that_are_there_count_like_those_that_are_drawn() {
    let generator = spare_generator(&project());
    let cells = || {
        [
            Cell::certifying(SafeCommit::new(threshold(600_000), 0.25, 2)),
            Cell {
                probe_error: 0.1,
                ..Cell::certifying(SafeCommit::new(threshold(600_000), 0.25, 2))
            },
        ]
    };
    assert_eq!(generator.split(), Split::Test);
    let episodes: Vec<Episode> = (0..1234)
        .map(|index| generator.draw(index).episode().clone())
        .collect();
    assert_eq!(
        simulate_on(&generator, &episodes, &cells()),
        simulate(&generator, 1234, &cells())
    );
}

/// Every family is decided under its own threshold.
#[test]
fn thresholds_by_family_are_those_of_the_family() {
    let generator = spare_generator(&project());
    let kappas = [200_000, 400_000, 600_000, 800_000].map(threshold);
    let by_family = SafeCommit::by_family(kappas.map(Clone::clone), 0.25, 2);
    let mut cells = vec![Cell::certifying(by_family)];
    cells.extend(kappas.map(|kappa| Cell::certifying(SafeCommit::new(kappa, 0.25, 2))));
    let counts = simulate(&generator, 2000, &cells);
    for family in Family::ALL {
        let place = family as usize;
        assert_eq!(counts[0][place], counts[place + 1][place], "{family}");
        assert_ne!(
            counts[0][place],
            counts[(place + 1) % 4 + 1][place],
            "{family}"
        );
    }
}
