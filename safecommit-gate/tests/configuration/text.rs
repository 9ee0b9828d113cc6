//! The text that explains itself, and what changing it changes.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use safecommit_core::{ProbingProposal, SettingsProposal, VerificationProposal};
use safecommit_gate::audit::LogKey;
use safecommit_gate::{
    Deletion, FileProbe, FileQuestion, FileSettings, GateConfiguration, Limits, SafetyPolicies,
    ScoreWeights, SideEffect,
};

use crate::Place;

#[test]
fn the_text_says_the_defaults_and_loads() {
    let place = Place::new();
    let least = place.with("").unwrap();
    let text = GateConfiguration::text("project", "state");
    assert_eq!(place.load(&text).unwrap(), least);
    // Every option that has a default stands there as a value, so that none of it was passed over.
    for table in [
        "score", "support", "control", "files", "limits", "severity", "deletion", "audit",
    ] {
        assert!(text.contains(&format!("\n[{table}]\n")), "{table}");
    }
    for question in FileQuestion::ALL {
        assert!(text.contains(&format!("\n[probes.{}]\n", question.name())));
        assert_eq!(least.probe(question), FileProbe::new(question));
    }

    assert_eq!(least.workspace(), place.path("project"));
    assert_eq!(least.state(), place.path("state"));
    assert_eq!(least.log(), place.path("state/audit.db"));
    assert_eq!(least.head(), place.path("state/audit.head"));
    assert_eq!(least.key(), place.path("state/audit.key"));
    assert_eq!((least.principal(), least.max_worlds()), ("agent", 1024));
    assert_eq!(*least.weights(), ScoreWeights::EQUAL);
    let policies = safecommit_gate::SafetyPolicies::for_files()
        .unwrap()
        .version();
    assert_eq!(
        least.score_version().unwrap(),
        format!("files-1 weights 1 1 1 1 half-life 30 d policies {policies}")
    );
    assert_eq!(
        least.settings(),
        SettingsProposal {
            temperature: Some(0.25),
            max_steps: Some(60_000),
            verification: Some(VerificationProposal::WholeSupport { price: 0.0 }),
            probing: Some(ProbingProposal::SafetyInformation),
            ..SettingsProposal::default()
        }
    );
    let (found, expect) = (least.file_settings(), FileSettings::new().unwrap());
    assert_eq!(found.protected, expect.protected);
    assert_eq!(found.secret, expect.secret);
    assert_eq!(
        (found.owner, found.limits),
        (expect.owner, Limits::default())
    );
    let severities = ["delete", "overwrite", "move", "write", "copy"];
    let severities = severities.map(|action| least.severity(action));
    assert_eq!(
        severities,
        [Some(1.0), Some(0.8), Some(0.4), Some(0.2), None]
    );
    assert_eq!(least.max_side_effect(), SideEffect::RunsProgram);
    assert_eq!(least.deletion(), Deletion::Trash);
    let permanent = place.with("[deletion]\nmode = 'permanent'\n").unwrap();
    assert_eq!(permanent.deletion(), Deletion::Permanent);
    assert_eq!(
        permanent.score_version().unwrap(),
        format!("{} deletion permanent", least.score_version().unwrap())
    );
    let group = GateConfiguration::severity_group;
    assert_eq!(
        [1.0, 0.7, 0.69, 0.3, 0.29, 0.0].map(group),
        ["high", "high", "medium", "medium", "low", "low"]
    );
    assert!(
        least
            .redaction(LogKey::from_bytes([1; 32]), ["target-1"])
            .is_none()
    );
    let shipped = SafetyPolicies::for_files().unwrap();
    assert_eq!(least.policies().unwrap().digest(), shipped.digest());
    assert!(least.calibration().unwrap().is_none());
}

#[test]
fn every_value_of_the_text_can_be_changed() {
    let place = Place::new();
    let text = GateConfiguration::text("project", "state");
    let before = place.load(&text).unwrap();
    for (line, other) in [
        ("principal = \"agent\"", "principal = \"ada\""),
        ("inconsistency = 1.0", "inconsistency = 0"),
        ("half_life_days = 30.0", "half_life_days = 7"),
        ("max_worlds = 1024", "max_worlds = 64"),
        ("# max_probes = 16", "max_probes = 0"),
        ("# max_cost = 100.0", "max_cost = 0.0"),
        ("max_milliseconds = 60000", "max_milliseconds = 0"),
        (
            "max_side_effect = \"runs_program\"",
            "max_side_effect = \"reads_names\"",
        ),
        ("temperature = 0.25", "temperature = 1"),
        ("\"whole_support\"\n", "\"most_plausible\"\n"),
        ("\"whole_support\"\n", "\"never\"\n"),
        ("price = 0.0", "price = 0.035"),
        ("# owner = 1000", "owner = 12345"),
        ("\".jj\"", "\"jj\""),
        ("\"credentials*\"", "\"*\""),
        ("entries = 1000000", "entries = 1"),
        ("depth = 256", "depth = 512"),
        ("bytes = 17179869184", "bytes = 0"),
        ("\nmilliseconds = 600000", "\nmilliseconds = 1"),
        ("delete = 1.0", "delete = 0"),
        ("overwrite = 0.8", "overwrite = 1"),
        ("move = 0.4", "move = 1.0"),
        ("write = 0.2\n", "write = 0.0\n"),
        ("mode = \"trash\"", "mode = \"permanent\""),
        ("paths = []", "paths = ['project/.agent']"),
        ("log = \"audit.db\"", "log = \"l\""),
        ("head = \"audit.head\"", "head = '../elsewhere/h'"),
        ("key = \"audit.key\"", "key = 'k'"),
        ("hide = []", "hide = ['paths', 'decisions', 'errors']"),
    ] {
        let changed = text.replacen(line, other, 1);
        assert_ne!(changed, text, "{line} is not in the text");
        assert_ne!(place.load(&changed).unwrap(), before, "{other}");
    }
    for question in FileQuestion::ALL {
        let table = format!("[probes.{}]\ncost = ", question.name());
        let changed = text.replacen(&table, &format!("{table}7"), 1);
        let (probe, default) = (
            place.load(&changed).unwrap().probe(question),
            FileProbe::new(question),
        );
        assert!(probe.cost() >= 71.0 && probe.timeout() == default.timeout());
    }
}

proptest! {
    /// Whatever the names of workspace and state, the text says just these.
    #[test]
    fn any_name_survives_the_text(name in "[^/\\x00]{1,12}", state in "[^/\\x00]{1,12}") {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        prop_assume!(![".", ".."].contains(&name.as_str()) && ![".", ".."].contains(&state.as_str()));
        prop_assume!(name != state && Path::new(&name).components().count() == 1);
        prop_assume!(name != "safecommit.toml" && state != "safecommit.toml");
        fs::create_dir(root.join(&name)).unwrap();
        fs::write(root.join("safecommit.toml"), GateConfiguration::text(&name, &state)).unwrap();
        let configuration = GateConfiguration::load(&root.join("safecommit.toml")).unwrap();
        prop_assert_eq!(configuration.workspace(), root.join(&name));
        prop_assert_eq!(configuration.state(), root.join(&state));
    }
}
