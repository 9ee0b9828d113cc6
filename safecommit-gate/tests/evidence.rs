#![expect(
    clippy::unwrap_used,
    reason = "a test that meets what it does not expect fails by a panic"
)]
//! What holds for every set of evidence.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use proptest::collection::vec;
use proptest::prelude::*;
use safecommit_gate::{
    DerivationError, EvidenceRecord, EvidenceSet, Fact, PolicyRole, Proposition, Source,
    SourceKind, ToolStatus, Trust,
};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn source() -> impl Strategy<Value = Source> {
    let name = prop_oneof![Just("one"), Just("two")];
    (0..8, name).prop_map(|(kind, name)| {
        match kind {
            0 => Source::user(name),
            1 => Source::user_in_role(name, PolicyRole::Authorization),
            2 => Source::memory(name),
            3 | 4 => Source::observation(name),
            5 => Source::tool(name, ToolStatus::Succeeded),
            6 => Source::tool(name, ToolStatus::TimedOut),
            _ => Source::policy(name, PolicyRole::Rule),
        }
        .unwrap()
    })
}

/// Records `e0` to `e7` at most, of few entities, values and times; a pair of numbers makes an edge between them.
fn records(acyclic: bool) -> impl Strategy<Value = Vec<EvidenceRecord>> {
    let record = (
        source(),
        0..2,
        0..3,
        0_i64..9,
        proptest::option::of(0_i64..9),
    );
    (vec(record, 0..8), vec((0_usize..8, 0_usize..8), 0..14)).prop_map(move |(records, edges)| {
        let count = records.len();
        let mut derived: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (one, other) in edges
            .into_iter()
            .filter(|(one, other)| one.max(other) < &count)
        {
            let (from, to) = if acyclic {
                (one.min(other), one.max(other))
            } else {
                (one, other)
            };
            if !acyclic || from != to {
                derived.entry(to).or_default().insert(from);
            }
        }
        let all = records.into_iter().enumerate();
        all.map(|(id, (source, entity, value, recorded, observed))| {
            let proposition =
                Proposition::new(format!("entity {entity}"), "kind", format!("v{value}"));
            let record =
                EvidenceRecord::new(format!("e{id}"), proposition.unwrap(), source, at(recorded));
            let ancestors = derived
                .get(&id)
                .into_iter()
                .flatten()
                .map(|id| format!("e{id}"));
            let record = record.unwrap().with_ancestors(ancestors).unwrap();
            match observed {
                Some(observed) => record.with_observed(at(observed)),
                None => record,
            }
        })
        .collect()
    })
}

/// Everything that a record is derived from, and itself, the slow way.
fn lineage<'r>(records: &'r [EvidenceRecord], id: &str) -> Vec<&'r EvidenceRecord> {
    let itself = records.iter().find(|record| record.id() == id).unwrap();
    let ancestors = itself
        .ancestors()
        .iter()
        .flat_map(|id| lineage(records, id));
    std::iter::once(itself).chain(ancestors).collect()
}

/// The levels as the documentation has them.
fn own_level(record: &EvidenceRecord) -> Trust {
    match (record.source().kind(), record.source().tool_status()) {
        (SourceKind::Policy, _) => Trust::Policy,
        (SourceKind::User, _) => Trust::User,
        (SourceKind::Observation, _) => Trust::Observation,
        (SourceKind::Tool, Some(ToolStatus::Succeeded)) => Trust::Tool,
        (SourceKind::Memory, _) if !record.ancestors().is_empty() => Trust::Memory,
        _ => Trust::Unknown,
    }
}

fn has_cycle(records: &[EvidenceRecord]) -> bool {
    // Takes away what rests on nothing that is left, until nothing changes.
    let mut left: BTreeSet<&str> = records.iter().map(EvidenceRecord::id).collect();
    loop {
        let rests = |record: &&EvidenceRecord| {
            left.contains(record.id())
                && !record
                    .ancestors()
                    .iter()
                    .any(|id| left.contains(id.as_str()))
        };
        match records.iter().find(rests) {
            Some(record) => left.remove(record.id()),
            None => return !left.is_empty(),
        };
    }
}

/// Whether `late` overtakes `early`, as the documentation has it.
fn overtakes(
    set: &EvidenceSet,
    late: &EvidenceRecord,
    early: &EvidenceRecord,
    now: Timestamp,
) -> bool {
    let (late_source, early_source) = (late.source(), early.source());
    let full_trust = set.trust_of(late.id()) == Some(own_level(late));
    let possible = !set
        .impossible_times(now)
        .iter()
        .any(|found| found.id() == late.id());
    let by_itself = match late_source.kind() {
        SourceKind::Observation => {
            early_source.policy_role().is_none()
                && late.observed().is_some_and(|time| time > early.recorded())
        }
        SourceKind::User | SourceKind::Policy => {
            late_source == early_source
                && late.observed().unwrap_or(late.recorded()) > early.recorded()
        }
        SourceKind::Memory | SourceKind::Tool => false,
    };
    full_trust && possible && by_itself
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn trust_is_that_of_the_least_trusted_ancestor(records in records(true)) {
        let set = EvidenceSet::new(records.clone()).unwrap();
        for record in &records {
            let trust = set.trust_of(record.id()).unwrap();
            let lineage = lineage(&records, record.id());
            prop_assert_eq!(Some(trust), lineage.iter().map(|record| own_level(record)).min());
            for ancestor in record.ancestors() {
                prop_assert!(trust <= set.trust_of(ancestor).unwrap());
            }
            let least = set.least_trusted(record.id()).unwrap();
            prop_assert_eq!(own_level(least), trust);
            let ids: BTreeSet<&str> = lineage[1..].iter().map(|record| record.id()).collect();
            let found: Vec<&str> = set.ancestors_of(record.id()).into_iter().map(|record| record.id()).collect();
            prop_assert_eq!(found, ids.into_iter().collect::<Vec<_>>());
            let earliest = lineage.iter().map(|record| record.earliest()).min().unwrap();
            prop_assert_eq!(set.age_of(record.id(), at(9)), Some(at(9).duration_since(earliest)));
            let lowly = |record: &&EvidenceRecord| {
                !matches!(record.source().kind(), SourceKind::User | SourceKind::Policy)
            };
            if set.has_authority(record.id()) {
                prop_assert!(record.source().policy_role().is_some());
                prop_assert!(!lineage.iter().any(lowly));
            }
        }
    }

    #[test]
    fn one_ancestor_more_never_raises_trust_but_that_a_memory_then_has_a_provenance(
        records in records(true), child in 0_usize..8, parent in 0_usize..8,
    ) {
        let count = records.len().max(1);
        let (parent, child) = ((parent % count).min(child % count), (parent % count).max(child % count));
        if parent == child {
            return Ok(());
        }
        let before = EvidenceSet::new(records.clone()).unwrap();
        let mut more = records.clone();
        let ids: BTreeSet<String> =
            records[child].ancestors().iter().cloned().chain([format!("e{parent}")]).collect();
        more[child] = records[child].clone().with_ancestors(ids).unwrap();
        let after = EvidenceSet::new(more).unwrap();
        let gains_provenance =
            records[child].source().kind() == SourceKind::Memory && records[child].ancestors().is_empty();
        for record in &records {
            let (now, then) = (after.trust_of(record.id()), before.trust_of(record.id()));
            let highest = if gains_provenance { then.max(Some(Trust::Memory)) } else { then };
            prop_assert!(now <= highest);
            if record.id() == records[child].id() {
                prop_assert!(now <= after.trust_of(records[parent].id()));
            }
        }
    }

    #[test]
    fn the_order_of_records_changes_nothing(
        (records, shuffled) in records(false).prop_flat_map(|records| (Just(records.clone()), Just(records).prop_shuffle())),
    ) {
        let (one, other) = (EvidenceSet::new(records.clone()), EvidenceSet::new(shuffled));
        prop_assert_eq!(&one, &other);
        if let (Ok(one), Ok(other)) = (one, other) {
            prop_assert_eq!(one.digest(), other.digest());
            prop_assert_eq!(one.claimed_values(at(5)), other.claimed_values(at(5)));
            prop_assert_eq!(one.impossible_times(at(5)), other.impossible_times(at(5)));
            for dropped in 0..records.len() {
                let mut fewer = records.clone();
                fewer.remove(dropped);
                if let Ok(fewer) = EvidenceSet::new(fewer) {
                    prop_assert_ne!(fewer.digest(), one.digest());
                }
            }
        }
    }

    #[test]
    fn a_cycle_is_found_if_there_is_one(records in records(false)) {
        match EvidenceSet::new(records.clone()) {
            Ok(_) => prop_assert!(!has_cycle(&records)),
            Err(DerivationError::Cycle(cycle)) => {
                prop_assert!(cycle.len() > 1 && cycle.first() == cycle.last());
                prop_assert_eq!(cycle.iter().min(), cycle.first());
                for step in cycle.windows(2) {
                    let record = records.iter().find(|record| record.id() == step[0]).unwrap();
                    prop_assert!(record.ancestors().contains(&step[1]));
                }
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn a_value_falls_only_if_all_who_claim_it_are_overtaken(records in records(true)) {
        let (set, now) = (EvidenceSet::new(records.clone()).unwrap(), at(6));
        let mut seen = 0;
        for claimed in set.claimed_values(now) {
            prop_assert!(!claimed.alternatives.is_empty());
            let alone = set.values_of(&claimed.entity, &claimed.attribute, now);
            prop_assert_eq!(Some(&claimed), alone.as_ref());
            let about: Vec<&EvidenceRecord> =
                records.iter().filter(|record| record.proposition().entity() == claimed.entity).collect();
            seen += about.len();
            for (values, falls) in [(&claimed.alternatives, false), (&claimed.superseded, true)] {
                for value in values {
                    let claims = about.iter().filter(|record| record.proposition().value() == value.value);
                    let ids: Vec<&str> = claims.clone().map(|record| record.id()).collect();
                    prop_assert_eq!(&value.records, &ids);
                    let trust = claims.clone().filter_map(|record| set.trust_of(record.id())).max();
                    prop_assert_eq!(Some(value.trust), trust);
                    let overtaken = |record: &&&EvidenceRecord| about.iter().any(|late| overtakes(&set, late, record, now));
                    prop_assert_eq!(claims.clone().filter(overtaken).count() == ids.len(), falls);
                }
            }
            let values = claimed.alternatives.iter().chain(&claimed.superseded);
            let claims: usize = values.clone().map(|value| value.records.len()).sum();
            prop_assert_eq!(claims, about.len());
            let contradicts = set.contradictions(now).contains(&claimed);
            prop_assert_eq!(contradicts, values.count() > 1);
            let fact = Fact::new("kind", ["v2", "v1", "other"]).unwrap();
            let of_fact = set.alternatives_of_fact(&claimed.entity, &fact, now);
            let standing: BTreeSet<&str> = claimed.alternatives.iter().map(|value| value.value.as_str()).collect();
            let declared = of_fact.positions.iter().map(|position| fact.values()[*position].as_str());
            let undeclared = of_fact.undeclared.iter().map(|value| value.value.as_str());
            prop_assert!(undeclared.clone().all(|value| value == "v0"));
            prop_assert_eq!(declared.chain(undeclared).collect::<BTreeSet<_>>(), standing);
        }
        prop_assert_eq!(seen, records.len());
    }

    #[test]
    fn every_impossible_time_is_named_and_no_other(records in records(true), now in 0_i64..9) {
        let set = EvidenceSet::new(records.clone()).unwrap();
        let mut expected = 0;
        for record in &records {
            let (recorded, now) = (record.recorded(), at(now));
            let observed = record.observed().unwrap_or(Timestamp::MIN);
            expected += usize::from(observed > recorded) + usize::from(observed > now);
            expected += usize::from(recorded > now);
            for ancestor in record.ancestors() {
                let ancestor = set.get(ancestor).unwrap();
                let observed = ancestor.observed().unwrap_or(Timestamp::MAX);
                expected += usize::from(recorded < observed.min(ancestor.recorded()));
            }
        }
        let found = set.impossible_times(at(now));
        prop_assert!(found.is_sorted_by_key(|found| found.id().to_owned()));
        prop_assert_eq!(found.len(), expected);
    }
}
