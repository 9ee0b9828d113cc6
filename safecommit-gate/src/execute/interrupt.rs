//! Moments at which a power loss would leave something different on the disk: a test can stop at each of them.

/// One such moment.
#[cfg(not(test))]
pub(super) const fn moment() {}

#[cfg(test)]
pub(super) use in_tests::{interrupted_at, moment, stopped_at};

#[cfg(test)]
mod in_tests {
    use std::cell::{Cell, RefCell};
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::rc::Rc;

    type Interruption = Box<dyn FnOnce()>;

    thread_local! {
        static NEXT: RefCell<Option<(usize, Interruption)>> = const { RefCell::new(None) };
    }

    struct Stop;

    pub(in crate::execute) fn moment() {
        let due = NEXT.with_borrow_mut(|next| match next {
            Some((0, _)) => next.take(),
            Some((left, _)) => {
                *left -= 1;
                None
            }
            None => None,
        });
        if let Some((_, interruption)) = due {
            interruption();
        }
    }

    /// What `act` gives, or `None` if the moment of this number came first and ended it.
    pub(in crate::execute) fn stopped_at<R>(number: usize, act: impl FnOnce() -> R) -> Option<R> {
        NEXT.set(Some((number, Box::new(|| resume_unwind(Box::new(Stop))))));
        let result = catch_unwind(AssertUnwindSafe(act));
        NEXT.set(None);
        match result {
            Ok(result) => Some(result),
            Err(stop) if stop.is::<Stop>() => None,
            Err(other) => resume_unwind(other),
        }
    }

    /// What `act` gives if `meanwhile` happens at the moment of this number; `None` if there is no such moment.
    pub(in crate::execute) fn interrupted_at<R>(
        number: usize,
        meanwhile: impl FnOnce() + 'static,
        act: impl FnOnce() -> R,
    ) -> Option<R> {
        let happened = Rc::new(Cell::new(false));
        let note = Rc::clone(&happened);
        let interruption = move || {
            note.set(true);
            meanwhile();
        };
        NEXT.set(Some((number, Box::new(interruption))));
        let result = act();
        NEXT.set(None);
        happened.get().then_some(result)
    }
}
