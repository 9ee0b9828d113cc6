//! A certificate over regions is one over worlds, whatever has been answered.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::Index;
use safecommit_gate::{Assignment, ScoreWeights};

use crate::{plain, random};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Each answer names the value of a fact, of no fact two. After each, an action is safe in all regions that admit the answers if
    /// and only if it is safe in all worlds that do; where values contradict each other, only if.
    #[test]
    fn an_action_is_certified_by_regions_as_by_worlds(
        map in random::map(),
        table in random::table(),
        pairs in prop_oneof![Just(Vec::new()), random::pairs(4)],
        answers in prop::collection::vec(any::<[Index; 2]>(), 0..6),
    ) {
        let facts = random::facts();
        let (beliefs, impossible) = (plain::beliefs(&facts, &table), plain::impossible(&facts, &pairs));
        let regions = map.regions(&facts, &beliefs, &impossible, &ScoreWeights::EQUAL, 1_000).unwrap();
        let mut worlds = plain::combinations(&table);
        worlds.retain(|world| plain::is_possible(world, &pairs));
        let assignments: Vec<Assignment> =
            worlds.iter().map(|world| plain::assignment(&facts, world)).collect();
        let evaluated = map.evaluate(&assignments).unwrap();

        let mut left: Vec<usize> = (0..worlds.len()).collect();
        let mut standing: Vec<_> = regions.as_slice().iter().collect();
        let mut known = BTreeSet::new();
        for answered in 0..=answers.len() {
            if let Some([fact, value]) = answered.checked_sub(1).map(|last| &answers[last]) {
                let fact = fact.index(facts.as_slice().len());
                let value = value.index(facts.as_slice()[fact].values().len());
                if !known.insert(fact) {
                    continue;
                }
                left.retain(|&world| worlds[world][fact] == value);
                standing.retain(|region| region.admits(fact, value as u8));
            }
            for action in 0..map.actions() {
                let by_worlds = left.iter().all(|&world| evaluated.is_safe(world, action));
                let by_regions = standing.iter().all(|region| region.is_safe(action));
                prop_assert!(by_worlds || !by_regions, "action {action} after {answered} answers");
                if pairs.is_empty() {
                    prop_assert_eq!(by_worlds, by_regions);
                }
            }
            prop_assert!(left.is_empty() || !standing.is_empty());
        }
    }
}
