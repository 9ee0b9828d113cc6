//! Mediation: its law, what it may not be, and what the methods and the core see of it.

use safecommit_bench::{
    DrawnEpisode, Environment, Episode, Family, Generator, Inspection, Mediation, MediationError,
    Memory, Method, Role, Scratch, Split, Suite, Verdict, decide,
};
use safecommit_core::{FallbackKind, Reversibility};

use crate::cases::{Case, ending, episode};
use crate::law::check_share;
use crate::project;

fn compared_generator() -> Generator {
    let suite = Suite::Compared { seed: 1_000_003 };
    Generator::new(&project().generator, suite, Split::Test)
}

/// The actions that some deceptive world supports and no other world.
fn deceptive_alone(drawn: &DrawnEpisode) -> Vec<usize> {
    let supporters = |action: usize| {
        let worlds = drawn.episode().worlds().iter().zip(drawn.roles());
        worlds.filter(move |(world, _)| world.safe >> action & 1 == 1)
    };
    let is_deceptive = |role: &Role| *role == Role::Deceptive;
    (0..3)
        .filter(|&action| supporters(action).count() > 0)
        .filter(|&action| supporters(action).all(|(_, role)| is_deceptive(role)))
        .collect()
}

fn forbidden(mediation: Mediation) -> Vec<usize> {
    (0..64)
        .filter(|&action| mediation.is_forbidden(action))
        .collect()
}

#[test]
fn reversible_and_forbidden_actions_have_their_shares() {
    let generator = compared_generator();
    let mut drawn = DrawnEpisode::default();
    let episodes = 120_000;
    let mut reversible = [0; 8];
    // Drift episodes in which some action could be forbidden, those in which it is, and of these those in
    // which another one than the deceptive best is reversible.
    let (mut could, mut is, mut reversible_too) = (0, 0, 0);
    let mut several = 0;
    for index in 0..episodes {
        generator.draw_into(index, &mut drawn);
        let episode = drawn.episode();
        let mediation = episode.mediation();
        reversible[mediation.reversible() as usize] += 1;
        let forbidden = forbidden(mediation);
        assert!(!forbidden.iter().any(|&action| episode.is_safe(action)));
        if episode.family() != Family::AuthorizationDrift {
            assert_eq!(mediation.hard_forbidden(), 0);
            continue;
        }
        let candidates = deceptive_alone(&drawn);
        if candidates.is_empty() {
            assert!(forbidden.is_empty());
            continue;
        }
        could += 1;
        if !forbidden.is_empty() {
            assert_eq!(forbidden, candidates);
            is += 1;
            reversible_too += u64::from(mediation.is_reversible(forbidden[0]));
            several += u64::from(forbidden.len() > 1);
        }
    }
    // Three independent fair coins: each of the eight sets alike.
    for (set, count) in reversible.into_iter().enumerate() {
        check_share(&format!("reversible {set:03b}"), count, episodes, 0.125);
    }
    check_share("forbidden", is, could, 0.5);
    check_share("forbidden and reversible", reversible_too, is, 0.5);
    assert!(could > 5_000 && several > 10, "{could} {several}");
}

#[test]
fn only_compared_episodes_have_a_mediation() {
    let parameters = project();
    let compared = compared_generator();
    let mut drawn = DrawnEpisode::default();
    for index in 0..200 {
        compared.draw_into(index, &mut drawn);
        assert_eq!(drawn, compared.draw(index));
        let mediation = drawn.episode().mediation();
        drawn.episode_mut().drop_true_world();
        assert_eq!(drawn.episode().mediation(), mediation);
        // A buffer carries nothing over.
        for suite in [Suite::Frozen { seed: 1 }, Suite::Experiment { seed: 1 }] {
            Generator::new(&parameters.generator, suite, Split::Test).draw_into(index, &mut drawn);
            assert_eq!(drawn.episode().mediation(), Mediation::NONE);
        }
    }
    assert_eq!(Mediation::default(), Mediation::NONE);
}

#[test]
fn a_mediation_names_actions_and_forbids_no_safe_one() {
    let case = || episode(&[(100_000, &[0, 1]), (200_000, &[2])], 0);
    let check =
        |reversible, hard_forbidden, expected: Result<(), MediationError>, message: &str| {
            let mediation = Mediation::new(reversible, hard_forbidden);
            let made = case().with_mediation(mediation);
            assert_eq!(
                made.as_ref()
                    .map(Episode::mediation)
                    .map_err(|error| *error),
                expected.map(|()| mediation)
            );
            let text = made.err().map(|error| error.to_string());
            assert_eq!(text.unwrap_or_default(), message);
        };
    check(0b111, 0b100, Ok(()), "");
    check(0, 0, Ok(()), "");
    let unknown = |action| Err(MediationError::UnknownAction { action, actions: 3 });
    check(0b1000, 0, unknown(3), "no action `3` among 3");
    check(0, 1 << 63, unknown(63), "no action `63` among 3");
    let forbids = Err(MediationError::ForbidsSafeAction { action: 1 });
    let message = "action `1` is forbidden, yet safe in the true world";
    check(0b111, 0b110, forbids, message);
}

#[test]
fn no_action_beyond_the_last_bit_is_in_a_set() {
    let all = Mediation::new(u64::MAX, u64::MAX);
    assert!(all.is_reversible(63) && all.is_forbidden(63));
    assert!(!all.is_reversible(64) && !all.is_forbidden(64));
    assert!(!all.is_reversible(usize::MAX));
    let one = Mediation::new(0b01, 0b10);
    assert!(one.is_reversible(0) && !one.is_reversible(1));
    assert!(one.is_forbidden(1) && !one.is_forbidden(0));
}

/// Runs `look` on the environment of an episode.
struct Look<F>(F);

impl<F: Fn(&mut Environment<'_>) + Sync> Method for Look<F> {
    fn decide(&self, environment: &mut Environment<'_>, _: &mut Scratch) -> Verdict {
        (self.0)(environment);
        Verdict::Fallback {
            kind: FallbackKind::Escalate,
            reason: None,
        }
    }
}

#[test]
fn staging_shows_what_is_staged_and_costs_a_probe() {
    let mediation = Mediation::new(0b101, 0b010);
    let case = episode(&[(100_000, &[0]), (200_000, &[1]), (300_000, &[2])], 2);
    let case = case.with_mediation(mediation).unwrap();
    let look = Look(move |environment: &mut Environment<'_>| {
        assert_eq!(environment.mediation(), mediation);
        // Neither an irreversible action nor one that does not exist: nothing shows, nothing is spent.
        assert_eq!(environment.stage(1), None);
        assert_eq!(environment.stage(64), None);
        assert_eq!(environment.spent(), 0);
        assert_eq!(environment.stage(0), Some(Inspection::Unsafe));
        environment.ask(1);
        assert_eq!(environment.stage(2), Some(Inspection::Safe));
        assert_eq!(
            (environment.asked(), environment.staged()),
            (&[1][..], &[0, 2][..])
        );
        assert_eq!(environment.spent(), 3);
    });
    let ending = ending(&look, &case, &mut Memory::default());
    assert_eq!(
        (&ending.probes[..], &ending.staged[..]),
        (&[1][..], &[0, 2][..])
    );
    // Inspections are counted as probes.
    let mut counts = safecommit_bench::Counts::default();
    safecommit_bench::count(&case, &ending, false, &Memory::default(), &mut counts);
    assert_eq!(counts.probes, 3);
}

#[test]
fn without_a_mediation_nothing_can_be_staged() {
    let case = episode(&[(100_000, &[0]), (200_000, &[1])], 0);
    let look = Look(|environment: &mut Environment<'_>| {
        for action in 0..3 {
            assert_eq!(environment.stage(action), None);
            let problem = environment.problem().unwrap();
            let reversibility = problem.actions()[action].reversibility();
            assert_eq!(reversibility, Reversibility::Irreversible);
        }
        assert_eq!(environment.spent(), 0);
    });
    ending(&look, &case, &mut Memory::default());
}

#[test]
fn the_core_is_told_what_is_reversible_and_what_is_contradicted() {
    let case = Case {
        worlds: &[
            (100_000, &[2]),
            (200_000, &[0, 2]),
            (300_000, &[]),
            (400_000, &[0]),
            (500_000, &[1]),
            (600_000, &[1, 2]),
        ],
        proposed: &[0, 1, 2, 3, 4, 5],
        probes: &[0, 1],
        true_world: 3,
    };
    let case = case.episode().with_mediation(Mediation::new(0b010, 0b110));
    let look = Look(|environment: &mut Environment<'_>| {
        let problem = environment.problem().unwrap();
        let reversible =
            |action: usize| problem.actions()[action].reversibility() == Reversibility::Reversible;
        assert_eq!([0, 1, 2].map(reversible), [false, true, false]);
        let contradicted = [0, 1, 2, 3, 4, 5].map(|world| problem.is_contradicted(world));
        // A world in which nothing is safe stays: no policy speaks against it.
        assert_eq!(contradicted, [true, false, false, false, true, true]);
        let safe = |world: usize| [0, 1, 2].map(|a| problem.signatures().is_safe(world, a));
        // A forbidden action is safe nowhere.
        assert_eq!(safe(1), [true, false, false]);
        assert_eq!(safe(3), [true, false, false]);
        assert_eq!(safe(5), [false; 3]);
        assert_eq!(problem.worlds(), 6);
    });
    ending(&look, &case.unwrap(), &mut Memory::default());
}

#[test]
fn the_core_contradicts_exactly_the_worlds_of_forbidden_actions() {
    let generator = compared_generator();
    for index in 0..2_000 {
        let drawn = generator.draw(index);
        let mediation = drawn.episode().mediation();
        let policy = || generator.policy_stream(index);
        let look = Look(|environment: &mut Environment<'_>| {
            let problem = environment.problem().unwrap();
            for world in environment.proposed() {
                let action = world.action().unwrap();
                let contradicted = problem.is_contradicted(world.position);
                assert_eq!(contradicted, mediation.is_forbidden(action));
            }
        });
        decide(&look, drawn.episode(), &policy, &mut Memory::default());
        let true_world = &drawn.episode().worlds()[drawn.episode().true_world()];
        assert!(!mediation.contradicts(true_world.safe));
    }
}
