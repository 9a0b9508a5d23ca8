use super::{Anchor, AnchoredLines, InsertSide};
use crate::anchor::anchors;
use crate::edit::{Edit, EditOptions, plan};

/// Returns the anchor of a line of a text.
fn at(text: &str, line: usize) -> Anchor {
    let all: Vec<char> = anchors(text.trim_start_matches('\u{feff}')).chars().collect();
    let hash = all[6 * (line - 1)..6 * line].try_into().unwrap();
    Anchor { line: line as u64, hash }
}

/// Returns an edit of lines `from` to `to` of a text.
fn edit(text: &str, (from, to): (usize, usize), insert: Option<InsertSide>, new: &str) -> Edit {
    let (from, to) = (at(text, from), at(text, to));
    let anchors = Some(AnchoredLines { from, to, insert, unchanged: false });
    Edit { anchors, new: new.into(), ..Edit::default() }
}

fn unchanged(mut edit: Edit) -> Edit {
    edit.anchors.as_mut().unwrap().unchanged = true;
    edit
}

fn run(text: &str, edits: &[Edit]) -> String {
    let options = EditOptions { label: "f".into(), ..EditOptions::default() };
    match plan(text.as_bytes(), edits, &options) {
        Ok(plan) => String::from_utf8(plan.bytes).unwrap(),
        Err(error) => format!("{}: {}", error.code.as_str(), error.message),
    }
}

#[test]
fn lines_are_named_by_anchors() {
    use InsertSide::{After, Before};
    for (name, text, lines, insert, new, result) in [
        ("one line", "a\nb\nc\n", (2, 2), None, "B", "a\nB\nc\n"),
        ("with its end", "a\nb\nc\n", (2, 2), None, "B\n", "a\nB\nc\n"),
        ("several", "a\nb\nc\nd\n", (2, 3), None, "X\nY\nZ", "a\nX\nY\nZ\nd\n"),
        ("away", "a\nb\nc\n", (2, 2), None, "", "a\nc\n"),
        ("to a blank line", "a\nb\nc\n", (2, 2), None, "\n", "a\n\nc\n"),
        ("before", "a\nb\n", (1, 1), Some(Before), "x\ny", "x\ny\na\nb\n"),
        ("after", "a\nb\n", (1, 1), Some(After), "x", "a\nx\nb\n"),
        ("after the open end", "a\nb", (2, 2), Some(After), "x", "a\nb\nx"),
        ("the open end", "a\nb", (2, 2), None, "B\nC", "a\nB\nC"),
        ("CRLF", "a\r\nb\r\n", (2, 2), None, "x\ny", "a\r\nx\r\ny\r\n"),
        ("CRLF after", "a\r\nb", (2, 2), Some(After), "x", "a\r\nb\r\nx"),
        ("a mark", "\u{feff}a\nb\n", (1, 1), None, "A", "\u{feff}A\nb\n"),
    ] {
        let edit = edit(text, lines, insert, new);
        assert_eq!(run(text, std::slice::from_ref(&edit)), result, "{name}");
        assert_eq!(run(text, &[unchanged(edit)]), result, "{name}, known to be unchanged");
    }
}

#[test]
fn lines_that_moved_are_found_by_their_neighbours() {
    let text = "fn a() {\n  x();\n}\n\nfn b() {\n  y();\n}\n";
    let close = edit(text, (7, 7), Some(InsertSide::After), "// b");
    let moved = format!("1\n2\n3\n4\n{text}");
    assert_eq!(run(&moved, std::slice::from_ref(&close)), format!("{moved}// b\n"));
    // A caller that wrongly claims an unchanged file does no harm.
    assert_eq!(run(&moved, &[unchanged(close)]), format!("{moved}// b\n"));
    let body = edit(text, (5, 6), None, "fn c() {");
    assert_eq!(run(&moved, &[body]), moved.replace("fn b() {\n  y();", "fn c() {"));
}

#[test]
fn line_numbers_refer_to_the_file_as_it_was_read() {
    let text = "{\n1\n}\n{\n2\n}\n";
    let edits = [
        edit(text, (1, 1), Some(InsertSide::After), "x\ny\nz"),
        edit(text, (6, 6), Some(InsertSide::Before), "w"),
    ];
    assert_eq!(run(text, &edits), "{\nx\ny\nz\n1\n}\n{\n2\nw\n}\n");
    // The first edit changes the neighbours of the second.
    let text = "a\nb\nc\n";
    let edits = [edit(text, (1, 1), None, "A"), edit(text, (2, 2), None, "B\nB")];
    assert_eq!(run(text, &edits), "A\nB\nB\nc\n");
    let text = "a\nb\nb\n";
    let twice = [edit(text, (2, 2), None, ""), edit(text, (2, 2), None, "B")];
    assert_eq!(
        run(text, &twice),
        "MATCH_NOT_FOUND: an earlier edit of this call changed line 2 of f"
    );
}

#[test]
fn stale_anchors_are_refused() {
    let text = "a\nb\nc\n";
    let gone = edit(text, (2, 2), None, "B");
    assert!(run("a\nQ\nc\n", std::slice::from_ref(&gone)).starts_with("MATCH_NOT_FOUND: 2#"));
    let neighbour = "a\nb\nC\n";
    assert!(run(neighbour, &[gone]).contains("the lines or their neighbours have changed"));
    let equal = "x\nitem\nitem\nitem\nitem\n";
    let one = edit(equal, (3, 3), None, "B");
    let refusal = run(equal, std::slice::from_ref(&one));
    assert!(refusal.starts_with("MATCH_NOT_UNIQUE"), "{refusal}");
    assert!(refusal.contains("is one of several equal places in f"), "{refusal}");
    // The only remaining match may be another line.
    let fewer = "x\nitem\nitem\nitem\n";
    let refusal = run(fewer, std::slice::from_ref(&one));
    assert!(refusal.ends_with("it may be line 3 now"), "{refusal}");
    assert_eq!(run(equal, &[unchanged(one)]), "x\nitem\nB\nitem\nitem\n");
    // Lines 1 to 3 of the file equal lines that a removal brought together.
    let common = "}\n)\n\n}\n)\nx\n)\n\n";
    let refusal = run("}\nx\n)\n\n}\n)\n\n", &[edit(common, (2, 2), None, "B")]);
    assert!(refusal.ends_with("it may be line 6 now"), "{refusal}");
    let turned = edit(text, (2, 1), None, "B");
    assert!(run(text, &[turned]).starts_with("INVALID_ARGUMENT"));
}

#[test]
fn anchors_are_read() {
    for text in
        ["120#k3x9q1", " 120#k3x9q1", "120#K3X9Q1", "120#k3x9q1\tlet x", "120#k3x9q1z|let x"]
    {
        assert_eq!(
            Anchor::parse("from", text).ok(),
            Some(Anchor { line: 120, hash: ['k', '3', 'x', '9', 'q', '1'] }),
            "{text}"
        );
    }
    for text in
        ["", "120", "#k3x9q1", "0#k3x9q1", "x#k3x9q1", "120#k3x9q", "120#k3x9q1zz", "120#k3x9q-"]
    {
        assert!(Anchor::parse("from", text).is_err(), "{text}");
    }
}
