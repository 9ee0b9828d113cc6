//! Lines that others wrote, one at a time and none longer than is allowed.

use std::io::{self, BufRead, Read as _};

/// What is wrong with a line.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LineProblem {
    #[error(transparent)]
    Read(#[from] io::Error),
    #[error("it has more than {longest} bytes")]
    TooLong { longest: usize },
    /// The first byte that is not, from 1.
    #[error("column {column}: it is not UTF-8")]
    NotUtf8 { column: usize },
}

/// Reads the next line into `buffer`, and gives it without its end, which the last one may lack; `None` at the end.
/// However long a line is, no more than `longest` bytes and one are held.
pub(crate) fn next_line<'b>(
    reader: &mut impl BufRead,
    longest: usize,
    buffer: &'b mut Vec<u8>,
) -> Result<Option<&'b str>, LineProblem> {
    buffer.clear();
    // The longest line with its end, and one byte more if the line goes on.
    let limit = longest as u64 + 1;
    if reader.by_ref().take(limit).read_until(b'\n', buffer)? == 0 {
        return Ok(None);
    }
    if buffer.last() == Some(&b'\n') {
        buffer.pop();
    }
    if buffer.len() > longest {
        return Err(LineProblem::TooLong { longest });
    }
    match std::str::from_utf8(buffer) {
        Ok(text) => Ok(Some(text)),
        Err(error) => Err(LineProblem::NotUtf8 {
            column: error.valid_up_to() + 1,
        }),
    }
}

/// What is wrong with a JSON text, without the place, which is said in another way.
pub(crate) fn reason(error: &serde_json::Error) -> String {
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = error.to_string();
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], longest: usize) -> Vec<Result<String, String>> {
        let (mut reader, mut buffer) = (text, Vec::new());
        let mut found = Vec::new();
        loop {
            match next_line(&mut reader, longest, &mut buffer) {
                Ok(None) => return found,
                Ok(Some(line)) => found.push(Ok(line.to_owned())),
                Err(problem) => {
                    found.push(Err(problem.to_string()));
                    return found;
                }
            }
        }
    }

    #[test]
    fn lines_up_to_the_longest_are_read_and_no_others() {
        let ok = |text: &str| Ok(text.to_owned());
        assert_eq!(lines(b"", 3), []);
        assert_eq!(lines(b"abc\n\nab", 3), [ok("abc"), ok(""), ok("ab")]);
        assert_eq!(lines(b"abc", 3), [ok("abc")]);
        let too_long = || Err("it has more than 3 bytes".to_owned());
        assert_eq!(lines(b"a\nabcd\nb", 3), [ok("a"), too_long()]);
        assert_eq!(lines(b"abcd", 3), [too_long()]);
        let not_utf8 = Err("column 3: it is not UTF-8".to_owned());
        assert_eq!(lines(b"ab\xff", 3), [not_utf8]);
    }

    #[test]
    fn no_more_than_the_longest_is_held() {
        let mut buffer = Vec::new();
        let mut endless = io::BufReader::new(io::repeat(b'a'));
        let read = next_line(&mut endless, 1000, &mut buffer);
        assert!(matches!(read, Err(LineProblem::TooLong { longest: 1000 })));
        assert!(buffer.len() <= 1002, "{}", buffer.len());
    }
}
