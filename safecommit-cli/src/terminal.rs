//! Text of users on a terminal.

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
    fn what_a_terminal_obeys_is_escaped() {
        check("a\u{1b}[31mb", r"a\u{1b}[31mb");
        check("COMMIT\rnothing", r"COMMIT\u{d}nothing");
        check("two\nlines\t", r"two\u{a}lines\u{9}");
        check("\u{9b}2J\u{7f}", r"\u{9b}2J\u{7f}");
        check("\u{202e}evil\u{2066}", r"\u{202e}evil\u{2066}");
    }
}
