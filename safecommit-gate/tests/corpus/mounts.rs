//! The families with mounts, in a name space of their own. Where the system forbids that to its users they are left out.

use std::path::PathBuf;

use crate::families::Family;
use crate::gated::check_gate;
use crate::label::Harm;
use crate::probed::check_policies;
use crate::reference::check_reference_gates;
use crate::{check_labels, own_mounts};

const INNER: &str = "SAFECOMMIT_TEST_CORPUS_MOUNTS";

/// What is done with the families once mounts can be made; gives the table.
fn within() -> String {
    for family in Family::with_mounts() {
        check_labels(family);
        let labels = family.labelled().iter().flat_map(|scene| &scene.labels);
        let harms: Vec<_> = labels.flatten().flat_map(|label| &label.harms).collect();
        assert!(harms.contains(&&Harm::Lost), "the only copy is on a mount");
    }
    let report = check_reference_gates(&Family::with_mounts());
    assert_eq!(report.total().left_out, 0);
    let probed = check_policies(&Family::with_mounts());
    let gated = check_gate(&Family::with_mounts()).report;
    format!("{report}\n{probed}\n{gated}")
}

#[test]
fn mounts_do_harm() {
    if let Some(table) = std::env::var_os(INNER) {
        return std::fs::write(PathBuf::from(table), within()).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("table");
    own_mounts::run_again("mounts::mounts_do_harm", INNER, &table);
    match std::fs::read_to_string(table) {
        Ok(table) => println!("with mounts:\n{table}"),
        Err(_) => {
            let scenes = Family::with_mounts()[0].plans().len();
            println!("{scenes} scenes with mounts are left out: they cannot be made here");
        }
    }
}
