//! What a caller may ask of a page.

use serde_json::{Map, Value};

use crate::error::{Code, Error, Result};

/// How lines are numbered in the text made of a page. Only the space that the
/// numbers take matters here: see [`PageRequest::text_bytes`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbers {
    /// Six columns and a tab.
    #[default]
    Cat,
    /// Six columns and an arrow.
    Arrow,
    /// The number and a tab.
    Plain,
    /// None.
    None,
}

/// Which lines, and how much of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// The first line: 1-based, or negative from the end. Never 0.
    pub start_line: i64,
    /// How many lines at most; `None` for all of them.
    pub max_lines: Option<u64>,
    /// Lines longer than this many code points count as long; 0 for no limit.
    pub max_line_chars: usize,
    /// Bytes of `content` at most, in UTF-8.
    pub content_bytes: usize,
    /// Bytes of the text made of the page at most, numbers and cut lines
    /// reckoned in.
    pub text_bytes: usize,
    /// The numbers in that text.
    pub numbers: Numbers,
    /// `auto`, or a label.
    pub encoding: String,
    /// Show binary content as text.
    pub force_text: bool,
    /// Begin at this byte of the file instead of at a line.
    pub start_byte: Option<u64>,
    /// Whether to make line anchors.
    pub anchors: bool,
    /// With `max_lines: None`, refuse files above this many bytes.
    pub whole_file_bytes: u64,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self {
            start_line: 1,
            max_lines: Some(2000),
            max_line_chars: 2000,
            content_bytes: 1 << 20,
            text_bytes: usize::MAX,
            numbers: Numbers::None,
            encoding: "auto".to_owned(),
            force_text: false,
            start_byte: None,
            anchors: false,
            whole_file_bytes: 20 << 20,
        }
    }
}

impl PageRequest {
    /// Reads the form in which JavaScript sends a request: an object with the
    /// fields' names in camelCase; what is absent has its default, and
    /// `maxLines: null` asks for all lines.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` naming the field.
    pub fn from_json(json: &str) -> Result<Self> {
        let fields: Map<String, Value> = serde_json::from_str(json)
            .map_err(|_| Error::new(Code::InvalidArgument, "the request is not a JSON object"))?;
        let mut request = Self::default();
        let integer = |name: &str| fields.get(name).map(|value| integer(name, value));
        let bytes = |name: &str| integer(name).map(|n| unsigned(name, n?));
        let size = |name: &str| bytes(name).map(|n| Ok(usize::try_from(n?).unwrap_or(usize::MAX)));
        let flag = |name: &str| fields.get(name).and_then(Value::as_bool).unwrap_or_default();
        if let Some(line) = integer("startLine") {
            request.start_line = line?;
        }
        match fields.get("maxLines") {
            Some(Value::Null) => request.max_lines = None,
            Some(value) => {
                request.max_lines = Some(unsigned("max_lines", self::integer("max_lines", value)?)?)
            }
            None => {}
        }
        if let Some(chars) = size("maxLineChars") {
            request.max_line_chars = chars?;
        }
        if let Some(limit) = size("contentBytes") {
            request.content_bytes = limit?;
        }
        if let Some(limit) = size("textBytes") {
            request.text_bytes = limit?;
        }
        if let Some(limit) = bytes("wholeFileBytes") {
            request.whole_file_bytes = limit?;
        }
        if let Some(offset) = bytes("startByte") {
            request.start_byte = Some(offset?);
        }
        if let Some(label) = fields.get("encoding").and_then(Value::as_str) {
            label.clone_into(&mut request.encoding);
        }
        request.numbers = match fields.get("lineNumbers").and_then(Value::as_str) {
            Some("cat") => Numbers::Cat,
            Some("arrow") => Numbers::Arrow,
            Some("plain") => Numbers::Plain,
            _ => Numbers::None,
        };
        request.force_text = flag("forceText");
        request.anchors = flag("anchors");
        Ok(request)
    }

    /// Refuses what no page can answer, before anything is read.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` naming the argument; `TOO_LARGE` with `details`
    /// `{size, limit}` where the whole of too big a file is wanted.
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

    /// Bytes that a line's number, anchor and line end take in the text.
    pub(super) fn overhead(&self, line: i64) -> usize {
        let digits = |n: i64| {
            let sign = usize::from(n < 0);
            n.unsigned_abs().checked_ilog10().unwrap_or(0) as usize + 1 + sign
        };
        let anchor = if self.anchors { 3 } else { 0 };
        1 + match self.numbers {
            Numbers::Cat => digits(line).max(6) + 1 + anchor,
            Numbers::Arrow => digits(line).max(6) + 3 + anchor,
            Numbers::Plain => digits(line) + 1 + anchor,
            Numbers::None => 0,
        }
    }
}

fn integer(name: &str, value: &Value) -> Result<i64> {
    value
        .as_i64()
        .or_else(|| value.as_f64().filter(|n| n.fract() == 0.0).map(|n| n as i64))
        .ok_or_else(|| {
            Error::new(Code::InvalidArgument, format!("{name} must be an integer"))
                .detail("argument", name)
        })
}

fn unsigned(name: &str, value: i64) -> Result<u64> {
    u64::try_from(value).map_err(|_| {
        Error::new(Code::InvalidArgument, format!("{name} must not be negative"))
            .detail("argument", name)
    })
}
