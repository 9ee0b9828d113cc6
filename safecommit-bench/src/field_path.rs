//! Where in a file an error is.

/// The path of a file's or line's whole.
pub(crate) const WHOLE: &str = ".";

/// The path of a field, as in `worlds[0].score`, without the unknown end that a text cut short gives.
pub(crate) fn field_path(path: &serde_path_to_error::Path) -> String {
    let text = path.to_string();
    let known = text.trim_end_matches(['?', '.']);
    if known.is_empty() { WHOLE } else { known }.to_owned()
}
