//! Acts on the world that looks most plausible.

use super::{Environment, Method, Scratch, Verdict, fallback};

/// The safe action of the proposed world with the lowest (score, position). It knows no doubt and
/// guarantees nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct SingleWorld;

impl Method for SingleWorld {
    fn decide(&self, environment: &mut Environment<'_>, _: &mut Scratch) -> Verdict {
        let best = environment
            .proposed()
            .iter()
            .min_by_key(|world| world.rank());
        match best.and_then(|world| world.action()) {
            Some(action) => Verdict::Commit { action },
            None => fallback(environment.proposed()),
        }
    }
}
