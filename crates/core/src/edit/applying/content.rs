//! The file under edit: the text that edits match, and the bytes on disk.
//!
//! For a file in UTF-8, text and bytes are identical. For other encodings, edits match the decoded
//! text, and each change is mapped back to the bytes. Only those bytes are written, so that
//! sequences that do not decode, or would encode differently, stay unchanged.

use std::borrow::Cow;

use crate::edit::Splice;
use crate::encoding::{Encoding, trim_unchanged_ends};
use crate::error::{Code, Error, Result};

/// A file between two edits of a call: its text and, unless it is in UTF-8, its bytes.
pub(in crate::edit) struct EditContent<'a> {
    /// The text that edits match: UTF-8; for a file in UTF-8 its exact bytes.
    text: Cow<'a, [u8]>,
    /// The encoding and the bytes of a file that is not in UTF-8.
    encoded: Option<EncodedFile<'a>>,
}

struct EncodedFile<'a> {
    encoding: Encoding,
    bytes: Cow<'a, [u8]>,
}

impl<'a> EditContent<'a> {
    /// Decodes a file; for one in UTF-8, the text is its bytes.
    pub(in crate::edit) fn new(bytes: &'a [u8], encoding: Encoding) -> Self {
        if encoding == Encoding::UTF_8 {
            return Self { text: Cow::Borrowed(bytes), encoded: None };
        }
        let body = bytes.strip_prefix(encoding.mark()).unwrap_or(bytes);
        let text = encoding.decode(body).text.into_owned().into_bytes();
        let encoded = EncodedFile { encoding, bytes: Cow::Borrowed(bytes) };
        Self { text: Cow::Owned(text), encoded: Some(encoded) }
    }

    /// Returns the text that edits match.
    pub(in crate::edit) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns what reading the text and writing it with a change costs, in units of
    /// [`WorkBudget`](crate::edit::budget::WorkBudget).
    pub(in crate::edit) fn work_units(&self) -> usize {
        match self.encoded {
            None => self.text.len() / 8,
            Some(_) => self.text.len().saturating_mul(8),
        }
    }

    /// Returns a copy of the text as it is now. Copying is free for a UTF-8 file without edits.
    pub(in crate::edit) fn text_snapshot(&self) -> Cow<'a, [u8]> {
        self.text.clone()
    }

    /// Returns how many bytes at the beginning or end of the file are unchanged if `text` bytes
    /// there are unchanged in the text; 0 if the file is not in UTF-8, where that is unknown.
    pub(in crate::edit) fn unchanged_file_bytes(&self, text: usize) -> usize {
        if self.encoded.is_none() { text } else { 0 }
    }

    pub(in crate::edit) fn into_bytes(self) -> Vec<u8> {
        self.encoded.map_or(self.text, |encoded| encoded.bytes).into_owned()
    }

    /// Replaces ranges of the text, and the corresponding bytes of the file.
    ///
    /// # Errors
    /// `ENCODING_ERROR` if the file's encoding cannot represent the new text.
    pub(in crate::edit) fn splice(&mut self, splices: &[Splice]) -> Result<()> {
        if let (None, [splice], Cow::Owned(text)) = (&self.encoded, splices, &mut self.text) {
            text.splice(splice.range.clone(), splice.with.iter().copied());
            return Ok(());
        }
        let text = apply_splices(&self.text, splices);
        if let Some(encoded) = &mut self.encoded {
            encoded.splice(&self.text, splices, &text)?;
        }
        self.text = Cow::Owned(text);
        Ok(())
    }
}

impl EncodedFile<'_> {
    /// Replaces the bytes for `splices` of `text`, whose result is `result`.
    fn splice(&mut self, text: &[u8], splices: &[Splice], result: &[u8]) -> Result<()> {
        let (mark, body) = self.bytes.split_at(self.mark_len());
        let bytes = match std::str::from_utf8(result) {
            // The encoding switches character sets by escape sequences, and the edited text may lie
            // between two escape sequences, so the whole text is encoded again.
            Ok(result) if self.encoding.is_stateful() && self.encoding.is_exact(body) => {
                self.encoding.encode(result)?
            }
            _ => apply_splices(body, &self.byte_splices(body, text, splices)?),
        };
        // Bytes next to a cut may decode differently afterwards, so the result is decoded and
        // compared.
        if self.encoding.decode(&bytes).text.as_bytes() != result {
            return Err(self.inseparable_error());
        }
        self.bytes = Cow::Owned([mark, &bytes].concat());
        Ok(())
    }

    /// Maps splices of the text to splices of the file's bytes. Bytes that a splice would write
    /// unchanged are left out of the splice.
    fn byte_splices(&self, body: &[u8], text: &[u8], splices: &[Splice]) -> Result<Vec<Splice>> {
        let text = std::str::from_utf8(text).map_err(|_| self.inseparable_error())?;
        let changes = || {
            splices.iter().map(|s| trim_unchanged_ends(text.as_bytes(), s.range.clone(), &s.with))
        };
        let cuts: Vec<usize> = changes().flat_map(|(range, _)| [range.start, range.end]).collect();
        let offsets = self.encoding.byte_offsets(body, text, &cuts);
        let offsets = offsets.ok_or_else(|| self.inseparable_error())?;
        let byte_splices = changes().zip(offsets.chunks_exact(2)).map(|((_, with), range)| {
            let with = self.encoding.encode(&String::from_utf8_lossy(with))?;
            Ok(Splice { range: range[0]..range[1], with })
        });
        byte_splices.collect()
    }

    /// The error for a change that cannot be made without changing bytes around it.
    fn inseparable_error(&self) -> Error {
        let name = self.encoding.name();
        Error::new(
            Code::EncodingError,
            format!("the place cannot be changed in the encoding {name} without touching its surroundings"),
        )
        .hint("replace whole lines, or write the whole file")
        .detail("encoding", &*name)
    }

    /// Returns the length of the file's byte order mark in bytes, or 0.
    fn mark_len(&self) -> usize {
        let mark = self.encoding.mark();
        if self.bytes.starts_with(mark) { mark.len() } else { 0 }
    }
}

/// Returns the text with ranges replaced; they must be ascending and must not overlap.
pub(crate) fn apply_splices(text: &[u8], splices: &[Splice]) -> Vec<u8> {
    let removed: usize = splices.iter().map(|splice| splice.range.len()).sum();
    let added: usize = splices.iter().map(|splice| splice.with.len()).sum();
    let mut bytes = Vec::with_capacity(text.len() - removed + added);
    let mut next = 0;
    for splice in splices {
        bytes.extend_from_slice(&text[next..splice.range.start]);
        bytes.extend_from_slice(&splice.with);
        next = splice.range.end;
    }
    bytes.extend_from_slice(&text[next..]);
    bytes
}

#[cfg(test)]
mod tests {
    use crate::edit::{Edit, EditOptions, plan};
    use crate::encoding::Encoding;
    use crate::error::Code;

    fn run(bytes: &[u8], encoding: &str, old: &str, new: &str) -> Result<Vec<u8>, Code> {
        let encoding = Encoding::for_label(encoding).unwrap();
        let edit = Edit { old: old.into(), new: new.into(), ..Edit::default() };
        let options = EditOptions { encoding, label: "f".into(), ..EditOptions::default() };
        plan(bytes, &[edit], &options).map(|plan| plan.bytes).map_err(|error| error.code)
    }

    #[test]
    fn only_the_named_bytes_change() {
        let utf16 = |text: &str| {
            [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
        };
        let before: Vec<u8> = utf16("a\r\nb\r\n");
        assert_eq!(run(&before, "utf-16le", "b\n", "é😀\n"), Ok(utf16("a\r\né😀\r\n")));
        assert_eq!(
            run(b"caf\xe9 \x81\n", "latin1", "caf\u{e9}", "th\u{e9}"),
            Ok(b"th\xe9 \x81\n".to_vec())
        );
        assert_eq!(run(b"caf\xe9\n", "latin1", "caf\u{e9}", "\u{6f22}"), Err(Code::EncodingError));
    }

    #[cfg(feature = "legacy")]
    #[test]
    fn bytes_that_would_encode_differently_stay() {
        // 0x87 0x90 and 0x81 0xE0 both decode to U+2252, which encodes as the second.
        let file = b"a = \x87\x90 b\nc = \x81\xe0 \xff\n";
        let line = run(file, "shift_jis", "a = \u{2252} b", "a = \u{2252} \u{6f22}");
        assert_eq!(line, Ok(b"a = \x87\x90 \x8a\xbf\nc = \x81\xe0 \xff\n".to_vec()));
        // The invalid byte is decoded to U+FFFD, and U+FFFD in an edit restores it.
        let shown = run(file, "shift_jis", "c = \u{2252} \u{fffd}", "d = \u{2252} \u{fffd}");
        assert_eq!(shown, Ok(b"a = \x87\x90 b\nd = \x81\xe0 \xff\n".to_vec()));
    }

    #[cfg(feature = "legacy")]
    #[test]
    fn text_between_escape_sequences_is_edited() {
        let jp = Encoding::for_label("iso-2022-jp").unwrap();
        let file = jp.encode("\u{6f22}\u{5b57}\nab\n").unwrap();
        let edited = run(&file, "iso-2022-jp", "\u{5b57}", "x").unwrap();
        assert_eq!(jp.decode(&edited).text, "\u{6f22}x\nab\n");
    }

    #[cfg(feature = "legacy")]
    #[test]
    fn half_a_character_is_no_match() {
        // 0x95 0x5c is one character whose second byte alone would be a backslash.
        let file = b"\x95\x5c a\x5cb \xff\n";
        assert_eq!(run(file, "shift_jis", "\\", "/"), Ok(b"\x95\x5c a/b \xff\n".to_vec()));
        assert_eq!(run(file, "shift_jis", "a", "\u{1f600}"), Err(Code::EncodingError));
    }
}
