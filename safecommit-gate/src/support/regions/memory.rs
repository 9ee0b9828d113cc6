//! Splits that are kept from one decision to the next.

use std::sync::{Arc, RwLock};

use super::split::{Contradictions, Stopped};
use crate::cube::Cube;
use crate::policy::{MapAnswers, SafetyMap};

/// The cubes into which maps with the same answers split the same proposed worlds.
///
/// How a cube is split depends on what policies answer in it and on nothing else; scores only say in which order the
/// cubes are looked at. So where none was cut off, the cubes are the same for every belief that proposes the same values,
/// and only their scores have to be taken anew. A service that is asked for the same kinds of actions again and again
/// splits once.
#[derive(Debug, Default)]
pub(crate) struct Splits(RwLock<Vec<(Key, Arc<Split>)>>);

/// All that a split depends on.
#[derive(Debug)]
struct Key {
    answers: MapAnswers,
    proposed: Cube,
    contradictions: Contradictions,
}

/// The cubes on which every action is decided, with what stops each action there.
#[derive(Debug)]
pub(super) struct Split {
    pub(super) decided: Vec<(Cube, Stopped)>,
    /// How many cubes were looked at to find them.
    pub(super) looked_at: usize,
}

/// So many are kept; the oldest goes first.
const KEPT: usize = 16;

impl Key {
    fn is_of(&self, map: &SafetyMap, proposed: &Cube, contradictions: &Contradictions) -> bool {
        self.proposed == *proposed
            && self.contradictions == *contradictions
            && map.has_answers(&self.answers)
    }
}

impl Splits {
    pub(super) fn get(
        &self,
        map: &SafetyMap,
        proposed: &Cube,
        contradictions: &Contradictions,
    ) -> Option<Arc<Split>> {
        // Where another thread has panicked meanwhile nothing is kept, and each cube is split anew.
        let known = self.0.read().ok()?;
        let mut known = known.iter();
        let found = known.find(|(key, _)| key.is_of(map, proposed, contradictions));
        found.map(|(_, split)| Arc::clone(split))
    }

    /// Keeps a split that was not cut and in which no policy failed, if the answers of the map are kept too.
    pub(super) fn keep(
        &self,
        map: &SafetyMap,
        proposed: &Cube,
        contradictions: Contradictions,
        split: Split,
    ) {
        let (Some(answers), Ok(mut known)) = (map.answers(), self.0.write()) else {
            return;
        };
        let same = |(key, _): &(Key, _)| key.is_of(map, proposed, &contradictions);
        if known.iter().any(same) {
            return;
        }
        if known.len() >= KEPT {
            known.remove(0);
        }
        let key = Key {
            answers,
            proposed: proposed.clone(),
            contradictions,
        };
        known.push((key, Arc::new(split)));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        ActionDescription, Belief, Facts, Impossible, Regions, SafetyPolicies, ScoreWeights, Terms,
        file_facts,
    };

    fn delete(path: &str) -> ActionDescription {
        ActionDescription::new("delete", "agent", path).with("path", path)
    }

    /// Beliefs in which values are more or less strange; without the last value of the fact at `gone`.
    fn beliefs(facts: &Facts, strange: &[u8], gone: Option<usize>) -> Vec<Belief> {
        let mut strange = strange.iter().cycle();
        let facts = facts.as_slice().iter().enumerate();
        let beliefs = facts.map(|(at, fact)| {
            let last = fact.values().len() - usize::from(gone == Some(at));
            let values = fact.values()[..last].iter().map(|value| {
                let much = f64::from(*strange.next().unwrap()) / 8.0;
                let terms = Terms {
                    provenance_or_age: much,
                    ..Terms::NONE
                };
                (value.as_str(), terms)
            });
            Belief::new(fact, values).unwrap()
        });
        beliefs.collect()
    }

    fn regions(
        policies: &SafetyPolicies,
        path: &str,
        beliefs: &[Belief],
        impossible: &[Impossible],
        limit: usize,
    ) -> Regions {
        let facts = file_facts().unwrap();
        let map = policies.bind(&facts, &[delete(path)]).unwrap();
        let equal = ScoreWeights::EQUAL;
        map.regions(&facts, beliefs, impossible, &equal, limit)
            .unwrap()
    }

    fn described(regions: &Regions) -> Vec<String> {
        let described = regions.as_slice().iter().map(|region| {
            let why: Vec<String> = region.blockers(0).map(|why| why.to_string()).collect();
            let best = region.best();
            let (score, id) = (region.score().value(), region.id());
            format!("{score} {id} {:?} {}", best.positions(), why.join(", "))
        });
        described.chain([format!("{:?}", regions.cut())]).collect()
    }

    fn kept(policies: &SafetyPolicies) -> usize {
        let facts = file_facts().unwrap();
        let map = policies.bind(&facts, &[delete("a")]).unwrap();
        map.splits().0.read().unwrap().len()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_kept_split_gives_what_a_new_one_gives(
            strange in prop::collection::vec(0_u8..8, 40),
            gone in prop::option::of(0_usize..11),
            together in any::<bool>(),
            limit in prop_oneof![Just(1_usize), 2_usize..20, Just(1024)],
        ) {
            let facts = file_facts().unwrap();
            let pair = Impossible::new(&facts, ("kind", "file"), ("leaves_tree", "link"));
            let impossible = if together { vec![] } else { vec![pair.unwrap()] };
            let beliefs = beliefs(&facts, &strange, gone);
            let warm = SafetyPolicies::for_files().unwrap();
            let even = self::beliefs(&facts, &[0], gone);
            regions(&warm, "before", &even, &impossible, 1024);
            prop_assert_eq!(kept(&warm), 1);
            let found = regions(&warm, "now", &beliefs, &impossible, limit);
            prop_assert_eq!(kept(&warm), 1);
            let cold = SafetyPolicies::for_files().unwrap();
            let expected = regions(&cold, "now", &beliefs, &impossible, limit);
            prop_assert_eq!(described(&found), described(&expected));
            prop_assert!(limit > 1 || found.cut().is_some());
        }
    }

    #[test]
    fn another_question_is_split_anew() {
        let facts = file_facts().unwrap();
        let policies = SafetyPolicies::for_files().unwrap();
        let pair = Impossible::new(&facts, ("kind", "file"), ("leaves_tree", "link")).unwrap();
        let all = |gone| beliefs(&facts, &[0], gone);
        let mut number = 0;
        for (gone, impossible) in [
            (None, &[][..]),
            (None, &[pair]),
            (Some(0), &[]),
            (Some(1), &[]),
        ] {
            number += 1;
            for path in ["a", "b"] {
                regions(&policies, path, &all(gone), impossible, 1024);
                assert_eq!(kept(&policies), number);
            }
        }
        // Another action, of another number of candidates.
        for actions in [
            vec![ActionDescription::new("write", "agent", "a").with("path", "a")],
            vec![delete("a"), delete("b")],
        ] {
            number += 1;
            let map = policies.bind(&facts, &actions).unwrap();
            map.regions(&facts, &all(None), &[], &ScoreWeights::EQUAL, 1024)
                .unwrap();
            assert_eq!(kept(&policies), number);
        }
        // A support that was cut is not the whole one.
        regions(&policies, "a", &all(Some(2)), &[], 2);
        assert_eq!(kept(&policies), number);
    }

    #[test]
    fn the_oldest_split_goes_first() {
        let facts = file_facts().unwrap();
        let policies = SafetyPolicies::for_files().unwrap();
        let all = |gone| beliefs(&facts, &[0], gone);
        let pairs = ["link", "mount"].map(|departure| {
            let pair = Impossible::new(&facts, ("kind", "file"), ("leaves_tree", departure));
            pair.unwrap()
        });
        for impossible in [&pairs[..1], &pairs[1..]] {
            for gone in 0..11 {
                regions(&policies, "a", &all(Some(gone)), impossible, 1024);
            }
        }
        assert_eq!(kept(&policies), KEPT);
    }

    #[test]
    fn what_fails_is_not_kept() {
        use crate::policy::{FILE_SCHEMA, PolicyText};
        let text = r#"permit(principal, action, resource);
            forbid(principal, action, resource)
            when { 9223372036854775807 + (if resource.secret then 1 else 0) > 0 };"#;
        let text = PolicyText { name: "t", text };
        let policies = SafetyPolicies::load(&[text], FILE_SCHEMA).unwrap();
        let all = beliefs(&file_facts().unwrap(), &[0], None);
        for _ in 0..2 {
            let found = regions(&policies, "a", &all, &[], 1024);
            let why: Vec<String> = described(&found);
            assert!(why.iter().any(|why| why.contains("fails")), "{why:?}");
            assert_eq!(kept(&policies), 0);
        }
    }
}
