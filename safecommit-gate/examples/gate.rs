//! A gate of its own for a workspace: decides a deletion, carries it out, and undoes it.
//!
//! `cargo run -p safecommit-gate --example gate`

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::os::unix::fs::DirBuilderExt as _;

    use jiff::Timestamp;
    use safecommit_gate::audit::{AuditLog, LogKey};
    use safecommit_gate::{Executor, FileGate, FileProposal, GateConfiguration, Workspace};

    let folder = tempfile::tempdir()?;
    let project = folder.path().join("project");
    std::fs::create_dir_all(project.join("run/latest"))?;
    std::fs::write(project.join("run/latest/part-1"), "temporary")?;

    // What `safecommit init` does: configuration, state directory, key, empty log, all outside the workspace.
    let file = folder.path().join("safecommit.toml");
    std::fs::write(&file, GateConfiguration::text("project", "state"))?;
    let configuration = GateConfiguration::load(&file)?;
    std::fs::DirBuilder::new()
        .mode(0o700)
        .create(configuration.state())?;
    let key = LogKey::create(configuration.key())?;
    AuditLog::create(configuration.log(), configuration.head(), key)?;

    // What the agent proposes. It may cite memories and outputs of tools, and speak for nobody else.
    let proposal: FileProposal = serde_json::from_str(
        r#"{"decision": "cleanup-1", "actions": [{"action": "delete", "path": "run/latest"}]}"#,
    )?;
    let request = proposal.check([])?;

    let mut gate = FileGate::open(&configuration)?;
    let decision = gate.decide(&request, Timestamp::now())?;
    for made in &decision.record().observed {
        let outcome = made.outcome.as_deref().unwrap_or("failed");
        println!("probe {}: {outcome}", made.probe);
    }
    println!("decision: {:?}", decision.record().decision);
    let receipt = gate.release(decision)?;
    println!(
        "run/latest is there: {}",
        project.join("run/latest").exists()
    );

    // One executor at a time holds the state directory.
    drop(gate);
    let workspace = Workspace::open(configuration.workspace())?;
    let mut executor = Executor::open(workspace, configuration.state())?;
    executor.restore(receipt.entry)?;
    let content = std::fs::read_to_string(project.join("run/latest/part-1"))?;
    println!("restored: {content}");
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("effects on files need Linux");
}
