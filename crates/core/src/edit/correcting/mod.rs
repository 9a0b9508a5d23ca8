//! Makes the edit to send instead of a refused one.
//!
//! [`corrections`] finds where the lines of a refused text are meant and what they become there;
//! [`retry`] makes of it a complete list of edits that works when it is sent as it stands, and
//! tries it before it reports it. Nothing is guessed: lines that differ too much, or a change that
//! cannot be told from the difference, have no correction.

pub(in crate::edit) mod corrections;
pub(in crate::edit) mod hunk;
pub(in crate::edit) mod part;
mod readings;
pub(in crate::edit) mod retry;

/// The maximum number of places for which a retry is reported; further ones are left out.
pub(crate) const MAX_RETRIES: usize = 5;
