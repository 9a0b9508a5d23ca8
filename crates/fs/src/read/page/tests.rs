use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use filewright_core::Code;
use filewright_core::page::{LineIndex, MemorySource};
use tempfile::TempDir;

use super::*;
use crate::root::Policy;

/// Returns a directory and the roots that contain only it.
fn place() -> (TempDir, Roots) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap();
    let roots = Roots::new(&Policy::workspace(path.as_os_str().as_encoded_bytes())).unwrap();
    (dir, roots)
}

fn read(roots: &Roots, path: &Path, request: &PageRequest) -> Result<FilePage> {
    let path = path.parent().unwrap().canonicalize().unwrap().join(path.file_name().unwrap());
    read_page(roots, path.as_os_str().as_encoded_bytes(), request, &CancelToken::new())
}

fn from(start_line: i64, max_lines: u64) -> PageRequest {
    PageRequest { start_line, max_lines: Some(max_lines), ..Default::default() }
}

/// Returns at least `bytes` bytes of lines of different lengths.
fn lines(bytes: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes + 200);
    let mut n = 0;
    while text.len() < bytes {
        n += 1;
        let end = if n % 7 == 0 { "\r\n" } else { "\n" };
        let filling = "é".repeat(n % 90);
        text.extend_from_slice(format!("{n} {filling}{end}").as_bytes());
    }
    text
}

const BIG: usize = MAX_WHOLE_READ_BYTES as usize + 3_000_000;

/// Waits until a new change would change the time stamps.
fn settle() {
    std::thread::sleep(std::time::Duration::from_millis(30));
}

#[test]
fn small_files_are_exact() {
    let (dir, roots) = place();
    let path = dir.path().join("a.txt");
    std::fs::write(&path, "a\r\nb\r\nc\r\n").unwrap();
    let FilePage { page, version, .. } = read(&roots, &path, &from(2, 1)).unwrap();
    assert_eq!((page.content.as_str(), page.total_lines), ("b\r\n", Some(3)));
    assert_eq!(page.hash, Some(filewright_core::hash::sha256(b"a\r\nb\r\nc\r\n")));
    assert_eq!(page.eol.unwrap().as_str(), "crlf");
    assert!(!page.changed && version.contains(':'));
    assert_eq!(page.size, 9);
}

#[test]
fn pages_of_a_big_file_are_those_of_its_bytes() {
    let (dir, roots) = place();
    let path = dir.path().join("big.txt");
    let bytes = lines(BIG);
    std::fs::write(&path, &bytes).unwrap();
    settle();
    let all: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    let total = all.len() as i64;
    for start in [1, 2, 1000, total / 2, total - 3, total, total + 1, -1, -5, -total, i64::MIN] {
        for max in [1, 40] {
            let found = read(&roots, &path, &from(start, max)).unwrap().page;
            let first = if start > 0 { start } else { start.saturating_add(total + 1).max(1) };
            let rest = &all[(first as usize - 1).min(all.len())..];
            let window = &rest[..rest.len().min(max as usize)];
            assert!(found.content.as_bytes() == window.concat(), "{start} {max}");
            assert_eq!((found.start_line, found.lines_read), (first, window.len() as u64));
            let next = first + window.len() as i64;
            assert_eq!(found.next_start_line, (next <= total).then_some(next), "{start} {max}");
            assert_eq!((found.hash, found.changed), (None, false));
        }
    }
    let first = read(&roots, &path, &from(1, 10)).unwrap().page;
    // The pages before this one counted the lines, and the index is cached.
    assert_eq!(first.total_lines, Some(total as u64));
    assert_eq!(first.eol.unwrap().as_str(), "mixed");
}

#[test]
fn the_first_page_of_a_big_file_does_not_count_it() {
    let (dir, roots) = place();
    let path = dir.path().join("big.txt");
    std::fs::write(&path, lines(BIG)).unwrap();
    let page = read(&roots, &path, &from(1, 10)).unwrap().page;
    assert_eq!((page.total_lines, page.at_least_lines, page.eol), (None, 11, None));
    assert!(page.truncated);
}

#[test]
fn an_index_is_cached_and_continues_when_the_file_grows() {
    let (dir, roots) = place();
    let path = dir.path().join("log.txt");
    let bytes = lines(BIG);
    std::fs::write(&path, &bytes).unwrap();
    settle();
    let total = filewright_core::text::count_lines(&bytes) as i64;
    let past = read(&roots, &path, &from(total + 1, 1)).unwrap().page;
    assert_eq!((past.total_lines, past.lines_read), (Some(total as u64), 0));
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"new\nlines\n").unwrap();
    let stat = Stat::of(&file).unwrap();
    let file = File::open(&path).unwrap();
    let detect_kind_and_encoding =
        page::detect_kind_and_encoding(b"text", false, stat.size, "", &from(1, 1)).unwrap();
    assert_eq!(
        cache::cached_index(&file, &stat, &detect_kind_and_encoding).scanned(),
        bytes.len() as u64
    );
    let page = read(&roots, &path, &from(total + 1, 9)).unwrap().page;
    assert_eq!((page.content.as_str(), page.total_lines), ("new\nlines\n", Some(total as u64 + 2)));
}

#[test]
fn an_index_is_dropped_if_the_counted_part_changed() {
    let (dir, roots) = place();
    let path = dir.path().join("log.txt");
    let mut bytes = lines(BIG);
    std::fs::write(&path, &bytes).unwrap();
    settle();
    read(&roots, &path, &from(-1, 1)).unwrap();
    bytes[0] = b'\n';
    bytes.extend_from_slice(b"end\n");
    std::fs::write(&path, &bytes).unwrap();
    let page = read(&roots, &path, &from(3, 1)).unwrap().page;
    let third = bytes.split_inclusive(|&byte| byte == b'\n').nth(2).unwrap();
    assert_eq!(page.content.as_bytes(), third);
}

#[test]
fn a_gigabyte_on_one_line_costs_a_page() {
    let (dir, roots) = place();
    let path = dir.path().join("one.json");
    let mut file = File::create(&path).unwrap();
    file.write_all(&vec![b'z'; 128 * 1024]).unwrap();
    file.set_len(1 << 30).unwrap();
    let page = read(&roots, &path, &from(1, 2000)).unwrap().page;
    assert_eq!((page.content.len(), page.cut_lines.as_slice()), (2000, &[1][..]));
    assert_eq!((page.lines_read, page.long_lines), (1, 1));
    assert_eq!((page.long[0].rest_byte, page.long[0].rest_bytes), (2000, None));
    // It is unknown whether there is a second line, so the page has no next line.
    assert_eq!((page.next_start_line, page.next_start_byte), (None, Some(2000)));
    assert_eq!((page.at_least_lines, page.total_lines, page.truncated), (1, None, true));
    let inside = PageRequest { start_byte: Some(100_000), ..from(1, 1) };
    let page = read(&roots, &path, &inside).unwrap().page;
    assert_eq!((page.start_line, page.start_byte, page.content.len()), (1, 100_000, 2000));
    assert_eq!((page.next_start_byte, page.next_start_line), (Some(102_000), None));
}

#[test]
fn the_end_of_a_file_too_big_to_count() {
    let (dir, roots) = place();
    let path = dir.path().join("huge.log");
    let mut file = File::create(&path).unwrap();
    file.write_all(&b"head\n".repeat(20_000)).unwrap();
    file.seek(SeekFrom::Start(1 << 40)).unwrap();
    file.write_all(b"\nlast but one\nlast\n").unwrap();
    let page = read(&roots, &path, &from(-2, 1)).unwrap().page;
    assert_eq!((page.content.as_str(), page.start_line), ("last but one\n", -2));
    assert_eq!((page.next_start_line, page.total_lines), (Some(-1), None));
    let page = read(&roots, &path, &from(1, 1)).unwrap().page;
    assert_eq!(page.content, "head\n");
    let whole = PageRequest { max_lines: None, ..from(1, 1) };
    assert_eq!(read(&roots, &path, &whole).unwrap_err().code, Code::TooLarge);
}

#[test]
fn a_big_file_that_begins_in_ascii_and_goes_on_in_latin_1() {
    let (dir, roots) = place();
    let path = dir.path().join("big.txt");
    let mut bytes = b"plain words\n".repeat(BIG / 12);
    bytes.extend_from_slice(
        "le café est fermé à Orléans\n"
            .repeat(40)
            .chars()
            .map(|c| c as u8)
            .collect::<Vec<_>>()
            .as_slice(),
    );
    std::fs::write(&path, &bytes).unwrap();
    let page = read(&roots, &path, &from(-1, 1)).unwrap().page;
    assert_eq!(page.content, "le café est fermé à Orléans\n");
    assert_eq!((&*page.encoding.name(), page.lossy), ("windows-1252", false));
}

#[test]
fn a_big_file_of_utf16() {
    let (dir, roots) = place();
    let path = dir.path().join("big.txt");
    let text = "Zeile mit Umläuten äöü\r\n".repeat(BIG / 46);
    let bytes = [b"\xff\xfe".as_slice(), &Encoding::UTF_16LE.encode(&text).unwrap()].concat();
    std::fs::write(&path, &bytes).unwrap();
    let page = read(&roots, &path, &from(300_000, 2)).unwrap().page;
    assert_eq!(page.content, "Zeile mit Umläuten äöü\r\n".repeat(2));
    assert_eq!((&*page.encoding.name(), page.bom), ("utf-16le", true));
}

#[test]
fn a_file_cut_short_while_it_is_read() {
    let (dir, _) = place();
    let path = dir.path().join("f");
    std::fs::write(&path, b"a\nb\n").unwrap();
    let file = File::open(&path).unwrap();
    let stat = Stat { size: BIG as u64, ..Stat::of(&file).unwrap() };
    let page = page_of_open_file(&file, stat, "f", &from(2, 9), &CancelToken::new()).unwrap().page;
    assert_eq!((page.content.as_str(), page.changed), ("b\n", true));
    let stat = Stat { size: 100, ..Stat::of(&file).unwrap() };
    let page = page_of_open_file(&file, stat, "f", &from(1, 9), &CancelToken::new()).unwrap().page;
    // The file was read again with its new size.
    assert_eq!((page.content.as_str(), page.changed), ("a\nb\n", false));
}

#[test]
fn a_file_that_always_changes_is_reported() {
    let (dir, roots) = place();
    let path = dir.path().join("f");
    std::fs::write(&path, b"line\n".repeat(100_000)).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let file = OpenOptions::new().write(true).open(&path).unwrap();
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                file.set_len(0).unwrap();
                (&file).write_all(b"line\n").unwrap();
                file.set_len(500_000).unwrap();
            }
        });
        for start in 0..200 {
            let request = PageRequest { force_text: true, ..from(1 + start * 100, 5) };
            read(&roots, &path, &request).unwrap();
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn binary_files_are_refused_by_their_beginning() {
    let (dir, roots) = place();
    let path = dir.path().join("zeros");
    File::create(&path).unwrap().set_len(5 << 30).unwrap();
    let error = read(&roots, &path, &from(1, 10)).unwrap_err();
    assert_eq!((error.code, &error.details["size"]), (Code::BinaryFile, &(5u64 << 30).into()));
}

#[test]
fn cancelling_stops_a_scan() {
    let (dir, _) = place();
    let path = dir.path().join("f");
    std::fs::write(&path, lines(BIG)).unwrap();
    let file = File::open(&path).unwrap();
    let cancel = CancelToken::new();
    cancel.cancel();
    let error =
        page_of_open_file(&file, Stat::of(&file).unwrap(), "f", &from(1, 1), &cancel).unwrap_err();
    assert_eq!(error.code, Code::Cancelled);
}

#[test]
fn an_index_from_pieces_is_that_of_the_bytes() {
    let (dir, _) = place();
    let path = dir.path().join("f");
    let bytes = lines(1_000_000);
    std::fs::write(&path, &bytes).unwrap();
    let file = File::open(&path).unwrap();
    let cancel = CancelToken::new();
    let mut pieces = ChunkedFile::new(&file, bytes.len() as u64, &cancel);
    let mut index = LineIndex::new(encoding::LineFeedCode::Byte, 0);
    let mut other = LineIndex::new(encoding::LineFeedCode::Byte, 0);
    for line in (1..20_000).step_by(997) {
        let start = index.locate(&mut pieces, line).unwrap();
        assert_eq!(start, other.locate(&mut MemorySource(&bytes), line).unwrap());
        if let Some(start) = start {
            assert_eq!(index.line_at(&mut pieces, start), Ok(line));
        }
    }
    index.extend_to_end(&mut pieces).unwrap();
    assert_eq!(index.total(bytes.len() as u64), Some(filewright_core::text::count_lines(&bytes)));
}
