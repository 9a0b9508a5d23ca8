//! Replaces the text of an edit once its position is known: merges the edit with the file's lines,
//! translates indentation and quotes to those of the file, and tracks content and line numbers from
//! edit to edit.

pub(super) mod content;
pub(super) mod indent;
pub(super) mod merge;
pub(super) mod offsets;
pub(super) mod quote_style;
pub(super) mod tokens;
