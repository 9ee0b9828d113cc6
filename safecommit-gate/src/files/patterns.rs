//! Patterns of paths that are protected or secret.

/// Patterns of paths relative to the workspace.
///
/// `*` stands for any characters of one component, `?` for one of them, `**` for any number of whole components. A pattern
/// without a slash is for a name at any depth, one with a slash is for the path from the workspace. What matches covers
/// everything below it. Upper and lower case of ASCII letters are the same, as on file systems that do not tell them apart.
///
/// ```
/// use safecommit_gate::Patterns;
///
/// let patterns = Patterns::new([".env", "*.pem", "data/**/raw", "/keep"])?;
/// assert!(patterns.matches(b"service/.ENV"));
/// assert!(patterns.matches(b"data/2026/june/raw/part-1"));
/// assert!(patterns.matches(b"keep/this"));
/// assert!(!patterns.matches(b"other/keep"));
/// assert!(Patterns::new(["a/../b"]).is_err());
/// # Ok::<(), safecommit_gate::PatternError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patterns(Vec<Pattern>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern(Vec<Vec<u8>>);

/// A pattern that could never match.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no pattern: it needs from 1 to 60 components, and none that is `.` or `..`")]
pub struct PatternError(String);

impl Patterns {
    /// The patterns; none match nothing.
    ///
    /// # Errors
    ///
    /// [`PatternError`] for one without a component, with more than 60, or with a component `.` or `..`.
    pub fn new<P: AsRef<str>>(patterns: impl IntoIterator<Item = P>) -> Result<Self, PatternError> {
        let parse = |pattern: P| Pattern::parse(pattern.as_ref());
        patterns
            .into_iter()
            .map(parse)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Whether a path relative to the workspace, or a directory above it, matches one of the patterns.
    #[must_use]
    pub fn matches(&self, path: &[u8]) -> bool {
        self.0.iter().any(|pattern| pattern.matches(path))
    }
}

impl Pattern {
    fn parse(text: &str) -> Result<Self, PatternError> {
        let mut components: Vec<Vec<u8>> = text
            .split('/')
            .filter(|component| !component.is_empty())
            .map(|component| component.to_ascii_lowercase().into_bytes())
            .collect();
        if !(1..=60).contains(&components.len())
            || components.iter().any(|name| name == b"." || name == b"..")
        {
            return Err(PatternError(text.to_owned()));
        }
        if !text.contains('/') {
            components.insert(0, b"**".to_vec());
        }
        Ok(Self(components))
    }

    /// Whether the names, or the first of them, match. Bit n of what is reached says that the first n components of the
    /// pattern match the names so far.
    fn matches(&self, path: &[u8]) -> bool {
        let all = 1 << self.0.len();
        let mut reached = self.skip(1);
        for name in path
            .split(|&byte| byte == b'/')
            .filter(|name| !name.is_empty())
        {
            let mut next: u64 = 0;
            for (at, component) in self.0.iter().enumerate() {
                if reached & 1 << at == 0 {
                    continue;
                }
                if component == b"**" {
                    next |= 1 << at;
                } else if matches_name(component, name) {
                    next |= 1 << (at + 1);
                }
            }
            reached = self.skip(next);
            if reached & all != 0 {
                return true;
            }
        }
        false
    }

    /// `**` may stand for no component.
    fn skip(&self, mut reached: u64) -> u64 {
        for (at, component) in self.0.iter().enumerate() {
            if reached & 1 << at != 0 && component == b"**" {
                reached |= 1 << (at + 1);
            }
        }
        reached
    }
}

/// Whether a lower-case component with `*` and `?` matches a name; goes back to the last `*` only.
fn matches_name(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut read) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while read < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(&byte) if byte == b'?' || byte == name[read].to_ascii_lowercase() => {
                at += 1;
                read += 1;
            }
            _ => match star {
                Some((back, skipped)) => {
                    star = Some((back, skipped + 1));
                    (at, read) = (back + 1, skipped + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same by trying every split.
    fn plainly(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, None) => true,
            (Some((b'*', rest)), _) => {
                plainly(rest, name) || (!name.is_empty() && plainly(pattern, &name[1..]))
            }
            (Some((b'?', rest)), Some((_, name))) => plainly(rest, name),
            (Some((byte, rest)), Some((first, name))) => byte == first && plainly(rest, name),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn names_match_as_by_trying_every_split(pattern in "[ab*?]{0,7}", name in "[ab]{0,7}") {
            prop_assert_eq!(
                matches_name(pattern.as_bytes(), name.as_bytes()),
                plainly(pattern.as_bytes(), name.as_bytes())
            );
        }

        #[test]
        fn what_matches_covers_everything_below(pattern in "[ab*/]{1,7}", path in "[ab]/[ab]/[ab]") {
            if let Ok(patterns) = Patterns::new([pattern])
                && patterns.matches(path.as_bytes())
            {
                let below = path + "/x";
                prop_assert!(patterns.matches(below.as_bytes()));
            }
        }
    }

    #[test]
    fn slashes_anchor_and_double_stars_span() {
        let matches =
            |pattern: &str, path: &str| Patterns::new([pattern]).unwrap().matches(path.as_bytes());
        assert!(matches("a/**/b", "a/b") && matches("a/**/b", "a/x/y/b"));
        assert!(!matches("a/**/b", "x/a/b") && !matches("a/*/b", "a/b"));
        assert!(matches("**/b", "b") && matches("**/b", "x/y/b/z"));
        assert!(matches("b", "x/b/y") && !matches("/b", "x/b"));
        assert!(!matches("*.key", "key") && matches("*.key", "x/.KEY"));
        for wrong in ["", "/", "..", "a/./b", &"a/".repeat(61)] {
            assert!(Patterns::new([wrong]).is_err(), "{wrong}");
        }
        assert!(matches(&"a/".repeat(60), &"a/".repeat(60)));
        assert!(!matches("/a", "") && matches("**", "a") && !matches("a/**/**/c", "a/b"));
        assert!(!Patterns::default().matches(b"a"));
    }
}
