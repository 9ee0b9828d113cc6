//! The tables as insta snapshots, read and written here so that no setting of insta has a say.

use std::collections::BTreeSet;

use anyhow::Context as _;
use safecommit_bench::beyond::Study;
use safecommit_bench::{Table, table_names};

use crate::generated::Generated;
use crate::project::{Project, SNAPSHOTS};

/// Where the text of all snapshots is made.
const SOURCE: &str = "safecommit-bench/src/tables.rs";

/// The snapshot files of the tables.
pub(crate) fn render(project: &Project, tables: &[&Table]) -> Vec<Generated> {
    let file = |table: &Table| {
        let name = format!("{SNAPSHOTS}/{}", file_name(table));
        Generated::text(project, &name, snapshot(table))
    };
    tables.iter().copied().map(file).collect()
}

/// Snapshots of tables that there are none of, and those that insta left for a review.
pub(crate) fn unknown(project: &Project) -> anyhow::Result<Vec<String>> {
    let names = table_names().chain(Study::ALL.map(Study::name));
    let known: BTreeSet<String> = names.map(|name| format!("{name}.snap")).collect();
    let mut unknown = BTreeSet::new();
    let cannot_read = || format!("cannot read `{SNAPSHOTS}`");
    let entries = std::fs::read_dir(project.path(SNAPSHOTS)).with_context(cannot_read)?;
    for entry in entries {
        let name = entry.with_context(cannot_read)?.file_name();
        let name = name.to_string_lossy().into_owned();
        if name.contains(".snap") && !known.contains(&name) {
            unknown.insert(format!("`{SNAPSHOTS}/{name}` is the snapshot of no table"));
        }
    }
    Ok(unknown.into_iter().collect())
}

fn file_name(table: &Table) -> String {
    format!("{}.snap", table.name())
}

fn snapshot(table: &Table) -> String {
    let (name, text) = (table.name(), table.markdown(2));
    format!(
        "---\nsource: {SOURCE}\nexpression: {name}\n---\n{}\n",
        text.trim_end()
    )
}

#[cfg(test)]
mod tests {
    use safecommit_bench::Parameters;

    use super::*;
    use crate::reproduce::experiments;
    use crate::stages::Stages;

    /// The same comparison as `cargo xtask reproduce` makes, and insta's own reading of the same files: it finds
    /// the table in them, and would write them as they are.
    #[test]
    fn tables_are_those_of_the_snapshots() {
        let project = Project::find().unwrap();
        let parameters = Parameters::project().unwrap();
        let outcome = experiments(&parameters, &mut Stages::default()).unwrap();
        assert_eq!(outcome.findings.failures(), Vec::<String>::new());
        assert_eq!(unknown(&project).unwrap(), Vec::<String>::new());
        let tables: Vec<&Table> = outcome.tables.iter().collect();
        for file in render(&project, &tables) {
            assert_eq!(file.difference(), None);
        }
        let again = tempfile::tempdir().unwrap();
        for table in &outcome.tables {
            let path = project.path(SNAPSHOTS).join(file_name(table));
            let read = insta::Snapshot::from_file(&path).unwrap();
            assert_eq!(read.metadata().source(), Some(SOURCE));
            assert_eq!(read.metadata().expression(), Some(table.name()));
            let insta::internals::SnapshotContents::Text(text) = read.contents() else {
                panic!("{} is no text", path.display());
            };
            assert_eq!(text.to_string(), table.markdown(2).trim_end());
            let copy = again.path().join(file_name(table));
            read.save(&copy).unwrap();
            assert_eq!(std::fs::read(copy).unwrap(), std::fs::read(path).unwrap());
        }
        let readme = crate::sections::readme(&project, &tables).unwrap();
        assert_eq!(readme.difference(), None);
    }
}
