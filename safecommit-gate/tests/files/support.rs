//! What a probe answers about a path, as text.

use std::fs;
use std::path::Path;

use safecommit_gate::{FileProbe, FileQuestion, FileSettings, Workspace};

pub(crate) fn settings() -> FileSettings {
    FileSettings::new().unwrap()
}

pub(crate) fn ask(root: &Path, path: &str, question: FileQuestion) -> String {
    ask_with(root, path, question, &settings())
}

pub(crate) fn ask_with(
    root: &Path,
    path: &str,
    question: FileQuestion,
    settings: &FileSettings,
) -> String {
    let workspace = Workspace::open(root).unwrap();
    let target = workspace.target(path).unwrap();
    FileProbe::new(question)
        .make(&workspace, &target, settings)
        .to_string()
}

/// Writes to a file that is there and sets its time of modification back to what it was.
pub(crate) fn rewrite_at_the_same_time(path: &Path, content: &str) {
    let time = fs::metadata(path).unwrap().modified().unwrap();
    fs::write(path, content).unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(time).unwrap();
}
