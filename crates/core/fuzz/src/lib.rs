//! What must hold for any bytes: the bodies of the fuzz targets, so that they can
//! run as tests over made-up bytes as well.

use std::collections::BTreeMap;

use filewright_core::access::{Intent, Rules, RulesConfig, Verdict};
use filewright_core::diff::unified::{Format, Header, Limits, LineEndings, diff};
use filewright_core::edit::{Edit, Options, Strictness, plan};
use filewright_core::patch::set::{SetOptions, apply_all};
use filewright_core::patch::{parse, reverse};
use filewright_core::path::{components, decode_name, encode_name, escape_controls};
use filewright_core::windows;

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

/// What a path says of a place inside holds for however it is written, and a name
/// comes back from how it is shown.
pub fn path(data: &[u8]) {
    let shown = encode_name(data);
    assert_eq!(decode_name(&shown), data, "a name is shown reversibly");
    let line = escape_controls(&shown);
    assert!(!line.chars().any(char::is_control), "nothing that moves a cursor is shown");
    let text = String::from_utf8_lossy(data);
    let on_windows = windows::check(&text);
    let Ok(parsed) = components(data) else { return };
    for name in &parsed.names {
        assert!(!matches!(*name, b"" | b"." | b".."));
        assert!(!name.contains(&b'/') && !name.contains(&0));
    }
    // Taken apart once more it is the same; said in a longer way, too.
    let plain = parsed.names.join(&b'/');
    if !plain.is_empty() {
        assert_eq!(components(&plain).map(|again| again.names), Ok(parsed.names.clone()));
        let longer = [b"./x/..//", &plain[..], b"/."].concat();
        if let Ok(again) = components(&longer) {
            assert_eq!(again.names, parsed.names);
        }
    }
    // What stands for itself on Windows has no name there that stands for something else.
    if on_windows.is_ok() && !text.contains(['\\', ':']) {
        for name in text.split('/') {
            assert!(!name.ends_with('.') || matches!(name, "." | ".."));
            assert!(!name.eq_ignore_ascii_case("nul") && !name.eq_ignore_ascii_case("com1.txt"));
        }
    }
    protected(&plain);
}

/// Whatever stands before or behind a protected place, and however it is spelt in
/// ASCII, it stays protected; a denied one is told before that.
fn protected(plain: &[u8]) {
    let deny = ["x/**".to_owned()];
    let config = RulesConfig {
        cwd: b"/w",
        roots: &[b"/w"],
        deny: &deny,
        protect: true,
        secrets: true,
        fold_case: false,
        places: &[],
    };
    let Ok(rules) = Rules::new(&config) else { return };
    let under = |parts: &[&[u8]]| parts.join(&b'/');
    for place in [&b".git/hooks"[..], b".GIT/HOOKS", b".git/hooks/y"] {
        let path = under(&[b"/w", plain, place]);
        assert_ne!(rules.verdict(&path, Intent::Write), Verdict::Allowed);
        assert_ne!(rules.flags(&path) & 3, 0);
    }
    let denied = under(&[b"/w/x", plain, b"f"]);
    assert_eq!(rules.verdict(&denied, Intent::Read), Verdict::Denied);
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
            super::path(&data);
        }
    }
}
