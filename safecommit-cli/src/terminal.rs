//! Text of users on a terminal.

use std::fmt::Write as _;

/// `text` with every character that could move the cursor, change colours or reorder what is read
/// replaced by its escape, as in `\u{1b}`. What remains is one line.
pub(crate) fn one_line(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if is_harmless(character) {
            safe.push(character);
        } else {
            safe.extend(character.escape_unicode());
        }
    }
    safe
}

/// `value` on one line of JSON, with the same characters escaped as JSON does it.
pub(crate) fn json_line(value: &serde_json::Value) -> String {
    let mut safe = String::new();
    for character in value.to_string().chars() {
        if is_harmless(character) {
            safe.push(character);
        } else {
            // A character that JSON lets stand is within a text.
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                let _ = write!(safe, "\\u{unit:04x}");
            }
        }
    }
    safe
}

/// `text` without its middle if it is long, as what quotes a hostile file may be.
pub(crate) fn shortened(text: &str) -> String {
    const START: usize = 300;
    const END: usize = 100;
    // Bytes are not fewer than characters, and counted at once.
    if text.len() <= START + END {
        return text.to_owned();
    }
    let count = text.chars().count();
    let omitted = count.saturating_sub(START + END);
    if omitted == 0 {
        return text.to_owned();
    }
    let start: String = text.chars().take(START).collect();
    let end: String = text.chars().skip(START + omitted).collect();
    format!("{start} [{omitted} characters left out] {end}")
}

fn is_harmless(character: char) -> bool {
    !character.is_control()
        && !matches!(
            character,
            // Line and paragraph separators; marks and overrides of writing direction; invisible ones.
            '\u{2028}' | '\u{2029}' | '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expect: &str) {
        assert_eq!(one_line(input), expect, "input {input:?}");
    }

    #[test]
    fn plain_text_stays() {
        check("send-note ✉ héllo 漢字", "send-note ✉ héllo 漢字");
    }

    #[test]
    fn json_stays_what_it_is() {
        let value = serde_json::json!({"a\u{1b}": "\u{7f}\u{202e}é\u{e0001}\n"});
        let line = json_line(&value);
        assert_eq!(line, r#"{"a\u001b":"\u007f\u202eé\udb40\udc01\n"}"#);
        let read: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read, value);
    }

    #[test]
    fn only_a_long_text_loses_its_middle() {
        let text = "é".repeat(300) + &"z".repeat(100);
        assert_eq!(shortened(&text), text);
        let longer = "é".repeat(300) + "omitted" + &"z".repeat(100);
        let expect = "é".repeat(300) + " [7 characters left out] " + &"z".repeat(100);
        assert_eq!(shortened(&longer), expect);
    }

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        check("a\u{1b}[31mb", r"a\u{1b}[31mb");
        check("COMMIT\rnothing", r"COMMIT\u{d}nothing");
        check("two\nlines\t", r"two\u{a}lines\u{9}");
        check("\u{9b}2J\u{7f}", r"\u{9b}2J\u{7f}");
        check("\u{202e}evil\u{2066}", r"\u{202e}evil\u{2066}");
    }
}
