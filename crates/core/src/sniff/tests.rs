use super::*;
use proptest::prelude::*;

fn kind(bytes: &[u8]) -> (&'static str, &'static str) {
    let found = sniff(bytes, "", true);
    (found.kind.as_str(), found.mime)
}

/// Returns a buffer with `parts` at their offsets and zeros between.
fn with(length: usize, parts: &[(usize, &[u8])]) -> Vec<u8> {
    let mut bytes = vec![0; length];
    for (at, part) in parts {
        bytes[*at..*at + part.len()].copy_from_slice(part);
    }
    bytes
}

#[test]
fn signatures() {
    let ts: Vec<u8> = (0..5).flat_map(|_| with(188, &[(0, b"G")])).collect();
    for (bytes, expected) in [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec(), ("image", "image/png")),
        (b"\xff\xd8\xff\xe0\0\x10JFIF".to_vec(), ("image", "image/jpeg")),
        (b"GIF89a\x01\0\x01\0".to_vec(), ("image", "image/gif")),
        (b"RIFF\x24\0\0\0WEBPVP8 ".to_vec(), ("image", "image/webp")),
        (with(60, &[(0, b"BM"), (14, &[40])]), ("image", "image/bmp")),
        (with(30, &[(2, &[1, 0, 1, 0, 16, 16])]), ("image", "image/x-icon")),
        (b"\0\0\0\x1cftypavif\0\0\0\0".to_vec(), ("image", "image/avif")),
        (b"%PDF-1.7\n%\xe2\xe3".to_vec(), ("pdf", "application/pdf")),
        (b"\x1f\x8b\x08\0".to_vec(), ("archive", "application/gzip")),
        (b"BZh91AY&SY\0".to_vec(), ("archive", "application/x-bzip2")),
        (b"7z\xbc\xaf\x27\x1c\0".to_vec(), ("archive", "application/x-7z-compressed")),
        (with(512, &[(0, b"a.txt"), (257, b"ustar")]), ("archive", "application/x-tar")),
        (b"PK\x05\x06\0\0".to_vec(), ("archive", "application/zip")),
        (
            with(
                90,
                &[(0, b"PK\x03\x04"), (30, b"[Content_Types].xml"), (60, b"word/document.xml")],
            ),
            ("document", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ),
        (
            with(90, &[(0, b"PK\x03\x04"), (30, b"[Content_Types].xml"), (60, b"xl/workbook.xml")]),
            ("document", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ),
        (
            with(90, &[(0, b"PK\x03\x04"), (30, b"mimetypeapplication/epub+zip")]),
            ("document", "application/epub+zip"),
        ),
        (b"\x7fELF\x02\x01\x01\0".to_vec(), ("binary", "application/x-elf")),
        (
            with(128, &[(0, b"MZ"), (60, &[64]), (64, b"PE")]),
            ("binary", "application/vnd.microsoft.portable-executable"),
        ),
        (b"\xcf\xfa\xed\xfe\x07\0\0\x01".to_vec(), ("binary", "application/x-mach-binary")),
        (b"\xca\xfe\xba\xbe\0\0\0\x02".to_vec(), ("binary", "application/x-mach-binary")),
        (b"\xca\xfe\xba\xbe\0\0\0\x41".to_vec(), ("binary", "application/java-vm")),
        (b"\0asm\x01\0\0\0".to_vec(), ("binary", "application/wasm")),
        (b"SQLite format 3\0".to_vec(), ("binary", "application/vnd.sqlite3")),
        (b"wOF2\0\x01\0\0".to_vec(), ("font", "font/woff2")),
        (b"\0\x01\0\0\0\x0f".to_vec(), ("font", "font/ttf")),
        (b"ID3\x04\0\0".to_vec(), ("audio", "audio/mpeg")),
        (
            with(900, &[(0, b"\xff\xfb\x90\x00"), (417, b"\xff\xfb\x90\x00")]),
            ("audio", "audio/mpeg"),
        ),
        (b"OggS\0\x02".to_vec(), ("audio", "audio/ogg")),
        (b"fLaC\0\0\0\x22".to_vec(), ("audio", "audio/flac")),
        (b"RIFF\x24\0\0\0WAVEfmt ".to_vec(), ("audio", "audio/wav")),
        (b"\0\0\0\x18ftypisom\0\0\0\0".to_vec(), ("video", "video/mp4")),
        (b"\x1a\x45\xdf\xa3\x9f\x42\x82\x84webm".to_vec(), ("video", "video/webm")),
        (ts, ("video", "video/mp2t")),
        (
            with(90, &[(0, b"PK\x03\x04"), (30, b"[Content_Types].xml"), (60, b"ppt/slides")]),
            (
                "document",
                "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            ),
        ),
        (
            with(60, &[(0, b"PK\x03\x04"), (30, b"META-INF/MANIFEST.MF")]),
            ("archive", "application/java-archive"),
        ),
        (b"RIFF\x24\0\0\0AVI LIST".to_vec(), ("video", "video/x-msvideo")),
        (b"FORM\0\0\0\x24AIFFCOMM".to_vec(), ("audio", "audio/aiff")),
        (with(30, &[(2, &[2, 0, 1, 0, 16, 16])]), ("image", "image/x-win-bitmap")),
        (b"\0\0\0\x08moov".to_vec(), ("video", "video/quicktime")),
        (b"\0\0\0\x18ftypheic\0\0\0\0".to_vec(), ("image", "image/heic")),
        (b"\0\0\0\x18ftypmif1\0\0\0\0".to_vec(), ("image", "image/heif")),
        (b"\0\0\0\x18ftypM4A \0\0\0\0".to_vec(), ("audio", "audio/mp4")),
        (b"\0\0\0\x18ftypqt  \0\0\0\0".to_vec(), ("video", "video/quicktime")),
        (b"\0\0\0\x18ftyp3gp4\0\0\0\0".to_vec(), ("video", "video/3gpp")),
        (b"\x1a\x45\xdf\xa3\x9f\x42\x82\x88matroska".to_vec(), ("video", "video/matroska")),
        (b"OggS\0\x02\0\0\x80theora".to_vec(), ("video", "video/ogg")),
        // Two frames of AAC, each 16 bytes long.
        (
            with(32, &[(0, b"\xff\xf1\x50\x80\x02\x1f"), (16, b"\xff\xf1\x50\x80\x02\x1f")]),
            ("audio", "audio/aac"),
        ),
        // The same for MPEG 2 and 2.5, at 8 kbit/s: 26 and 52 bytes.
        (with(80, &[(0, b"\xff\xf3\x10\0"), (26, b"\xff\xf3\x10\0")]), ("audio", "audio/mpeg")),
        (with(90, &[(0, b"\xff\xe3\x10\0"), (52, b"\xff\xe3\x10\0")]), ("audio", "audio/mpeg")),
        (with(40, &[(0, b"junk\n"), (5, b"%PDF-1.4\n")]), ("pdf", "application/pdf")),
    ] {
        assert_eq!(kind(&bytes), expected, "{:?}", &bytes[..8.min(bytes.len())]);
    }
}

#[test]
fn text_that_begins_like_a_signature() {
    for text in [
        &b"BM is a film about steel\n"[..],
        b"MZ, the initials of Mark Zbikowski\n",
        b"GIF is a format, pronounced jif\n",
        b"PK Dick wrote novels\n",
        b"RIFF about WAVE files\n",
        b"PAR1 of the course\n",
        b"G\n",
        b"\xff\xfeh\0i\0",
        b"This guide explains the %PDF-1.7 header\n",
        b"ID3 tags explained\n",
    ] {
        assert_eq!(kind(text).0, "text", "{:?}", String::from_utf8_lossy(text));
    }
}

#[test]
fn text_in_any_encoding() {
    let long = |text: &str, times: usize| text.repeat(times);
    for (label, text) in [
        ("utf-8", long("\x1b[31merror\x1b[0m plain words\n", 20)),
        ("utf-8", "漢".repeat(3000)),
        ("cp1251", long("Это обычный русский текст, записанный старой кодировкой.\n", 9)),
        ("cp866", long("Это обычный русский текст, записанный старой кодировкой.\n", 9)),
        ("koi8-r", long("Это обычный русский текст, записанный старой кодировкой.\n", 9)),
        ("cp1253", long("Αυτό είναι ένα απλό κείμενο.\n", 9)),
        ("shift_jis", long("これは日本語の文章です。文字コードの検査に使います。\n", 9)),
        ("euc-jp", long("これは日本語の文章です。文字コードの検査に使います。\n", 9)),
        ("iso-2022-jp", long("これは日本語の文章です。\n", 9)),
        ("gb18030", long("这是一段中文文本，用来检查编码是否正确。\n", 9)),
        ("gb18030", "这是一段没有换行的中文文本用来检查编码是否正确".to_owned()),
        ("gb18030", long("這是一段繁體中文，用來檢查編碼是否正確。\n", 9)),
        ("big5", long("這是一段中文文字，用來檢查編碼是否正確。\n", 9)),
        ("euc-kr", long("이것은 한국어 문장입니다.\n", 9)),
        ("latin1", "Größe".to_owned()),
        ("windows-874", long("นี่คือไฟล์ทดสอบการเข้ารหัสต้องถูกต้อง\n", 9)),
        ("windows-1255", long("זהו קובץ בדיקה. הקידוד צריך להיות נכון.\n", 9)),
        ("windows-1256", long("هذا ملف اختبار. يجب أن يكون الترميز صحيحا.\n", 9)),
        ("utf-16le", long("Это русский текст\n", 9)),
        ("utf-16be", long("日本語の文章です。\n", 9)),
    ] {
        let encoding = crate::encoding::Encoding::for_label(label).unwrap();
        let bytes = encoding.encode(&text).unwrap();
        let found = inspect(&bytes, "", true);
        assert_eq!(found.kind, FileKind::Text, "{label}");
        let decoded = found.encoding.unwrap().decode(&bytes);
        assert_eq!(&*decoded.text, text.as_str(), "{label} as {:?}", found.encoding);
    }
}

#[test]
fn utf8_with_a_bad_byte_is_text() {
    let bytes = ["漢字仮名".repeat(20).as_bytes(), b"\xff", "漢字".as_bytes()].concat();
    assert_eq!(inspect(&bytes, "", true).encoding, Some(Encoding::UTF_8));
}

#[test]
fn data_is_not_text() {
    let mut state = 7u64;
    let mut random = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 56) as u8
    };
    let noise: Vec<u8> = (0..4096).map(|_| random()).collect();
    let high: Vec<u8> = (0..600u32).map(|n| 0x80 | (n * 37) as u8).collect();
    for (bytes, why) in [
        (vec![0; 4096], "zeros"),
        (noise, "noise"),
        (high, "high bytes without words"),
        (b"foo\0foo".to_vec(), "a NUL"),
        ((0..2000u32).flat_map(u32::to_le_bytes).collect(), "numbers"),
        (vec![0, 1], "two controls"),
    ] {
        assert_eq!(kind(&bytes), ("binary", "application/octet-stream"), "{why}");
    }
}

#[test]
fn names_distinguish_only_kinds_of_text() {
    for (name, content, expected) in [
        ("a.ts", &b"let a = 1;\n"[..], ("text", "text/typescript")),
        ("src/A.TS", b"let a = 1;\n", ("text", "text/typescript")),
        ("x.png", b"not an image\n", ("text", "text/plain")),
        ("s.svg", b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n", ("svg", "image/svg+xml")),
        ("noname", b"<?xml version=\"1.0\"?>\n<svg/>", ("svg", "image/svg+xml")),
        ("Dockerfile", b"FROM scratch\n", ("text", "text/x-dockerfile")),
        ("run", b"#!/usr/bin/env python3\n", ("text", "text/x-python")),
        ("a.md", b"", ("empty", "text/markdown")),
        ("P.PNG", b"\x89PNG\r\n\x1a\n", ("image", "image/png")),
        ("\u{e9}.\u{e9}", b"x", ("text", "text/plain")),
    ] {
        let found = sniff(content, name, true);
        assert_eq!((found.kind.as_str(), found.mime), expected, "{name}");
    }
}

#[test]
fn image_sizes_come_from_the_header() {
    let png =
        with(24, &[(0, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), (16, &[0, 0, 0xea, 0x60, 0, 0, 0, 7])]);
    let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc0\0\x11\x08\0\x20\0\x30\x03".to_vec();
    let bmp = with(40, &[(0, b"BM"), (14, &[40]), (18, &[5]), (22, &[0xf9, 0xff, 0xff, 0xff])]);
    let lossless = with(32, &[(0, b"RIFF"), (8, b"WEBPVP8L"), (20, &[0x2f, 9, 0, 1, 0])]);
    let extended = with(32, &[(0, b"RIFF"), (8, b"WEBPVP8X"), (24, &[9, 0, 0, 4, 0, 0])]);
    for (bytes, expected) in [
        (png, Some((60_000, 7))),
        (jpeg, Some((48, 32))),
        (b"GIF89a\x02\x01\x03\0".to_vec(), Some((258, 3))),
        (bmp, Some((5, 7))),
        (lossless, Some((10, 5))),
        (extended, Some((10, 5))),
        (b"\x89PNG".to_vec(), None),
        (b"\xff\xd8\xff\xe0\xff\xff".to_vec(), None),
        (b"text".to_vec(), None),
    ] {
        assert_eq!(image::image_size(&bytes), expected, "{bytes:?}");
    }
}

#[test]
fn a_multibyte_character_at_the_edge_of_the_sample() {
    for shift in 0..4 {
        let text = "x".repeat(SAMPLE_BYTES - shift) + &"漢".repeat(100);
        assert_eq!(inspect(text.as_bytes(), "", true).encoding, Some(Encoding::UTF_8));
        assert_eq!(sniff(&text.as_bytes()[..SAMPLE_BYTES], "", false).kind, FileKind::Text);
    }
}

proptest! {
    #[test]
    fn any_bytes_have_a_kind(bytes in proptest::collection::vec(any::<u8>(), 0..300), name in "[a-z./é]{0,40}", complete: bool) {
        let found = inspect(&bytes, &name, complete);
        prop_assert_eq!(found.kind.is_text(), found.encoding.is_some());
    }

    #[test]
    fn any_header_has_bounded_cost(start in 0usize..6, bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let starts: [&[u8]; 6] = [b"\xff\xd8\xff", b"\x89PNG", b"RIFF", b"BM", b"\xff\xfb", b"PK\x03\x04"];
        let bytes = [starts[start], &bytes].concat();
        let _ = image::image_size(&bytes);
        let _ = sniff(&bytes, "", true);
    }

    #[test]
    fn unicode_text_is_text(text in "[^\\p{C}]{1,80}") {
        prop_assert_eq!(sniff(text.as_bytes(), "", true).kind.is_text(), true);
    }
}

#[test]
fn scripts_are_recognised_by_their_first_line() {
    for (line, mime) in [
        ("#!/usr/bin/env node", "text/javascript"),
        ("#!/usr/bin/deno run", "text/javascript"),
        ("#!/usr/bin/python3", "text/x-python"),
        ("#!/usr/bin/perl -w", "text/x-perl"),
        ("#!/usr/bin/env ruby", "text/x-ruby"),
        ("#!/bin/sh", "text/x-shellscript"),
    ] {
        let found = sniff(format!("{line}\ngo\n").as_bytes(), "program", true);
        assert_eq!((found.kind, found.mime), (FileKind::Text, mime), "{line}");
    }
}
