//! Whether a calibration is spelled as it is written: a derived reader takes more spellings than the schema allows, such as
//! `{"marginal": null}` for `"marginal"`.

use serde_json::Value;

use super::GateCalibration;

/// The first field of a text that is not spelled as it would be written; the text was read as this calibration.
pub(super) fn odd(text: &[u8], read: &GateCalibration) -> Option<String> {
    let given: Value = serde_json::from_slice(text).ok()?;
    let written = serde_json::to_value(read).ok()?;
    differing(&given, &written, "")
}

fn differing(given: &Value, written: &Value, path: &str) -> Option<String> {
    match (given, written) {
        (Value::Object(given), Value::Object(written)) if given.len() == written.len() => {
            given.iter().find_map(|(key, value)| {
                let dot = if path.is_empty() { "" } else { "." };
                let path = format!("{path}{dot}{key}");
                match written.get(key) {
                    Some(written) => differing(value, written, &path),
                    None => Some(path),
                }
            })
        }
        (Value::Array(given), Value::Array(written)) if given.len() == written.len() => {
            let pairs = given.iter().zip(written).enumerate();
            let mut differing = pairs
                .map(|(at, (given, written))| differing(given, written, &format!("{path}[{at}]")));
            differing.find_map(|found| found)
        }
        // `1` and `1.0` are one number.
        (Value::Number(given), Value::Number(written)) if given.as_f64() == written.as_f64() => {
            None
        }
        (given, written) if given == written => None,
        _ => Some(path.to_owned()),
    }
}
