use proptest::prelude::*;

use super::sums::FileSums;
use super::weights::Weights;
use super::*;
use crate::options::Options;

/// Returns `path:first-last` of the best blocks.
fn found(files: &[(&str, &str)], query: &str, kind: Kind) -> Vec<String> {
    let options = serde_json::json!({ "query": query, "kind": kind_word(kind), "limit": 10 });
    let options = Options::parse(&options.to_string()).unwrap();
    let mut search = CodeSearch::new(&options).unwrap();
    let mut added: Vec<&(&str, &str)> = Vec::new();
    for file in files {
        if search.add(0, file.0, file.1.as_bytes()) {
            added.push(file);
        }
    }
    let best = search.rank();
    let shown = best.iter().enumerate().map(|(at, &file)| {
        let (path, text) = added[file as usize];
        let packed = search.show(at, text.as_bytes());
        format!("{path}:{}-{}", packed.nums[2], packed.nums[3])
    });
    shown.collect()
}

fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Any => "any",
        Kind::Definition => "definition",
        Kind::Test => "test",
    }
}

const SESSION: &str = "import os\n\ndef open_session(token):\n    check(token)\n\ndef close_session(reason):\n    log(reason)\n";
const FILES: &[(&str, &str)] = &[
    ("auth/session.py", SESSION),
    ("auth/token.py", "def parse(text):\n    return text.split('.')\n"),
    ("test/test_session.py", "def test_close():\n    close_session('reason')\n"),
    ("readme.md", "# Sessions\nA session is closed with a reason.\n"),
];

#[test]
fn the_intended_block_is_first() {
    let cases = [
        ("why was the session closed", Kind::Any, "auth/session.py:6-7"),
        ("close_session", Kind::Any, "auth/session.py:6-7"),
        ("closeSession", Kind::Definition, "auth/session.py:6-7"),
        ("parse tokens", Kind::Any, "auth/token.py:1-2"),
        ("session reasons", Kind::Test, "test/test_session.py:1-2"),
    ];
    for (query, kind, expected) in cases {
        let files: Vec<_> =
            FILES.iter().copied().filter(|one| kind != Kind::Test || is_test(one.0)).collect();
        assert_eq!(found(&files, query, kind).first().map(|s| &s[..]), Some(expected), "{query}");
    }
    assert!(found(FILES, "kubernetes", Kind::Any).is_empty());
    assert!(found(FILES, "reason", Kind::Definition).is_empty());
}

#[test]
fn a_symbol_that_is_the_whole_query_is_found_where_it_is_defined_as_written() {
    let files = [
        ("all.py", "def serialize(a):\n    Serializer(a, Serializer, serializer)\n"),
        ("out.py", "class Serializer:\n    def run(self):\n        pass\n"),
    ];
    for (query, expected) in [("Serializer", "out.py:1-1"), ("serialize", "all.py:1-2")] {
        assert_eq!(found(&files, query, Kind::Any)[0], expected, "{query}");
    }
}

#[test]
fn a_symbol_within_a_sentence_is_a_word_like_others() {
    let files = [
        ("a.py", "def base64(n):\n    return n\n"),
        ("b.py", "def decode(text, padding):\n    return strip(text, padding, base64)\n"),
    ];
    assert_eq!(found(&files, "decode base64 text with padding", Kind::Any)[0], "b.py:1-2");
}

#[test]
fn a_file_whose_name_fits_is_first() {
    let body = "def run(panic):\n    middleware(panic)\n";
    let cases = [
        ["a/recoverer.py", "a/logger.py"],
        ["recovery/__init__.py", "a/logger.py"],
        ["panics.py", "panics_of_other_things.py"],
    ];
    for [expected, other] in cases {
        let best = found(&[(other, body), (expected, body)], "panic recovery", Kind::Any);
        assert!(best[0].starts_with(expected), "{best:?}");
    }
}

#[test]
fn tests_and_documents_are_last_unless_the_query_asks_for_them() {
    let body = "def close(session):\n    end(session)\n";
    let files = [
        ("CHANGES", body),
        ("docs/closing.rst", body),
        ("pnpm.lock", body),
        ("src/a.py", body),
        ("tests/closing.py", body),
    ];
    let cases = [
        ("end the session", "src/a.py"),
        ("test that a session ends", "tests/closing.py"),
        ("documentation of closing a session", "docs/closing.rst"),
    ];
    for (query, expected) in cases {
        let best = found(&files, query, Kind::Any);
        assert!(best[0].starts_with(expected), "{query}: {best:?}");
    }
    let last = &found(&files, "end the session", Kind::Any)[1..];
    assert!(last[0].starts_with("tests/"), "{last:?}");
}

#[test]
fn two_words_in_sequence_are_found_as_one_identifier() {
    let apart = "def run(state):\n    event(state, event, loop, loop)\n";
    for name in ["EventLoop", "event_loop"] {
        let joined = format!("def run(state):\n    {name}(state, event, loop)\n");
        let files = [("a.py", apart), ("b.py", &joined[..])];
        assert_eq!(found(&files, "the event loop", Kind::Any)[0], "b.py:1-2", "{name}");
        assert_eq!(found(&files, "the loop of an event", Kind::Any)[0], "a.py:1-2", "{name}");
    }
}

#[test]
fn the_folder_of_a_file_has_the_words_that_its_name_lacks() {
    let body = "def run(timer):\n    wheel(timer)\n";
    let files = [("socket/level.py", body), ("wheels/level.py", body)];
    let best = found(&files, "level of a timer wheel", Kind::Any);
    assert!(best[0].starts_with("wheels/"), "{best:?}");
}

#[test]
fn words_of_tasks_count_less_than_others() {
    let files = [
        ("a.py", "def fix(text):\n    fix(text)\n"),
        ("b.py", "def close(session):\n    end(session)\n"),
    ];
    assert_eq!(found(&files, "fix the session", Kind::Any), ["b.py:1-2", "a.py:1-2"]);
    assert_eq!(found(&files, "fix", Kind::Any), ["a.py:1-2"]);
    let files = [
        ("a.py", "def handle(text):\n    handle(text)\n"),
        ("b.py", "def close(session):\n    end(session)\n"),
    ];
    assert_eq!(found(&files, "how a session is handled", Kind::Any)[0], "b.py:1-2");
}

#[test]
fn identifiers_are_cut_where_case_and_digits_change() {
    let cases = [
        ("parseHTTPBody2", "parse http body 2"),
        ("MAX_FILE_SIZE", "max file size"),
        ("sha256Sum", "sha 256 sum"),
        ("$el__x", "el x"),
    ];
    for (identifier, expected) in cases {
        assert_eq!(tokens::parts_of(identifier).join(" "), expected);
    }
}

#[test]
fn the_shown_lines_are_those_with_rare_terms_and_the_definition() {
    let query = RankQuery::new("reason of closing", Kind::Any, Weights::TUNED);
    let block = RankedBlock { file: 0, first: 6, last: 8, heading: 6, score: 1.0 };
    let rarity = vec![1.0; 64];
    let shown = |query: &RankQuery, text: &str| {
        shown_block((query, &rarity), (0, "a", text.as_bytes()), &block)
    };
    let CodeBlock { lines, hash, .. } = shown(&query, SESSION);
    let texts: Vec<&str> = lines.iter().map(|line| &line.text[..]).collect();
    assert_eq!(texts, ["def close_session(reason):", "    log(reason)"]);
    // Without a term it is the line of the definition; the hash is that of all lines.
    let other = RankQuery::new("kubernetes", Kind::Any, Weights::TUNED);
    assert_eq!(shown(&other, SESSION).lines.len(), 1);
    assert_eq!(shown(&other, SESSION).hash, hash);
    assert_ne!(shown(&other, &SESSION.replace("log(", "lag(")).hash, hash);
}

#[test]
fn a_file_with_the_words_in_its_path_alone_is_found_after_those_with_them_in_the_text() {
    let files = [
        ("billing/refund.ts", "\nexport const rate = 1;\nexport const other = 2;\n"),
        ("a.ts", "export const x = billing;\n"),
    ];
    assert_eq!(found(&files, "refund", Kind::Any), ["billing/refund.ts:2-2"]);
    assert_eq!(found(&files, "billing", Kind::Any).len(), 2);
    assert!(found(&files, "refund", Kind::Definition).is_empty());
}

#[test]
fn an_index_of_many_parts_ranks_as_one_of_one_part() {
    let text = |n: usize| format!("def f{n}(w{}):\n    w{} w{}\n", n % 7, n % 5, n % 3);
    let (mut batch, mut one_by_one) = (RankBatch::default(), RankIndex::default());
    for n in 0..50 {
        let (path, text) = (format!("d{}/{n}.py", n % 4), text(n));
        let mut cut = Cut::of(&path, text.as_bytes());
        let mut alone = RankBatch::default();
        for batch in [&mut batch, &mut alone] {
            batch.push(&mut cut, &path, text.as_bytes()).unwrap();
        }
        one_by_one.append(alone.sorted()).unwrap();
    }
    let mut at_once = RankIndex::default();
    at_once.append(batch.sorted()).unwrap();
    let seen: Vec<bool> = (0..50).map(|n| n % 6 > 0).collect();
    let query = RankQuery::new("w1 d2 f9", Kind::Any, Weights::TUNED);
    let ranked = |index: &RankIndex| {
        let stats = index.stats(&query, &seen);
        let mut best = index.rank(&query, &stats, &seen);
        best.sort_by_key(|one| one.0);
        (best, stats.rarity(&query))
    };
    assert_eq!(ranked(&at_once), ranked(&one_by_one));
    assert!(ranked(&at_once).0.len() > 10);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The order in which files are added changes nothing.
    #[test]
    fn the_answer_depends_on_the_files_alone(
        texts in prop::collection::vec("(def [a-c]{1,2}\\(\\):\n|    [a-c]{1,3}_?[a-c] \n){0,9}", 1..8),
        query in "[a-c]{2,3} [a-c]{2}",
    ) {
        let paths: Vec<String> = (0..texts.len()).map(|at| format!("{at}.py")).collect();
        let mut files: Vec<(&str, &str)> =
            paths.iter().zip(&texts).map(|(path, text)| (&path[..], &text[..])).collect();
        let one = found(&files, &query, Kind::Any);
        files.reverse();
        // Files with equal scores are in the pool in another order, and then by their paths.
        prop_assert_eq!(one, found(&files, &query, Kind::Any));
    }

    /// A cut of another text is of no use, and does no harm.
    #[test]
    fn a_text_can_be_asked_with_the_cut_of_another(
        texts in prop::collection::vec("((class|def|  def) [a-c]{1,9}:\n|[a-c ]{0,9}\n){0,30}", 2),
    ) {
        let query = RankQuery::new("a ab abc", Kind::Any, Weights::TUNED);
        let cut = Cut::of("a.py", texts[0].as_bytes());
        let content = ("a.py", texts[1].as_bytes());
        let blocks = FileBlocks::asked(&cut, content, &mut Tokenizer::default(), &query);
        prop_assert_eq!(blocks.blocks.len(), cut.parts.len());
    }

    /// Counting the terms of a query alone, in a text that was cut before, is counting all of them.
    #[test]
    fn the_terms_of_a_query_are_counted_as_among_all(
        text in "((class|def|  def) [a-cA-C_0-9é]{1,9}\\(\\):\n|    [a-cA-C_0-9$]{1,50} [a-cs]{1,4}\n){0,9}",
        query in "[a-cA-C_é]{1,3} [a-c]{1,4}(ing|s|ed)? [a-c]{3,9}",
    ) {
        let query = RankQuery::new(&query, Kind::Any, Weights::TUNED);
        let (path, text) = ("a/b.py", text.as_bytes());
        let mut tokenizer = Tokenizer::default();
        let all = FileBlocks::of(path, text, &mut tokenizer);
        let mut cut = Cut::of(path, text);
        cut.count(text, &mut tokenizer);
        let cut = cut.packed().unpacked();
        let asked = FileBlocks::asked(&cut, (path, text), &mut tokenizer, &query);
        prop_assert_eq!(&asked.blocks, &all.blocks);
        prop_assert_eq!(&asked.path, &all.path);
        for term in &query.terms {
            let occurrences = |file: &FileBlocks| file.occurrences(term.term).collect::<Vec<_>>();
            prop_assert_eq!(occurrences(&asked), occurrences(&all));
        }
        let (mut sums, mut counted) = (FileSums::default(), Cut::of(path, text));
        sums.count(&mut counted, path, text);
        prop_assert_eq!(counted, cut);
        for sum in sums.all() {
            prop_assert_eq!((sum.body, sum.name), all.sum_of(sum.term));
        }
        prop_assert_eq!(sums.body, all.terms());
    }
}
