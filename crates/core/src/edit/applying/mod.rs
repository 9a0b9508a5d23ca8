//! Makes the new text at a place that was found: the merge with what the old text left out, its
//! indentation and quotes, and the content that grows with each edit.

pub(super) mod content;
pub(super) mod indent;
pub(super) mod merge;
pub(super) mod offsets;
pub(super) mod quote_style;
pub(super) mod tokens;
