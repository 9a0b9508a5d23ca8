//! Reads width and height of an image from its header.
//!
//! Nothing is decompressed, so that a picture that claims 60,000 × 60,000 pixels is detected before
//! memory is allocated.

/// Returns width and height in pixels, or `None` if the bytes (the start of a file) do not contain
/// them. Supports PNG, JPEG, GIF, WebP, BMP and ICO.
pub fn size(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => png(bytes),
        [0xff, 0xd8, 0xff, ..] => jpeg(bytes),
        [b'G', b'I', b'F', b'8', ..] => Some((le16(bytes, 6)?, le16(bytes, 8)?)),
        [b'R', b'I', b'F', b'F', ..] => webp(bytes),
        [b'B', b'M', ..] => bmp(bytes),
        [0, 0, 1 | 2, 0, ..] => {
            let side = |at: usize| bytes.get(at).map(|&n| if n == 0 { 256 } else { u32::from(n) });
            Some((side(6)?, side(7)?))
        }
        _ => None,
    }
}

fn be16(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 2)?.try_into().ok().map(|pair| u32::from(u16::from_be_bytes(pair)))
}

fn le16(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 2)?.try_into().ok().map(|pair| u32::from(u16::from_le_bytes(pair)))
}

fn le24(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 3).map(|b| u32::from_le_bytes([b[0], b[1], b[2], 0]))
}

fn le32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes)
}

fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    let side = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes);
    // Apple's variant has an extra chunk before the header.
    let header = if bytes.get(12..16)? == b"CgBI" { 32 } else { 16 };
    Some((side(header)?, side(header + 4)?))
}

/// Skips segments up to the frame header. An embedded thumbnail lies inside a segment and is
/// skipped with it.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        while bytes.get(at)? != &0xff || bytes.get(at + 1)? == &0xff {
            at += 1;
        }
        match bytes.get(at + 1)? {
            // Frame headers: all of C0–CF except the tables among them.
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return Some((be16(bytes, at + 7)?, be16(bytes, at + 5)?));
            }
            0x01 | 0xd0..=0xd9 => at += 2,
            _ => at += 2 + be16(bytes, at + 2)? as usize,
        }
    }
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8 " => Some((le16(bytes, 26)? & 0x3fff, le16(bytes, 28)? & 0x3fff)),
        b"VP8L" => {
            let bits = le32(bytes, 21)?;
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => Some((le24(bytes, 24)? + 1, le24(bytes, 27)? + 1)),
        _ => None,
    }
}

fn bmp(bytes: &[u8]) -> Option<(u32, u32)> {
    match le32(bytes, 14)? {
        12 => Some((le16(bytes, 18)?, le16(bytes, 20)?)),
        // A negative height means that the rows are stored top-down.
        _ => Some((le32(bytes, 18)?, (le32(bytes, 22)? as i32).unsigned_abs())),
    }
}
