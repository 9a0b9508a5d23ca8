use super::*;
use proptest::prelude::*;

fn globs(patterns: &[&str]) -> Globs {
    Globs::new(patterns, &[] as &[&str], Case::Sensitive).unwrap()
}

#[test]
fn literal_prefix_of_all_matches() {
    let cases: [(&[&str], &str); 8] = [
        (&["drivers/usb/**/*.c"], "drivers/usb"),
        (&["/a/b.c"], "a/b.c"),
        (&["src/*/x"], "src"),
        (&["src/a/*", "src/api/**"], "src/a"),
        (&["src/*", "*.c"], ""),
        (&["*.c"], ""),
        (&["a?/b"], ""),
        (&[], ""),
    ];
    for (patterns, start) in cases {
        assert_eq!(globs(patterns).literal_prefix(), start.as_bytes(), "{patterns:?}");
    }
}

#[test]
fn long_lists_are_kept_by_all_that_they_depend_on() {
    let names = |end: &str| (0..40).map(|n| format!("name{n}.{end}")).collect::<Vec<_>>();
    let none: [&str; 0] = [];
    let compiled = |patterns: &[String], exclude: &[&str], case| {
        let globs = Globs::new(patterns, exclude, case).unwrap();
        ["a/name7.a", "a/NAME7.A", "name7.b"].map(|path| globs.matches(path.as_bytes(), false))
    };
    for _ in 0..3 {
        assert_eq!(compiled(&names("a"), &none, Case::Sensitive), [true, false, false]);
        assert_eq!(compiled(&names("a"), &none, Case::Insensitive), [true, true, false]);
        assert_eq!(compiled(&names("b"), &none, Case::Sensitive), [false, false, true]);
        assert_eq!(compiled(&names("a"), &["a/"], Case::Sensitive), [false, false, false]);
        assert_eq!(compiled(&[], &["x"; 40], Case::Sensitive), [true, true, true]);
    }
    let kept = names("kept");
    let mut compilations = 0;
    // More than one, because other tests may push the list out.
    for _ in 0..10 {
        let compile = || {
            compilations += 1;
            Globs::compile(&kept, &none, Case::Insensitive)
        };
        recent::cached_or_compiled(&kept, &none, Case::Insensitive, compile).unwrap();
    }
    assert!(compilations < 10, "a kept list is compiled again");
}

#[test]
fn ripgrep_rule() {
    // pattern, path, is_dir, matches
    let cases = [
        ("*.py", "a.py", false, true),
        ("*.py", "sub/c.py", false, true),
        ("src/*.ts", "src/a.ts", false, true),
        ("src/*.ts", "src/deep/a.ts", false, false),
        ("src/*.ts", "x/src/a.ts", false, false),
        ("/a.ts", "a.ts", false, true),
        ("/a.ts", "b/a.ts", false, false),
        ("./a.ts", "a.ts", false, true),
        ("**/a.ts", "a.ts", false, true),
        ("**/*", "a/b/c", false, true),
        ("**", "a/b/c", false, true),
        ("sub/**", "sub/c.py", false, true),
        ("sub/**", "sub", true, false),
        ("a/**/z", "a/z", false, true),
        ("a/**/z", "a/b/c/z", false, true),
        ("dir/", "dir", true, true),
        ("dir/", "dir", false, false),
        ("dir/", "x/dir/y/z", false, true),
        ("x/dir/", "x/dir/y", false, true),
        ("x/dir/", "y/x/dir/z", false, false),
        ("*.{ts,tsx}", "a/b.tsx", false, true),
        ("test{,s}/*", "test/a", false, true),
        ("[ab].c", "a.c", false, true),
        ("[ab].c", "[ab].c", false, true),
        ("app/[id]/page.tsx", "app/[id]/page.tsx", false, true),
        ("app/[id]/page.tsx", "app/i/page.tsx", false, true),
        ("app/[id]/page.tsx", "app/id/page.tsx", false, false),
        ("**/[...slug]/*.tsx", "app/[...slug]/page.tsx", false, true),
        ("app/[[...slug]]/page.tsx", "app/[[...slug]]/page.tsx", false, true),
        ("app/(auth)/page.tsx", "app/(auth)/page.tsx", false, true),
        ("*(1).txt", "a (1).txt", false, true),
        ("a!\\(b)", "a!(b)", false, true),
        ("[!ab].c", "a.c", false, false),
        ("\\*.c", "*.c", false, true),
        ("\\*.c", "a.c", false, false),
        ("?.c", "é.c", false, true),
        ("ab*.c", "x/abc.c", false, true),
        ("ab*.c", "ab.c", false, true),
        ("ab*ab", "ab", false, false),
        ("ab*b.c", "ab.c", false, false),
        ("ab*.c", "ab/x.c", false, false),
        ("x*", "a/xy", false, true),
        ("[à-ü].c", "é.c", false, true),
        ("[!a]b", "/b", false, false),
        ("x[!a]b", "x/b", false, false),
        ("[[:digit:]-].c", "-.c", false, true),
        ("[]a].c", "].c", false, true),
        ("a**b", "a/b", false, false),
        ("{**/x,y}.c", "a/x.c", false, true),
        ("*.{ts}", "a.ts", false, true),
        ("{{slug}}/*", "{{slug}}/a", false, true),
        ("a}b", "a}b", false, true),
        ("a,b", "a,b", false, true),
        ("a.b", "axb", false, false),
        ("*.TS", "a.ts", false, false),
        (".*", ".env", false, true),
        ("*", ".env", false, true),
    ];
    for (pattern, path, is_dir, expected) in cases {
        assert_eq!(
            globs(&[pattern]).matches(path.as_bytes(), is_dir),
            expected,
            "{pattern} {path}"
        );
    }
}

#[test]
fn lists_exclude_and_fold() {
    let set = globs(&["*.ts", "!*.test.ts"]);
    assert!(set.matches(b"a.ts", false));
    assert!(!set.matches(b"a.test.ts", false));
    assert!(globs(&["!*.log"]).matches(b"a.ts", false));
    let set = Globs::new(&["*.TS"], &["node_modules"], Case::Insensitive).unwrap();
    assert!(set.matches(b"x/a.ts", false));
    assert!(!set.matches(b"x/node_modules/y/a.ts", false));
    assert!(set.excluded(b"x/node_modules", true));
    let set = Globs::new(&["ÉCOLE"], &[] as &[&str], Case::Insensitive).unwrap();
    assert!(set.matches("x/école".as_bytes(), false));
    assert!(globs(&["*.c"]).matches(b"caf\xe9.c", false), "names need not be UTF-8");
}

#[test]
fn walks_are_pruned() {
    let set = globs(&["src/lib/*.ts", "docs/**/*.md"]);
    for (dir, expected) in [
        ("", true),
        ("src", true),
        ("src/lib", true),
        ("src/lib/x", false),
        ("src/bin", false),
        ("docs", true),
        ("docs/a/b", true),
        ("test", false),
    ] {
        assert_eq!(set.may_contain(dir.as_bytes()), expected, "{dir}");
    }
    assert!(globs(&["src/a.ts", "*.md"]).may_contain(b"anything"));
    assert!(globs(&["src/{a,b/c}/d"]).may_contain(b"src/b/c"));
    assert!(globs(&["dir/sub/"]).may_contain(b"dir/sub/x/y"));
}

#[test]
fn errors_name_the_pattern() {
    for (pattern, code) in [
        ("../**/*.ts", Code::InvalidGlob),
        ("a/../b", Code::InvalidGlob),
        ("[a", Code::InvalidGlob),
        ("{a,b", Code::InvalidGlob),
        ("", Code::InvalidGlob),
        ("/", Code::InvalidGlob),
    ] {
        let error = Globs::new(&[pattern], &[] as &[&str], Case::Sensitive).unwrap_err();
        assert_eq!(error.code, code, "{pattern}");
        assert!(error.message.contains(pattern), "{}", error.message);
    }
}

#[test]
fn forms_of_other_dialects_are_refused_with_the_form_that_works() {
    for (pattern, form) in [
        ("!(*.test).ts", "!*.test.ts"),
        ("src/!(a|b).ts", "!*.test.ts"),
        ("*.@(ts|js)", "{a,b}"),
        ("+(a).ts", "{a,b}"),
        ("?(a).ts", "{a,}"),
        ("*.?(m)js", "{a,}"),
        ("*.(ts|js)", "{a,b}"),
        ("*(a|b)", "{a,b}"),
        ("f{1..3}.txt", "[1-3]"),
        ("{a..c}", "[1-3]"),
    ] {
        let error = Globs::new(&[pattern], &[] as &[&str], Case::Sensitive).unwrap_err();
        assert_eq!(error.code, Code::InvalidGlob, "{pattern}");
        assert!(error.hint.as_deref().is_some_and(|hint| hint.contains(form)), "{pattern}");
        let error = Globs::new(&[] as &[&str], &[pattern], Case::Sensitive).unwrap_err();
        assert_eq!(error.code, Code::InvalidGlob, "exclude {pattern}");
    }
    for pattern in ["[!(a)]", "a+b(c)", "x\\{1..3\\}", "v{1..}", "@types/(a)"] {
        assert!(Globs::new(&[pattern], &[] as &[&str], Case::Sensitive).is_ok(), "{pattern}");
    }
}

#[test]
fn exponential_patterns_are_refused_or_cheap() {
    let bomb = "{a,b}".repeat(2000);
    let deep = format!("{}a{}", "{x,".repeat(3000), "}".repeat(3000));
    let stars = "*a".repeat(4000);
    for pattern in [&bomb, &deep, &stars, &"a".repeat(20_000)] {
        match Globs::new(&[pattern], &[] as &[&str], Case::Sensitive) {
            Ok(set) => assert!(!set.matches(&[b'b'; 4096], false)),
            Err(error) => {
                assert!(matches!(error.code, Code::InvalidGlob | Code::LimitExceeded));
                assert!(error.message.len() < 1000);
            }
        }
    }
}

proptest! {
    #[test]
    fn hostile_patterns_never_panic(pattern in r"[*?\[\]{},!/\\a-c.é-]{0,24}", path in "[a-c./é]{0,16}") {
        if let Ok(set) = Globs::new(&[&pattern], &[] as &[&str], Case::Sensitive) {
            set.matches(path.as_bytes(), false);
        }
    }

    /// A directory that contains a match is never pruned.
    #[test]
    fn pruning_is_sound(pattern in r"(/?([ab]|\*|\*\*|a\*|\{a,b\})){1,4}/?", path in "[ab](/[ab]){0,4}") {
        if let Ok(set) = Globs::new(&[&pattern], &[] as &[&str], Case::Sensitive)
            && set.matches(path.as_bytes(), false)
        {
            for (at, _) in path.match_indices('/') {
                prop_assert!(set.may_contain(&path.as_bytes()[..at]), "{} {}", pattern, &path[..at]);
            }
        }
    }
}

#[test]
fn options_cross_as_json() {
    let read = |json: &str| Globs::from_json(json).unwrap();
    let globs = read(r#"{"patterns": ["*.TS"], "exclude": "d/**", "caseSensitive": false}"#);
    assert!(globs.matches(b"a/b.ts", false) && !globs.matches(b"d/b.ts", false));
    assert!(!read(r#"{"patterns": "*.TS"}"#).matches(b"b.ts", false));
    assert!(read("{}").is_everything() && !globs.is_everything());
    for json in ["[]", r#"{"patterns": 1}"#, r#"{"caseSensitive": "no"}"#] {
        assert_eq!(Globs::from_json(json).unwrap_err().code, Code::InvalidArgument, "{json}");
    }
    let many = vec!["a"; 1001];
    let error = Globs::new(&many, &[] as &[&str], Case::Sensitive).unwrap_err();
    assert_eq!(error.code, Code::LimitExceeded);
}
