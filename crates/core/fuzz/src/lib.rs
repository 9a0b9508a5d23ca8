//! What must hold for any bytes: the bodies of the fuzz targets, so that they can
//! run as tests over made-up bytes as well.

use std::collections::BTreeMap;

use filewright_core::diff::unified::{Format, Header, Limits, LineEndings, diff};
use filewright_core::edit::{Edit, Options, Strictness, plan};
use filewright_core::patch::set::{SetOptions, apply_all};
use filewright_core::patch::{parse, reverse};

/// Three texts out of one: cut at bytes that are rare in text.
fn texts(data: &[u8]) -> [String; 3] {
    let mut pieces = data.splitn(3, |&byte| byte == 0xff).map(String::from_utf8_lossy);
    [(); 3].map(|()| pieces.next().unwrap_or_default().into_owned())
}

/// An edit is made or refused, never a panic; one that is made by its bytes
/// changes nothing but them.
pub fn edit(data: &[u8]) {
    let [text, old, new] = texts(data);
    for strictness in [Strictness::Exact, Strictness::Whitespace, Strictness::Fuzzy] {
        let edit = Edit { old: old.clone(), new: new.clone(), ..Edit::default() };
        let options = Options { strictness, label: "f".into(), ..Options::default() };
        let made = plan(text.as_bytes(), &[edit], &options);
        // Line ends are folded, and a byte order mark is no part of what is sought.
        let folded = text.contains('\r') || old.contains('\r') || old.starts_with('\u{feff}');
        if let (Ok(made), Strictness::Exact, false) = (made, strictness, folded) {
            let at = text.find(&old).expect("what was replaced was there");
            assert!(made.bytes.starts_with(&text.as_bytes()[..at]));
            assert!(made.bytes.ends_with(&text.as_bytes()[at + old.len()..]));
        }
    }
}

/// Any text is a patch or an error, and so is applying it or turning it around.
pub fn patch_parse(data: &[u8]) {
    let [text, file, _] = texts(data);
    let Ok(patch) = parse(&text, None) else { return };
    let files = BTreeMap::from([("f".to_owned(), file.into_bytes())]);
    let options = SetOptions { path: Some("f".into()), ..SetOptions::default() };
    let _ = apply_all(&patch, &files, &options);
    let _ = reverse(&patch).and_then(|patch| apply_all(&patch, &files, &options));
}

/// The diff of two texts makes the one of the other.
pub fn diff_round_trip(data: &[u8]) {
    let [before, after, _] = texts(data);
    let format = Format {
        header: Header { before: Some(b"f"), after: Some(b"f") },
        context: 3,
        line_ends: LineEndings::Raw,
        limits: Limits::default(),
    };
    let found = diff(Some(before.as_bytes()), Some(after.as_bytes()), &Default::default(), &format);
    if found.identical {
        assert_eq!(before, after);
        return;
    }
    let patch = parse(&found.text, None).expect("what we print is a patch");
    let files = BTreeMap::from([("f".to_owned(), before.into_bytes())]);
    let changes = apply_all(&patch, &files, &SetOptions::default()).expect("it applies");
    assert_eq!(changes[0].bytes.as_deref(), Some(after.as_bytes()));
}

#[cfg(test)]
mod tests {
    /// Texts made of few pieces, so that much is alike: the same on every run.
    fn made(seed: u32) -> Vec<u8> {
        const PIECES: [&[u8]; 14] = [
            b"a\n",
            b"b\n",
            b"  a\n",
            b"\n",
            b"--- a/f\n",
            b"+++ b/f\n",
            b"@@ -1 +1 @@\n",
            b"-a\n",
            b"+b\n",
            b" c\n",
            b"...\n",
            b"\xff",
            b"word(x);\n",
            b"}\r\n",
        ];
        let mut state = seed.wrapping_mul(2_654_435_761).max(1);
        let mut data = Vec::new();
        for _ in 0..40 {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            data.extend_from_slice(PIECES[state as usize % PIECES.len()]);
        }
        data
    }

    #[test]
    fn made_up_bytes_break_nothing() {
        for seed in 1..2_000 {
            let data = made(seed);
            super::edit(&data);
            super::patch_parse(&data);
            super::diff_round_trip(&data);
        }
    }
}
