//! How much work a call may make: a misspelt text in a hostile file must end in
//! an honest refusal, not in a stopped process.
//!
//! Work is counted, not timed, so that the same call always ends the same way.
//! A unit is roughly a byte looked at, or a nanosecond of a release build. Every
//! stage pays before it starts, by the size of what it is going to look at.

use std::cell::Cell;

/// What one call may spend on all its edits together.
const MAX_UNITS_PER_CALL: u64 = 500_000_000;

/// The work that is left.
#[derive(Debug)]
pub(crate) struct Budget(Cell<u64>);

impl Default for Budget {
    fn default() -> Self {
        Self(Cell::new(MAX_UNITS_PER_CALL))
    }
}

impl Budget {
    /// Pays for work about to be done. `false` where too little is left; from
    /// then on nothing is.
    #[must_use]
    pub(crate) fn try_spend(&self, units: usize) -> bool {
        let left = self.0.get().checked_sub(units as u64);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Pays for two nested loops.
    #[must_use]
    pub(super) fn pay_for(&self, times: usize, units: usize) -> bool {
        self.try_spend(times.saturating_mul(units))
    }

    /// Whether nothing is left.
    pub(super) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }

    /// This much, for tests.
    #[cfg(test)]
    pub(super) fn of(units: u64) -> Self {
        Self(Cell::new(units))
    }

    /// The units that are left.
    #[cfg(test)]
    pub(super) fn left(&self) -> u64 {
        self.0.get()
    }
}

#[cfg(test)]
mod tests {
    use super::Budget;

    #[test]
    fn what_is_spent_is_spent() {
        let work = Budget::of(3_000);
        assert!(work.try_spend(1_000) && work.left() == 2_000 && !work.is_spent());
        assert!(!work.try_spend(2_001) && work.is_spent());
        assert!(!work.try_spend(1));
        assert!(!Budget::default().pay_for(usize::MAX, 2));
    }
}
