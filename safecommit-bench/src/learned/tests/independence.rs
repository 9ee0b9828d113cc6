//! What a score may not see leaves no trace in it.

use smallvec::SmallVec;

use super::{episodes, scores};
use crate::episode::Family;
use crate::generator::Split;
use crate::learned::{EpisodeWithTerms, ScoreForm};
use crate::micros::Micros;

#[test]
fn permuting_worlds_permutes_scores() {
    for score in scores() {
        for case in episodes(Split::Test, 100) {
            let terms = case.terms();
            let before = score.scores(terms);
            for turn in 1..terms.len() {
                let mut turned = terms.to_vec();
                turned.rotate_left(turn);
                turned.swap(0, 1);
                let mut expect = before.clone();
                expect.rotate_left(turn);
                expect.swap(0, 1);
                assert_eq!(score.scores(&turned), expect);
            }
        }
    }
}

#[test]
fn family_truth_and_safe_sets_leave_no_trace() {
    for score in scores() {
        for case in episodes(Split::Test, 50) {
            let before = score.rescore(&case);
            let mut episode = case.episode().clone();
            episode.family = match episode.family {
                Family::Stale => Family::Poison,
                _ => Family::Stale,
            };
            episode.true_world = (episode.true_world + 1) % episode.worlds.len();
            for world in &mut episode.worlds {
                world.safe ^= 0b111;
            }
            let other = EpisodeWithTerms::new(episode.clone(), case.terms().to_vec()).unwrap();
            let after = score.rescore(&other);
            for (world, (before, after)) in before.worlds.iter().zip(&after.worlds).enumerate() {
                assert_eq!(before.score, after.score);
                assert_eq!(after.safe, episode.worlds[world].safe);
            }
            assert_eq!(after.true_world, episode.true_world);
            assert_eq!(after.family, episode.family);
            assert_eq!(after.probes, episode.probes);
        }
    }
}

#[test]
fn a_world_that_is_not_proposed_is_not_read() {
    for score in scores() {
        for case in episodes(Split::Test, 50) {
            let truth = case.episode().true_world();
            let mut missed = case.clone();
            missed.drop_true_world();
            let rescored = score.rescore(&missed);
            let mut left = case.terms().to_vec();
            left.remove(truth);
            let kept = rescored
                .proposed
                .iter()
                .map(|&at| rescored.worlds[at].score);
            assert_eq!(kept.collect::<SmallVec<[_; 6]>>(), score.scores(&left));
            assert_eq!(rescored.worlds[truth].score, Micros::ONE);
            assert!(!rescored.true_world_proposed());
        }
    }
}

/// What [`LearnedScore::reads_other_worlds`](crate::LearnedScore::reads_other_worlds) says is so: a world that is added
/// moves the score of another one where it says so, and nowhere else.
#[test]
fn scores_of_one_world_cannot_be_moved_by_adding_worlds() {
    let added = [[Micros::clipped(0.01); 4], [Micros::ZERO; 4]];
    for score in scores() {
        let mut moved = 0;
        for case in episodes(Split::Test, 100) {
            let before = score.scores(case.terms());
            let after = score.scores(&[case.terms(), &added].concat());
            moved += usize::from(before[..] != after[..before.len()]);
        }
        assert_eq!(moved > 0, score.reads_other_worlds(), "{moved}");
    }
}

#[test]
fn the_best_world_has_score_zero_against_the_best() {
    for score in scores() {
        for case in episodes(Split::Test, 100) {
            let scores = score.scores(case.terms());
            if score.form() == ScoreForm::AgainstBest {
                assert_eq!(scores.iter().min(), Some(&Micros::ZERO));
            }
            // Both forms order the worlds of an episode alike.
            let form = ScoreForm::ALL[usize::from(score.form() == ScoreForm::Probability)];
            let others = score.with_form(form).scores(case.terms());
            for (one, other) in scores.iter().zip(&others) {
                for (than, other_than) in scores.iter().zip(&others) {
                    assert!(!(one < than && other > other_than));
                }
            }
        }
        assert!(score.scores(&[]).is_empty());
    }
}
