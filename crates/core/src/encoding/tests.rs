use super::*;
use proptest::prelude::*;

fn label(name: &str) -> Encoding {
    Encoding::for_label(name).unwrap()
}

#[test]
fn position_of_the_first_non_ascii_character_does_not_matter() {
    let text = "a line\n".repeat(800);
    for ascii in [0, 1, 509, 510, 511, 512, 513, 1024, 5000] {
        let start = &text.as_bytes()[..ascii];
        for (rest, name) in [
            (&b""[..], "utf-8"),
            (" \u{6f22}\u{5b57}\u{1f600}\n".as_bytes(), "utf-8"),
            (b" \x1b[1m\n", "utf-8"),
            (b" \x1b$B4A;z\x1b(B\n", "iso-2022-jp"),
            (b" caf\xe9\n", "windows-1252"),
        ] {
            let bytes = [start, rest].concat();
            assert_eq!(detect(&bytes, true).encoding.name(), name, "{ascii} {rest:?}");
        }
        let cut = [start, &" \u{6f22}".as_bytes()[..2]].concat();
        assert_eq!(detect(&cut, false).encoding.name(), "utf-8", "{ascii}");
    }
}

#[test]
fn labels() {
    for (given, name) in [
        ("UTF-8", "utf-8"),
        ("utf8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("latin1", "windows-1252"),
        ("Latin-1", "windows-1252"),
        ("ISO-8859-1", "windows-1252"),
        ("ascii", "windows-1252"),
        ("utf16le", "utf-16le"),
        ("UTF-16BE", "utf-16be"),
        ("utf-16", "utf-16le"),
        ("ucs-2", "utf-16le"),
        ("cp1251", "windows-1251"),
        ("sjis", "shift_jis"),
        ("Shift-JIS", "shift_jis"),
        ("cp932", "shift_jis"),
        ("gb2312", "gbk"),
        ("GB18030", "gb18030"),
        ("euc_jp", "euc-jp"),
        ("cp866", "ibm866"),
        ("koi8_r", "koi8-r"),
        ("iso8859-2", "iso-8859-2"),
        ("big5", "big5"),
        ("iso-2022-jp", "iso-2022-jp"),
    ] {
        assert_eq!(label(given).name(), name, "{given}");
    }
    for unknown in ["", "utf-9", "replacement", "klingon"] {
        let error = Encoding::for_label(unknown).unwrap_err();
        assert_eq!(error.code, Code::InvalidArgument);
        assert!(error.message.contains(unknown));
    }
}

#[test]
fn detection_in_order() {
    for (bytes, name, bom) in [
        (&b"plain"[..], "utf-8", 0),
        (b"", "utf-8", 0),
        (b"\xef\xbb\xbfhi", "utf-8", 3),
        (b"\xff\xfeh\0i\0", "utf-16le", 2),
        (b"\xfe\xff\0h\0i", "utf-16be", 2),
        (b"h\0i\0 \0t\0h\0e\0r\0e\0", "utf-16le", 0),
        (b"\0h\0i\0 \0t\0h\0e\0r\0e", "utf-16be", 0),
        ("漢字 é".as_bytes(), "utf-8", 0),
        (b"ok\ncaf\xe9\n", "windows-1252", 0),
        (b"\x1b$B4A;z\x1b(B\n", "iso-2022-jp", 0),
        (b"\x1b[31mred\x1b[0m", "utf-8", 0),
        ("grüße\n\u{fffd}".as_bytes(), "utf-8", 0),
        (b"gr\xc3\xbc\xc3\x9fe\nbad \xff byte\n", "utf-8", 0),
    ] {
        let found = detect(bytes, true);
        assert_eq!((&*found.encoding.name(), found.bom), (name, bom), "{bytes:?}");
    }
    assert!(detect(b"gr\xc3\xbc\xc3\x9fe \xff", true).lossy);
}

#[test]
fn a_character_cut_at_the_end_of_a_sample_is_no_fault() {
    let cut = &"漢字".as_bytes()[..5];
    assert_eq!(detect(cut, false).encoding, Encoding::UTF_8);
    assert!(!detect(cut, false).lossy);
}

#[test]
fn utf16_without_mark_in_several_scripts() {
    for text in [
        "Hello there, world\n",
        "Это проверка кодировки\nи ещё строка\n",
        "これはテストです。\n日本語の文章。\n",
        "这是一个测试。\n编码检测。\n",
        "이것은 시험입니다\n한국어 문장\n",
        "Αυτό είναι μια δοκιμή\n",
        "let a = 1; // 注释\nlet b = \"😀\";\n",
    ] {
        for encoding in [Encoding::UTF_16LE, Encoding::UTF_16BE] {
            let bytes = encoding.encode(text).unwrap();
            assert_eq!(detect(&bytes, true).encoding, encoding, "{text}");
        }
    }
}

#[test]
fn binary_is_not_taken_for_utf16() {
    let mut state = 1u64;
    let mut random = Vec::new();
    for _ in 0..4096 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        random.push((state >> 56) as u8);
    }
    assert_eq!(detect(&random, true).encoding.unit(), LineFeedCode::Byte);
    let numbers: Vec<u8> = (0..2000u32).flat_map(u32::to_le_bytes).collect();
    assert_eq!(detect(&numbers, true).encoding.unit(), LineFeedCode::Byte);
    assert_eq!(detect(&[0; 4096], true).encoding.unit(), LineFeedCode::Byte);
}

#[test]
fn strict_decoding_names_encoding_and_place() {
    let error = Encoding::UTF_8.decode_strict(b"ok\ncaf\xe9\n").unwrap_err();
    assert_eq!(error.code, Code::EncodingError);
    assert!(error.message.contains("encoding utf-8"), "{}", error.message);
    assert_eq!(error.details["offset"], 6);
    assert_eq!(error.details["line"], 2);
    assert_eq!(error.details["detected"], "windows-1252");
}

#[test]
fn whole_files() {
    let read = |bytes: &[u8], label: &str| {
        decode_text(bytes, label).map(|t| (t.text.into_owned(), t.encoding.name(), t.bom, t.lossy))
    };
    assert_eq!(read(b"\xef\xbb\xbfhi", "auto"), Ok(("hi".into(), "utf-8".into(), true, false)));
    assert_eq!(read(b"\xfe\xff\0h", "utf-16"), Ok(("h".into(), "utf-16be".into(), true, false)));
    assert_eq!(read(b"caf\xe9", "auto"), Ok(("café".into(), "windows-1252".into(), false, false)));
    assert_eq!(read(b"caf\xe9", "utf-8").unwrap_err().code, Code::EncodingError);
    assert_eq!(encode_text("é", "utf-16le", true), Ok(b"\xff\xfe\xe9\0".to_vec()));
    assert_eq!(encode_text("é", "latin1", true).unwrap_err().code, Code::InvalidArgument);
}

#[test]
fn characters_an_encoding_cannot_hold_are_refused() {
    for name in ["latin1", "shift_jis", "windows-1251", "iso-2022-jp", "big5"] {
        let error = label(name).encode("ok 😀").unwrap_err();
        assert_eq!(error.code, Code::EncodingError, "{name}");
        assert_eq!(error.details["character"], "😀");
        assert_eq!(error.details["offset"], 3);
    }
    assert!(label("gb18030").encode("😀").is_ok());
}

#[test]
fn every_byte_of_windows_1252_is_a_character() {
    let all: Vec<u8> = (0..=255).collect();
    let text = Encoding::WINDOWS_1252.decode(&all);
    assert!(!text.lossy);
    assert_eq!(Encoding::WINDOWS_1252.encode(&text.text).unwrap(), all);
    assert_eq!(encoding_rs::WINDOWS_1252.decode_without_bom_handling(&all).0, text.text);
}

#[test]
fn prefixes_are_measured_in_code_points() {
    let text = "aé漢😀b";
    for (name, lengths) in [
        ("utf-8", [0, 1, 3, 6, 10, 11]),
        ("utf-16le", [0, 2, 4, 6, 10, 12]),
        ("gb18030", [0, 1, 3, 5, 9, 10]),
    ] {
        let bytes = label(name).encode(text).unwrap();
        for (chars, length) in lengths.into_iter().enumerate() {
            assert_eq!(label(name).first_chars_len(&bytes, chars), length, "{name} {chars}");
        }
    }
    assert_eq!(Encoding::UTF_8.first_chars_len(b"a\xffb\xc3", 2), 2);
    assert_eq!(Encoding::UTF_8.first_chars_len(b"a\xffb\xc3", 9), 4);
    assert_eq!(Encoding::UTF_16LE.first_chars_len(b"a\0b", 9), 3);
}

const ENCODING_NAMES: [&str; 14] = [
    "utf-8",
    "utf-16le",
    "utf-16be",
    "latin1",
    "cp1250",
    "cp1251",
    "koi8-r",
    "shift_jis",
    "euc-jp",
    "gb18030",
    "big5",
    "euc-kr",
    "iso-2022-jp",
    "macintosh",
];

proptest! {
    #[test]
    fn text_that_encodes_comes_back(text in "[ -~éßжя漢字かナ한글€\n]{0,30}", at in 0..ENCODING_NAMES.len()) {
        let encoding = label(ENCODING_NAMES[at]);
        if let Ok(bytes) = encoding.encode(&text) {
            prop_assert_eq!(&*encoding.decode_strict(&bytes).unwrap(), text.as_str());
            prop_assert!(encoding.is_exact(&bytes));
            let chars = text.chars().count();
            // A closing escape sequence belongs to no character.
            if ENCODING_NAMES[at] != "iso-2022-jp" {
                prop_assert_eq!(encoding.first_chars_len(&bytes, chars), bytes.len());
            }
        }
    }

    #[test]
    fn any_bytes_are_detected_and_decoded(bytes in proptest::collection::vec(any::<u8>(), 0..200), complete: bool) {
        let found = detect(&bytes, complete);
        let body = &bytes[found.bom..];
        let decoded = found.encoding.decode(body);
        if found.encoding.is_exact(body) {
            prop_assert_eq!(found.encoding.encode(&decoded.text).unwrap(), body);
        }
        for name in ENCODING_NAMES {
            let encoding = label(name);
            let chars = encoding.decode(&bytes).text.chars().count();
            prop_assert!(encoding.first_chars_len(&bytes, chars) <= bytes.len());
        }
    }

    #[test]
    fn utf16_agrees_with_the_tables(units in proptest::collection::vec(any::<u16>(), 0..40)) {
        let bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let ours = Encoding::UTF_16LE.decode(&bytes);
        let (theirs, lossy) = encoding_rs::UTF_16LE.decode_without_bom_handling(&bytes);
        prop_assert_eq!(&*ours.text, &*theirs);
        prop_assert_eq!(ours.lossy, lossy);
    }
}
