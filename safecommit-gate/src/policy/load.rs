//! From texts to validated policies.

use std::collections::BTreeMap;
use std::sync::Arc;

use cedar_policy::{Policy, PolicyId, PolicySet, Schema, ValidationMode, Validator};
use miette::Diagnostic;
use sha2::{Digest, Sha256};

use super::place::policy_at;
use super::reads::Reads;
use super::schema::Declared;
use super::{Loaded, Place, PolicyError, PolicyText, SafetyPolicy, limits};
use crate::support::Splits;

pub(super) fn load(
    texts: &[PolicyText<'_>],
    schema_text: PolicyText<'_>,
) -> Result<Loaded, PolicyError> {
    limits::check_schema(schema_text)?;
    for text in texts {
        limits::check(*text)?;
    }
    let schema = parse_schema(schema_text)?;
    let refused = |error: &dyn Diagnostic| schema_error(schema_text, error);
    let resolved = cedar_policy::schema_str_to_json_with_resolved_types(schema_text.text);
    let (resolved, _) = resolved.map_err(|error| refused(&error))?;
    let declared = Declared::read(resolved).map_err(|error| PolicyError::Schema {
        file: schema_text.name.to_owned(),
        place: Place::of(schema_text.text, 0),
        message: error.to_string(),
    })?;
    let actions = schema.action_entities().map_err(|error| refused(&error))?;

    let mut named: BTreeMap<String, (usize, Policy)> = BTreeMap::new();
    let mut order = Vec::new();
    for (file, text) in texts.iter().enumerate() {
        for policy in parse(*text)? {
            let id = policy.id().to_string();
            if named.insert(id.clone(), (file, policy)).is_some() {
                return Err(PolicyError::Duplicate(id));
            }
            order.push(id);
        }
    }
    validate(texts, &named, &schema)?;

    let mut policies = Vec::with_capacity(order.len());
    for id in order {
        if let Some((file, policy)) = named.remove(&id) {
            policies.push(prepared(id, policy, texts[file].name)?);
        }
    }
    let pairs = schema.request_envs().collect();
    let digest = digest(texts.iter().chain([&schema_text]));
    Ok(Loaded {
        schema,
        declared,
        actions,
        pairs,
        policies,
        splits: Splits::default(),
        schema_name: schema_text.name.to_owned(),
        schema_text: schema_text.text.to_owned(),
        digest,
    })
}

fn digest<'t>(texts: impl Iterator<Item = &'t PolicyText<'t>>) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix("safecommit policies 1\n");
    for part in texts.flat_map(|text| [text.name, text.text]) {
        // With its length ahead, so that nothing can move from one part into the next.
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

fn parse_schema(text: PolicyText<'_>) -> Result<Schema, PolicyError> {
    let (schema, mut warnings) =
        Schema::from_cedarschema_str(text.text).map_err(|error| schema_error(text, &error))?;
    match warnings.next() {
        Some(warning) => Err(schema_error(text, &warning)),
        None => Ok(schema),
    }
}

fn schema_error(text: PolicyText<'_>, error: &dyn Diagnostic) -> PolicyError {
    PolicyError::Schema {
        file: text.name.to_owned(),
        place: Place::of(text.text, offset(error)),
        message: message(error),
    }
}

/// The policies of a text in its order, each under its name.
fn parse(text: PolicyText<'_>) -> Result<Vec<Policy>, PolicyError> {
    let set: PolicySet = text
        .text
        .parse()
        .map_err(|errors: cedar_policy::ParseErrors| {
            let first = errors.iter().min_by_key(|error| offset(*error));
            let at = first.map_or(0, |error| offset(error));
            PolicyError::Syntax {
                policy: policy_at(text.text, at),
                file: text.name.to_owned(),
                place: Place::of(text.text, at),
                message: first.map_or_else(|| errors.to_string(), |error| message(error)),
            }
        })?;
    let mut templates: Vec<_> = set.templates().collect();
    templates.sort_by_key(|template| number(template.id()));
    if let Some(template) = templates.first() {
        return Err(PolicyError::Template {
            policy: name(text, template.id(), template.annotation("id")),
            file: text.name.to_owned(),
        });
    }
    let mut policies: Vec<&Policy> = set.policies().collect();
    policies.sort_by_key(|policy| number(policy.id()));
    let named = policies.into_iter().map(|policy| {
        policy.new_id(PolicyId::new(name(
            text,
            policy.id(),
            policy.annotation("id"),
        )))
    });
    Ok(named.collect())
}

/// Cedar numbers the policies of a text from 0: `policy0`, `policy1` and so on.
fn number(id: &PolicyId) -> usize {
    let id: &str = id.as_ref();
    id.trim_start_matches("policy")
        .parse()
        .unwrap_or(usize::MAX)
}

fn name(text: PolicyText<'_>, id: &PolicyId, annotated: Option<&str>) -> String {
    match annotated {
        Some(annotated) if !annotated.is_empty() => annotated.to_owned(),
        _ => format!("{}#{}", text.name, number(id).saturating_add(1)),
    }
}

fn validate(
    texts: &[PolicyText<'_>],
    named: &BTreeMap<String, (usize, Policy)>,
    schema: &Schema,
) -> Result<(), PolicyError> {
    let set = PolicySet::from_policies(named.values().map(|(_, policy)| policy.clone()));
    let set = set.map_err(|error| PolicyError::Duplicate(error.to_string()))?;
    let result = Validator::new(schema.clone()).validate(&set, ValidationMode::Strict);
    let errors = result.validation_errors();
    let errors = errors.map(|error| (false, error.policy_id(), error as &dyn Diagnostic));
    let warnings = result.validation_warnings();
    let warnings = warnings.map(|warning| (true, warning.policy_id(), warning as &dyn Diagnostic));
    let mut found = Vec::new();
    for (warned, id, error) in errors.chain(warnings) {
        let file = named
            .get(AsRef::<str>::as_ref(id))
            .map_or(0, |(file, _)| *file);
        let at = offset(error);
        let invalid = PolicyError::Invalid {
            policy: id.to_string(),
            file: texts[file].name.to_owned(),
            place: Place::of(texts[file].text, at),
            message: without_policy(&message(error), id),
        };
        // An error first: it is often the reason of a warning.
        found.push(((warned, file, at, invalid.to_string()), invalid));
    }
    let first = found
        .into_iter()
        .min_by(|(one, _), (other, _)| one.cmp(other));
    first.map_or(Ok(()), |(_, error)| Err(error))
}

fn prepared(id: String, policy: Policy, file: &str) -> Result<SafetyPolicy, PolicyError> {
    let unreadable = |message: String| PolicyError::Invalid {
        policy: id.clone(),
        file: file.to_owned(),
        place: Place { line: 1, column: 1 },
        message,
    };
    let parsed = policy
        .to_pst()
        .map_err(|error| unreadable(error.to_string()))?;
    let alone = PolicySet::from_policies([policy.clone()]);
    let alone = alone.map_err(|error| unreadable(error.to_string()))?;
    let reads = Reads::of(parsed.body());
    let actions = policy.action_constraint();
    Ok(SafetyPolicy {
        id,
        policy,
        alone,
        actions,
        reads,
        memory: Arc::default(),
    })
}

/// The byte at which a diagnostic points; 0 if at none.
fn offset(error: &dyn Diagnostic) -> usize {
    let first = error
        .labels()
        .and_then(|labels| labels.map(|label| label.offset()).min());
    first.unwrap_or(0)
}

/// The message with what a diagnostic adds to it.
fn message(error: &dyn Diagnostic) -> String {
    let mut message = error.to_string();
    let label = error
        .labels()
        .and_then(|mut labels| labels.next()?.label().map(str::to_owned));
    for more in label
        .into_iter()
        .chain(error.help().map(|help| help.to_string()))
    {
        message.push_str("; ");
        message.push_str(&more);
    }
    message
}

/// Cedar repeats which policy it is, somewhere in the message.
fn without_policy(message: &str, id: &PolicyId) -> String {
    let repeated = format!("for policy `{id}`");
    let Some((before, after)) = message.split_once(&repeated) else {
        return message.to_owned();
    };
    format!("{before}{}", after.trim_start_matches([':', ',', ' ']))
}
