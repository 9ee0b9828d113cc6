//! What policies see of file actions, and whether a schema asks for more.

use jiff::Timestamp;

use super::facts::{Known, KnownError, Named, Overwrite, REVERSIBLE, of_candidate, suffix};
use super::release::FileGateError;
use crate::domain::DomainError;
use crate::evidence::{BeliefRule, EvidenceSet};
use crate::execute::{Content, FileAction, TargetPath};
use crate::fact::Facts;
use crate::files::FileQuestion;
use crate::gate::GateError;
use crate::policy::{ActionDescription, SafetyPolicies};

/// The candidate of a number as policies see it, with the positions of its targets among those of the request. Whether a
/// permanent deletion can be undone is a fact of its own.
pub(super) fn describe(
    action: &FileAction,
    number: usize,
    principal: &str,
    permanent: bool,
    position: impl Fn(&TargetPath) -> usize,
) -> ActionDescription {
    let path = action.path();
    let mut description = ActionDescription::new(action.name(), principal, path.as_str())
        .with("path", path.as_str())
        .reading_each("", suffix(position(path), '_'));
    if let FileAction::Move { to, .. } = action {
        description = description.reading_each("destination_", suffix(position(to), '_'));
    }
    let name = action.candidate_name(number);
    if let FileAction::Overwrite { .. } = action {
        // As with all others, a schema may leave these out.
        for fact in FileQuestion::StagedDiff.facts() {
            description = description.reading_each(*fact, of_candidate(&name, fact));
        }
    }
    if permanent {
        description = description.reading_each(REVERSIBLE, of_candidate(&name, REVERSIBLE));
    }
    description
}

/// Whether what the schema asks of file actions is what they have: an attribute that is no fact of files would be missing in
/// every decision, and each would escalate. Actions that the schema does not declare are for it to leave out, but not all.
///
/// The facts of a decision are those of its targets and overwrites, so each action is looked at alone, and among all.
pub(super) fn check_policies(
    policies: &SafetyPolicies,
    principal: &str,
) -> Result<(), FileGateError> {
    let target = |name: &str| TargetPath::new(name);
    let content = || Content::new(b"");
    let all = [
        FileAction::Delete { path: target("a")? },
        FileAction::Write {
            path: target("b")?,
            content: content(),
        },
        FileAction::Overwrite {
            path: target("c")?,
            content: content(),
        },
        FileAction::Move {
            from: target("d")?,
            to: target("e")?,
        },
    ];
    let declares = |action: &&FileAction| policies.declares(action.name());
    // Where none is declared the first one says so.
    let one = usize::from(!all.iter().any(|action| declares(&action)));
    let checked: Vec<&FileAction> = all
        .iter()
        .enumerate()
        .filter(|(at, action)| *at < one || declares(action))
        .map(|(_, action)| action)
        .collect();
    let alone = checked.iter().map(std::slice::from_ref);
    for request in alone.chain([checked.as_slice()]) {
        for has_base in [true, false] {
            check_request(policies, principal, request, has_base)?;
        }
    }
    Ok(())
}

fn check_request(
    policies: &SafetyPolicies,
    principal: &str,
    request: &[&FileAction],
    has_base: bool,
) -> Result<(), FileGateError> {
    let targets: Vec<&TargetPath> = request.iter().flat_map(|action| action.paths()).collect();
    let position = |path: &TargetPath| targets.iter().position(|known| *known == path);
    let facts = facts_of(request, &targets, has_base)
        .map_err(|error| GateError::Domain(DomainError::new(error)))?;
    for (number, action) in request.iter().enumerate() {
        let described = describe(action, number, principal, false, |path| {
            position(path).unwrap_or(targets.len())
        });
        policies.fits(&facts, &described)?;
    }
    Ok(())
}

fn facts_of(
    request: &[&FileAction],
    targets: &[&TargetPath],
    has_base: bool,
) -> Result<Facts, KnownError> {
    let named = targets.iter().map(|path| Named {
        path: (*path).clone(),
        expects_something: true,
    });
    let actions = request.iter().enumerate();
    let overwrites = actions
        .filter(|(_, action)| matches!(action, FileAction::Overwrite { .. }))
        .map(|(number, action)| Overwrite {
            name: action.candidate_name(number),
            has_base,
        });
    let (named, overwrites): (Vec<_>, Vec<_>) = (named.collect(), overwrites.collect());
    let (evidence, rule) = (EvidenceSet::default(), BeliefRule::default());
    let known = Known::new(
        &named,
        &overwrites,
        &[],
        "",
        &evidence,
        &rule,
        Timestamp::UNIX_EPOCH,
    )?;
    Ok(known.facts)
}
