//! Texts that the parser can take without running out of stack, which would end the program.

use super::place::{policy_at, significant};
use super::{Place, PolicyError, PolicyText};

/// How deep brackets may be nested.
const DEPTH: usize = 100;

/// How many operators a policy may have: each can be one level deeper in what the parser makes of it.
const OPERATORS: usize = 1_000;

/// Room for the deepest text within the limits, several times over. Only what is used of it is ever taken.
const STACK: usize = 64 << 20;

/// Does the work with enough stack for texts within the limits, whatever the caller's thread has.
pub(super) fn with_room<T: Send>(
    work: impl FnOnce() -> Result<T, PolicyError> + Send,
) -> Result<T, PolicyError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, work);
        let thread = thread.map_err(|error| PolicyError::Thread(error.to_string()))?;
        let failed = |_| PolicyError::Thread("it ended by a panic".to_owned());
        thread.join().map_err(failed)?
    })
}

/// Refuses policies that are nested too deep or have too many operators.
pub(super) fn check(text: PolicyText<'_>) -> Result<(), PolicyError> {
    let refused = |at, message: String| PolicyError::Syntax {
        policy: policy_at(text.text, at),
        file: text.name.to_owned(),
        place: Place::of(text.text, at),
        message,
    };
    let bytes = text.text.as_bytes();
    let (mut depth, mut operators) = (0_usize, 0_usize);
    for (at, letter) in significant(text.text) {
        match letter {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b';' => operators = 0,
            b'&' | b'|' => operators += usize::from(bytes.get(at + 1) == Some(&letter)),
            b'+' | b'-' | b'*' | b'.' | b'!' => operators += 1,
            b'i' => operators += usize::from(bytes.get(at..at + 2) == Some(b"if")),
            _ => {}
        }
        if depth > DEPTH {
            return Err(refused(
                at,
                format!("brackets are nested more than {DEPTH} deep"),
            ));
        }
        if operators > OPERATORS {
            let message = format!("more than {OPERATORS} operators: write several policies");
            return Err(refused(at, message));
        }
    }
    Ok(())
}

/// Refuses schemas that are nested too deep.
pub(super) fn check_schema(text: PolicyText<'_>) -> Result<(), PolicyError> {
    let mut depth = 0_usize;
    for (at, letter) in significant(text.text) {
        match letter {
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b')' | b']' | b'}' | b'>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH {
            return Err(PolicyError::Schema {
                file: text.name.to_owned(),
                place: Place::of(text.text, at),
                message: format!("brackets are nested more than {DEPTH} deep"),
            });
        }
    }
    Ok(())
}
