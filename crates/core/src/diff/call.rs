//! The arguments with which a binding compares two texts.

use std::borrow::Cow;

use super::unified::{DiffHeader, DisplayLimits, Format, LineEndings, Unified, diff};
use super::{Algorithm, DiffOptions};
use crate::error::{Code, Error, Result};
use crate::text::path::decode_name;

crate::wire! {
    /// Options of a diff as bits. The two lowest bits are not options: they hold the index of the
    /// algorithm in [`Algorithm::ALL`].
    pub bits DiffFlags {
        /// Treat lines that differ only in white space as equal.
        IGNORE_WHITESPACE = 4,
        /// Print line endings unchanged, so that the diff of a CRLF text contains CRs.
        RAW = 8,
        /// There is no old file.
        NO_OLD = 16,
        /// There is no new file.
        NO_NEW = 32,
    }
}

/// The arguments that a binding passes besides the two texts.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiffCall<'a> {
    /// The index of the algorithm in [`Algorithm::ALL`] in the two lowest bits, and [`DiffFlags`].
    pub flags: u32,
    /// The number of unchanged lines around each change.
    pub context: u32,
    /// The name for the `---` line in the `encode_name` form, without `a/`; `None` for `file`.
    pub name_before: Option<&'a str>,
    /// The name for the `+++` line in the same form; `None` for the same name.
    pub name_after: Option<&'a str>,
    /// The maximum length of a printed line in code points; a longer one is cut around its
    /// difference. 0 for no limit.
    pub line_limit: u32,
    /// The maximum length of the diff in bytes; the lines beyond it are only counted. 0 for no
    /// limit.
    pub byte_limit: u32,
}

impl DiffCall<'_> {
    /// Compares two texts.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an unknown algorithm.
    pub fn run(&self, before: &[u8], after: &[u8]) -> Result<Unified> {
        let options = DiffOptions {
            algorithm: algorithm_by_index(self.flags & 3)?,
            ignore_whitespace: self.flags & DiffFlags::IGNORE_WHITESPACE != 0,
        };
        let name_before = self.name_before.map_or(Cow::Borrowed("file".as_bytes()), decode_name);
        let name_after = self.name_after.map_or(Cow::Borrowed(&*name_before), decode_name);
        let format = Format {
            header: DiffHeader { before: Some(&name_before), after: Some(&name_after) },
            context: self.context,
            line_ends: if self.flags & DiffFlags::RAW != 0 {
                LineEndings::Raw
            } else {
                LineEndings::Shown
            },
            limits: DisplayLimits {
                line: self.line_limit as usize,
                bytes: self.byte_limit as usize,
            },
        };
        let before = (self.flags & DiffFlags::NO_OLD == 0).then_some(before);
        let after = (self.flags & DiffFlags::NO_NEW == 0).then_some(after);
        Ok(diff(before, after, &options, &format))
    }
}

fn algorithm_by_index(number: u32) -> Result<Algorithm> {
    Algorithm::ALL.get(number as usize).copied().ok_or_else(|| {
        Error::new(Code::InvalidArgument, "unknown diff algorithm")
            .hint("use histogram, myers or minimal")
            .detail("argument", "algorithm")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Wire;

    fn called(before: &str, after: &str, call: &DiffCall<'_>) -> (Vec<f64>, String) {
        let packed = call.run(before.as_bytes(), after.as_bytes()).unwrap().packed();
        (packed.nums, packed.text)
    }

    #[test]
    fn every_flag_has_its_effect() {
        let call = |flags| DiffCall { flags, context: 3, ..DiffCall::default() };
        for (name, before, after, flags, text) in [
            ("names", "a\n", "b\n", 0, "--- a/file\n+++ b/file\n@@ -1 +1 @@\n-a\n+b\n"),
            ("Myers", "a\n", "b\n", 1, "--- a/file\n+++ b/file\n@@ -1 +1 @@\n-a\n+b\n"),
            ("minimal", "a\n", "b\n", 2, "--- a/file\n+++ b/file\n@@ -1 +1 @@\n-a\n+b\n"),
            ("white space", "a b\n", "a  b\n", 4, ""),
            ("raw ends", "a\r\n", "b\r\n", 8, "--- a/file\n+++ b/file\n@@ -1 +1 @@\n-a\r\n+b\r\n"),
            ("no old file", "", "b\n", 16, "--- /dev/null\n+++ b/file\n@@ -0,0 +1 @@\n+b\n"),
            ("no new file", "a\n", "", 32, "--- a/file\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"),
        ] {
            assert_eq!(called(before, after, &call(flags)).1, text, "{name}");
        }
    }

    #[test]
    fn totals_come_first_and_names_are_decoded() {
        let names = |before: &'static str, name_after| DiffCall {
            name_before: Some(before),
            name_after,
            ..DiffCall::default()
        };
        let (nums, text) = called("a\nb\n", "b\nc\nd\n", &names("x", Some("y")));
        // Truncated, lines added, lines removed, length of the text.
        assert_eq!(nums, [0., 2., 1., text.len() as f64]);
        assert!(text.starts_with("--- a/x\n+++ b/y\n"), "{text}");
        let (_, text) = called("a\n", "b\n", &names("n\\xFF", None));
        assert!(text.contains("n\\377"), "a byte that is no text, as git quotes it: {text}");
        let limited = DiffCall { byte_limit: 20, ..DiffCall::default() };
        assert_eq!(called("a\n", "b\n", &limited).0[0], 1.0);
    }

    #[test]
    fn an_unknown_algorithm_is_refused() {
        let error = DiffCall { flags: 3, ..DiffCall::default() }.run(b"", b"").unwrap_err();
        assert_eq!(error.code, Code::InvalidArgument);
        assert!(error.hint.unwrap().contains("histogram"));
    }
}
