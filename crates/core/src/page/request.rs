//! Parses and checks the request for a page.

use crate::anchor::ANCHOR_LENGTH;
use crate::error::{Code, Error, Result};
use crate::options::Options;

/// The format of line numbers in the text made from a page. Here it only decides how much room the
/// numbers take: see [`PageRequest::text_bytes`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineNumberFormat {
    /// Each line begins with its number in at least six columns, and a tab.
    #[default]
    Cat,
    /// Each line begins with its number in at least six columns, and an arrow of three bytes.
    Arrow,
    /// The number and a tab.
    Plain,
    /// No numbers.
    None,
}

/// The requested lines and the limits of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// The first line: 1-based, or negative from the end. Never 0.
    pub start_line: i64,
    /// The maximum number of lines; `None` for all.
    pub max_lines: Option<u64>,
    /// The number of code points above which a line is long and is cut; 0 for no limit.
    pub max_line_chars: usize,
    /// The maximum length of `content` in bytes of UTF-8; beyond it long lines are cut, then the
    /// page ends earlier.
    pub content_bytes: usize,
    /// The maximum length in bytes of the text made from the page, including line numbers and
    /// truncation marks. The page ends before the line that would exceed it.
    pub text_bytes: usize,
    /// The format of line numbers in the text made from the page.
    pub numbers: LineNumberFormat,
    /// `auto`, or the label of an encoding.
    pub encoding: String,
    /// True if binary content is shown as text.
    pub force_text: bool,
    /// The byte offset at which the page begins, instead of a line, to continue inside a long line.
    /// The page then ends where a line is truncated, with the byte to continue from.
    pub start_byte: Option<u64>,
    /// True if line anchors are requested.
    pub anchors: bool,
    /// The maximum size in bytes of a file of which all lines are requested (`max_lines: None`); a
    /// larger one is refused.
    pub whole_file_bytes: u64,
}

/// The maximum number of lines of a page if the request does not say. `DEFAULT_PAGE_LINES` of
/// `js/engine/read.ts` is the same number for schemas and texts; a test compares them.
const DEFAULT_PAGE_LINES: u64 = 2000;
/// The code points above which a line is cut, if the request does not say. Also in
/// `js/engine/read.ts`.
const DEFAULT_LINE_CHARS: usize = 2000;

impl Default for PageRequest {
    fn default() -> Self {
        Self {
            start_line: 1,
            max_lines: Some(DEFAULT_PAGE_LINES),
            max_line_chars: DEFAULT_LINE_CHARS,
            content_bytes: 1 << 20,
            text_bytes: usize::MAX,
            numbers: LineNumberFormat::None,
            encoding: "auto".to_owned(),
            force_text: false,
            start_byte: None,
            anchors: false,
            whole_file_bytes: 20 << 20,
        }
    }
}

impl PageRequest {
    /// Parses a request from JavaScript: an object with the fields' names in camelCase. A missing
    /// field has its default, and `maxLines: null` requests all lines.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` naming the field.
    pub fn from_json(json: &str) -> Result<Self> {
        let options = Options::parse(json)?;
        let default = Self::default();
        let size = |name: &str, default: usize| {
            let number = options.number(name)?;
            Ok(number.map_or(default, |n| usize::try_from(n).unwrap_or(usize::MAX)))
        };
        let max_lines = match options.number("maxLines")? {
            Some(lines) => Some(lines),
            None if options.is_null("maxLines") => None,
            None => default.max_lines,
        };
        const LINE_NUMBERS: [LineNumberFormat; 4] = [
            LineNumberFormat::None,
            LineNumberFormat::Cat,
            LineNumberFormat::Arrow,
            LineNumberFormat::Plain,
        ];
        let numbers = options.choice("lineNumbers", &["none", "cat", "arrow", "plain"])?;
        Ok(Self {
            start_line: options.integer("startLine")?.unwrap_or(default.start_line),
            max_lines,
            max_line_chars: size("maxLineChars", default.max_line_chars)?,
            content_bytes: size("contentBytes", default.content_bytes)?,
            text_bytes: size("textBytes", default.text_bytes)?,
            numbers: LINE_NUMBERS[numbers],
            encoding: options.text("encoding")?.unwrap_or(&default.encoding).to_owned(),
            force_text: options.flag("forceText", false)?,
            start_byte: options.number("startByte")?,
            anchors: options.flag("anchors", false)?,
            whole_file_bytes: options.number("wholeFileBytes")?.unwrap_or(default.whole_file_bytes),
        })
    }

    /// Checks the request for a file of `size` bytes before anything is read.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` naming the argument; `TOO_LARGE` with `details` `{size, limit}` if all of
    /// too big a file is requested.
    pub fn check(&self, size: u64) -> Result<()> {
        let refuse = |argument: &str, message: &str| {
            Err(Error::new(Code::InvalidArgument, message).detail("argument", argument))
        };
        if self.start_line == 0 {
            return refuse(
                "start_line",
                "start_line must not be 0: lines count from 1, or from the end with -1",
            );
        }
        if self.max_lines == Some(0) {
            return refuse("max_lines", "max_lines must be at least 1, or null for all lines");
        }
        if self.max_lines.is_none() && size > self.whole_file_bytes {
            let limit = self.whole_file_bytes;
            return Err(Error::new(
                Code::TooLarge,
                format!(
                    "the file has {size} bytes, and the limit for reading it whole is {limit} bytes"
                ),
            )
            .hint("read it in pages with start_line and max_lines")
            .detail("size", size)
            .detail("limit", limit));
        }
        Ok(())
    }

    /// Returns the number of bytes that the number of a line, its anchor and its line ending take
    /// in the text made from the page.
    pub(super) fn line_overhead_bytes(&self, line: i64) -> usize {
        let digits = |n: i64| {
            let sign = usize::from(n < 0);
            n.unsigned_abs().checked_ilog10().unwrap_or(0) as usize + 1 + sign
        };
        // `#`, the digits of the anchor, and one character that the tools add for the version of
        // the file.
        let anchor = if self.anchors { ANCHOR_LENGTH + 2 } else { 0 };
        1 + match self.numbers {
            LineNumberFormat::Cat => digits(line).max(6) + 1 + anchor,
            LineNumberFormat::Arrow => digits(line).max(6) + 3 + anchor,
            LineNumberFormat::Plain => digits(line) + 1 + anchor,
            // An anchor is always shown with a line number.
            LineNumberFormat::None if self.anchors => digits(line) + 1 + anchor,
            LineNumberFormat::None => 0,
        }
    }
}
