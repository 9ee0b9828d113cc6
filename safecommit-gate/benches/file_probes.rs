//! How long it takes to open a target and to make each probe of it, on a warm cache.
#![cfg_attr(
    unix,
    expect(clippy::unwrap_used, reason = "a bench stops at the first surprise")
)]

use criterion::{Criterion, criterion_group, criterion_main};

#[cfg(unix)]
fn probes(criterion: &mut Criterion) {
    use safecommit_gate::{FileProbe, FileQuestion, FileSettings, Limits, Workspace};
    use std::fs;
    use std::process::Command;

    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("a/b/c/run")).unwrap();
    for file in 0..10 {
        fs::write(root.join(format!("a/b/c/run/{file}")), format!("{file}")).unwrap();
        fs::write(root.join(format!("{file}")), format!("{file}")).unwrap();
    }
    std::os::unix::fs::symlink("0", root.join("a/b/c/run/latest")).unwrap();
    let identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
    for arguments in [
        &["init", "-q"][..],
        &["add", "."],
        &["commit", "-qm", "all"],
    ] {
        let mut git = Command::new("git");
        git.args(identity).args(arguments).current_dir(root);
        assert!(git.status().unwrap().success());
    }
    let workspace = Workspace::open(root).unwrap();
    let settings = FileSettings::new().unwrap();
    let limits = Limits::default();

    let mut group = criterion.benchmark_group("files");
    let path = root.join("a/b/c/run");
    group.bench_function("lstat by path", |bench| {
        bench.iter(|| fs::symlink_metadata(&path).unwrap());
    });
    group.bench_function("target", |bench| {
        bench.iter(|| workspace.target("a/b/c/run").unwrap());
    });
    let target = workspace.target("a/b/c/run").unwrap();
    for question in FileQuestion::ALL {
        let probe = FileProbe::new(question);
        // A directory is not overwritten.
        let target = match question {
            FileQuestion::StagedDiff => &workspace.target("a/b/c/run/0").unwrap(),
            _ => &target,
        };
        group.bench_function(question.name(), |bench| {
            bench.iter(|| probe.make_for_overwrite(&workspace, target, b"0\n1\n", None, &settings));
        });
    }
    group.bench_function("identity", |bench| {
        bench.iter(|| target.identity(&limits).unwrap());
    });
    group.finish();
}

#[cfg(not(unix))]
fn probes(_: &mut Criterion) {}

criterion_group!(benches, probes);
criterion_main!(benches);
