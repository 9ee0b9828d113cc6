//! Random trees against a plain walk by paths, which is written independently of the handles.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use safecommit_gate::{
    FileProbe, FileQuestion, FileSettings, Limits, Patterns, ProbeOutcome, Workspace,
};

/// Numbers that depend on the seed alone (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % limit
    }
}

const NAMES: [&[u8]; 7] = [b"a", b"b", b"c", b".env", b"\xff\xfe", b"x y", b"key.pem"];
const LEADS: [&str; 14] = [
    "a",
    "b",
    "../a",
    "../../b",
    "..",
    "../..",
    ".",
    "a/b/../c",
    "../w/t",
    "c/c",
    "../../../out",
    "/etc",
    "b/../../t/a",
    "../../w/keep",
];

/// Fills a directory with files, directories and links.
fn grow(folder: &Path, root: &Path, depth: usize, numbers: &mut Numbers) {
    for name in NAMES {
        let path = folder.join(OsStr::from_bytes(name));
        match numbers.below(if depth < 3 { 8 } else { 5 }) {
            0 | 1 => {
                let content = ["", "one", "two", "other"][numbers.below(4)];
                fs::write(&path, content).unwrap();
                if numbers.below(4) == 0 {
                    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
                }
            }
            2 => {
                let leads = match numbers.below(LEADS.len() + 2) {
                    0 => root.join("t"),
                    1 => root.join("t/a/../b"),
                    other => PathBuf::from(LEADS[other - 2]),
                };
                symlink(leads, &path).unwrap();
            }
            5.. => {
                fs::create_dir(&path).unwrap();
                grow(&path, root, depth + 1, numbers);
            }
            _ => {}
        }
    }
}

/// Where an absolute path leads: each link is replaced by its text, and the path read again from the start. `None` for
/// a loop or a file where a directory should be; what is below something missing may not lead up again, and a step up from
/// the border leads to `/`.
fn leads_to(path: &Path, border: &Path, hops: usize) -> Option<PathBuf> {
    let mut reached = PathBuf::from("/");
    let mut rest = path.components();
    while let Some(component) = rest.next() {
        match component {
            Component::ParentDir => {
                if reached == border {
                    return Some("/".into());
                }
                reached.pop();
            }
            Component::Normal(name) => {
                reached.push(name);
                match fs::symlink_metadata(&reached) {
                    Ok(found) if found.is_symlink() => {
                        let to = fs::read_link(&reached).unwrap();
                        reached.pop();
                        let again = reached.join(to).join(rest.as_path());
                        return if hops == 0 {
                            None
                        } else {
                            leads_to(&again, border, hops - 1)
                        };
                    }
                    Ok(found) => {
                        if !found.is_dir() && rest.clone().next().is_some() {
                            return None;
                        }
                    }
                    Err(_) => {
                        let up = rest
                            .clone()
                            .any(|component| component == Component::ParentDir);
                        return Some(if up {
                            "/".into()
                        } else {
                            reached.join(rest.as_path())
                        });
                    }
                }
            }
            _ => {}
        }
    }
    Some(reached)
}

/// Every path below a directory, itself included.
fn all_below(path: &Path, found: &mut Vec<PathBuf>) {
    found.push(path.to_owned());
    if fs::symlink_metadata(path).unwrap().is_dir() {
        let mut names: Vec<OsString> = fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        for name in names {
            all_below(&path.join(name), found);
        }
    }
}

/// What tells one tree from another with the same content.
fn listing(root: &Path) -> Vec<(PathBuf, u32, Vec<u8>)> {
    let mut paths = Vec::new();
    all_below(root, &mut paths);
    let describe = |path: &PathBuf| {
        let found = fs::symlink_metadata(path).unwrap();
        let content = if found.is_symlink() {
            fs::read_link(path).unwrap().into_os_string().into_vec()
        } else if found.is_file() {
            fs::read(path).unwrap()
        } else {
            Vec::new()
        };
        let mode = if path == root { 0 } else { found.mode() };
        (path.strip_prefix(root).unwrap().to_owned(), mode, content)
    };
    paths.iter().map(describe).collect()
}

fn is_secret(path: &Path) -> bool {
    path.iter()
        .any(|name| name == ".env" || name.as_bytes().ends_with(b".pem"))
}

#[test]
fn a_thousand_random_trees_are_seen_as_by_a_plain_walk() {
    let (mut leaving, mut failed, mut inside, mut only, mut trees) = (0, 0, 0, 0, BTreeMap::new());
    for seed in 1..=1000_u64 {
        let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        // In memory where there is such a place: a thousand trees take a disk half a minute.
        let folder = tempfile::tempdir_in("/dev/shm")
            .or_else(|_| tempfile::tempdir())
            .unwrap();
        let root = folder.path().canonicalize().unwrap().join("w");
        fs::create_dir_all(root.join("t")).unwrap();
        fs::create_dir(root.join("keep")).unwrap();
        grow(&root.join("t"), &root, 1, &mut numbers);
        grow(&root.join("keep"), &root, 3, &mut numbers);
        let workspace = Workspace::open(&root).unwrap();
        let mut settings = FileSettings::new().unwrap();
        settings.secret = Patterns::new([".env", "*.pem"]).unwrap();
        let found = |path: &str, question: FileQuestion, fact: &str| {
            let target = workspace.target(path).unwrap();
            match FileProbe::new(question).make(&workspace, &target, &settings) {
                ProbeOutcome::Found(found) => found
                    .iter()
                    .find(|(name, _)| *name == fact)
                    .unwrap()
                    .1
                    .to_owned(),
                _ => "failed".to_owned(),
            }
        };
        let tree = root.join("t");
        let mut paths = Vec::new();
        all_below(&tree, &mut paths);
        let is_link = |path: &PathBuf| path.is_symlink();

        let leaves = paths
            .iter()
            .filter(|path| is_link(path))
            .any(|path| leads_to(path, &tree, 40).is_some_and(|to| !to.starts_with(&tree)));
        let expected = if leaves { "link" } else { "no" };
        assert_eq!(
            found("t", FileQuestion::Tree, "leaves_tree"),
            expected,
            "seed {seed}"
        );
        leaving += usize::from(leaves);

        let secret = paths
            .iter()
            .any(|path| is_secret(path.strip_prefix(&root).unwrap()));
        assert_eq!(
            found("t", FileQuestion::Patterns, "secret"),
            secret.to_string(),
            "seed {seed}"
        );

        for name in ["a", "b", "c"] {
            let expected = match leads_to(&tree.join(name), &root, 40) {
                None => "failed",
                Some(to) if to.starts_with(&root) => "inside",
                Some(_) => "outside",
            };
            let path = format!("t/{name}");
            assert_eq!(
                found(&path, FileQuestion::Location, "location"),
                expected,
                "seed {seed}"
            );
            failed += usize::from(expected == "failed");
            inside += usize::from(expected == "inside");
        }

        let mut elsewhere = Vec::new();
        all_below(&root.join("keep"), &mut elsewhere);
        let contents = |paths: &[PathBuf]| -> Vec<Vec<u8>> {
            let files = paths
                .iter()
                .filter(|path| fs::symlink_metadata(path).unwrap().is_file());
            files.map(|path| fs::read(path).unwrap()).collect()
        };
        let kept = contents(&elsewhere);
        let is_lost = |content: &Vec<u8>| !content.is_empty() && !kept.contains(content);
        let lost = contents(&paths).iter().any(is_lost);
        assert_eq!(
            found("t", FileQuestion::Copies, "only_copy"),
            lost.to_string(),
            "seed {seed}"
        );
        only += usize::from(lost);

        // As many names as there are, and no fewer, are enough.
        let target = workspace.target("t").unwrap();
        let limits = Limits {
            entries: paths.len() as u64,
            ..Limits::default()
        };
        let identity = target.identity(&limits).unwrap().unwrap();
        let fewer = Limits {
            entries: paths.len() as u64 - 1,
            ..limits
        };
        assert!(target.identity(&fewer).is_err(), "seed {seed}");
        // Equal content digests are equal listings, and the other way round.
        let listed = trees
            .entry(identity.content)
            .or_insert_with(|| listing(&tree))
            .clone();
        assert_eq!(listed, listing(&tree), "seed {seed}");
    }
    let distinct: std::collections::BTreeSet<_> = trees.values().collect();
    assert_eq!(distinct.len(), trees.len());
    for (what, count) in [
        ("leaving", leaving),
        ("inside", inside),
        ("failed", failed),
        ("only", only),
    ] {
        assert!(
            (30..=2970).contains(&count),
            "too few or too many of one sort: {what} {count}"
        );
    }
}
