//! Limits the work of a call, so that a search for a misspelt text in a hostile file ends in an
//! error and does not run for minutes.
//!
//! Work is counted, not timed, so that the same call always gives the same result. A unit is
//! roughly a visited byte, or a nanosecond of a release build. Every stage is charged in advance,
//! by the size of its input.

use std::cell::Cell;

use crate::error::{Code, Error};

/// The budget of one call for all its edits, in units of work.
const MAX_UNITS_PER_CALL: u64 = 500_000_000;

/// The remaining units of work of a call.
#[derive(Debug)]
pub(crate) struct WorkBudget(Cell<u64>);

impl Default for WorkBudget {
    fn default() -> Self {
        Self(Cell::new(MAX_UNITS_PER_CALL))
    }
}

impl WorkBudget {
    /// Subtracts the cost of work before it starts. Returns false if the budget does not suffice;
    /// it is then empty, and all further work is refused too.
    #[must_use]
    pub(crate) fn try_spend(&self, units: usize) -> bool {
        let left = self.0.get().checked_sub(units as u64);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Does the same as [`Self::try_spend`] for `times` repetitions of work that costs `units`
    /// each.
    #[must_use]
    pub(crate) fn try_spend_times(&self, times: usize, units: usize) -> bool {
        self.try_spend(times.saturating_mul(units))
    }

    /// Returns true if no work is allowed any more.
    pub(super) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }

    /// Creates a budget of this size for tests.
    #[cfg(test)]
    pub(super) fn of(units: u64) -> Self {
        Self(Cell::new(units))
    }

    /// Returns the remaining units.
    #[cfg(test)]
    pub(super) fn left(&self) -> u64 {
        self.0.get()
    }
}

/// Returns the error for edits that exceed the budget of a call; `path` is the path as messages
/// show it.
pub(in crate::edit) fn too_much_error(path: &str) -> Error {
    Error::new(Code::LimitExceeded, format!("the edits of {path} are too much work for one call"))
        .hint("send fewer edits in one call, or write the whole file")
        .detail("reason", "too_much")
}

#[cfg(test)]
mod tests {
    use super::WorkBudget;

    #[test]
    fn a_spent_budget_stays_spent() {
        let work = WorkBudget::of(3_000);
        assert!(work.try_spend(1_000) && work.left() == 2_000 && !work.is_spent());
        assert!(!work.try_spend(2_001) && work.is_spent());
        assert!(!work.try_spend(1));
        assert!(!WorkBudget::default().try_spend_times(usize::MAX, 2));
    }
}
