//! Each variant of an enum has one spelling, for who reads as for the schema: serde alone would take several.

use std::marker::PhantomData;

use safecommit_bench::json::parse as read;
use safecommit_conformal::{Calibration, MondrianCalibration};
use safecommit_core::Request;
use safecommit_gate::FileProposal;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::schema::Schema;

/// The text is read if and only if the schema takes it, and as is said here.
#[track_caller]
fn agree<T: DeserializeOwned>(schema: &Schema, value: &Value, expect: bool) {
    let found = read(&value.to_string(), PhantomData::<T>);
    assert_eq!(found.is_ok(), expect, "{value}: {:?}", found.err());
    assert_eq!(schema.holds_for(value), expect, "{value}");
}

/// The spellings of a variant without contents; the first alone is good.
fn spellings(name: &str) -> [Value; 7] {
    [
        json!(name),
        json!({name: null}),
        json!({name: {}}),
        json!({name: []}),
        json!([name]),
        json!({"variant": name}),
        json!(name.to_uppercase()),
    ]
}

#[test]
fn settings_of_a_request() {
    let schema = Schema::of("request");
    let good = schema.examples()[0].clone();
    let agree = |field: &str, value: &Value, expect: bool| {
        let mut request = good.clone();
        request["settings"] = json!({field: value});
        agree::<Request>(&schema, &request, expect);
    };
    for (field, names) in [
        ("verification", &["never", "most_plausible"][..]),
        (
            "probing",
            &[
                "shrinkage",
                "optimal",
                "rollout",
                "information_gain",
                "safety_information",
            ],
        ),
    ] {
        for name in names {
            for (at, spelling) in spellings(name).iter().enumerate() {
                agree(field, spelling, at == 0);
            }
        }
        for neither in [json!(0), json!(true), json!({}), json!([]), json!("")] {
            agree(field, &neither, false);
        }
        agree(field, &Value::Null, true);
    }
    for (field, value, expect) in [
        (
            "verification",
            json!({"whole_support": {"price": 0.5}}),
            true,
        ),
        ("verification", json!({"whole_support": [0.5]}), false),
        ("verification", json!({"whole_support": 0.5}), false),
        ("verification", json!({"whole_support": {}}), false),
        (
            "verification",
            json!({"whole_support": {"price": 1, "cost": 1}}),
            false,
        ),
        (
            "verification",
            json!({"whole_support": {"price": 1}, "never": null}),
            false,
        ),
        ("verification", json!("whole_support"), false),
        ("probing", json!({"random": {"seed": "s"}}), true),
        ("probing", json!({"random": ["s"]}), false),
        ("probing", json!({"random": "s"}), false),
        ("probing", json!("random"), false),
    ] {
        agree(field, &value, expect);
    }
}

#[test]
fn actions_of_a_proposal() {
    let schema = Schema::of("proposal");
    for name in ["delete", "overwrite", "move", "write"] {
        for (at, spelling) in spellings(name).iter().enumerate() {
            let mut action = json!({"action": spelling, "path": "a"});
            match name {
                "move" => action["to"] = json!("b"),
                "overwrite" | "write" => action["content"] = json!(""),
                _ => {}
            }
            let proposal = json!({"decision": "d-1", "actions": [action]});
            agree::<FileProposal>(&schema, &proposal, at == 0);
        }
    }
}

#[test]
fn guarantees_of_a_calibration() {
    let schema = Schema::of("calibration");
    let [one, by_stratum] = [0, 1].map(|at| schema.examples()[at].clone());
    for (at, spelling) in spellings("marginal").iter().enumerate() {
        let mut calibration = one.clone();
        calibration["guarantee"] = spelling.clone();
        agree::<Calibration>(&schema, &calibration, at == 0);
    }
    agree::<MondrianCalibration>(&schema, &by_stratum, true);
    let group = &by_stratum["groups"][0]["guarantee"]["group"];
    for (spelling, expect) in [
        (json!({"group": group}), true),
        (
            json!({"group": [group["stratum"], group["achieved"]]}),
            false,
        ),
        (json!({"group": group, "marginal": null}), false),
        (json!("group"), false),
    ] {
        let mut calibrations = by_stratum.clone();
        calibrations["groups"][0]["guarantee"] = spelling;
        agree::<MondrianCalibration>(&schema, &calibrations, expect);
    }
}
