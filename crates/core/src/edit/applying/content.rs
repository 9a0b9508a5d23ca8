//! The file under edit: the text that edits match, and the bytes on disk.
//!
//! In UTF-8 the two are identical. For other encodings, edits match the decoded text, and each
//! change is mapped back to the bytes. Only those bytes are written, so that sequences that do not
//! decode, or would encode differently, stay unchanged.

use std::borrow::Cow;

use crate::edit::Splice;
use crate::encoding::{Encoding, trim};
use crate::error::{Code, Error, Result};

/// The state of a file between two edits.
pub(in crate::edit) struct EditContent<'a> {
    /// The text that edits match: UTF-8; for a file in UTF-8 its exact bytes.
    text: Cow<'a, [u8]>,
    /// The bytes of a file that is not in UTF-8.
    foreign: Option<Foreign<'a>>,
}

struct Foreign<'a> {
    encoding: Encoding,
    bytes: Cow<'a, [u8]>,
}

impl<'a> EditContent<'a> {
    /// Decodes a file.
    pub(in crate::edit) fn new(bytes: &'a [u8], encoding: Encoding) -> Self {
        if encoding == Encoding::UTF_8 {
            return Self { text: Cow::Borrowed(bytes), foreign: None };
        }
        let body = bytes.strip_prefix(encoding.mark()).unwrap_or(bytes);
        let text = encoding.decode(body).text.into_owned().into_bytes();
        let foreign = Foreign { encoding, bytes: Cow::Borrowed(bytes) };
        Self { text: Cow::Owned(text), foreign: Some(foreign) }
    }

    /// Returns the text that edits match.
    pub(in crate::edit) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the cost of reading the text and writing it with a change.
    pub(in crate::edit) fn cost(&self) -> usize {
        match self.foreign {
            None => self.text.len() / 8,
            Some(_) => self.text.len().saturating_mul(8),
        }
    }

    /// Returns a copy of the current text. Copying is free for a UTF-8 file without edits.
    pub(in crate::edit) fn snapshot(&self) -> Cow<'a, [u8]> {
        self.text.clone()
    }

    /// Returns how many bytes of the file are known to be unchanged if that many bytes of the text
    /// are unchanged.
    pub(in crate::edit) fn shared(&self, text: usize) -> usize {
        if self.foreign.is_none() { text } else { 0 }
    }

    /// Returns the bytes of the file.
    pub(in crate::edit) fn into_bytes(self) -> Vec<u8> {
        self.foreign.map_or(self.text, |foreign| foreign.bytes).into_owned()
    }

    /// Replaces ranges of the text.
    ///
    /// # Errors
    /// `ENCODING_ERROR` if the file's encoding cannot represent the new text.
    pub(in crate::edit) fn splice(&mut self, splices: &[Splice]) -> Result<()> {
        if let (None, [splice], Cow::Owned(text)) = (&self.foreign, splices, &mut self.text) {
            text.splice(splice.range.clone(), splice.with.iter().copied());
            return Ok(());
        }
        let text = spliced(&self.text, splices);
        if let Some(foreign) = &mut self.foreign {
            foreign.splice(&self.text, splices, &text)?;
        }
        self.text = Cow::Owned(text);
        Ok(())
    }
}

impl Foreign<'_> {
    fn splice(&mut self, text: &[u8], splices: &[Splice], result: &[u8]) -> Result<()> {
        let (mark, body) = self.bytes.split_at(self.mark());
        let bytes = match std::str::from_utf8(result) {
            // The edited text may lie between two escape sequences, so the whole text is encoded
            // again.
            Ok(result) if self.encoding.is_stateful() && self.encoding.is_exact(body) => {
                self.encoding.encode(result)?
            }
            _ => spliced(body, &self.places(body, text, splices)?),
        };
        // Unusual sequences may change their meaning when cut, so the result is decoded and
        // compared.
        if self.encoding.decode(&bytes).text.as_bytes() != result {
            return Err(self.entangled());
        }
        self.bytes = Cow::Owned([mark, &bytes].concat());
        Ok(())
    }

    /// Maps splices of the text to splices of the bytes, reduced to the bytes that differ.
    fn places(&self, body: &[u8], text: &[u8], splices: &[Splice]) -> Result<Vec<Splice>> {
        let text = std::str::from_utf8(text).map_err(|_| self.entangled())?;
        let changes = || splices.iter().map(|s| trim(text.as_bytes(), s.range.clone(), &s.with));
        let cuts: Vec<usize> = changes().flat_map(|(range, _)| [range.start, range.end]).collect();
        let offsets = self.encoding.byte_offsets(body, text, &cuts);
        let offsets = offsets.ok_or_else(|| self.entangled())?;
        let places = changes().zip(offsets.chunks_exact(2)).map(|((_, with), range)| {
            let with = self.encoding.encode(&String::from_utf8_lossy(with))?;
            Ok(Splice { range: range[0]..range[1], with })
        });
        places.collect()
    }

    fn entangled(&self) -> Error {
        let name = self.encoding.name();
        Error::new(
            Code::EncodingError,
            format!("the place cannot be changed in the encoding {name} without touching its surroundings"),
        )
        .hint("replace whole lines, or write the whole file")
        .detail("encoding", &*name)
    }

    /// Returns the length of the byte order mark, or 0.
    fn mark(&self) -> usize {
        let mark = self.encoding.mark();
        if self.bytes.starts_with(mark) { mark.len() } else { 0 }
    }
}

/// Returns the text with ranges replaced; they must be ascending and must not overlap.
pub(crate) fn spliced(text: &[u8], splices: &[Splice]) -> Vec<u8> {
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
