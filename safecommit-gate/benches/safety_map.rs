//! The safety map of 64 worlds and 3 actions, beside as many plain Cedar calls over the same policies.
//!
//! Beside that, how long it takes to split all worlds into regions, with every value of every fact proposed.
//!
//! All stands in one group, so that ratios come out of one run. `cedar_prepared` is the call alone, with requests
//! and entities made beforehand; `cedar` makes them natively for each world, as anybody without this crate would.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::hint::black_box;

use cedar_policy::{
    Authorizer, Context, Decision, Entities, Entity, EntityUid, PolicySet, Request,
    RestrictedExpression, Schema,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use safecommit_gate::{
    ActionDescription, Assignment, Belief, FILE_POLICIES, FILE_SCHEMA, Fact, Facts, SafetyPolicies,
    ScoreWeights, Terms,
};

const ACTIONS: [&str; 3] = ["delete", "overwrite", "move"];

/// Name, values, whether the schema wants a Bool, and else the entity type.
const FACTS: [(&str, &[&str], Option<&str>); 16] = [
    ("kind", &["file", "link"], Some("Kind")),
    ("location", &["inside", "outside"], Some("Location")),
    ("leaves_tree", &["no"], Some("Departure")),
    ("owner", &["own", "other"], Some("Owner")),
    ("tracked", &["clean", "dirty"], Some("Tracked")),
    ("only_copy", &["no"], None),
    ("changed_since_memory", &["no", "yes"], None),
    ("protected", &["no", "yes"], None),
    ("secret", &["no"], None),
    ("reversible", &["no"], None),
    ("discards", &["yes"], None),
    ("base", &["unknown"], Some("Base")),
    ("destination_kind", &["missing"], Some("Kind")),
    ("destination_location", &["inside"], Some("Location")),
    ("destination_owner", &["own"], Some("Owner")),
    ("destination_protected", &["no"], None),
];

type Fallible<T> = Result<T, Box<dyn Error>>;

/// All 64 worlds: six of the facts have two values each.
fn worlds() -> Fallible<(Facts, Vec<Assignment>)> {
    let facts = FACTS.map(|(name, values, _)| Fact::new(name, values.iter().copied()));
    let facts = Facts::new(facts.into_iter().collect::<Result<Vec<_>, _>>()?)?;
    let worlds = (0..64_usize).map(|world| {
        let mut rest = world;
        let values = FACTS.map(|(name, values, _)| {
            let value = values[rest % values.len()];
            rest /= values.len();
            (name, value)
        });
        facts.assignment(values)
    });
    let worlds = worlds.collect::<Result<_, _>>()?;
    Ok((facts, worlds))
}

fn descriptions() -> [ActionDescription; 3] {
    ACTIONS.map(|action| ActionDescription::new(action, "agent", "a").with("path", "a"))
}

/// One request with its entities, from the values of the facts.
fn question(
    facts: &Facts,
    world: &Assignment,
    actions: &Entities,
    uids: &[EntityUid; 3],
) -> Fallible<(Request, Entities)> {
    let [principal, action, resource] = uids;
    let mut attributes = HashMap::new();
    let mut context = HashMap::new();
    for (name, _, kind) in FACTS {
        let value = facts.value_of(world, name).unwrap_or_default();
        let value = match kind {
            Some(kind) => RestrictedExpression::new_entity_uid(EntityUid::from_type_name_and_id(
                kind.parse()?,
                cedar_policy::EntityId::new(value),
            )),
            None => RestrictedExpression::new_bool(value == "yes"),
        };
        let of_overwrite = ["discards", "base"].contains(&name);
        let holder = if name.starts_with("destination") || of_overwrite {
            &mut context
        } else {
            &mut attributes
        };
        holder.insert(name.to_owned(), value);
    }
    attributes.insert(
        "path".to_owned(),
        RestrictedExpression::new_string("a".to_owned()),
    );
    let resource_entity = Entity::new(resource.clone(), attributes, HashSet::new())?;
    let agent = Entity::new_no_attrs(principal.clone(), HashSet::new());
    let entities = actions
        .clone()
        .add_entities([agent, resource_entity], None)?;
    let context = Context::from_pairs(context)?;
    let request = Request::new(
        principal.clone(),
        action.clone(),
        resource.clone(),
        context,
        None,
    )?;
    Ok((request, entities))
}

fn compare(criterion: &mut Criterion) -> Fallible<()> {
    let (facts, worlds) = worlds()?;
    let policies = SafetyPolicies::for_files()?;
    let map = policies.bind(&facts, &descriptions())?;

    let schema: Schema = FILE_SCHEMA.text.parse()?;
    let set: PolicySet = FILE_POLICIES.text.parse()?;
    let actions = schema.action_entities()?;
    let uids = ACTIONS.map(|action| -> Fallible<[EntityUid; 3]> {
        let action = format!("Action::\"{action}\"").parse()?;
        Ok(["Agent::\"agent\"".parse()?, action, "Entry::\"a\"".parse()?])
    });
    let uids = uids.into_iter().collect::<Fallible<Vec<_>>>()?;
    let pairs = || {
        worlds
            .iter()
            .flat_map(|world| uids.iter().map(move |uids| (world, uids)))
    };
    let prepared = pairs().map(|(world, uids)| question(&facts, world, &actions, uids));
    let prepared = prepared.collect::<Fallible<Vec<_>>>()?;
    let authorizer = Authorizer::new();
    let ask = |(request, entities): &(Request, Entities)| {
        authorizer.is_authorized(request, &set, entities).decision() == Decision::Allow
    };

    // Numbers of something else would be worth nothing: both ways have the same answers.
    let table = map.evaluate(&worlds)?;
    let shared = (0..64).flat_map(|world| (0..3).map(move |action| (world, action)));
    let shared: Vec<bool> = shared
        .map(|(world, action)| table.is_safe(world, action))
        .collect();
    if shared != prepared.iter().map(ask).collect::<Vec<bool>>() || !shared.contains(&true) {
        return Err("shared evaluation differs from plain Cedar".into());
    }

    let mut group = criterion.benchmark_group("safety_map/64x3");
    group.throughput(Throughput::Elements(192));
    group.bench_function("shared", |bencher| {
        bencher.iter(|| {
            map.evaluate(black_box(&worlds))
                .map(|table| table.safe(0).count())
        });
    });
    group.bench_function("bind_and_shared", |bencher| {
        bencher.iter(|| -> Fallible<usize> {
            let map = policies.bind(&facts, &descriptions())?;
            let table = map.evaluate(black_box(&worlds))?;
            Ok((0..64).map(|world| table.safe(world).count()).sum())
        });
    });
    group.bench_function("cedar_prepared", |bencher| {
        bencher.iter(|| {
            prepared
                .iter()
                .filter(|question| ask(black_box(question)))
                .count()
        });
    });
    group.bench_function("cedar", |bencher| {
        bencher.iter(|| {
            let asked = pairs().map(|(world, uids)| question(&facts, world, &actions, uids));
            asked
                .filter(|question| question.as_ref().is_ok_and(ask))
                .count()
        });
    });
    group.finish();
    Ok(())
}

/// Every value that the schema declares for the target, the overwrite and the destination.
const ALL_VALUES: [(&str, &[&str]); 16] = [
    ("kind", &["file", "directory", "link", "mount", "missing"]),
    ("location", &["inside", "outside"]),
    ("leaves_tree", &["no", "link", "mount"]),
    ("owner", &["own", "other"]),
    ("tracked", &["clean", "dirty", "untracked", "none"]),
    ("only_copy", &["no", "yes"]),
    ("changed_since_memory", &["no", "yes"]),
    ("protected", &["no", "yes"]),
    ("secret", &["no", "yes"]),
    ("reversible", &["no", "yes"]),
    ("discards", &["no", "yes"]),
    ("base", &["same", "other", "unknown"]),
    (
        "destination_kind",
        &["file", "directory", "link", "mount", "missing"],
    ),
    ("destination_location", &["inside", "outside"]),
    ("destination_owner", &["own", "other"]),
    ("destination_protected", &["no", "yes"]),
];

/// 614,400 worlds in regions.
fn regions(criterion: &mut Criterion) -> Fallible<()> {
    let facts = ALL_VALUES.map(|(name, values)| Fact::new(name, values.iter().copied()));
    let facts = Facts::new(facts.into_iter().collect::<Result<Vec<_>, _>>()?)?;
    let policies = SafetyPolicies::for_files()?;
    let mut beliefs = Vec::new();
    for fact in facts.as_slice() {
        let mut belief = Belief::new(fact, [])?;
        for (at, value) in (0_u8..).zip(fact.values()) {
            let inconsistency = f64::from(at) / 4.0;
            belief = belief.supported(
                value,
                Terms {
                    inconsistency,
                    ..Terms::NONE
                },
            )?;
        }
        beliefs.push(belief);
    }
    let mut group = criterion.benchmark_group("safety_map/regions");
    let three = descriptions();
    for (name, actions) in [("delete", &three[..1]), ("3_actions", &three)] {
        let map = policies.bind(&facts, actions)?;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                map.regions(
                    black_box(&facts),
                    &beliefs,
                    &[],
                    &ScoreWeights::EQUAL,
                    1_000,
                )
                .map(|regions| regions.as_slice().len())
            });
        });
        group.bench_function(format!("bind_and_{name}"), |bencher| {
            bencher.iter(|| -> Fallible<usize> {
                let map = policies.bind(&facts, actions)?;
                let regions = map.regions(
                    black_box(&facts),
                    &beliefs,
                    &[],
                    &ScoreWeights::EQUAL,
                    1_000,
                )?;
                Ok(regions.as_slice().len())
            });
        });
    }
    group.finish();
    Ok(())
}

fn safety_map(criterion: &mut Criterion) {
    if let Err(error) = compare(criterion).and_then(|()| regions(criterion)) {
        eprintln!("safety_map: {error}");
        std::process::exit(1);
    }
}

criterion_group!(benches, safety_map);
criterion_main!(benches);
