//! Decisions about files without a log and without effects: a program that only wants to know.
//!
//! `cargo run -p safecommit-gate --example library_only`

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use jiff::Timestamp;
    use safecommit_gate::audit::UsedCalibration;
    use safecommit_gate::{
        Asked, BeliefRule, Clarifications, Deletion, FileDomain, FileDomainSettings, FileProbe,
        FileProposal, FileQuestion, FileSettings, Gate, SafetyPolicies, Workspace,
    };

    let folder = tempfile::tempdir()?;
    std::fs::create_dir(folder.path().join("results"))?;
    std::os::unix::fs::symlink("/usr/share", folder.path().join("latest"))?;

    let gate = Gate::new(SafetyPolicies::for_files()?);
    let settings = FileDomainSettings {
        probes: FileQuestion::ALL.map(FileProbe::new).to_vec(),
        files: FileSettings::new()?,
        clarifications: Clarifications::default(),
        beliefs: BeliefRule::default(),
        severity: [1.0, 0.8, 0.4, 0.2],
        deletion: Deletion::Trash,
        principal: "agent".to_owned(),
        guarded: Vec::new(),
    };
    let workspace = Workspace::open(folder.path())?;
    for path in ["results", "latest", "missing"] {
        let text = format!(
            r#"{{"decision": "d", "actions": [{{"action": "delete", "path": "{path}"}}]}}"#
        );
        let request = serde_json::from_str::<FileProposal>(&text)?.check([])?;
        let mut domain = FileDomain::new(&workspace, &settings, &request);
        let decided = gate.decide(
            &mut domain,
            &Asked::new("d"),
            UsedCalibration::None,
            Timestamp::now(),
        )?;
        println!("delete {path}: {:?}", decided.record().decision);
        let mut worlds = decided.case().request().worlds.iter();
        let blocking = &decided.record().actions[0].blocked_by;
        let why = worlds.find(|world| blocking.first() == Some(&world.id));
        if let Some(why) = why.and_then(|world| world.description.as_deref()) {
            println!("  {why}");
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("probes of files need Linux");
}
