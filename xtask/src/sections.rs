//! Files with tables between markers, so that one table can be replaced without the others.

use anyhow::{Context as _, bail};
use safecommit_bench::Table;

use crate::generated::Generated;
use crate::project::{Project, README};

/// The tables that the README shows, as parts of the whole that `RESULTS.md` and `BEYOND.md` are.
const SHOWN: [&str; 3] = ["main", "published", "headlines"];

/// The README with those of the tables that it shows.
pub(crate) fn readme(project: &Project, tables: &[&Table]) -> anyhow::Result<Generated> {
    let shown = tables.iter().filter(|table| SHOWN.contains(&table.name()));
    replaced(project, README, 3, &shown.copied().collect::<Vec<_>>())
}

/// A file of the project with tables as they are now, under headings of this level, each between its two
/// markers.
pub(crate) fn replaced(
    project: &Project,
    name: &str,
    level: usize,
    tables: &[&Table],
) -> anyhow::Result<Generated> {
    let mut text = std::fs::read_to_string(project.path(name))
        .with_context(|| format!("cannot read `{name}`"))?;
    for table in tables {
        text = replace(&text, table, level).with_context(|| format!("`{name}`"))?;
    }
    Ok(Generated::text(project, name, text))
}

/// A table with its markers.
pub(crate) fn section(table: &Table, level: usize) -> String {
    let (begin, end) = markers(table.name());
    format!("{begin}\n{}\n{end}", table.markdown(level))
}

fn markers(name: &str) -> (String, String) {
    (
        format!("<!-- begin table {name} -->\n"),
        format!("<!-- end table {name} -->\n"),
    )
}

fn replace(text: &str, table: &Table, level: usize) -> anyhow::Result<String> {
    let (begin, end) = markers(table.name());
    let mut parts = text.split(begin.as_str());
    let (Some(before), Some(rest), None) = (parts.next(), parts.next(), parts.next()) else {
        bail!(
            "there is not exactly one marker `{}`: a table that is new gets its place by a whole run with --bless",
            begin.trim_end()
        );
    };
    let Some((_, after)) = rest.split_once(end.as_str()) else {
        bail!("no marker `{}` follows its beginning", end.trim_end());
    };
    Ok(format!("{before}{}{after}", section(table, level)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str) -> String {
        std::fs::read_to_string(Project::find().unwrap().path(name)).unwrap()
    }

    /// The tour of the examples and the worked example are run by tests of the command, so what stands there too is true.
    #[test]
    fn transcripts_are_those_of_the_tested_tour() {
        let text = read(README);
        let tested = ["examples/README.md", "examples/worked-example/output.txt"].map(read);
        let transcripts: Vec<&str> = text
            .split("```console\n")
            .skip(1)
            .filter_map(|rest| rest.split("```").next())
            .collect();
        assert!(!transcripts.is_empty());
        for transcript in transcripts {
            assert!(
                transcript.starts_with("$ safecommit ")
                    && tested.iter().any(|known| known.contains(transcript)),
                "{transcript}"
            );
        }
    }

    #[test]
    fn the_smallest_request_is_the_one_in_the_examples() {
        let request = read("examples/0-smallest.json");
        assert!(read(README).contains(&format!("```json\n{request}```\n")));
    }

    #[test]
    fn a_table_without_its_markers_is_an_error() {
        let parameters = safecommit_bench::Parameters::project().unwrap();
        let outcome = crate::reproduce::experiments(&parameters, &mut Default::default()).unwrap();
        let table = &outcome.tables[0];
        let (begin, end) = ("<!-- begin table main -->\n", "<!-- end table main -->\n");
        let replaced = replace(&format!("a\n{begin}old\n{end}b\n"), table, 3).unwrap();
        let expected = format!("a\n{begin}\n{}\n{end}b\n", table.markdown(3));
        assert_eq!(replaced, expected);
        for text in [
            "",
            begin,
            &format!("{begin}{begin}{end}"),
            &format!("{end}{begin}"),
        ] {
            assert!(replace(text, table, 3).is_err(), "{text}");
        }
    }

    #[test]
    fn the_readme_names_its_commands() {
        let text = read(README);
        for command in ["cargo xtask reproduce\n", "cargo test --workspace\n"] {
            assert!(text.contains(command), "{command}");
        }
    }
}
