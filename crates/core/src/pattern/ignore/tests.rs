use super::*;

fn verdict(rules: &str, path: &str, is_dir: bool) -> Option<IgnoreVerdict> {
    IgnoreRules::parse(rules.as_bytes()).verdict(path.as_bytes(), is_dir)
}

#[test]
fn lines() {
    use IgnoreVerdict::{Ignore, Keep};
    // rules, path, is_dir, verdict
    let cases = [
        ("*.log", "a/b.log", false, Some(Ignore)),
        ("*.log\n!b.log", "a/b.log", false, Some(Keep)),
        ("!b.log\n*.log", "a/b.log", false, Some(Ignore)),
        ("build/", "build", true, Some(Ignore)),
        ("build/", "build", false, None),
        ("build/", "x/build", true, Some(Ignore)),
        ("/build", "x/build", true, None),
        ("a/b", "a/b", false, Some(Ignore)),
        ("a/b", "x/a/b", false, None),
        ("a/*", "a/b", false, Some(Ignore)),
        ("a/*", "a/b/c", false, None),
        ("a/**", "a/b/c", false, Some(Ignore)),
        ("a/**", "a", true, None),
        ("**/a", "a", false, Some(Ignore)),
        ("**/a/b", "x/y/a/b", false, Some(Ignore)),
        ("a/**/b", "a/b", false, Some(Ignore)),
        ("a/**/b", "a/x/y/b", false, Some(Ignore)),
        ("a/**b", "a/x/b", false, None),
        // Git removes literal text first: the rest after `a` begins with `**`.
        ("/a**", "a/x/y", false, Some(Ignore)),
        ("/a**", "a", true, Some(Ignore)),
        ("/a**", "ab/x", false, Some(Ignore)),
        ("/a**/build", "a/x/build", true, Some(Ignore)),
        ("/a**/build", "abuild", true, Some(Ignore)),
        ("x/a***/b", "x/ay/z/b", false, Some(Ignore)),
        ("/a**\\/b", "a/x/b", false, Some(Ignore)),
        ("/a**b/c", "ax/b/c", false, None),
        ("/?a**/b", "xa/y/b", false, None),
        ("a**", "b/ax", false, Some(Ignore)),
        ("a**", "ax/y", false, None),
        ("# comment", "# comment", false, None),
        ("\\#a", "#a", false, Some(Ignore)),
        ("\\!a", "!a", false, Some(Ignore)),
        ("a  ", "a", false, Some(Ignore)),
        ("a\\ ", "a ", false, Some(Ignore)),
        ("a\r\n", "a", false, Some(Ignore)),
        ("\u{feff}a", "a", false, Some(Ignore)),
        ("[a-c]x", "bx", false, Some(Ignore)),
        ("[!a-c]x", "bx", false, None),
        ("[[:digit:]]x", "1x", false, Some(Ignore)),
        ("[]x]", "]", false, Some(Ignore)),
        ("[a", "[a", false, None),
        ("a\\", "a\\", false, None),
        ("a?c", "abc", false, Some(Ignore)),
        ("a/[b/c]/d", "a/b/d", false, Some(Ignore)),
        ("*", "anything", true, Some(Ignore)),
        ("/*\n!/src", "src", true, Some(Keep)),
        ("*.tar.gz", "a.tar.gz", false, Some(Ignore)),
        ("*~", "a~", false, Some(Ignore)),
        ("/", "a", true, None),
        ("*.", "a.", false, Some(Ignore)),
        ("[[:alpha:]]x", "bx", false, Some(Ignore)),
        ("[[:alpha:]]x", "1x", false, None),
        ("[[:blank:]]x", " x", false, Some(Ignore)),
        ("[[:cntrl:]]x", "\u{1}x", false, Some(Ignore)),
        ("[[:graph:]]x", "!x", false, Some(Ignore)),
        ("[[:graph:]]x", " x", false, None),
        ("[[:lower:]]x", "bx", false, Some(Ignore)),
        ("[[:lower:]]x", "Bx", false, None),
        ("[[:print:]]x", " x", false, Some(Ignore)),
        ("[[:punct:]]x", "-x", false, Some(Ignore)),
        ("[[:space:]]x", "\u{b}x", false, Some(Ignore)),
        ("[[:upper:]]x", "Bx", false, Some(Ignore)),
        ("[[:xdigit:]]x", "fx", false, Some(Ignore)),
        ("[[:xdigit:]]x", "gx", false, None),
        ("[[:nothing:]]x", "ax", false, None),
        ("[[:x]y", ":y", false, Some(Ignore)),
        ("[\\]a]x", "]x", false, Some(Ignore)),
        ("[a-\\c]x", "bx", false, Some(Ignore)),
        ("[a-c", "b", false, None),
        ("[a\\", "a", false, None),
        ("a*/b?", "ax/bc", false, Some(Ignore)),
        ("a*/b?", "ax/b", false, None),
        ("*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", false, None),
    ];
    for (rules, path, is_dir, expected) in cases {
        assert_eq!(verdict(rules, path, is_dir), expected, "{rules:?} {path}");
    }
}

#[test]
fn stacks() {
    let rules = |text: &str| IgnoreRules::parse(text.as_bytes());
    let git = IgnoreKind::file(0);
    let ignore = IgnoreKind::file(1);
    let root = Stack::new().enter(b"", vec![(git, rules("*.tmp\n*.log"))], false);
    let keep = root.enter(b"keep", vec![(git, rules("!x.tmp"))], false);
    assert!(root.ignored(b"y.tmp", false));
    assert!(!keep.ignored(b"keep/x.tmp", false));
    assert!(keep.ignored(b"keep/y.tmp", false));

    // A higher kind overrides a lower one at any depth.
    let root =
        Stack::new().enter(b"", vec![(ignore, rules("!*.log")), (git, rules("*.log"))], false);
    let sub = root.enter(b"sub", vec![(git, rules("*.log"))], false);
    assert!(!sub.ignored(b"sub/a.log", false));

    // Git's rules end at the border of a repository, the others do not.
    let root = Stack::new().enter(b"", vec![(git, rules("*.o")), (ignore, rules("*.x"))], true);
    let nested = root.enter(b"nested", vec![], true);
    assert!(root.ignored(b"a.o", false));
    assert!(!nested.ignored(b"nested/a.o", false));
    assert!(nested.ignored(b"nested/a.x", false));
    let global = Stack::new().enter(b"", vec![(IgnoreKind::GLOBAL, rules("*.o\n/top"))], false);
    let nested = global.enter(b"nested", vec![], true);
    assert!(nested.ignored(b"nested/a.o", false));
    // They apply from the top of each repository.
    assert!(global.ignored(b"top", false));
    assert!(!global.ignored(b"other/top", false));
    assert!(nested.ignored(b"nested/top", false));
    let below = nested.enter(b"nested/below", vec![(git, rules("x"))], false);
    assert!(!below.ignored(b"nested/below/top", false));
}
