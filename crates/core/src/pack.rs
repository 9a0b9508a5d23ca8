//! The encoding of results that cross to JavaScript.
//!
//! An object per match costs ten times the search. A [`Packed`] result is one array of numbers and
//! one string, decoded by `js/engine/wire/unpack.ts`. Both bindings use it, so that there is one format.
//! Records are encoded field by field as [`mod@crate::wire`] declares them.
//! Numbers are `f64` because sizes and offsets exceed 2^32; they are exact to 2^53.
//!
//! A string is stored as its length in UTF-16 units in `nums` and its characters appended to
//! `text`, so that JavaScript slices without scanning.

use crate::chars::utf16_len;

/// One result: numbers and one concatenated string.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packed {
    /// The numbers, in the order that the encoding function documents.
    pub nums: Vec<f64>,
    /// All strings of the result, concatenated.
    pub text: String,
}

impl Packed {
    /// Creates an empty result.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a number.
    pub fn num(&mut self, value: u64) {
        // Sizes, offsets and counts are below 2^53, up to which `f64` is exact.
        self.nums.push(value as f64);
    }

    /// Appends a number that may be unknown; `None` is encoded as -1.
    pub fn opt(&mut self, value: Option<u64>) {
        match value {
            Some(value) => self.num(value),
            None => self.nums.push(-1.0),
        }
    }

    /// Appends a boolean as 0 or 1.
    pub fn flag(&mut self, value: bool) {
        self.nums.push(if value { 1.0 } else { 0.0 });
    }

    /// Appends a time or another number that may be negative or fractional.
    pub fn float(&mut self, value: f64) {
        self.nums.push(value);
    }

    /// Appends a string: its UTF-16 length to `nums`, its characters to `text`.
    pub fn str(&mut self, value: &str) {
        self.num(utf16_len(value) as u64);
        self.text.push_str(value);
    }

    /// Appends a string that may be absent; `None` is encoded as length -1.
    pub fn opt_str(&mut self, value: Option<&str>) {
        match value {
            Some(value) => self.str(value),
            None => self.nums.push(-1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_numbers_interleave() {
        let mut packed = Packed::new();
        packed.str("a😀");
        packed.opt(None);
        packed.opt_str(None);
        packed.flag(true);
        assert_eq!(packed.nums, [3.0, -1.0, -1.0, 1.0]);
        assert_eq!(packed.text, "a😀");
    }
}
