//! That a gate can read what it is given, and that a scene stands as its plan says.

use safecommit_gate::{EvidenceRecord, EvidenceSet, TargetPath};

use crate::families::Family;
use crate::plan::Step;
use crate::scene::Scene;
use crate::snapshot::{Compare, Snapshot, What};

/// One scene of each shape of each family.
fn some() -> Vec<Scene> {
    let plans = Family::without_mounts().into_iter().flat_map(Family::plans);
    let some = plans.filter(|plan| plan.index < 10);
    some.filter_map(|plan| Scene::build(&plan).ok()).collect()
}

#[test]
fn evidence_is_readable_and_its_times_can_be() {
    for scene in some() {
        assert!(scene.workspace().is_dir() && !scene.state().exists());
        let request = scene.request();
        let records = request["evidence"].as_array().unwrap().iter();
        let records = records.map(|record| EvidenceRecord::from_json(&record.to_string()).unwrap());
        let evidence = EvidenceSet::new(records).unwrap();
        assert!(!evidence.records().is_empty());
        assert_eq!(evidence.impossible_times(scene.now()), [], "{request}");
        for id in request["uses"].as_array().unwrap() {
            assert!(evidence.get(id.as_str().unwrap()).is_some());
        }
        for action in request["actions"].as_array().unwrap() {
            let path = action["path"].as_str().unwrap();
            assert!(
                TargetPath::new(path).is_ok() || path.contains(".."),
                "{path}"
            );
        }
    }
}

/// What was done before the memory is dated before it, the rest after it.
#[test]
fn times_can_be_told_apart() {
    use std::os::unix::fs::MetadataExt as _;

    let memory_of = |scene: &Scene| -> jiff::Timestamp {
        let request = scene.request();
        let time = request["evidence"][0]["recorded"].as_str().unwrap();
        time.parse().unwrap()
    };
    let changed = |scene: &Scene, path: &str| {
        let meta = std::fs::symlink_metadata(scene.path(path)).unwrap();
        jiff::Timestamp::new(meta.ctime(), i32::try_from(meta.ctime_nsec()).unwrap()).unwrap()
    };
    let mut late = 0;
    for scene in some() {
        let memory = memory_of(&scene);
        assert!(changed(&scene, "workspace/README.md") < memory);
        for step in &scene.plan().after {
            if let Step::File(path, _) = step
                && scene.path(path).symlink_metadata().is_ok()
            {
                assert!(changed(&scene, path) > memory);
                late += 1;
            }
        }
    }
    assert!(late > 20, "{late}");
}

/// Two scenes of one plan are the same but for times and for where they are.
#[test]
fn a_scratch_copy_is_like_the_scene() {
    let plans = Family::without_mounts().into_iter().flat_map(Family::plans);
    for plan in plans.filter(|plan| plan.index < 10) {
        let Ok(scene) = Scene::build(&plan) else {
            continue;
        };
        let scratch = Scene::scratch(&plan).unwrap();
        assert_eq!(plainly(&scene), plainly(&scratch), "{plan:#?}");
    }
}

fn plainly(scene: &Scene) -> Vec<String> {
    let base = scene.path("");
    let base = base.to_str().unwrap().trim_end_matches('/');
    let snapshot: Snapshot = scene.snapshot();
    assert!(
        snapshot
            .changes(&scene.snapshot(), Compare::Everything)
            .is_empty()
    );
    let shown = snapshot.entries().map(|(path, entry)| {
        let what = match &entry.what {
            What::Link(to) => to.to_str().unwrap().replace(base, "BASE"),
            // Commits name their time.
            What::File(_) if path.starts_with("workspace/.git") => String::new(),
            other => format!("{other:?}"),
        };
        format!("{} {what} {:o} {}", path.display(), entry.mode, entry.owner)
    });
    shown
        .filter(|line| !line.starts_with("workspace/.git/objects"))
        .collect()
}
