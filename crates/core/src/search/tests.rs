use super::*;
use crate::error::Code;
use proptest::prelude::*;

fn options(pattern: &str) -> QueryOptions<'_> {
    QueryOptions { pattern, regex: true, case: Case::Sensitive, word: false, multiline: false }
}

/// Returns hits as `line:column:text`.
fn found(
    options: &QueryOptions<'_>,
    limits: &SearchLimits,
    content: &[u8],
) -> (Vec<String>, SearchOutcome) {
    let query = Query::new(options).unwrap();
    let mut hits = Vec::new();
    let outcome = query.search(content, limits, &|| false, &mut |hit| {
        hits.push(format!("{}:{}:{}", hit.line, hit.column, hit.text.text));
        ControlFlow::Continue(())
    });
    (hits, outcome)
}

fn lines(options: &QueryOptions<'_>, content: &str) -> Vec<String> {
    found(options, &SearchLimits::default(), content.as_bytes()).0
}

#[test]
fn patterns() {
    // Pattern, text, hits.
    let cases: &[(&str, &str, &[&str])] = &[
        ("b", "a\nb\nab\n", &["2:1:b", "3:2:ab"]),
        ("b", "a\nb", &["2:1:b"]),
        ("b$", "ab\r\nb\r\n", &["1:2:ab", "2:1:b"]),
        ("^b$", "b\r\nbb\r\n", &["1:1:b"]),
        ("^$", "a\n\nb\n", &["2:1:"]),
        ("^$", "a\n", &[]),
        ("x*", "a\nb\n", &["1:1:a", "2:1:b"]),
        ("", "", &[]),
        (r"\Aa", "a\nba\na\n", &["1:1:a", "3:1:a"]),
        (r"a\z", "a\r\nba", &["1:1:a", "2:2:ba"]),
        (r"\w+ß\w", "😀 Straße\n", &["1:3:😀 Straße"]),
        ("a.c", "a\nc\nabc\n", &["3:1:abc"]),
        (r"a\sc", "a\nc\na c\n", &["3:1:a c"]),
        ("[^x]", "\nx\ny\n", &["3:1:y"]),
        ("(?i)É", "école\n", &["1:1:école"]),
        (" ", "a b\n", &["1:2:a b"]),
        (r"\r$", "a\r\nb\n", &["1:2:a"]),
        (r"\r", "a\r\nb\n", &["1:2:a"]),
        ("foo|bar", "bar foo\nno\nfoo\n", &["1:1:bar foo", "3:1:foo"]),
    ];
    for (pattern, text, expected) in cases.iter().filter(|case| !case.0.is_empty()) {
        assert_eq!(lines(&options(pattern), text), *expected, "{pattern}");
    }
}

#[test]
fn search_options() {
    let text = "foo.bar\nFOO.bar\nfoodbar\nxfoo.barx\n";
    let literal = QueryOptions { regex: false, ..options("foo.bar") };
    assert_eq!(lines(&literal, text), ["1:1:foo.bar", "4:2:xfoo.barx"]);
    let word = QueryOptions { word: true, ..literal.clone() };
    assert_eq!(lines(&word, text), ["1:1:foo.bar"]);
    let insensitive = QueryOptions { case: Case::Insensitive, ..literal.clone() };
    assert_eq!(lines(&insensitive, text).len(), 3);
    let smart = QueryOptions { case: Case::Smart, ..literal.clone() };
    assert_eq!(lines(&smart, text).len(), 3);
    let smart = QueryOptions { case: Case::Smart, ..options("FOO") };
    assert_eq!(lines(&smart, text), ["2:1:FOO.bar"]);
}

#[test]
fn across_lines() {
    let multiline = |pattern| QueryOptions { multiline: true, ..options(pattern) };
    let text = "fn a(\n  x,\n) {}\nfn b() {}\n";
    assert_eq!(lines(&multiline(r"a\(\s+x"), text), ["1:4:fn a("]);
    assert_eq!(lines(&multiline(r"x,\n\)"), text), ["2:3:  x,"]);
    assert_eq!(lines(&multiline("fn"), text), ["1:1:fn a(", "4:1:fn b() {}"]);
    assert_eq!(lines(&multiline(r"(?s)fn a.*b"), text), ["1:1:fn a("]);
    assert_eq!(lines(&multiline(r"\{\}$"), "a {}\r\nb {}\r\n"), ["1:3:a {}", "2:3:b {}"]);
    let literal = QueryOptions { regex: false, ..multiline(") {}\nfn") };
    assert_eq!(lines(&literal, text), ["3:1:) {}"]);
    let query = Query::new(&multiline(r"a\([^)]*\)")).unwrap();
    query.search(text.as_bytes(), &SearchLimits::default(), &|| false, &mut |hit| {
        assert_eq!((hit.line, hit.end_line), (1, 3));
        ControlFlow::Continue(())
    });
}

/// Returns hits as `first-last:rest` with the lines after the match.
fn spans(pattern: &str, text: &str) -> Vec<String> {
    let query = Query::new(&QueryOptions { multiline: true, ..options(pattern) }).unwrap();
    let limits = SearchLimits { after: 2, ..SearchLimits::default() };
    let join = |lines: &[Line<'_>]| {
        lines.iter().map(|line| line.text.to_string()).collect::<Vec<_>>().join(",")
    };
    let mut hits = Vec::new();
    query.search(text.as_bytes(), &limits, &|| false, &mut |hit| {
        hits.push(format!(
            "{}-{}:{}|{}|{}",
            hit.line,
            hit.end_line,
            hit.text.text,
            join(hit.rest),
            join(hit.after)
        ));
        ControlFlow::Continue(())
    });
    hits
}

#[test]
fn a_match_across_lines_has_all_its_lines_and_context_after_the_last() {
    let text = "m1\nm1\n\nyy\nm1\nFOO\n1\n2\n3\n";
    assert_eq!(spans(r"(?i)m1\s+foo", text), ["5-6:m1|FOO|1,2"]);
    // The second match begins on the line where the first one ends.
    assert_eq!(spans(r"\p{Lu}*\s+foo", "1\n2\n3\nK foo\n\nfoo\n"), ["4-6:K foo|,foo|"]);
    assert_eq!(spans(r"a\n", "a\nb\na\n"), ["1-1:a||b,a", "3-3:a||"]);
    assert_eq!(spans(r"a\n\n", "a\n\nb\n"), ["1-2:a||b"]);
    assert_eq!(spans(r"a\nb", "a\na\nb\nc"), ["2-3:a|b|c"]);
    let query = QueryOptions { multiline: true, ..options(r"\p{Lu}*\s+foo") };
    let count = SearchLimits { want: OutputMode::Count, ..SearchLimits::default() };
    let (_, outcome) = found(&query, &count, b"K foo\n\nfoo\n foo");
    assert_eq!(outcome.hits, 3);
}

#[test]
fn an_empty_match_at_the_end_of_a_block_is_no_hit_on_the_next_line() {
    let text = format!("{}\n", "x".repeat(99)).repeat(6_000);
    for pattern in ["^$", r"^\s*$", "^[ \t]*$", "^y*$", "(^|y)$"] {
        assert_eq!(lines(&options(pattern), &text), [""; 0], "{pattern}");
    }
    for pattern in ["^", "$"] {
        let word = QueryOptions { word: true, ..options(pattern) };
        assert_eq!(lines(&word, &text), [""; 0], "word {pattern}");
    }
    let with_empty = text.replacen("x\nx", "x\n\nx", 5_000);
    assert_eq!(lines(&options("^$"), &with_empty).len(), 5_000);
}

#[test]
fn the_cr_of_a_crlf_matches_only_a_pattern_that_names_it() {
    let text = "\r\nfoo\r\nfoo x\r\n";
    let cases: &[(&str, &[&str])] = &[
        (".", &["2:1:foo", "3:1:foo x"]),
        (r"foo\s", &["3:1:foo x"]),
        ("foo.", &["3:1:foo x"]),
        ("foo[^y]", &["3:1:foo x"]),
        (r"o\W", &["3:3:foo x"]),
        (r"\s", &["3:4:foo x"]),
        (r"\s$", &[]),
        ("^$", &["1:1:"]),
        ("foo\r", &["2:1:foo"]),
        (r"foo\r$", &["2:1:foo"]),
        (r"[o\r]+\x0D", &["2:2:foo"]),
        (r"x\r?$", &["3:5:foo x"]),
    ];
    for (pattern, expected) in cases {
        assert_eq!(lines(&options(pattern), text), *expected, "{pattern}");
        let count = SearchLimits { want: OutputMode::Count, ..SearchLimits::default() };
        let (_, outcome) = found(&options(pattern), &count, text.as_bytes());
        assert_eq!(outcome.hits, expected.len() as u64, "count {pattern}");
    }
    // A CR that ends no line is an ordinary character.
    assert_eq!(lines(&options("a.b"), "a\rb\n"), ["1:1:a\rb"]);
    assert_eq!(lines(&options("b."), "ab\r"), ["1:2:ab"]);
}

#[test]
fn context_and_limits() {
    let text = b"1\n2\nhit\n4\n5\nhit\n";
    let query = Query::new(&options("hit")).unwrap();
    let limits = SearchLimits { before: 2, after: 1, ..SearchLimits::default() };
    let mut seen = Vec::new();
    query.search(text, &limits, &|| false, &mut |hit| {
        let join = |lines: &[Line<'_>]| {
            lines.iter().map(|line| line.text.to_string()).collect::<Vec<_>>().join(",")
        };
        seen.push(format!("{}|{}|{}", join(hit.before), hit.line, join(hit.after)));
        ControlFlow::Continue(())
    });
    assert_eq!(seen, ["1,2|3|4", "4,5|6|"]);

    let (hits, outcome) = found(&options("hit"), &SearchLimits { max_hits: 1, ..limits }, text);
    assert_eq!(hits.len(), 1);
    assert!(outcome.more);
    let (hits, outcome) = found(&options("hit"), &SearchLimits { max_hits: 2, ..limits }, text);
    assert_eq!(hits.len(), 2);
    assert!(!outcome.more);
    let (hits, _) = found(&options("hit"), &SearchLimits { skip_lines: 3, ..limits }, text);
    assert_eq!(hits, ["6:1:hit"]);
    let count = SearchLimits { want: OutputMode::Count, ..SearchLimits::default() };
    let (hits, outcome) = found(&options("hit"), &count, text);
    assert!(hits.is_empty());
    assert_eq!(outcome.hits, 2);
}

#[test]
fn content_kinds() {
    let search = |content: &[u8]| found(&options("hit"), &SearchLimits::default(), content);
    assert!(search(b"hit\0\n").1.binary);
    let mut late = b"hit\n".repeat(20_000);
    late.extend_from_slice(b"hit\0\nhit\n");
    let (hits, outcome) = search(&late);
    assert_eq!((hits.len(), outcome.binary), (20_000, false));
    assert_eq!(search(b"\xef\xbb\xbfhit\n").0, ["1:1:hit"]);
    let le: Vec<u8> = "\u{feff}é hit\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(search(&le).0, ["1:3:é hit"]);
    let be: Vec<u8> = "\u{feff}é hit\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    assert_eq!(search(&be).0, ["1:3:é hit"]);
    assert_eq!(search(b"\xff\xfe").0.len(), 0);
    assert_eq!(search(b"caf\xe9 hit\n").0, ["1:6:caf\u{fffd} hit"]);
    assert_eq!(search(b"").0.len(), 0);
}

#[test]
fn refusals_contain_a_remedy() {
    let refusal = |pattern: &str| Query::new(&options(pattern)).unwrap_err();
    let error = refusal("a(b");
    assert_eq!(error.code, Code::InvalidRegex);
    assert_eq!(error.details["position"], 2);
    assert!(error.message.contains("regex"));
    assert!(error.hint.unwrap().contains("regex:false"));
    assert_eq!(refusal("é*(").details["position"], 3);
    assert!(refusal("(?=a)").message.contains("look-around"));
    assert!(refusal("(?<!a)b").message.contains("look-around"));
    assert!(refusal(r"(a)\1").message.contains("back-references"));
    assert!(refusal(r"a\nb").hint.unwrap().contains("multiline"));
    assert_eq!(refusal(r"\p{Nope}").code, Code::InvalidRegex);
    assert_eq!(refusal("").code, Code::InvalidArgument);
    assert_eq!(refusal("(a{1000}){1000}").code, Code::LimitExceeded);
    assert_eq!(refusal(&"(".repeat(300)).code, Code::InvalidRegex);
    assert_eq!(
        refusal(&format!("{}{}", "(".repeat(300), ")".repeat(300))).code,
        Code::LimitExceeded
    );
    assert_eq!(refusal(&"a".repeat(70_000)).code, Code::LimitExceeded);
    let literal = QueryOptions { regex: false, ..options("a\nb") };
    assert!(Query::new(&literal).unwrap_err().hint.unwrap().contains("multiline"));
}

#[test]
fn interrupts_stop_the_search() {
    let text = "line\n".repeat(1 << 20);
    let query = Query::new(&options("nothing")).unwrap();
    let limits = SearchLimits::default();
    let outcome =
        query.search(text.as_bytes(), &limits, &|| true, &mut |_| ControlFlow::Continue(()));
    assert!(outcome.stopped);
}

/// Returns the matching lines of a text, found by testing each line.
fn naive(pattern: &str, text: &str) -> Vec<u64> {
    let regex = regex_automata::meta::Regex::builder()
        .syntax(regex_automata::util::syntax::Config::new().multi_line(true))
        .build(pattern)
        .unwrap();
    let mut numbers = Vec::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let mut line = line.strip_suffix('\n').unwrap_or(line);
        // The CR of a CRLF is part of the line ending.
        line = line.strip_suffix('\r').unwrap_or(line);
        if regex.is_match(line) {
            numbers.push(index as u64 + 1);
        }
    }
    numbers
}

proptest! {
    #[test]
    fn same_lines_as_one_by_one(
        pattern in r"(\^)?([abé]|\.|\[ab\]|\[\^a\]|a\*|b\?|\\w|\\b|ab\|b){1,4}(\$)?",
        text in "([abcé ]{0,3}(\n|\r\n)){0,8}[abc]{0,2}",
    ) {
        // A pattern that begins with a repetition operator does not parse.
        if let Ok(query) = Query::new(&options(&pattern)) {
            let mut numbers = Vec::new();
            query.search(text.as_bytes(), &SearchLimits::default(), &|| false, &mut |hit| {
                numbers.push(hit.line);
                ControlFlow::Continue(())
            });
            prop_assert_eq!(&numbers, &naive(&pattern, &text));
            let count = SearchLimits { want: OutputMode::Count, ..SearchLimits::default() };
            let outcome = query.search(text.as_bytes(), &count, &|| false, &mut |_| ControlFlow::Continue(()));
            prop_assert_eq!(outcome.hits, numbers.len() as u64);
        }
    }

}

proptest! {
    // Each case compiles a regex, which is slow in a debug build.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn hostile_input_never_panics(
        pattern in ".{1,12}",
        content in proptest::collection::vec(any::<u8>(), 0..200),
        multiline: bool, word: bool, regex: bool,
    ) {
        let options = QueryOptions { regex, multiline, word, ..options(&pattern) };
        if let Ok(query) = Query::new(&options) {
            let limits = SearchLimits { before: 1, after: 1, max_line_chars: 5, ..SearchLimits::default() };
            query.search(&content, &limits, &|| false, &mut |_| ControlFlow::Continue(()));
        }
    }
}

#[test]
fn hits_name_the_matching_patterns() {
    /// Lines with the indexes of the patterns that match them.
    type Lines = &'static [(u64, &'static [u32])];
    let cases: &[(&[&str], Case, &str, Lines)] = &[
        (
            &["foo", "ba."],
            Case::Sensitive,
            "foo bar\nno\nbaz\nfoo\n",
            &[(1, &[0, 1]), (3, &[1]), (4, &[0])],
        ),
        (&["Foo", "bar"], Case::Smart, "foo\nFoo\nBAR\n", &[(2, &[0]), (3, &[1])]),
        (&["a$", "^b", "c|d"], Case::Sensitive, "xa\r\nb\nd\n", &[(1, &[0]), (2, &[1]), (3, &[2])]),
        (&["É"], Case::Insensitive, "é\n", &[(1, &[0])]),
    ];
    for (patterns, case, text, expected) in cases {
        let query = Query::any_of(patterns, &QueryOptions { case: *case, ..options("") }).unwrap();
        let mut found = Vec::new();
        query.search(text.as_bytes(), &SearchLimits::default(), &|| false, &mut |hit| {
            found.push((hit.line, hit.patterns.to_vec()));
            ControlFlow::Continue(())
        });
        let found: Vec<_> = found.iter().map(|(line, places)| (*line, &places[..])).collect();
        assert_eq!(found, *expected, "{patterns:?}");
    }
    let literal = QueryOptions { regex: false, ..options("") };
    let query = Query::any_of(&["a.b", "(c"], &literal).unwrap();
    let count = |text: &str| {
        query
            .search(text.as_bytes(), &SearchLimits::default(), &|| false, &mut |_| {
                ControlFlow::Continue(())
            })
            .hits
    };
    assert_eq!((count("a.b\n(c\n"), count("axb\nc\n")), (2, 0));
    let refused = Query::any_of(&["ok", "("], &options("")).unwrap_err();
    assert_eq!(refused.code, Code::InvalidRegex);
}

/// Looks for a sign of a match in windows of `window` bytes, as a search of a file does. Returns
/// true if there is none.
fn has_no_sign(query: &Query, text: &[u8], window: usize) -> bool {
    let (mut begin, mut end) = (0, 0);
    loop {
        end = text.len().min(end.max(begin + window));
        let is_end = end == text.len();
        match query.length_without_match(&text[begin..end], is_end) {
            None => return false,
            Some(_) if is_end => return true,
            Some(length) => {
                assert!(length > 0 && begin + length <= end);
                begin += length;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// A text in which no window has a sign of a match has no hit, wherever its lines and its
    /// windows end.
    #[test]
    fn no_hit_is_passed_over_by_windows(
        pattern in prop::sample::select(vec![
            "needle", "^needle", "needle$", r"\bneedle\b", "(?i)NEEDLE", "n[a-f]+dle", "needle *x?",
            "e{2}d.e", "^$", "^needle$", r"needle\r", r"\Aneedle", r"needle\z", "needle\\s", "é+", ".",
            r"\Bee", "(needle|é)$", "x*",
            r"\w+dle$", r"\sneedle\s", r"^\w+dle\W", r"-+needle-{600}",
        ]),
        regex: bool,
        word: bool,
        multiline: bool,
        insensitive: bool,
        parts in prop::collection::vec((prop::sample::select(vec![
            "needle", "NEEDLE", "é", "\n", "\r\n", "\0", "nee", "dle", " ", "\u{feff}", "\n\n",
        ]), 0_usize..700), 0..8),
        window in 300_usize..900,
    ) {
        let case = if insensitive { Case::Insensitive } else { Case::Sensitive };
        let options = QueryOptions { pattern, regex, case, word, multiline };
        let Ok(query) = Query::new(&options) else { return Ok(()) };
        let text: String =
            parts.iter().map(|(part, length)| [*part, &"-".repeat(*length)].concat()).collect();
        let hits = query.search(text.as_bytes(), &SearchLimits::default(), &|| false, &mut |_| {
            ControlFlow::Continue(())
        }).hits;
        prop_assert!(hits == 0 || !has_no_sign(&query, text.as_bytes(), window));
    }
}

#[test]
fn windows_show_that_a_text_has_no_match() {
    // Lines, and a line that is longer than a window.
    for text in ["a b c d\n".repeat(500), "a b c d ".repeat(500)] {
        for pattern in ["needle", "(?i)needle", "n[a-f]{2,9}dle"] {
            let query = Query::new(&options(pattern)).unwrap();
            assert!(has_no_sign(&query, text.as_bytes(), 700), "{pattern}");
            for at in [0, 443, 444, 690, 697, 1300, text.len()] {
                let text = [&text[..at], "needle", &text[at..]].concat();
                assert!(!has_no_sign(&query, text.as_bytes(), 700), "{pattern} at {at}");
            }
        }
    }
}
