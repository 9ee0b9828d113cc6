//! The plain way: every combination of the proposed values is a world, and each is asked about.

use safecommit_gate::{Assignment, Belief, Facts, Impossible, Terms};

/// For each fact and value what speaks against it, in quarters; `None` where it is not proposed.
pub(crate) type Table = Vec<Vec<Option<u32>>>;

/// Two values of facts, by position, that cannot be together.
pub(crate) type Pair = ((usize, usize), (usize, usize));

pub(crate) fn beliefs(facts: &Facts, table: &Table) -> Vec<Belief> {
    let believed = facts.as_slice().iter().zip(table).map(|(fact, row)| {
        let mut belief = Belief::new(fact, []).unwrap();
        for (value, quarters) in fact.values().iter().zip(row) {
            belief = match quarters {
                Some(quarters) => belief.supported(value, terms(*quarters)).unwrap(),
                None => belief.excluded(value, "evidence").unwrap(),
            };
        }
        belief
    });
    believed.collect()
}

/// Every value proposed, the later the stranger.
pub(crate) fn all_proposed(facts: &Facts) -> Table {
    let rows = facts.as_slice().iter().map(|fact| {
        let values = 0..fact.values().len() as u32;
        values.map(Some).collect()
    });
    rows.collect()
}

pub(crate) fn impossible(facts: &Facts, pairs: &[Pair]) -> Vec<Impossible> {
    let name = |(fact, value): (usize, usize)| {
        let fact = &facts.as_slice()[fact];
        (fact.name(), fact.values()[value].as_str())
    };
    let pairs = pairs.iter();
    pairs
        .map(|(one, other)| Impossible::new(facts, name(*one), name(*other)).unwrap())
        .collect()
}

fn terms(quarters: u32) -> Terms {
    Terms {
        inconsistency: f64::from(quarters) / 4.0,
        ..Terms::NONE
    }
}

/// All combinations of the proposed values, by position.
pub(crate) fn combinations(table: &Table) -> Vec<Vec<usize>> {
    let mut worlds: Vec<Vec<usize>> = vec![Vec::new()];
    for row in table {
        let longer = worlds.iter().flat_map(|world| {
            let proposed = (0..row.len()).filter(|value| row[*value].is_some());
            proposed.map(|value| [world.as_slice(), &[value]].concat())
        });
        worlds = longer.collect();
    }
    worlds
}

pub(crate) fn is_possible(world: &[usize], pairs: &[Pair]) -> bool {
    let has = |(fact, value): (usize, usize)| world[fact] == value;
    !pairs.iter().any(|(one, other)| has(*one) && has(*other))
}

pub(crate) fn assignment(facts: &Facts, world: &[usize]) -> Assignment {
    let facts_and_values = facts.as_slice().iter().zip(world);
    let named = facts_and_values.map(|(fact, value)| (fact.name(), fact.values()[*value].as_str()));
    facts.assignment(named).unwrap()
}

/// The score over some facts.
pub(crate) fn score(world: &[usize], table: &Table, over: &[usize]) -> f64 {
    let quarters: u32 = over
        .iter()
        .map(|&fact| table[fact][world[fact]].unwrap())
        .sum();
    f64::from(quarters) / 4.0
}
