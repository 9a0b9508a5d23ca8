//! Reads width and height of an image from its header.
//!
//! Nothing is decompressed, so that a picture that claims 60,000 × 60,000 pixels is detected before
//! memory is allocated.

/// Returns width and height in pixels, or `None` if the bytes (the start of a file) do not contain
/// them. Supports PNG, JPEG, GIF, WebP, BMP and ICO.
pub fn image_size(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => png_size(bytes),
        [0xff, 0xd8, 0xff, ..] => jpeg_size(bytes),
        [b'G', b'I', b'F', b'8', ..] => Some((read_le16(bytes, 6)?, read_le16(bytes, 8)?)),
        [b'R', b'I', b'F', b'F', ..] => webp_size(bytes),
        [b'B', b'M', ..] => bmp_size(bytes),
        [0, 0, 1 | 2, 0, ..] => {
            let side = |at: usize| bytes.get(at).map(|&n| if n == 0 { 256 } else { u32::from(n) });
            Some((side(6)?, side(7)?))
        }
        _ => None,
    }
}

fn read_be16(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 2)?.try_into().ok().map(|pair| u32::from(u16::from_be_bytes(pair)))
}

fn read_le16(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 2)?.try_into().ok().map(|pair| u32::from(u16::from_le_bytes(pair)))
}

fn read_le24(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 3).map(|b| u32::from_le_bytes([b[0], b[1], b[2], 0]))
}

fn read_le32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes)
}

fn png_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let side = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes);
    // Apple's variant of PNG has the chunk `CgBI` before the header.
    let header = if bytes.get(12..16)? == b"CgBI" { 32 } else { 16 };
    Some((side(header)?, side(header + 4)?))
}

/// Returns the size of a JPEG from its frame header. Segments before it are skipped, and with them
/// an embedded thumbnail.
fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        while bytes.get(at)? != &0xff || bytes.get(at + 1)? == &0xff {
            at += 1;
        }
        match bytes.get(at + 1)? {
            // The frame headers are C0 to CF without C4, C8 and CC, which mark other segments.
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return Some((read_be16(bytes, at + 7)?, read_be16(bytes, at + 5)?));
            }
            0x01 | 0xd0..=0xd9 => at += 2,
            _ => at += 2 + read_be16(bytes, at + 2)? as usize,
        }
    }
}

/// Returns the size of a WebP from the header of its first chunk.
fn webp_size(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8 " => Some((read_le16(bytes, 26)? & 0x3fff, read_le16(bytes, 28)? & 0x3fff)),
        b"VP8L" => {
            let bits = read_le32(bytes, 21)?;
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => Some((read_le24(bytes, 24)? + 1, read_le24(bytes, 27)? + 1)),
        _ => None,
    }
}

/// Returns the size of a bitmap from its header.
fn bmp_size(bytes: &[u8]) -> Option<(u32, u32)> {
    match read_le32(bytes, 14)? {
        12 => Some((read_le16(bytes, 18)?, read_le16(bytes, 20)?)),
        // A negative height means that the rows are stored top-down.
        _ => Some((read_le32(bytes, 18)?, (read_le32(bytes, 22)? as i32).unsigned_abs())),
    }
}
