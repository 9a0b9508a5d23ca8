//! Recognises formats that are not text by their signatures.
//!
//! Most signatures are fixed bytes at the start; separate functions check where these bytes would
//! also match text or another format (`BM`, `MZ`, MPEG).

use super::FileKind::{self, Archive, Audio, Binary, Document, Font, Image, Pdf, Video};

type KindAndMime = (FileKind, &'static str);

/// The bytes at the start of a file, and the kind and MIME type that they stand for.
const SIGNATURES: &[(&[u8], FileKind, &str)] = &[
    (b"\x89PNG\r\n\x1a\n", Image, "image/png"),
    (b"\xff\xd8\xff", Image, "image/jpeg"),
    (b"GIF87a", Image, "image/gif"),
    (b"GIF89a", Image, "image/gif"),
    (b"II*\0", Image, "image/tiff"),
    (b"MM\0*", Image, "image/tiff"),
    (b"8BPS\0", Image, "image/vnd.adobe.photoshop"),
    (b"\0\0\0\x0cJXL \r\n\x87\n", Image, "image/jxl"),
    (b"\xff\x0a", Image, "image/jxl"),
    (b"\0\0\0\x0cjP  \r\n\x87\n", Image, "image/jp2"),
    (b"%PDF-", Pdf, "application/pdf"),
    (b"\x1f\x8b\x08", Archive, "application/gzip"),
    (b"\xfd7zXZ\0", Archive, "application/x-xz"),
    (b"7z\xbc\xaf\x27\x1c", Archive, "application/x-7z-compressed"),
    (b"\x28\xb5\x2f\xfd", Archive, "application/zstd"),
    (b"\x04\x22\x4d\x18", Archive, "application/x-lz4"),
    (b"Rar!\x1a\x07", Archive, "application/vnd.rar"),
    (b"MSCF\0\0\0\0", Archive, "application/vnd.ms-cab-compressed"),
    (b"!<arch>\n", Archive, "application/x-archive"),
    (b"\xed\xab\xee\xdb", Archive, "application/x-rpm"),
    (b"\x1f\x9d", Archive, "application/x-compress"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Document, "application/x-ole-storage"),
    (b"\x7fELF", Binary, "application/x-elf"),
    (b"\0asm", Binary, "application/wasm"),
    (b"\xfe\xed\xfa\xce", Binary, "application/x-mach-binary"),
    (b"\xfe\xed\xfa\xcf", Binary, "application/x-mach-binary"),
    (b"\xce\xfa\xed\xfe", Binary, "application/x-mach-binary"),
    (b"\xcf\xfa\xed\xfe", Binary, "application/x-mach-binary"),
    (b"SQLite format 3\0", Binary, "application/vnd.sqlite3"),
    (b"BC\xc0\xde", Binary, "application/x-llvm-bitcode"),
    (b"\x1bLua", Binary, "application/x-lua-bytecode"),
    (b"dex\n035\0", Binary, "application/vnd.android.dex"),
    (b"\x89HDF\r\n\x1a\n", Binary, "application/x-hdf5"),
    (b"\x93NUMPY", Binary, "application/x-npy"),
    (b"PAR1", Binary, "application/vnd.apache.parquet"),
    (b"ARROW1\0\0", Binary, "application/vnd.apache.arrow.file"),
    (b"bplist00", Binary, "application/x-bplist"),
    (b"GGUF", Binary, "application/x-gguf"),
    (b"glTF\x02\0\0\0", Binary, "model/gltf-binary"),
    (b"DIRC\0\0\0", Binary, "application/x-git-index"),
    (b"PACK\0\0\0", Binary, "application/x-git-pack"),
    (b"\xfftOc", Binary, "application/x-git-pack-index"),
    (b"\xac\xed\0\x05", Binary, "application/x-java-serialized"),
    (b"\xd4\xc3\xb2\xa1", Binary, "application/vnd.tcpdump.pcap"),
    (b"wOFF", Font, "font/woff"),
    (b"wOF2", Font, "font/woff2"),
    (b"OTTO\0", Font, "font/otf"),
    (b"\0\x01\0\0\0", Font, "font/ttf"),
    (b"true\0", Font, "font/ttf"),
    (b"ttcf\0", Font, "font/collection"),
    (b"OggS\0", Audio, "audio/ogg"),
    (b"fLaC\0", Audio, "audio/flac"),
    (b"ID3\x02", Audio, "audio/mpeg"),
    (b"ID3\x03", Audio, "audio/mpeg"),
    (b"ID3\x04", Audio, "audio/mpeg"),
    (b"MThd\0\0\0\x06", Audio, "audio/midi"),
    (b"#!AMR\n", Audio, "audio/amr"),
    (b"FLV\x01", Video, "video/x-flv"),
    (b"\0\0\x01\xba", Video, "video/mpeg"),
    (b"\0\0\x01\xb3", Video, "video/mpeg"),
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", Video, "video/x-ms-asf"),
];

/// Returns the kind and MIME type whose signature the bytes have, if any.
pub(super) fn find_signature(bytes: &[u8]) -> Option<KindAndMime> {
    let found = SIGNATURES.iter().find(|(signature, ..)| bytes.starts_with(signature));
    if let Some(&(_, kind, mime)) = found {
        return match mime {
            "audio/ogg" => Some(detect_ogg(bytes)),
            // The two bytes of this signature may also be a text that begins with `ÿ` and LF, so a
            // NUL is required.
            "image/jxl" if bytes[0] == 0xff && !has_nul(bytes) => None,
            "application/x-compress" if !has_nul(bytes) && bytes.len() > 512 => None,
            "application/vnd.apache.parquet" | "application/x-gguf" if !has_nul(bytes) => None,
            _ => Some((kind, mime)),
        };
    }
    match bytes.first()? {
        b'P' => detect_zip(bytes),
        b'R' | b'F' => detect_riff(bytes),
        b'B' => detect_bmp(bytes).or_else(|| detect_bzip2(bytes)),
        b'M' => detect_pe(bytes),
        b'G' => detect_mpeg_ts(bytes),
        0x00 => {
            detect_ico(bytes).or_else(|| detect_iso_media(bytes)).or_else(|| detect_mpeg_ts(bytes))
        }
        0x1a => detect_matroska(bytes),
        0xca => detect_java_or_mach(bytes),
        0xff => detect_mpeg_audio(bytes),
        _ => None,
    }
    .or_else(|| detect_tar(bytes))
    .or_else(|| detect_pdf_after_junk(bytes))
}

/// Returns true if the first [`super::SAMPLE_BYTES`] bytes contain a NUL.
fn has_nul(bytes: &[u8]) -> bool {
    memchr::memchr(0, &bytes[..bytes.len().min(super::SAMPLE_BYTES)]).is_some()
}

fn read_be32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)
}

fn read_le32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes)
}

fn contains_bytes(haystack: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(haystack, needle).is_some()
}

/// Distinguishes formats that are zip archives by the names of the first entries.
fn detect_zip(bytes: &[u8]) -> Option<KindAndMime> {
    if !matches!(bytes, [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..]) {
        return None;
    }
    let head = &bytes[..bytes.len().min(super::SAMPLE_BYTES)];
    // OpenDocument and EPUB store their MIME type uncompressed at a fixed offset.
    const STORED: [&str; 5] = [
        "application/epub+zip",
        "application/vnd.oasis.opendocument.text",
        "application/vnd.oasis.opendocument.spreadsheet",
        "application/vnd.oasis.opendocument.presentation",
        "application/vnd.oasis.opendocument.graphics",
    ];
    if head.get(30..38) == Some(b"mimetype") {
        let stored = |mime: &&str| head[38..].starts_with(mime.as_bytes());
        if let Some(mime) = STORED.into_iter().find(stored) {
            return Some((Document, mime));
        }
    }
    let office =
        contains_bytes(head, b"[Content_Types].xml") || contains_bytes(head, b"_rels/.rels");
    let folder = |name: &[u8]| contains_bytes(head, name);
    Some(match () {
        () if office && folder(b"word/") => {
            (Document, "application/vnd.openxmlformats-officedocument.wordprocessingml.document")
        }
        () if office && folder(b"xl/") => {
            (Document, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
        }
        () if office && folder(b"ppt/") => {
            (Document, "application/vnd.openxmlformats-officedocument.presentationml.presentation")
        }
        () if folder(b"META-INF/") => (Archive, "application/java-archive"),
        () => (Archive, "application/zip"),
    })
}

fn detect_riff(bytes: &[u8]) -> Option<KindAndMime> {
    match (bytes.get(..4)?, bytes.get(8..12)?) {
        (b"RIFF", b"WEBP") => Some((Image, "image/webp")),
        (b"RIFF", b"WAVE") => Some((Audio, "audio/wav")),
        (b"RIFF", b"AVI ") => Some((Video, "video/x-msvideo")),
        (b"FORM", b"AIFF" | b"AIFC") => Some((Audio, "audio/aiff")),
        _ => None,
    }
}

/// Recognises a bitmap. Many texts begin with `BM`, so the rest of the header must be plausible.
fn detect_bmp(bytes: &[u8]) -> Option<KindAndMime> {
    let plausible = bytes.starts_with(b"BM")
        && matches!(read_le32(bytes, 14)?, 12 | 40 | 52 | 56 | 64 | 108 | 124)
        && read_le32(bytes, 6)? == 0;
    plausible.then_some((Image, "image/bmp"))
}

fn detect_bzip2(bytes: &[u8]) -> Option<KindAndMime> {
    let plausible = matches!(bytes, [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..]
        if rest.starts_with(b"1AY&SY") || rest.starts_with(b"\x17\x72\x45\x38\x50\x90"));
    plausible.then_some((Archive, "application/x-bzip2"))
}

/// Recognises a Windows program: `MZ`, and NULs, which text does not contain.
fn detect_pe(bytes: &[u8]) -> Option<KindAndMime> {
    (bytes.starts_with(b"MZ") && has_nul(bytes))
        .then_some((Binary, "application/vnd.microsoft.portable-executable"))
}

fn detect_ico(bytes: &[u8]) -> Option<KindAndMime> {
    let mime = match bytes {
        [0, 0, 1, 0, ..] => "image/x-icon",
        [0, 0, 2, 0, ..] => "image/x-win-bitmap",
        _ => return None,
    };
    let count = u16::from_le_bytes([*bytes.get(4)?, *bytes.get(5)?]);
    // Each entry of an icon file has a reserved byte: 0.
    ((1..=255).contains(&count) && bytes.get(9) == Some(&0)).then_some((Image, mime))
}

/// Recognises the MPEG-4 family, whose brand distinguishes images, audio and video.
fn detect_iso_media(bytes: &[u8]) -> Option<KindAndMime> {
    match bytes.get(4..8)? {
        b"ftyp" => {}
        b"moov" | b"mdat" | b"wide" => return Some((Video, "video/quicktime")),
        _ => return None,
    }
    Some(match bytes.get(8..12)? {
        b"avif" | b"avis" => (Image, "image/avif"),
        b"heic" | b"heix" | b"hevc" | b"heim" | b"heis" => (Image, "image/heic"),
        b"mif1" | b"msf1" => (Image, "image/heif"),
        b"M4A " | b"M4B " => (Audio, "audio/mp4"),
        b"qt  " => (Video, "video/quicktime"),
        b"3gp4" | b"3gp5" | b"3gp6" | b"3g2a" => (Video, "video/3gpp"),
        _ => (Video, "video/mp4"),
    })
}

fn detect_matroska(bytes: &[u8]) -> Option<KindAndMime> {
    if !bytes.starts_with(b"\x1a\x45\xdf\xa3") {
        return None;
    }
    let head = &bytes[..bytes.len().min(64)];
    Some((Video, if contains_bytes(head, b"webm") { "video/webm" } else { "video/matroska" }))
}

fn detect_ogg(bytes: &[u8]) -> KindAndMime {
    let head = &bytes[..bytes.len().min(128)];
    if contains_bytes(head, b"theora") { (Video, "video/ogg") } else { (Audio, "audio/ogg") }
}

/// Distinguishes Java classes and fat Mach-O files, which share a signature. A fat file has the
/// number of architectures, a few, where a class has its version, 45 or more.
fn detect_java_or_mach(bytes: &[u8]) -> Option<KindAndMime> {
    if !bytes.starts_with(b"\xca\xfe\xba\xbe") {
        return None;
    }
    Some(match read_be32(bytes, 4)? {
        0..=30 => (Binary, "application/x-mach-binary"),
        _ => (Binary, "application/java-vm"),
    })
}

/// Recognises an MPEG transport stream: a sync byte every 188 bytes (192 with time stamps).
fn detect_mpeg_ts(bytes: &[u8]) -> Option<KindAndMime> {
    let packets = |first: usize, length: usize| {
        let mut syncs = bytes.iter().skip(first).step_by(length).take(5);
        bytes.len() > first + 2 * length && syncs.all(|&byte| byte == 0x47)
    };
    (packets(0, 188) || packets(4, 192)).then_some((Video, "video/mp2t"))
}

/// Recognises MP3 or AAC without a tag: a frame header, and another one where the first frame ends,
/// because two bytes alone would match text in many encodings.
fn detect_mpeg_audio(bytes: &[u8]) -> Option<KindAndMime> {
    let [0xff, second, third, ..] = *bytes else { return None };
    if second & 0xf6 == 0xf0 {
        // AAC in ADTS: the header contains the length of the frame.
        let [_, _, _, b3, b4, b5, ..] = *bytes else { return None };
        let length = usize::from(b3 & 3) << 11 | usize::from(b4) << 3 | usize::from(b5 >> 5);
        let again = bytes.get(length..length + 2) == Some(&[0xff, second]);
        return (length > 7 && again).then_some((Audio, "audio/aac"));
    }
    if second & 0xe6 != 0xe2 || second & 0x18 == 0x08 {
        return None; // not layer III
    }
    const V1: [u32; 15] = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
    const V2: [u32; 15] = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
    let (rates, hertz, samples) = match second & 0x18 {
        0x18 => (V1, [44_100, 48_000, 32_000], 144),
        0x10 => (V2, [22_050, 24_000, 16_000], 72),
        _ => (V2, [11_025, 12_000, 8_000], 72),
    };
    let rate = *rates.get(usize::from(third >> 4)).filter(|&&rate| rate > 0)?;
    let hertz = *hertz.get(usize::from(third >> 2 & 3))?;
    let length = (samples * rate * 1000 / hertz + u32::from(third >> 1 & 1)) as usize;
    let next = bytes.get(length..length + 2)?;
    (next[0] == 0xff && next[1] & 0xfe == second & 0xfe).then_some((Audio, "audio/mpeg"))
}

fn detect_tar(bytes: &[u8]) -> Option<KindAndMime> {
    (bytes.get(257..262) == Some(b"ustar")).then_some((Archive, "application/x-tar"))
}

/// Recognises a PDF with a few bytes before its header, which some programs write and readers
/// accept.
fn detect_pdf_after_junk(bytes: &[u8]) -> Option<KindAndMime> {
    let head = bytes.get(..bytes.len().min(1024))?;
    let at = memchr::memmem::find(head, b"%PDF-1.")?;
    // A text that quotes the header of a PDF has no NUL.
    has_nul(bytes).then_some(())?;
    (at < 1024).then_some((Pdf, "application/pdf"))
}
