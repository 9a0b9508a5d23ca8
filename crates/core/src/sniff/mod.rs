//! Detects the kind of a file from its content: image, archive, text, and so on.
//!
//! The content decides, never the name alone: first the signatures of known formats ([`magic`]),
//! then a heuristic for text in any encoding ([`text_heuristic`]). The name only distinguishes
//! kinds of text (`.ts` is TypeScript unless the content is an MPEG transport stream). Legacy text,
//! UTF-16 without a byte order mark and logs full of escape sequences count as text, because
//! refusing them is worse than showing a binary file occasionally.
//!
//! Only the first [`SAMPLE_BYTES`] bytes are inspected, so a call takes microseconds.

pub mod image;
mod magic;
mod text_heuristic;
mod types;

use crate::encoding::{self, Encoding};
use crate::text::Eol;

/// The number of bytes at the beginning of a file that are inspected to detect its kind.
pub const SAMPLE_BYTES: usize = 8 * 1024;

crate::wire! {
    /// The kinds of files that tools treat differently.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum FileKind {
        /// A file without content.
        Empty = "empty",
        /// Text in some encoding.
        Text = "text",
        /// Scalable vector graphics: an image that is text.
        Svg = "svg",
        /// A raster image.
        Image = "image",
        /// A PDF document.
        Pdf = "pdf",
        /// An office document or book.
        Document = "document",
        /// Audio.
        Audio = "audio",
        /// Video.
        Video = "video",
        /// Several files in one, or one compressed file.
        Archive = "archive",
        /// A font.
        Font = "font",
        /// Any other content that is not text: programs, databases, data.
        Binary = "binary",
    }
}

impl FileKind {
    /// Returns true if the content can be read line by line.
    pub const fn is_text(self) -> bool {
        matches!(self, Self::Empty | Self::Text | Self::Svg)
    }
}

crate::wire! {
    /// The type of a file, detected from its content.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Inspection {
        /// The kind.
        pub kind: FileKind,
        /// The MIME type, without parameters.
        pub mime: &'static str,
        /// For text, SVG and empty files: the encoding, in lower case.
        pub encoding: Option<Encoding>,
        /// For text: the line endings of the inspected bytes.
        pub eol: Option<Eol>,
        /// True when the text begins with a byte order mark.
        pub bom: bool,
        /// For images: the width in pixels, when the header states it.
        pub width: Option<u32>,
        /// For images: the height in pixels, when the header states it.
        pub height: Option<u32>,
    }
}

/// The result of [`sniff`], the cheap part of [`inspect`] for callers that only need the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sniffed {
    /// The kind.
    pub kind: FileKind,
    /// The MIME type, without parameters.
    pub mime: &'static str,
}

/// Detects kind and MIME type from the start of a file. `complete` says that the bytes are the
/// whole file; `name` may be a path or empty.
pub fn sniff(bytes: &[u8], name: &str, complete: bool) -> Sniffed {
    if bytes.is_empty() {
        let mime = types::mime_by_name(name).unwrap_or("text/plain");
        return Sniffed { kind: FileKind::Empty, mime };
    }
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    if let Some((kind, mime)) = magic::find_signature(bytes) {
        return Sniffed { kind, mime };
    }
    if !text_heuristic::is_text(sample, complete && sample.len() == bytes.len()) {
        return Sniffed { kind: FileKind::Binary, mime: "application/octet-stream" };
    }
    match types::mime_by_name(name).or_else(|| types::mime_by_text(sample)) {
        Some(mime @ "image/svg+xml") => Sniffed { kind: FileKind::Svg, mime },
        Some(mime) => Sniffed { kind: FileKind::Text, mime },
        None => Sniffed { kind: FileKind::Text, mime: "text/plain" },
    }
}

/// Detects kind, MIME type, encoding, line endings and image size from the start of a file (or all
/// of it, with `complete`). `name` may be a path or empty.
///
/// ```
/// use filewright_core::sniff::{FileKind, inspect};
/// let found = inspect(b"caf\xe9\n", "menu.txt", true);
/// assert_eq!(found.kind, FileKind::Text);
/// assert_eq!(found.encoding.map(|e| e.name()).as_deref(), Some("windows-1252"));
/// ```
pub fn inspect(bytes: &[u8], name: &str, complete: bool) -> Inspection {
    let Sniffed { kind, mime } = sniff(bytes, name, complete);
    let size = if kind == FileKind::Image { image::image_size(bytes) } else { None };
    let (width, height) = size.unzip();
    let mut found = Inspection { kind, mime, encoding: None, eol: None, bom: false, width, height };
    if kind.is_text() {
        let detection = encoding::detect(bytes, complete);
        let body = &bytes[detection.bom..];
        found.encoding = Some(detection.encoding);
        found.bom = detection.bom > 0;
        found.eol = Some(match detection.encoding.unit() {
            encoding::LineFeedCode::Byte => Eol::detect(body),
            encoding::LineFeedCode::Two(endian) => {
                Eol::detect_wide(body, endian.bytes(0x0a), endian.bytes(0x0d))
            }
        });
    }
    found
}

#[cfg(test)]
mod tests;
