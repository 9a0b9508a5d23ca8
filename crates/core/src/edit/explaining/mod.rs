//! The answer of an edit: what was done, or why it was refused and the text to send instead.

pub(super) mod excerpt;
pub(super) mod nearest;
pub(super) mod outcomes;
pub(super) mod refusal;
pub(super) mod report;
pub(super) mod suggestions;
pub(super) mod truncate;
