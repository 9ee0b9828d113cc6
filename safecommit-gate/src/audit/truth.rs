//! What a label says of the request of its decision.

use std::collections::BTreeMap;

use safecommit_core::{ActionSet, Request};

use super::entry::Entry;
use super::error::{AuditError, LabelError, Undeclared};
use super::label::{Label, Labels};
use super::reader::AuditReader;
use super::world_name::{Fit, WorldName};

/// What is known to have been true.
pub(super) struct Truth {
    /// The place of the true world, where it is known: `Some(None)` if it was not proposed.
    pub(super) world: Option<Option<usize>>,
    /// The candidates that were safe, where they are known.
    pub(super) safe: Option<ActionSet>,
    /// The proposed worlds that may be the true one by everything else that the label says: in which just these
    /// candidates are safe, and which the facts of an incomplete label do not exclude.
    pub(super) class: Vec<usize>,
}

/// Which worlds facts leave.
enum Left {
    One(usize),
    Several(Vec<usize>),
    Unproposed,
}

/// What a label, which stands in a line, says of its decision.
pub(super) fn truth((line, label): (u64, &Label), entry: &Entry) -> Result<Truth, LabelError> {
    let request = &entry.request;
    check_declared(line, label, entry)?;
    let contradiction = |what| LabelError::Contradiction {
        decision: label.decision.clone(),
        what,
    };
    let named = label.true_world.as_ref().map(|name| {
        let mut worlds = request.worlds.iter();
        worlds.position(|world| world.id == *name)
    });
    let left = label.true_facts.as_ref();
    let left = left
        .map(|facts| left_by(facts, label, request))
        .transpose()?;
    let (world, candidates) = match (named, left) {
        (named, None) => (named, None),
        (None, Some(Left::One(world))) => (Some(Some(world)), None),
        (None, Some(Left::Unproposed)) => (Some(None), None),
        (None, Some(Left::Several(worlds))) => (None, Some(worlds)),
        (Some(named), Some(left)) => {
            let agree = match (named, left) {
                (Some(named), Left::One(world)) => named == world,
                (Some(named), Left::Several(worlds)) => worlds.contains(&named),
                (None, Left::Several(_) | Left::Unproposed) => true,
                (Some(_), Left::Unproposed) | (None, Left::One(_)) => false,
            };
            if !agree {
                return Err(contradiction("`true_world` is not what `true_facts` says"));
            }
            (Some(named), None)
        }
    };
    let signatures: Vec<ActionSet> = request
        .worlds
        .iter()
        .map(|world| actions_of(&world.safe, label, request))
        .collect::<Result<_, _>>()?;
    let safe = match (&label.safe_actions, world.flatten()) {
        (Some(names), _) => Some(actions_of(names, label, request)?),
        (None, Some(world)) => Some(signatures[world].clone()),
        (None, None) => None,
    };
    let incomplete = candidates.is_some();
    let mut class = candidates.unwrap_or_else(|| match safe {
        Some(_) => (0..signatures.len()).collect(),
        None => Vec::new(),
    });
    if let Some(safe) = &safe {
        class.retain(|world| signatures[*world] == *safe);
        if incomplete && class.is_empty() {
            let what = "`safe_actions` is what is safe in no world that `true_facts` leaves";
            return Err(contradiction(what));
        }
    }
    Ok(Truth { world, safe, class })
}

/// Refuses facts that the decision does not have and values that these cannot have. As they stand they would fit no world,
/// and count as a truth that nobody proposed. A value that was possible and not proposed does just that.
fn check_declared(line: u64, label: &Label, entry: &Entry) -> Result<(), LabelError> {
    if entry.facts.is_empty() {
        return Ok(());
    }
    for (fact, value) in label.true_facts.iter().flatten() {
        check_fact(line, format!("true_facts.{fact}"), entry, fact, [value])?;
    }
    let proposed = |name: &String| entry.request.worlds.iter().any(|world| world.id == *name);
    let unproposed = label.true_world.as_ref().filter(|name| !proposed(name));
    if let Some(Ok(name)) = unproposed.map(|name| name.parse::<WorldName>()) {
        for (fact, values) in name.restricted() {
            check_fact(line, "true_world".to_owned(), entry, fact, values)?;
        }
    }
    Ok(())
}

fn check_fact<'v>(
    line: u64,
    field: String,
    entry: &Entry,
    fact: &str,
    values: impl IntoIterator<Item = &'v String>,
) -> Result<(), LabelError> {
    let refuse = |value: Option<&String>, known| LabelError::Undeclared {
        line,
        undeclared: Box::new(Undeclared {
            field,
            decision: entry.decision.clone(),
            fact: fact.to_owned(),
            value: value.cloned(),
            known,
        }),
    };
    let Some(known) = entry.facts.get(fact) else {
        return Err(refuse(None, entry.facts.keys().cloned().collect()));
    };
    match values.into_iter().find(|value| !known.contains(value)) {
        None => Ok(()),
        value => Err(refuse(value, known.clone())),
    }
}

/// The worlds that fit for certain, or else those that may fit; what was left out only where none fits.
fn left_by(
    facts: &BTreeMap<String, String>,
    label: &Label,
    request: &Request,
) -> Result<Left, LabelError> {
    let (mut certain, mut possible, mut left_out) = (Vec::new(), Vec::new(), None);
    for (at, world) in request.worlds.iter().enumerate() {
        let name: WorldName = world.id.parse().map_err(|problem| LabelError::NoFacts {
            decision: label.decision.clone(),
            world: world.id.clone(),
            problem,
        })?;
        match name.fit(facts) {
            _ if name.is_left_out() => left_out = Some(at),
            Fit::Certain => certain.push(at),
            Fit::Possible => possible.push(at),
            Fit::Excluded => {}
        }
    }
    Ok(match (certain.as_slice(), possible.is_empty(), left_out) {
        ([world], _, _) => Left::One(*world),
        ([_, _, ..], _, _) => Left::Several(certain),
        ([], true, Some(left_out)) => Left::One(left_out),
        ([], true, None) => Left::Unproposed,
        ([], false, _) => {
            possible.extend(left_out);
            Left::Several(possible)
        }
    })
}

fn actions_of(names: &[String], label: &Label, request: &Request) -> Result<ActionSet, LabelError> {
    let mut set = ActionSet::empty(request.actions.len());
    for name in names {
        let at = request.actions.iter().position(|action| action.id == *name);
        let at = at.ok_or_else(|| LabelError::UnknownAction {
            decision: label.decision.clone(),
            action: name.clone(),
        })?;
        set.insert(at);
    }
    Ok(set)
}

/// Every label has to be for a decision of the log: one that is not would silently not count.
pub(super) fn labels_known(reader: &AuditReader, labels: &Labels) -> Result<(), AuditError> {
    for label in labels.iter() {
        if !super::store::holds(&reader.connection, &label.decision)? {
            return Err(LabelError::UnknownDecision(label.decision.clone()).into());
        }
    }
    Ok(())
}
