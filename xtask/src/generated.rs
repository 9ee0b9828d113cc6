//! A file that the project holds and can generate: one form to write it and to check it.

use std::path::PathBuf;

use similar::TextDiff;

use crate::project::Project;
use crate::write;

/// Lines of a difference that are shown.
const SHOWN: usize = 60;

/// What a file must hold.
pub(crate) struct Generated {
    /// Its path from the root of the project.
    name: String,
    path: PathBuf,
    bytes: Vec<u8>,
    /// Whether a difference is worth showing line by line.
    diff: bool,
}

impl Generated {
    /// A text for people: a difference is shown.
    pub(crate) fn text(project: &Project, name: &str, text: String) -> Self {
        Self {
            diff: true,
            ..Self::bytes(project, name, text.into_bytes())
        }
    }

    /// Data: of a difference, the first line is named.
    pub(crate) fn bytes(project: &Project, name: &str, bytes: Vec<u8>) -> Self {
        Self {
            name: name.to_owned(),
            path: project.path(name),
            bytes,
            diff: false,
        }
    }

    /// Writes the file if it does not hold this already.
    pub(crate) fn write(&self) -> anyhow::Result<()> {
        if std::fs::read(&self.path).is_ok_and(|found| found == self.bytes) {
            return Ok(());
        }
        write::atomically(&self.path, &self.bytes)
    }

    /// How the file that is there differs, if it does. Every byte counts, and nothing but the file and what
    /// was generated is looked at: no setting from outside can turn a difference into none.
    pub(crate) fn difference(&self) -> Option<String> {
        let name = &self.name;
        let found = match std::fs::read(&self.path) {
            Ok(found) => found,
            Err(error) => return Some(format!("cannot read `{name}`: {error}")),
        };
        if found == self.bytes {
            return None;
        }
        let line = first_difference(&found, &self.bytes);
        let head = format!("`{name}` line {line} differs from what is generated");
        if !self.diff {
            return Some(head);
        }
        let (found, expected) = (
            String::from_utf8_lossy(&found),
            String::from_utf8_lossy(&self.bytes),
        );
        let diff = TextDiff::from_lines(found.as_ref(), expected.as_ref());
        let diff = diff
            .unified_diff()
            .context_radius(1)
            .header("in the project", "generated")
            .to_string();
        let lines: Vec<&str> = diff.lines().take(SHOWN).collect();
        let rest = diff.lines().count().saturating_sub(SHOWN);
        let more = match rest {
            0 => String::new(),
            rest => format!("\n({rest} more lines)"),
        };
        Some(format!("{head}\n{}{more}", lines.join("\n")))
    }
}

/// Number of the first line in which two texts differ, from 1.
fn first_difference(found: &[u8], expected: &[u8]) -> usize {
    let lines = |text| <[u8]>::split(text, |byte| *byte == b'\n');
    let equal = lines(found)
        .zip(lines(expected))
        .take_while(|(found, expected)| found == expected);
    equal.count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project() -> (tempfile::TempDir, Project) {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("safecommit-bench")).unwrap();
        for name in ["Cargo.toml", "safecommit-bench/Cargo.toml"] {
            std::fs::write(directory.path().join(name), "[workspace]\n").unwrap();
        }
        let project = Project::around(directory.path()).unwrap();
        (directory, project)
    }

    #[test]
    fn a_difference_names_file_and_line() {
        let (directory, project) = project();
        let path = directory.path().join("part.jsonl");
        let check = |found: &str, expected: &str, line: Option<usize>| {
            std::fs::write(&path, found).unwrap();
            let data = Generated::bytes(&project, "part.jsonl", expected.into()).difference();
            let text = Generated::text(&project, "part.jsonl", expected.into()).difference();
            assert_eq!(data.is_some(), line.is_some());
            if let (Some(data), Some(text), Some(line)) = (data, text, line) {
                assert!(
                    data.contains("part.jsonl") && data.contains(&format!("line {line} ")),
                    "{data}"
                );
                assert!(text.starts_with(&data) && text.contains("@@"), "{text}");
            }
        };
        check("a\nb\n", "a\nb\n", None);
        check("a\nb\n", "a\nc\n", Some(2));
        check("a\n", "a\nc\n", Some(2));
        check("a\nb", "a\nb\n", Some(3));
        check("", "a\n", Some(1));
    }

    #[test]
    fn a_missing_file_is_a_difference() {
        let (_directory, project) = project();
        let file = Generated::bytes(&project, "none.jsonl", Vec::new());
        assert!(
            file.difference()
                .is_some_and(|text| text.contains("none.jsonl"))
        );
        file.write().unwrap();
        assert_eq!(file.difference(), None);
    }
}
