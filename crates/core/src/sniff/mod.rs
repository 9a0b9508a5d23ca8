//! What kind of file bytes are: image, archive, text, or none of these.
//!
//! Content decides, never the name alone: first the signatures of known formats
//! ([`magic`]), then whether the rest reads as text in some encoding ([`text_heuristic`]).
//! The name only tells apart kinds of text (`.ts` is TypeScript unless the
//! content is an MPEG transport stream). Legacy text, BOM-less UTF-16 and logs
//! full of escape sequences are text: to lose them is worse than to show a
//! strange file once.
//!
//! Looks at the first [`SAMPLE`] bytes, so a call costs microseconds.

pub mod image;
mod magic;
mod text_heuristic;
mod types;

use crate::encoding::{self, Encoding};
use crate::pack::Packed;
use crate::text::Eol;

/// How many bytes of a file are enough to tell its kind.
pub const SAMPLE: usize = 8 * 1024;

/// The kinds of files that tools treat differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// No bytes at all.
    Empty,
    /// Text in some encoding.
    Text,
    /// A raster image.
    Image,
    /// Scalable vector graphics: an image that is text.
    Svg,
    /// A PDF document.
    Pdf,
    /// An office document or book.
    Document,
    /// Sound.
    Audio,
    /// Moving images.
    Video,
    /// Files packed into one, or one compressed.
    Archive,
    /// A typeface.
    Font,
    /// Anything else that is not text: programs, databases, data.
    Binary,
}

impl Kind {
    /// The name, in lower case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Text => "text",
            Self::Image => "image",
            Self::Svg => "svg",
            Self::Pdf => "pdf",
            Self::Document => "document",
            Self::Audio => "audio",
            Self::Video => "video",
            Self::Archive => "archive",
            Self::Font => "font",
            Self::Binary => "binary",
        }
    }

    /// Whether the content can be read line by line.
    pub const fn is_text(self) -> bool {
        matches!(self, Self::Empty | Self::Text | Self::Svg)
    }
}

/// What [`inspect`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// The kind.
    pub kind: Kind,
    /// The MIME type, without parameters.
    pub mime: &'static str,
    /// The encoding, for text.
    pub encoding: Option<Encoding>,
    /// The line ends of the bytes looked at, for text.
    pub eol: Option<Eol>,
    /// Whether the text begins with a byte order mark.
    pub bom: bool,
    /// Width and height in pixels, for images whose header tells.
    pub size: Option<(u32, u32)>,
}

/// What the signature or the text score alone says; the cheap half of
/// [`inspect`], for callers that only need to know whether it is text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sniffed {
    /// The kind.
    pub kind: Kind,
    /// The MIME type, without parameters.
    pub mime: &'static str,
}

/// Tells kind and MIME type from the start of a file. `complete` says that the
/// bytes are the whole file; `name` may be a path or empty.
pub fn sniff(bytes: &[u8], name: &str, complete: bool) -> Sniffed {
    if bytes.is_empty() {
        let mime = types::by_name(name).unwrap_or("text/plain");
        return Sniffed { kind: Kind::Empty, mime };
    }
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    if let Some((kind, mime)) = magic::find(bytes) {
        return Sniffed { kind, mime };
    }
    if !text_heuristic::is_text(sample, complete && sample.len() == bytes.len()) {
        return Sniffed { kind: Kind::Binary, mime: "application/octet-stream" };
    }
    match types::by_name(name).or_else(|| types::by_text(sample)) {
        Some(mime @ "image/svg+xml") => Sniffed { kind: Kind::Svg, mime },
        Some(mime) => Sniffed { kind: Kind::Text, mime },
        None => Sniffed { kind: Kind::Text, mime: "text/plain" },
    }
}

/// Kind, MIME type, encoding, line ends and image size, from the start of a
/// file (or all of it, with `complete`). `name` may be a path or empty.
///
/// ```
/// use filewright_core::sniff::{Kind, inspect};
/// let found = inspect(b"caf\xe9\n", "menu.txt", true);
/// assert_eq!(found.kind, Kind::Text);
/// assert_eq!(found.encoding.map(|e| e.name()).as_deref(), Some("windows-1252"));
/// ```
pub fn inspect(bytes: &[u8], name: &str, complete: bool) -> Inspection {
    let Sniffed { kind, mime } = sniff(bytes, name, complete);
    let size = if kind == Kind::Image { image::size(bytes) } else { None };
    let mut found = Inspection { kind, mime, encoding: None, eol: None, bom: false, size };
    if kind.is_text() {
        let detection = encoding::detect(bytes, complete);
        let body = &bytes[detection.bom..];
        found.encoding = Some(detection.encoding);
        found.bom = detection.bom > 0;
        found.eol = Some(match detection.encoding.unit() {
            encoding::Unit::Byte => Eol::detect(body),
            encoding::Unit::Two(endian) => {
                Eol::detect_wide(body, endian.bytes(0x0a), endian.bytes(0x0d))
            }
        });
    }
    found
}

impl Inspection {
    /// Packs the inspection: `kind, mime, encoding?, eol?, bom, width?, height?`.
    pub fn pack(&self, packed: &mut Packed) {
        packed.str(self.kind.as_str());
        packed.str(self.mime);
        packed.opt_str(self.encoding.map(Encoding::name).as_deref());
        packed.opt_str(self.eol.map(Eol::as_str));
        packed.flag(self.bom);
        packed.opt(self.size.map(|(width, _)| width.into()));
        packed.opt(self.size.map(|(_, height)| height.into()));
    }
}

#[cfg(test)]
mod tests;
