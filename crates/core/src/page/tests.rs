use super::*;
use crate::encoding::LineFeedCode;
use crate::wire::Wire;
use proptest::prelude::*;

fn request(start_line: i64, max_lines: impl Into<Option<u64>>) -> PageRequest {
    PageRequest { start_line, max_lines: max_lines.into(), ..Default::default() }
}

/// A source that returns chunks of a few bytes, like a file with a tiny chunk size.
struct SmallChunks<'a> {
    bytes: &'a [u8],
    piece: usize,
}

impl Source for SmallChunks<'_> {
    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn chunk_bytes(&self) -> usize {
        self.piece
    }

    fn chunk(&mut self, offset: u64, want: usize) -> Result<&[u8]> {
        let rest = self.bytes.get(offset as usize..).unwrap_or_default();
        // A real buffer may return more than requested, and an even number of bytes.
        let length = want.min(self.piece).next_multiple_of(4);
        Ok(&rest[..length.min(rest.len())])
    }
}

#[test]
fn windows() {
    let five = b"l1\nl2\nl3\nl4\nl5\n";
    for (name, bytes, start, max, expected) in [
        ("all", &five[..], 1, Some(2000), ("l1\nl2\nl3\nl4\nl5\n", 1, 5, None)),
        ("middle", five, 2, Some(2), ("l2\nl3\n", 2, 3, Some(4))),
        ("exact end", five, 4, Some(2), ("l4\nl5\n", 4, 5, None)),
        ("past the end", five, 6, Some(2), ("", 6, 5, None)),
        ("far past the end", five, i64::MAX, Some(2), ("", i64::MAX, i64::MAX - 1, None)),
        ("from the end", five, -2, Some(2000), ("l4\nl5\n", 4, 5, None)),
        ("from the end, cut", five, -3, Some(1), ("l3\n", 3, 3, Some(4))),
        ("beyond the beginning", five, -99, Some(2000), ("l1\nl2\nl3\nl4\nl5\n", 1, 5, None)),
        ("most negative", five, i64::MIN, None, ("l1\nl2\nl3\nl4\nl5\n", 1, 5, None)),
        ("no last line end", b"a\nb", -1, None, ("b", 2, 2, None)),
        ("empty", b"", 1, Some(1), ("", 1, 0, None)),
        ("empty from the end", b"", -1, Some(1), ("", 1, 0, None)),
        ("one line end", b"\n", 1, Some(1), ("\n", 1, 1, None)),
        ("lone CR", b"a\rb", 1, Some(1), ("a\rb", 1, 1, None)),
        ("CRLF", b"a\r\nb\r\n", 2, Some(1), ("b\r\n", 2, 2, None)),
        ("UTF-8 BOM", b"\xef\xbb\xbfhi\n", 1, Some(1), ("hi\n", 1, 1, None)),
        ("only a BOM", b"\xef\xbb\xbf", 1, Some(1), ("", 1, 0, None)),
        ("UTF-16LE", b"\xff\xfeh\0\n\0i\0\r\0\n\0", 2, Some(1), ("i\r\n", 2, 2, None)),
        ("UTF-16BE", b"\xfe\xff\0h\0\n\0i", 1, Some(1), ("h\n", 1, 1, Some(2))),
        // U+0A00 and U+0A0A contain the byte 0A, but are no line endings.
        (
            "UTF-16 look-alikes",
            b"\xff\xfe\x0a\x0aa\0\n\0\0\x0a",
            2,
            Some(1),
            ("\u{a00}", 2, 2, None),
        ),
        ("latin-1", b"ok\ncaf\xe9\n", 2, Some(1), ("caf\u{e9}\n", 2, 2, None)),
    ] {
        let page = page(bytes, "", &request(start, max)).unwrap();
        let found = (page.content.as_str(), page.start_line, page.end_line, page.next_start_line);
        assert_eq!(found, expected, "{name}");
        assert_eq!(page.truncated, page.next_start_line.is_some(), "{name}");
        assert_eq!(page.lines_read as i64, page.end_line - page.start_line + 1, "{name}");
        assert_eq!(page.hash, Some(crate::hash::sha256(bytes)), "{name}");
    }
}

#[test]
fn facts_of_the_whole_file() {
    for (bytes, total, eol, bom) in [
        (&b""[..], 0, "none", false),
        (b"a", 1, "none", false),
        (b"a\n\n", 2, "lf", false),
        (b"\r\n\r\n", 2, "crlf", false),
        (b"a\r\nb\nc", 3, "mixed", false),
        (b"\xef\xbb\xbfa\n", 1, "lf", true),
        (b"\xff\xfea\0\r\0\n\0", 1, "crlf", true),
        (b"\xfe\xff\0a\0\n\0b", 2, "lf", true),
    ] {
        let page = page(bytes, "", &request(1, 1)).unwrap();
        assert_eq!(page.total_lines, Some(total), "{bytes:?}");
        assert_eq!(page.eol.unwrap().as_str(), eol, "{bytes:?}");
        assert_eq!((page.bom, page.size), (bom, bytes.len() as u64), "{bytes:?}");
    }
}

#[test]
fn requests_out_of_range_are_refused() {
    for (request, argument) in [(request(0, 1), "start_line"), (request(1, 0), "max_lines")] {
        let error = page(b"a\n", "", &request).unwrap_err();
        assert_eq!(error.code, Code::InvalidArgument);
        assert_eq!(error.details["argument"], argument);
        assert!(error.message.contains(argument));
    }
    let small = PageRequest { whole_file_bytes: 3, ..request(1, None) };
    let error = page(b"a\nb\n", "", &small).unwrap_err();
    assert_eq!(
        (error.code, &error.details["size"], &error.details["limit"]),
        (Code::TooLarge, &4.into(), &3.into())
    );
    assert!(page(b"a\nb\n", "", &PageRequest { max_lines: Some(9), ..small }).is_ok());
}

#[test]
fn encodings_on_request() {
    let with = |label: &str| PageRequest { encoding: label.into(), ..Default::default() };
    assert_eq!(page(b"caf\xe9\n", "", &with("latin1")).unwrap().content, "café\n");
    assert_eq!(page(b"caf\xe9\n", "", &with("utf-8")).unwrap_err().code, Code::EncodingError);
    let unknown = page(b"a", "", &with("klingon")).unwrap_err();
    assert_eq!(unknown.code, Code::InvalidArgument);
    assert!(unknown.message.contains("klingon"));
    assert_eq!(page(b"h\0i\0", "", &with("utf-16le")).unwrap().content, "hi");
    assert_eq!(page(b"\xfe\xff\0h", "", &with("utf-16")).unwrap().content, "h");
    assert!(page(b"\xef\xbb\xbfhi", "", &with("utf-8")).unwrap().bom);
    // Without a requested encoding, an invalid byte among valid ones is shown, not refused.
    let page = page("grüße \u{ff}\n".replace('\u{ff}', "").as_bytes(), "", &with("auto")).unwrap();
    assert!(!page.lossy);
}

#[test]
fn a_bad_byte_in_a_utf8_file_is_shown_as_replacement() {
    let page = page(b"gr\xc3\xbc\xc3\x9fe\n\xff\n", "", &request(1, 9)).unwrap();
    assert_eq!((page.content.as_str(), page.lossy), ("grüße\n\u{fffd}\n", true));
    assert_eq!(&*page.encoding.name(), "utf-8");
}

#[test]
fn binary_is_refused_with_its_kind() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03";
    let error = page(png, "x.png", &request(1, 1)).unwrap_err();
    assert_eq!(error.code, Code::BinaryFile);
    assert_eq!((&error.details["kind"], &error.details["width"]), (&"image".into(), &2.into()));
    assert_eq!(page(b"\0\0\0", "", &request(1, 1)).unwrap_err().code, Code::BinaryFile);
    let forced = PageRequest { force_text: true, ..request(1, 1) };
    assert!(page(b"a\0b\n", "", &forced).unwrap().nuls);
}

#[test]
fn a_nul_far_into_a_text_is_flagged_where_it_is() {
    let mut bytes = b"word on a line\n".repeat(8000);
    bytes[100_000] = 0;
    assert!(!page(&bytes, "", &request(1, 9)).unwrap().nuls);
    assert!(page(&bytes, "", &request(100_000 / 15, 9)).unwrap().nuls);
}

#[test]
fn long_lines_are_whole_while_they_fit_and_cut_beyond() {
    let text = format!("short\n{}\nend\n", "é".repeat(5000));
    let fits = page(text.as_bytes(), "", &request(1, 9)).unwrap();
    assert_eq!((fits.content.as_str(), fits.long_lines), (text.as_str(), 1));
    assert_eq!(
        (fits.long.as_slice(), fits.cut_lines.len()),
        (&[LongLine { line: 2, rest_byte: 6 + 4000, rest_bytes: Some(6000) }][..], 0)
    );
    let small = PageRequest { content_bytes: 5000, ..request(1, 9) };
    let cut = page(text.as_bytes(), "", &small).unwrap();
    assert_eq!(cut.content, format!("short\n{}\nend\n", "é".repeat(2000)));
    assert_eq!(
        (cut.cut_lines.as_slice(), cut.total_lines, cut.truncated),
        (&[2][..], Some(3), false)
    );
    let smaller = PageRequest { content_bytes: 100, ..request(1, 9) };
    let first = page(text.as_bytes(), "", &smaller).unwrap();
    assert_eq!((first.content.as_str(), first.next_start_line), ("short\n", Some(2)));
    let inside = page(text.as_bytes(), "", &PageRequest { start_line: 2, ..smaller }).unwrap();
    assert_eq!(
        (inside.content.as_str(), inside.next_start_byte),
        ("é".repeat(50).as_str(), Some(106))
    );
    assert_eq!((inside.next_start_line, inside.truncated), (None, true));
}

#[test]
fn ten_megabytes_on_one_line() {
    let bytes = vec![b'z'; 10 << 20];
    let page = page(&bytes, "", &request(1, 2000)).unwrap();
    assert_eq!((page.total_lines, page.long_lines, page.lines_read), (Some(1), 1, 1));
    assert_eq!((page.content.len(), page.cut_lines.as_slice()), (2000, &[1][..]));
    assert_eq!(
        page.long,
        [LongLine { line: 1, rest_byte: 2000, rest_bytes: Some((10 << 20) - 2000) }]
    );
    assert!(!page.truncated);
}

#[test]
fn reading_continues_inside_a_line() {
    let text = format!("first\n{}\nlast\n", "漢字".repeat(3000));
    let mut request = PageRequest {
        start_line: 2,
        max_line_chars: 1000,
        max_lines: Some(1),
        ..Default::default()
    };
    let mut shown = String::new();
    loop {
        let page = page(text.as_bytes(), "", &request).unwrap();
        assert_eq!((page.start_line, page.total_lines), (2, Some(3)));
        shown.push_str(crate::text::prefix_of_chars(page.content.trim_end(), 1000));
        match (page.next_start_byte, page.long.as_slice()) {
            (None, [long]) => request.start_byte = Some(long.rest_byte),
            (Some(byte), []) => request.start_byte = Some(byte),
            _ => break,
        }
    }
    assert!(shown == "漢字".repeat(3000), "{} bytes", shown.len());
}

#[test]
fn start_byte_falls_back_to_the_start_of_a_character() {
    for (byte, content, line) in [
        (0, "é漢\nb", 1),
        (1, "é漢\nb", 1),
        (2, "漢\nb", 1),
        (4, "漢\nb", 1),
        (6, "b", 2),
        (99, "", 2),
    ] {
        let request = PageRequest { start_byte: Some(byte), ..Default::default() };
        let page = page("é漢\nb".as_bytes(), "", &request).unwrap();
        assert_eq!((page.content.as_str(), page.start_line), (content, line), "{byte}");
    }
}

#[test]
fn the_text_budget_reckons_with_numbers_and_cuts() {
    let lines = "x\n".repeat(1000);
    for (numbers, per_line) in
        [(LineNumberFormat::None, 2), (LineNumberFormat::Cat, 9), (LineNumberFormat::Arrow, 11)]
    {
        let request = PageRequest { numbers, text_bytes: 900, ..request(1, None) };
        let page = page(lines.as_bytes(), "", &request).unwrap();
        assert_eq!(page.lines_read, 900 / per_line, "{numbers:?}");
        assert_eq!(page.next_start_line, Some(page.lines_read as i64 + 1));
    }
    // A long line counts with its displayed part.
    let long = format!("{}\nb\n", "z".repeat(50_000));
    let request = PageRequest { text_bytes: 3000, ..request(1, None) };
    assert_eq!(page(long.as_bytes(), "", &request).unwrap().lines_read, 2);
}

#[test]
fn anchors_go_with_the_lines() {
    let with = PageRequest { anchors: true, ..request(2, 2) };
    let page = page(b"a\nb\r\nc\nd\n", "", &with).unwrap();
    assert_eq!(page.anchors.unwrap(), crate::anchor::anchors("a\nb\nc\nd\n")[6..18]);
    // A line has the same anchor in every window and encoding as in the whole text.
    let text = "\u{e9}\r\n}\n\n}\n\u{6f22}\nend";
    let whole = crate::anchor::anchors(text);
    for encoding in ["utf-8", "utf-16le", "gb18030"] {
        let bytes = crate::encoding::encode_text(text, encoding, false).unwrap();
        for (first, count) in [(1, 6), (1, 1), (2, 2), (3, 1), (4, 9), (6, 1), (-1, 1), (-3, 2)] {
            let request =
                PageRequest { anchors: true, encoding: encoding.into(), ..request(first, count) };
            let page = super::page(&bytes, "", &request).unwrap();
            let (from, to) = (page.start_line as usize - 1, page.end_line as usize);
            assert_eq!(
                page.anchors.unwrap(),
                whole[6 * from..6 * to],
                "{encoding} {first} {count}"
            );
        }
    }
    // The line before a page that begins inside a line is unknown.
    let inside = PageRequest { anchors: true, start_byte: Some(3), ..request(1, None) };
    let anchors = super::page(b"abcd\nb\n", "", &inside).unwrap().anchors.unwrap();
    assert_eq!(anchors, format!("{0}{0}", crate::anchor::NO_ANCHOR));
}

#[test]
fn stateful_text_is_decoded_from_any_line() {
    // A writer need not return to ASCII at the end of a line.
    let bytes = b"\x1b(Ja\n\\~\n\x1b(Bok\n";
    let page = page(bytes, "", &request(2, 2));
    assert_eq!(page.map(|page| page.content), Ok("¥‾\nok\n".to_owned()));
}

#[test]
fn requests_cross_as_json() {
    let request = PageRequest::from_json(
        r#"{"startLine":-5,"maxLines":null,"maxLineChars":0,"encoding":"latin1","forceText":true,
            "startByte":7,"anchors":true,"contentBytes":9,"textBytes":8,"lineNumbers":"arrow","wholeFileBytes":6}"#,
    );
    assert_eq!(
        request,
        Ok(PageRequest {
            start_line: -5,
            max_lines: None,
            max_line_chars: 0,
            content_bytes: 9,
            text_bytes: 8,
            numbers: LineNumberFormat::Arrow,
            encoding: "latin1".into(),
            force_text: true,
            start_byte: Some(7),
            anchors: true,
            whole_file_bytes: 6,
        })
    );
    assert_eq!(PageRequest::from_json("{}"), Ok(PageRequest::default()));
    for bad in [r#"{"startLine":1.5}"#, r#"{"maxLines":-1}"#, r#"{"startByte":"x"}"#, "[]", "{"] {
        assert_eq!(PageRequest::from_json(bad).unwrap_err().code, Code::InvalidArgument, "{bad}");
    }
}

#[test]
fn an_index_continues_where_a_file_has_grown() {
    let mut index = LineIndex::new(LineFeedCode::Byte, 0);
    index.extend_to_end(&mut MemorySource(b"a\nb\r")).unwrap();
    assert_eq!((index.total(4), index.eol(4)), (Some(2), Some(Eol::Lf)));
    let grown = b"a\nb\r\nc\n";
    assert_eq!(index.locate(&mut MemorySource(grown), 3), Ok(Some(5)));
    index.extend_to_end(&mut MemorySource(grown)).unwrap();
    assert_eq!((index.total(7), index.eol(7)), (Some(3), Some(Eol::Mixed)));
}

#[test]
fn blocks_of_the_index() {
    let bytes = b"0123456789\r\n".repeat(100_000);
    let mut index = LineIndex::new(LineFeedCode::Byte, 0);
    for line in [1, 2, 21_846, 21_847, 50_000, 99_999, 100_000] {
        let start = index.locate(&mut MemorySource(&bytes), line).unwrap();
        assert_eq!(start, Some((line - 1) * 12), "{line}");
        assert_eq!(index.line_at(&mut MemorySource(&bytes), (line - 1) * 12 + 11), Ok(line));
    }
    assert_eq!(index.locate(&mut MemorySource(&bytes), 100_001), Ok(None));
    assert_eq!(index.eol(bytes.len() as u64), Some(Eol::CrLf));
}

/// Generates text with all kinds of line endings, characters of all lengths, and long lines.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[a-zé漢😀 ]{0,8}",
        2 => Just("\n".to_owned()),
        2 => Just("\r\n".to_owned()),
        1 => Just("\r".to_owned()),
        1 => Just("漢".repeat(40)),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_bytes_and_any_request_are_safe(
        bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..120),
        start in any::<i64>(), max in proptest::option::of(any::<u64>()), chars in 0usize..9,
        content in 0usize..50, text in 0usize..50, byte in proptest::option::of(any::<u64>()),
        force: bool, anchors: bool,
        label in prop_oneof![Just("auto"), Just("utf-16be"), Just("shift_jis"), Just("iso-2022-jp"), Just("latin1")],
    ) {
        let request = PageRequest {
            start_line: start, max_lines: max, max_line_chars: chars, content_bytes: content,
            text_bytes: text, start_byte: byte, force_text: force, anchors,
            encoding: label.to_owned(), ..Default::default()
        };
        if let Ok(page) = page(&bytes, "", &request) {
            prop_assert!(page.content.len() <= content.max(4));
            prop_assert_eq!(page.truncated, page.next_start_line.is_some() || page.next_start_byte.is_some());
        }
    }

    #[test]
    fn pages_join_to_the_whole(
        text in texts(), lines in 1u64..7, content in 8usize..400, label in 0usize..5, bom: bool, piece in 4usize..60,
    ) {
        let encoding = Encoding::for_label(["utf-8", "utf-16le", "utf-16be", "gb18030", "utf-8"][label]).unwrap();
        let mark: &[u8] = if bom { encoding.mark() } else { b"" };
        let bytes = [mark, &encoding.encode(&text).unwrap()].concat();
        let facts = KindAndEncoding {
            sniffed: Sniffed { kind: FileKind::Text, mime: "text/plain" },
            encoding,
            bom: mark.len(),
        };
        let mut request = PageRequest { max_lines: Some(lines), max_line_chars: 0, content_bytes: content, ..Default::default() };
        let mut index = LineIndex::new(encoding.unit(), mark.len());
        let mut joined = String::new();
        loop {
            let mut fresh = LineIndex::new(encoding.unit(), mark.len());
            let page = page_from_source(&mut MemorySource(&bytes), &mut fresh, &facts, &request).unwrap();
            // Read in small chunks with an existing index, the page is the same.
            let pieces = page_from_source(&mut SmallChunks { bytes: &bytes, piece: piece * 2 }, &mut index, &facts, &request).unwrap();
            prop_assert_eq!((&page.content, page.start_line, page.next_start_line, page.next_start_byte),
                (&pieces.content, pieces.start_line, pieces.next_start_line, pieces.next_start_byte));
            joined.push_str(&page.content);
            match (page.next_start_line, page.next_start_byte) {
                (Some(line), _) => (request.start_line, request.start_byte) = (line, None),
                (None, Some(byte)) => request.start_byte = Some(byte),
                (None, None) => break,
            }
        }
        prop_assert_eq!(joined, text);
    }

    #[test]
    fn cut_pages_from_pieces_are_those_from_memory(
        text in texts(), start in -9i64..9, lines in 1u64..9, chars in 1usize..12, content in 8usize..60, piece in 4usize..60,
    ) {
        let bytes = text.as_bytes();
        let request = PageRequest {
            start_line: if start == 0 { 1 } else { start },
            max_lines: Some(lines), max_line_chars: chars, content_bytes: content, ..Default::default()
        };
        let facts = detect_kind_and_encoding(bytes, true, bytes.len() as u64, "", &request).unwrap();
        let mut index = LineIndex::new(LineFeedCode::Byte, 0);
        let whole = page_from_source(&mut MemorySource(bytes), &mut index, &facts, &request).unwrap();
        let mut index = LineIndex::new(LineFeedCode::Byte, 0);
        let pieces = page_from_source(&mut SmallChunks { bytes, piece: piece * 2 }, &mut index, &facts, &request).unwrap();
        prop_assert_eq!(&whole.content, &pieces.content);
        prop_assert_eq!((whole.long_lines, &whole.cut_lines, whole.truncated), (pieces.long_lines, &pieces.cut_lines, pieces.truncated));
    }

    #[test]
    fn the_end_is_found_backwards_as_forwards(text in texts(), back in 1u64..12, piece in 4usize..60) {
        let bytes = text.as_bytes();
        let lines: Vec<_> = crate::text::lines(bytes).collect();
        let mut source = SmallChunks { bytes, piece: piece * 2 };
        let (start, found) = index::locate_last_lines(&mut source, LineFeedCode::Byte, 0, back).unwrap();
        let expected = (lines.len() as u64).min(back);
        prop_assert_eq!(found, expected);
        let first = lines.len() - expected as usize;
        prop_assert_eq!(start, lines.get(first).map_or(0, |line| line.start as u64));
    }
}

#[test]
fn page_fields_are_in_the_order_of_their_declaration() {
    let packed =
        |bytes: &[u8], request: &PageRequest| page(bytes, "f.txt", request).unwrap().packed();
    let two = packed(b"\xef\xbb\xbfa\r\nb\r\nc\r\n", &request(1, 2));
    // Length of the content, first and last line, lines read, lines in total, lower bound, size,
    // first byte; then the encoding's name and so on.
    assert_eq!(two.nums[..9], [6., 1., 2., 2., 3., 3., 12., 3., 5.]);
    // Line endings, byte order mark, truncated, next page (line 3, no byte), no long line, none
    // truncated.
    assert_eq!(two.nums[9..17], [2., 1., 1., 3., -1., 0., 0., 0.]);
    assert!(two.text.starts_with("a\r\nb\r\nutf-8sha256:"), "{}", two.text);

    let long = PageRequest { max_line_chars: 2, ..request(1, None) };
    let nums = packed(b"abcd\nxy\n", &long).nums;
    // One long line: line 1 continues at byte 2, and has 2 more bytes.
    assert_eq!(nums[14..18], [1., 1., 1., 2.], "{nums:?}");
}

#[test]
fn a_deep_page_reports_the_total() {
    let bytes = b"0123456789\r\n".repeat(1_800_000);
    let size = bytes.len() as u64;
    for (start_line, total) in [(1, None), (1_000, None), (1_500_000, Some(1_800_000))] {
        let request = PageRequest { start_line, max_lines: Some(2), ..PageRequest::default() };
        let facts = detect_kind_and_encoding(&bytes[..4096], false, size, "f", &request).unwrap();
        let mut index = LineIndex::new(facts.encoding.unit(), facts.bom);
        let page =
            page_from_source(&mut MemorySource(&bytes), &mut index, &facts, &request).unwrap();
        assert_eq!((page.start_line, page.total_lines), (start_line, total));
    }
}
