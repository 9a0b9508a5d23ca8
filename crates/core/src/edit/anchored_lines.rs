//! The lines that an edit names by their anchors, such as `120#k3x9q1`: a line number and six
//! characters computed from the line and its neighbours.

use crate::anchor::{ANCHOR_LENGTH, AnchorKind, anchor_number, number_of_digits};
use crate::error::{Code, Error, Result};
use crate::text::path::escape_controls;

/// A line identified by number and anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The number of the line when it was read, 1-based.
    pub line: u64,
    /// The anchor, as [`crate::anchor::anchors`] returns it.
    pub hash: [char; ANCHOR_LENGTH],
}

/// The position of inserted lines relative to the named line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertSide {
    /// Before the line.
    Before,
    /// After the line.
    After,
}

/// The lines that an edit names by their anchors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnchoredLines {
    /// The first line.
    pub from: Anchor,
    /// The last line; equal to `from` for a single line.
    pub to: Anchor,
    /// Where to insert the new text next to the line `from`; `None` to replace the lines.
    pub insert: Option<InsertSide>,
    /// True if the file is known to be the version that the anchors were read from.
    pub unchanged: bool,
}

impl Anchor {
    /// Returns a function that says whether this is the anchor of a unique or of a common line with
    /// a neighbourhood; `None` if it is neither.
    pub(in crate::edit) fn kind_at(&self) -> impl Fn(u64) -> Option<AnchorKind> {
        let number = number_of_digits(&self.hash);
        move |neighbourhood| {
            [AnchorKind::Unique, AnchorKind::Common]
                .into_iter()
                .find(|&kind| Some(anchor_number(neighbourhood, kind)) == number)
        }
    }

    /// Parses `120#k3x9q1`; `argument` names the value in errors. Accepts a seventh character for
    /// use by the caller, and ignores anything after a blank or `|`, such as the line itself.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for any other form.
    pub fn parse(argument: &str, text: &str) -> Result<Self> {
        let form = || {
            let shown = escape_controls(crate::text::prefix_of_chars(text, 40)).into_owned();
            Error::new(
                Code::InvalidArgument,
                format!("{argument} must be a line anchor such as 120#k3x9q1, got \"{shown}\""),
            )
            .hint("read the file with anchors: true and copy the anchor")
            .detail("argument", argument)
        };
        let (number, rest) = text.trim_start().split_once('#').ok_or_else(form)?;
        let line = number.trim().parse::<u64>().ok().filter(|&line| line > 0).ok_or_else(form)?;
        let is_behind = |c: char| matches!(c, ' ' | '\t' | '|' | '\u{2192}' | '\r' | '\n');
        let digits = rest.split(is_behind).next().unwrap_or_default().to_ascii_lowercase();
        let digits: Vec<char> = digits.chars().collect();
        let hash = digits.get(..ANCHOR_LENGTH).and_then(|hash| hash.try_into().ok());
        match hash {
            Some(hash)
                if digits.len() <= ANCHOR_LENGTH + 1
                    && digits.iter().all(char::is_ascii_alphanumeric) =>
            {
                Ok(Self { line, hash })
            }
            _ => Err(form()),
        }
    }
}
