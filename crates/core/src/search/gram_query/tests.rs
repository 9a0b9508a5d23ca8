use proptest::prelude::*;

use super::super::block::Block;
use super::super::block_index::BlockIndex;
use super::super::{GramExtractor, Query, SearchLimits};
use super::*;

fn options(pattern: &str) -> QueryOptions<'_> {
    QueryOptions { pattern, regex: true, case: Case::Sensitive, word: false, multiline: false }
}

/// Reports whether an index of one block selects it as a candidate.
fn candidate(options: &QueryOptions<'_>, block: &str) -> bool {
    let mut block_index = BlockIndex::default();
    let mut extractor = GramExtractor::default();
    let grams = extractor.grams(block.as_bytes());
    // Uses the lowest density, so that false candidates are very rare.
    block_index.push(grams, Block { owner: 7, offset: 0, len: 1, line: 1 }, None);
    let mut found = false;
    block_index.blocks(&GramQuery::of(options), &mut |block| found |= block.owner == 7);
    found
}

#[test]
fn blocks_without_a_match_are_excluded() {
    // Pattern, block, whether it is a candidate.
    let cases = [
        ("needle", "a needle in", true),
        ("needle", "a haystack", false),
        ("needle|haystack", "a haystack", true),
        ("needle|haystack", "a pin and thread", false),
        ("(?i)NEEDLE", "a needle", true),
        ("(?i)kelvin", "\u{212a}elvin", true),
        ("static\\s+int\\s+\\w+_probe", "static void foo_remove", false),
        ("static\\s+int\\s+\\w+_probe", "static  int a_probe", true),
        ("[0-9]{4}-[0-9]{2}-[0-9]{2}", "on 2024-05-06", true),
        ("[0-9]{4}-[0-9]{2}-[0-9]{2}", "on 2024/05/06", false),
        (r"\d{4}-\d{2}", "no date", false),
        (r"\d{4}-\d{2}", "٢٠٢٤-٠٥", true),
        ("a.c", "zzzz", true),
        ("colou?r", "the colr", false),
        ("colou?r", "the color", true),
        ("(foo){2,}bar", "foobar", false),
        ("(foo){2,}bar", "foofoofoobar", true),
        ("x(abc|def)*y", "xy", true),
        ("x(abc|def)+y", "xy", false),
        ("^needle$", "needle", true),
    ];
    for (pattern, block, expected) in cases {
        assert_eq!(candidate(&options(pattern), block), expected, "{pattern} in {block}");
    }
}

fn pattern() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        "[abcK1-3é]{1,4}",
        Just("[ab]".to_owned()),
        Just("[0-9]".to_owned()),
        Just(r"\d".to_owned()),
        Just(r"\w".to_owned()),
        Just(".".to_owned()),
        Just(r"\b".to_owned()),
        Just("[^a]".to_owned()),
        Just(r"\s".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..5).prop_map(|parts| parts.concat()),
            proptest::collection::vec(inner.clone(), 1..4)
                .prop_map(|parts| format!("(?:{})", parts.join("|"))),
            (inner, prop::sample::select(vec!["*", "+", "?", "{2}", "{2,3}", "{3,}"]))
                .prop_map(|(part, times)| format!("(?:{part}){times}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The direct derivation for plain text gives the same result as parsing.
    #[test]
    fn plain_text_gives_the_same_query_as_parsing(text in "[a-zA-Z0-9 _.*(\\n\u{e9}\u{212a}]{1,40}", multiline: bool) {
        let options = QueryOptions { regex: false, multiline, ..options(&text) };
        prop_assert_eq!(GramQuery::with_max_match_len(&options), GramQuery::from_parsed(&options));
    }

    /// The essential property: a block with a match is always a candidate.
    #[test]
    fn nothing_that_matches_is_left_out(
        pattern in pattern(),
        line in "[abckK1-5 éſ٣\u{212a}]{0,24}",
        insensitive: bool,
        word: bool,
        multiline: bool,
    ) {
        let case = if insensitive { Case::Insensitive } else { Case::Sensitive };
        let options = QueryOptions { case, word, multiline, ..options(&pattern) };
        if let Ok(query) = Query::new(&options)
            && query.search(line.as_bytes(), &SearchLimits::default(), &|| false,
                &mut |_| std::ops::ControlFlow::Continue(())).hits > 0
        {
            prop_assert!(candidate(&options, &line), "{} in {:?}", pattern, line);
        }
    }
}
