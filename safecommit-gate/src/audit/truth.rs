//! What a label says of the request of its decision.

use std::collections::BTreeMap;

use safecommit_core::{ActionSet, Request};

use super::error::{AuditError, LabelError};
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

/// What a label says of a request.
pub(super) fn truth(label: &Label, request: &Request) -> Result<Truth, LabelError> {
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
