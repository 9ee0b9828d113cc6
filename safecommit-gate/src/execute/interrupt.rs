//! Moments at which a power loss would leave something different on the disk: a test can stop at each of them.

/// One such moment.
#[cfg(not(test))]
pub(super) const fn moment() {}

#[cfg(test)]
pub(super) use in_tests::{moment, stopped_at};

#[cfg(test)]
mod in_tests {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    thread_local! {
        static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
    }

    struct Stop;

    pub(in crate::execute) fn moment() {
        match LEFT.get() {
            Some(0) => {
                LEFT.set(None);
                resume_unwind(Box::new(Stop));
            }
            Some(left) => LEFT.set(Some(left - 1)),
            None => {}
        }
    }

    /// What `act` gives, or `None` if the moment of this number came first and ended it.
    pub(in crate::execute) fn stopped_at<R>(number: usize, act: impl FnOnce() -> R) -> Option<R> {
        LEFT.set(Some(number));
        let result = catch_unwind(AssertUnwindSafe(act));
        LEFT.set(None);
        match result {
            Ok(result) => Some(result),
            Err(stop) if stop.is::<Stop>() => None,
            Err(other) => resume_unwind(other),
        }
    }
}
