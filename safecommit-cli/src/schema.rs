//! `safecommit schema`: JSON Schemas of what is read and written here.

#[cfg(unix)]
mod audit;
mod core;
#[cfg(target_os = "linux")]
mod gate;
mod records;

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform as _};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

use crate::cli::SchemaForm;
use crate::output;

pub(crate) fn run(form: SchemaForm) -> Result<ExitCode> {
    let mut text = serde_json::to_string_pretty(&schema(form)?)?;
    text.push('\n');
    output::print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn schema(form: SchemaForm) -> Result<Schema> {
    match form {
        SchemaForm::Request => core::request(),
        SchemaForm::Decision => core::decision(),
        #[cfg(target_os = "linux")]
        SchemaForm::Proposal => gate::proposal(),
        #[cfg(target_os = "linux")]
        SchemaForm::GateDecision => gate::decision(),
        #[cfg(target_os = "linux")]
        SchemaForm::Answers => gate::answers(),
        SchemaForm::Evidence => records::evidence(),
        SchemaForm::Label => records::label(),
        #[cfg(unix)]
        SchemaForm::AuditRecord => audit::record(),
        #[cfg(unix)]
        SchemaForm::AuditLine => audit::line(),
        #[cfg(unix)]
        SchemaForm::Diagnosis => audit::diagnosis(),
        SchemaForm::Calibration => core::calibration(),
        SchemaForm::GateCalibration => core::gate_calibration(),
        SchemaForm::Error => core::error(),
    }
}

/// Of a form that is read.
fn read() -> SchemaSettings {
    SchemaSettings::draft2020_12().for_deserialize()
}

/// Of a form that is written.
fn written() -> SchemaSettings {
    SchemaSettings::draft2020_12().for_serialize()
}

/// The schema of a type under a title, with examples that the type itself has written or read.
fn describe<T: JsonSchema>(
    settings: SchemaSettings,
    title: &str,
    description: &str,
    examples: Vec<Value>,
) -> Schema {
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(clean_description).transform(&mut schema);
    schema.insert("title".to_owned(), title.into());
    schema.insert("description".to_owned(), description.into());
    schema.insert("examples".to_owned(), Value::Array(examples));
    schema
}

/// The definition of a type that the schema of another one has.
fn definition<'s>(schema: &'s mut Schema, name: &str) -> Result<&'s mut Map<String, Value>> {
    schema
        .pointer_mut(&format!("/$defs/{name}"))
        .and_then(Value::as_object_mut)
        .with_context(|| format!("the schema does not define `{name}`"))
}

/// Descriptions come from the documentation of Rust types: leaves out their sections and code, and keeps
/// the text of links.
fn clean_description(schema: &mut Schema) {
    let Some(Value::String(text)) = schema.get_mut("description") else {
        return;
    };
    let prose = text.split("\n\n").take_while(|paragraph| {
        let markup = ["# ", "```"];
        !markup.iter().any(|start| paragraph.starts_with(start))
    });
    let paragraphs: Vec<String> = prose
        .map(|paragraph| without_links(&paragraph.replace('\n', " ")))
        .collect();
    *text = paragraphs.join("\n\n");
}

/// Turns links to code into the last part of what they name.
fn without_links(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("[`")
        && let Some((name, after)) = link.split_once("`]")
    {
        let name = name.rsplit("::").next().unwrap_or(name);
        plain.push_str(&format!("{before}`{name}`"));
        rest = match after
            .strip_prefix('(')
            .and_then(|target| target.split_once(')'))
        {
            Some((_, after)) => after,
            None => after,
        };
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_become_names() {
        let check = |text: &str, expect: &str| assert_eq!(without_links(text), expect);
        check("validated by [`crate::Case::new`].", "validated by `new`.");
        check("the law [`Law`](crate::Law); and", "the law `Law`; and");
        check(
            "in [0, 1] of `worlds[2]`, [`open",
            "in [0, 1] of `worlds[2]`, [`open",
        );
    }
}
