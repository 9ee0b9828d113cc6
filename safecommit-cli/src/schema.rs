//! `safecommit schema`: JSON Schemas of what is read and written here.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use safecommit_conformal::{
    Calibration, CalibrationScore, Misses, MondrianCalibration, Stratum, Taxonomy,
};
use safecommit_core::{Case, DecisionRecord, Request};
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform as _};
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::{Value, json};

use crate::answers::{ErrorLine, ErrorPlace};
use crate::calibrations::Calibrations;
use crate::cli::SchemaForm;
use crate::output;

pub(crate) fn run(form: SchemaForm) -> Result<ExitCode> {
    let mut text = serde_json::to_string_pretty(&schema(form)?)?;
    text.push('\n');
    output::print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn schema(form: SchemaForm) -> Result<Schema> {
    match form {
        SchemaForm::Request => {
            let settings = SchemaSettings::draft2020_12().for_deserialize();
            let mut schema = describe::<Request>(
                settings,
                "SafeCommit request",
                "One decision to take: candidate actions, the worlds that may explain the evidence, \
                 probes that may be made, and what came of those made so far. Beyond this schema, \
                 ids are unique in their list, every id that is mentioned is declared, and the \
                 outcomes of a probe either share out the worlds or have probabilities that sum to \
                 one in every world.",
                &example_request()?,
            )?;
            constrain_probe(&mut schema)?;
            Ok(schema)
        }
        SchemaForm::Decision => {
            let settings = SchemaSettings::draft2020_12().for_serialize();
            let case = Case::new(example_request()?)?;
            let mut schema = describe::<DecisionRecord>(
                settings,
                "SafeCommit decision",
                "What was decided and why: exactly one of `certificate`, `probe` and `fallback` is \
                 there. It is data; it releases no action by itself.",
                case.decide(None).record(),
            )?;
            schema.insert("allOf".to_owned(), json!(what_goes_with_each_decision()));
            Ok(schema)
        }
        SchemaForm::Calibration => {
            let settings = SchemaSettings::draft2020_12().for_serialize();
            let mut scores = Vec::new();
            for score in [
                "0.12", "0.48", "missing", "0.31", "0.07", "0.26", "0.55", "0.39", "0.2",
            ] {
                scores.push(score.parse::<CalibrationScore>()?);
            }
            let alpha = "0.2".parse()?;
            let strata: [Stratum; 2] = ["delete/high".parse()?, "delete/low".parse()?];
            let cases: Vec<_> = (0..scores.len())
                .map(|at| (strata[at / 6].clone(), scores[at]))
                .collect();
            let taxonomy = Taxonomy::new(strata)?;
            let by_stratum = MondrianCalibration::new(alpha, taxonomy, &cases, Misses::AsListed)?;
            let mut schema = describe::<Calibrations>(
                settings,
                "SafeCommit calibration",
                "A conformal threshold and what it was computed from; or such a one for each stratum. \
                 Beyond this schema, the fields agree with each other and with the checksum.",
                &Calibration::split_conformal(alpha, &scores),
            )?;
            if let Some(Value::Array(examples)) = schema.get_mut("examples") {
                examples.push(serde_json::to_value(by_stratum)?);
            }
            Ok(schema)
        }
        SchemaForm::Error => describe::<ErrorLine>(
            SchemaSettings::draft2020_12().for_serialize(),
            "SafeCommit error line",
            "What `safecommit decide --jsonl` prints in the place of a decision for a line that is \
             no request that can be decided.",
            &ErrorLine {
                error: ErrorPlace {
                    file: "requests.jsonl".to_owned(),
                    line: 14,
                    field: Some("worlds[2].safe[0]".to_owned()),
                    message: "`sned-note` is not a declared action".to_owned(),
                },
            },
        ),
    }
}

/// The schema of a type under a title, with an example that the type itself has written.
fn describe<T: JsonSchema>(
    settings: SchemaSettings,
    title: &str,
    description: &str,
    example: &impl Serialize,
) -> Result<Schema> {
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(clean_description).transform(&mut schema);
    schema.insert("title".to_owned(), title.into());
    schema.insert("description".to_owned(), description.into());
    let example = serde_json::to_value(example)?;
    schema.insert("examples".to_owned(), Value::Array(vec![example]));
    Ok(schema)
}

/// Descriptions come from the documentation of Rust types: leaves out their sections and code, and keeps
/// the text of links.
fn clean_description(schema: &mut Schema) {
    let Some(Value::String(text)) = schema.get_mut("description") else {
        return;
    };
    let prose = text.split("\n\n").take_while(|paragraph| {
        let markup = ["# ", "```"];
        !markup.iter().any(|start| paragraph.starts_with(start))
    });
    let paragraphs: Vec<String> = prose
        .map(|paragraph| without_links(&paragraph.replace('\n', " ")))
        .collect();
    *text = paragraphs.join("\n\n");
}

/// Turns links to code into the last part of what they name.
fn without_links(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("[`")
        && let Some((name, after)) = link.split_once("`]")
    {
        let name = name.rsplit("::").next().unwrap_or(name);
        plain.push_str(&format!("{before}`{name}`"));
        rest = match after
            .strip_prefix('(')
            .and_then(|target| target.split_once(')'))
        {
            Some((_, after)) => after,
            None => after,
        };
    }
    plain + rest
}

/// Says that a probe asks about a world, or has outcomes which say what yields them, or outcomes and what is possible in
/// each world; null counts as absent.
fn constrain_probe(schema: &mut Schema) -> Result<()> {
    let place = schema
        .pointer_mut("/$defs/ProbeProposal")
        .and_then(Value::as_object_mut)
        .context("the schema does not define `ProbeProposal`")?;
    let has = |field: &str, kind: &str| json!({"required": [field], "properties": {field: {"type": kind}}});
    let lacks = |field: &str| json!({"properties": {field: {"type": "null"}}});
    let outcomes = |each: Value| json!({"properties": {"outcomes": {"items": each}}});
    let (worlds, likelihood) = (has("worlds", "array"), has("likelihood", "object"));
    let ways = json!([
        {"allOf": [has("asks", "string"), lacks("outcomes"), lacks("possible")]},
        {"allOf": [
            has("outcomes", "array"),
            lacks("asks"),
            lacks("possible"),
            outcomes(json!({"oneOf": [worlds, likelihood]})),
        ]},
        {"allOf": [
            has("outcomes", "array"),
            lacks("asks"),
            has("possible", "array"),
            outcomes(json!({"allOf": [lacks("worlds"), lacks("likelihood")]})),
        ]},
    ]);
    place.insert("oneOf".to_owned(), ways);
    Ok(())
}

/// For each decision, which of the fields that explain it are objects and which are null.
fn what_goes_with_each_decision() -> Vec<Value> {
    [
        ("commit", "certificate"),
        ("probe", "probe"),
        ("defer", "fallback"),
        ("escalate", "fallback"),
        ("abstain", "fallback"),
    ]
    .into_iter()
    .map(|(decision, explained_by)| {
        let mut properties = serde_json::Map::new();
        for field in ["certificate", "probe", "fallback"] {
            let kind = if field == explained_by {
                "object"
            } else {
                "null"
            };
            properties.insert(field.to_owned(), json!({"type": kind}));
        }
        let action = if decision == "commit" {
            "string"
        } else {
            "null"
        };
        properties.insert("action".to_owned(), json!({"type": action}));
        json!({
            "if": {"properties": {"decision": {"const": decision}}},
            "then": {"properties": properties},
        })
    })
    .collect()
}

fn example_request() -> Result<Request> {
    let request = json!({
        "id": "clean-up-after-run",
        "actions": [
            {"id": "delete-outputs", "family": "file", "severity": 0.5, "reward": 1.0},
            {"id": "stage-outputs", "family": "file", "reversible": true, "reward": 0.75}
        ],
        "worlds": [
            {
                "id": "temporary",
                "score": 0.125,
                "safe": ["delete-outputs", "stage-outputs"],
                "description": "the path holds temporary outputs"
            },
            {
                "id": "shared",
                "score": 0.25,
                "safe": ["stage-outputs"],
                "description": "the path was repurposed and holds shared results"
            }
        ],
        "probes": [
            {
                "id": "no-follow-check",
                "cost": 1.0,
                "error_rate": 0.001,
                "outcomes": [
                    {"id": "plain-directory", "worlds": ["temporary"]},
                    {"id": "symbolic-link", "worlds": ["shared"]}
                ]
            },
            {"id": "ask-the-owner", "cost": 20.0, "asks": "shared"}
        ],
        "beta": 0.01,
        "settings": {"max_probes": 2}
    });
    serde_json::from_value(request).context("the example is a request")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_become_names() {
        let check = |text: &str, expect: &str| assert_eq!(without_links(text), expect);
        check("validated by [`crate::Case::new`].", "validated by `new`.");
        check("the law [`Law`](crate::Law); and", "the law `Law`; and");
        check(
            "in [0, 1] of `worlds[2]`, [`open",
            "in [0, 1] of `worlds[2]`, [`open",
        );
    }
}
