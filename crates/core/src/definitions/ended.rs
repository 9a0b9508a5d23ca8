//! Languages that close with `end`.
