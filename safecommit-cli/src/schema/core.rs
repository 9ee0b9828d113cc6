//! Requests, decisions, calibrations, and the errors of a stream.

use anyhow::{Context as _, Result};
use safecommit_conformal::{
    Calibration, CalibrationScore, Misses, MondrianCalibration, Stratum, Taxonomy,
};
use safecommit_core::{Case, DecisionRecord, Request};
use safecommit_gate::GateCalibration;
use safecommit_gate::audit::GroupBy;
use schemars::Schema;
use serde_json::{Map, Value, json};

use super::{definition, describe, read, written};
use crate::answers::{ErrorLine, ErrorPlace};
use crate::calibrations::Calibrations;

pub(super) fn request() -> Result<Schema> {
    let mut schema = describe::<Request>(
        read(),
        "SafeCommit request",
        "One decision to take: candidate actions, the worlds that may explain the evidence, \
         probes that may be made, and what came of those made so far. Beyond this schema, \
         ids are unique in their list, every id that is mentioned is declared, and the \
         outcomes of a probe share out the worlds, or have probabilities that sum to one in \
         every world, or are possible by rows of ascending positions, one for each world.",
        vec![serde_json::to_value(example_request()?)?],
    );
    constrain_probe(&mut schema)?;
    Ok(schema)
}

pub(super) fn decision() -> Result<Schema> {
    let case = Case::new(example_request()?)?;
    let mut schema = describe::<DecisionRecord>(
        written(),
        "SafeCommit decision",
        "What was decided and why: exactly one of `certificate`, `probe` and `fallback` is \
         there. It is data; it releases no action by itself.",
        vec![serde_json::to_value(case.decide(None).record())?],
    );
    schema.insert("allOf".to_owned(), what_goes_with_each_decision());
    Ok(schema)
}

pub(super) fn calibration() -> Result<Schema> {
    let (one, by_stratum) = example_calibrations()?;
    Ok(describe::<Calibrations>(
        written(),
        "SafeCommit calibration",
        "A conformal threshold and what it was computed from; or such a one for each stratum. \
         Beyond this schema, the fields agree with each other and with the checksum.",
        vec![
            serde_json::to_value(one)?,
            serde_json::to_value(by_stratum)?,
        ],
    ))
}

pub(super) fn gate_calibration() -> Result<Schema> {
    let (one, by_stratum) = example_calibrations()?;
    let by = [GroupBy::Family, GroupBy::Severity];
    let examples = [
        GateCalibration::one("files-1", one)?,
        GateCalibration::by_stratum("files-1", by, by_stratum)?,
    ];
    Ok(describe::<GateCalibration>(
        written(),
        "SafeCommit calibration of a gate",
        "What `safecommit calibrate --audit` makes of labelled decisions, and a gate decides under: a calibration, or one \
         for each stratum, with the version of the score that it is for. Beyond this schema, a stratum has a label for \
         each part that `by` names, and calibrations agree with themselves and with their checksums.",
        examples
            .iter()
            .map(serde_json::to_value)
            .collect::<Result<_, _>>()?,
    ))
}

fn example_calibrations() -> Result<(Calibration, MondrianCalibration)> {
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
    Ok((Calibration::split_conformal(alpha, &scores), by_stratum))
}

pub(super) fn error() -> Result<Schema> {
    let example = ErrorLine {
        error: ErrorPlace {
            file: "requests.jsonl".to_owned(),
            line: 14,
            field: Some("worlds[2].safe[0]".to_owned()),
            message: "`sned-note` is not a declared action".to_owned(),
        },
    };
    Ok(describe::<ErrorLine>(
        written(),
        "SafeCommit error line",
        "What `safecommit decide --jsonl` and `safecommit gate --jsonl` print in the place of a \
         decision for a line that is no request that can be decided.",
        vec![serde_json::to_value(example)?],
    ))
}

/// Says that a probe asks about a world, or has outcomes which say what yields them, or outcomes and what is possible in
/// each world; null counts as absent.
pub(super) fn constrain_probe(schema: &mut Schema) -> Result<()> {
    let place = definition(schema, "ProbeProposal")?;
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
pub(super) fn what_goes_with_each_decision() -> Value {
    let rules = [
        ("commit", "certificate"),
        ("probe", "probe"),
        ("defer", "fallback"),
        ("escalate", "fallback"),
        ("abstain", "fallback"),
    ]
    .map(|(decision, explained_by)| {
        let mut properties = Map::new();
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
    });
    json!(rules)
}

pub(super) fn example_request() -> Result<Request> {
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
