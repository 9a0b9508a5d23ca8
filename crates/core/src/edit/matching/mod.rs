//! Finds the place that an edit means: by its bytes, by an anchor of a line, or by a bounded search
//! for similar lines.

pub(super) mod align;
pub(super) mod alignment;
pub(super) mod bigrams;
pub(super) mod candidates;
pub(super) mod diagonals;
pub(super) mod elision;
pub(super) mod eol_view;
pub(super) mod exact;
pub(super) mod fuzzy;
pub(super) mod haystack;
pub(super) mod kmp;
pub(super) mod levenshtein;
pub(super) mod line_anchors;
pub(super) mod locate;
pub(super) mod needle;
pub(super) mod normalize;
pub(super) mod pairs;
pub(super) mod repair;
pub(super) mod sanity;
pub(super) mod similarity;
pub(super) mod typo;
pub(super) mod window;
pub(super) mod within;
