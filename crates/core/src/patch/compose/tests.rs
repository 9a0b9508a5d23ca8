use proptest::prelude::*;

use super::{LineForm, compose};
use crate::encoding::Endian;
use crate::error::Code;

const FORMS: [LineForm; 3] =
    [LineForm::Bytes, LineForm::Utf16(Endian::Little), LineForm::Utf16(Endian::Big)];

/// Encodes a text in a form, with its byte order mark if it begins with one.
fn encoded(text: &str, form: LineForm) -> Vec<u8> {
    match form {
        LineForm::Bytes => text.as_bytes().to_vec(),
        LineForm::Utf16(endian) => {
            text.encode_utf16().flat_map(|unit| endian.bytes(unit)).collect()
        }
    }
}

/// Returns the choice of whole hunks.
fn whole(hunks: impl IntoIterator<Item = u32>) -> Vec<u32> {
    hunks.into_iter().flat_map(|hunk| [hunk, 0]).collect()
}

/// Returns the choice of rows of one hunk.
fn rows_of(hunk: u32, rows: &[u32]) -> Vec<u32> {
    [&[hunk, rows.len() as u32], rows].concat()
}

/// Composes from texts in every form, and returns the common result.
fn composed(before: &str, after: &str, chosen: &[u32]) -> String {
    let mut texts = FORMS.map(|form| {
        let bytes = compose(&encoded(before, form), &encoded(after, form), form, chosen).unwrap();
        match form {
            LineForm::Bytes => String::from_utf8(bytes).unwrap(),
            LineForm::Utf16(endian) => {
                let units = bytes.chunks(2).map(|pair| endian.unit([pair[0], pair[1]]));
                char::decode_utf16(units).collect::<Result<_, _>>().unwrap()
            }
        }
    });
    assert_eq!(texts[0], texts[1], "UTF-16LE");
    assert_eq!(texts[0], texts[2], "UTF-16BE");
    std::mem::take(&mut texts[0])
}

/// Lines from 1 to 20 with these replaced.
fn twenty(ending: &str, replaced: &[(u32, &str)]) -> String {
    let line = |number: u32| {
        let other = replaced.iter().find(|(at, _)| *at == number);
        other.map_or_else(|| format!("line {number}{ending}"), |(_, text)| (*text).to_owned())
    };
    (1..=20).map(line).collect()
}

#[test]
fn only_the_chosen_hunks_are_taken() {
    for ending in ["\n", "\r\n"] {
        let [one, ten] = [format!("ONE{ending}"), format!("TEN{ending}eleven{ending}")];
        let before = format!("\u{feff}{}", twenty(ending, &[]));
        let with = |replaced: &[(u32, &str)]| format!("\u{feff}{}", twenty(ending, replaced));
        let changes = [(2, one.as_str()), (10, ten.as_str()), (20, "end")];
        let after = with(&changes);
        for mask in 0..8 {
            let taken: Vec<u32> = (0..3).filter(|hunk| mask & (1 << hunk) != 0).collect();
            let some: Vec<(u32, &str)> = taken.iter().map(|hunk| changes[*hunk as usize]).collect();
            assert_eq!(composed(&before, &after, &whole(taken)), with(&some), "{mask:b}");
        }
    }
}

#[test]
fn only_the_chosen_rows_are_taken() {
    // The rows: a, -b, -c, -d without an ending, +B, +C, +d, +e.
    let (before, after) = ("a\nb\nc\nd", "a\nB\nC\nd\ne\n");
    let rows = |rows: &[u32]| composed(before, after, &rows_of(0, rows));
    assert_eq!(rows(&[1]), "a\nc\nd");
    assert_eq!(rows(&[2, 3, 4]), "a\nb\nB\n");
    assert_eq!(rows(&[3, 6]), "a\nb\nc\nd\n");
    assert_eq!(rows(&[7]), "a\nb\nc\nd\ne\n", "a line that was the last one gets an ending");
    assert_eq!(rows(&[1, 2, 3, 4, 5, 6, 7]), after);
}

#[test]
fn invalid_choices_are_refused() {
    let (before, after) = (twenty("\n", &[]), twenty("\n", &[(1, "one\n"), (20, "twenty\n")]));
    let refused = |chosen: &[u32]| {
        let made = compose(before.as_bytes(), after.as_bytes(), LineForm::Bytes, chosen);
        made.expect_err("the choice must be refused").code
    };
    for (name, chosen) in [
        ("a hunk that is not there", &[2, 0][..]),
        ("a hunk twice", &[0, 0, 0, 0]),
        ("a hunk without the number of its rows", &[0]),
        ("fewer rows than announced", &[0, 2, 0]),
        ("hunks that do not ascend", &[1, 0, 0, 0]),
        ("a row twice", &[0, 2, 0, 0]),
        ("rows that do not ascend", &[0, 2, 1, 0]),
        ("an unchanged row", &[0, 1, 2]),
        ("a row behind the hunk", &[0, 1, 99]),
    ] {
        assert_eq!(refused(chosen), Code::InvalidArgument, "{name}");
    }
}

/// Texts whose lines often occur twice, with every kind of line ending.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("a"),
        Just("b"),
        Just(""),
        Just("\u{10a}\u{a0a}"),
        Just("😀"),
        Just("x\r")
    ];
    let ending = prop_oneof![4 => Just("\n"), 2 => Just("\r\n")];
    let lines = proptest::collection::vec((line, ending), 0..24);
    (lines, any::<bool>()).prop_map(|(lines, open)| {
        let mut text: String =
            lines.into_iter().flat_map(|(line, ending)| [line, ending]).collect();
        if open && text.ends_with('\n') {
            text.pop();
        }
        text
    })
}

proptest! {
    #[test]
    fn any_choice_takes_the_lines_that_the_hunks_name(
        before in text(), after in text(), mask in any::<u32>(), rows in any::<bool>(),
    ) {
        let hunks = LineForm::Bytes.hunks(before.as_bytes(), after.as_bytes());
        let taken: Vec<u32> = (0..hunks.len() as u32).filter(|hunk| mask & (1 << (hunk % 32)) != 0).collect();
        // All rows of a hunk are the hunk.
        let all_rows = |number: u32| {
            let hunk = &hunks[number as usize];
            let (mut row, mut line, mut changed) = (0, hunk.old_start, Vec::new());
            for change in &hunk.changes {
                row += change.old_start - line;
                changed.extend(row..row + change.old_lines + change.new_lines);
                row += change.old_lines + change.new_lines;
                line = change.old_start + change.old_lines;
            }
            rows_of(number, &changed)
        };
        let chosen = if rows {
            taken.iter().flat_map(|number| all_rows(*number)).collect()
        } else {
            whole(taken.iter().copied())
        };
        let split = |text: &str| text.split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>();
        let (old, new) = (split(&before), split(&after));
        let mut expected = String::new();
        let mut next = 0;
        for (number, hunk) in (0..).zip(&hunks) {
            let (start, end) = (hunk.old_start as usize, (hunk.old_start + hunk.old_lines) as usize);
            expected.extend(old[next..start].iter().map(String::as_str));
            if taken.contains(&number) {
                let from = hunk.new_start as usize;
                expected.extend(new[from..from + hunk.new_lines as usize].iter().map(String::as_str));
            } else {
                expected.extend(old[start..end].iter().map(String::as_str));
            }
            next = end;
        }
        expected.extend(old[next..].iter().map(String::as_str));
        prop_assert_eq!(composed(&before, &after, &chosen), expected);
    }

    #[test]
    fn bytes_that_are_no_text_are_taken_as_they_are(
        before in proptest::collection::vec(prop_oneof![Just(0u8), Just(10), Just(13), any::<u8>()], 0..40),
        after in proptest::collection::vec(prop_oneof![Just(0u8), Just(10), Just(13), any::<u8>()], 0..40),
        chosen in proptest::collection::vec(any::<u8>(), 0..6),
    ) {
        for form in FORMS {
            let count = form.hunks(&before, &after).len() as u32;
            prop_assert_eq!(&compose(&before, &after, form, &whole(0..count)).unwrap(), &after);
            prop_assert_eq!(&compose(&before, &after, form, &whole([])).unwrap(), &before);
            let chosen: Vec<u32> = chosen.iter().map(|number| u32::from(number % 8)).collect();
            // Any numbers give a content or an error.
            let _ = compose(&before, &after, form, &chosen);
        }
    }
}
