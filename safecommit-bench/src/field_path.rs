//! Where in a file an error is.

/// The path of a file's or line's whole.
pub(crate) const WHOLE: &str = ".";

/// The path of a field, as in `worlds[0].score`, without the unknown end that a text cut short gives.
pub(crate) fn field_path(path: &serde_path_to_error::Path) -> String {
    let text = path.to_string();
    let known = text.trim_end_matches(['?', '.']);
    if known.is_empty() { WHOLE } else { known }.to_owned()
}

/// The field at fault, and what is wrong with it, where the message knows the field better than the path,
/// which stops at the object that lacks a field, has one too many, or is checked as a whole.
pub(crate) fn name_field(path: &str, message: &str) -> (String, String) {
    const CHECKED_AS_A_WHOLE: [&str; 4] = [
        "field `",
        "calibration field `",
        "mondrian field `",
        "group field `",
    ];
    const OBJECT_FAULTS: [&str; 3] = ["missing field `", "duplicate field `", "unknown field `"];
    let checked = CHECKED_AS_A_WHOLE
        .iter()
        .find_map(|prefix| message.strip_prefix(prefix))
        .and_then(|rest| rest.split_once("`: "));
    if let Some((field, rest)) = checked {
        let known = ends_in_field(path, field);
        let field = if known {
            path.to_owned()
        } else {
            join(path, field)
        };
        return (field, rest.to_owned());
    }
    let named = OBJECT_FAULTS
        .iter()
        .find_map(|prefix| message.strip_prefix(prefix))
        .and_then(|rest| rest.split_once('`'));
    match named {
        Some((field, _)) if !ends_in_field(path, field) => (join(path, field), message.to_owned()),
        _ => (path.to_owned(), message.to_owned()),
    }
}

fn join(path: &str, field: &str) -> String {
    match path {
        "" | WHOLE => field.to_owned(),
        path => format!("{path}.{field}"),
    }
}

fn ends_in_field(path: &str, field: &str) -> bool {
    path.strip_suffix(field)
        .is_some_and(|parent| parent.is_empty() || parent.ends_with('.'))
}
