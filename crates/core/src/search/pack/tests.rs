//! Tests the encoding of searches: option names, and the order of hit fields.

use serde_json::{Value, json};

use super::search_packed;
use crate::error::Code;
use crate::options::Options;
use crate::search::{Query, SearchLimits};

const TEXT: &[u8] = b"one\ntwo\nthree\nTwo\n";

fn query(options: &Value) -> crate::Result<Query> {
    Query::from_options(&Options::parse(&options.to_string())?)
}

fn found(options: &Value, limits: &Value) -> (Vec<f64>, String) {
    let packed =
        search_packed(&query(options).unwrap(), TEXT, &limits.to_string(), &|| false).unwrap();
    (packed.nums, packed.text)
}

#[test]
fn a_query_is_read_option_by_option() {
    for (name, options, hits) in [
        ("a regex, case and all", json!({"pattern": "tw."}), 1.0),
        ("no regex", json!({"pattern": "tw.", "regex": false}), 0.0),
        ("any case", json!({"pattern": "two", "case": "insensitive"}), 2.0),
        ("smart, small letters", json!({"pattern": "two", "case": "smart"}), 2.0),
        ("smart, a great letter", json!({"pattern": "Two", "case": "smart"}), 1.0),
        ("a word", json!({"pattern": "t.o?", "word": true}), 1.0),
        ("across lines", json!({"pattern": "one\ntwo", "multiline": true}), 1.0),
        ("any of several", json!({"patterns": ["one", "three"]}), 2.0),
    ] {
        assert_eq!(found(&options, &json!({})).0[2], hits, "{name}");
    }
    assert!(query(&json!({"pattern": "a\nb", "multiline": true})).unwrap().crosses_lines());
    assert!(!query(&json!({"pattern": "ab"})).unwrap().crosses_lines());
}

#[test]
fn hit_fields_are_in_the_documented_order() {
    // Binary, more, hits, context; line, end line, column, cut, length of the text.
    let (nums, text) = found(&json!({"pattern": "wo"}), &json!({}));
    assert_eq!(nums, [0., 0., 2., 0., 2., 2., 2., 0., 3., 4., 4., 2., 0., 3.]);
    assert_eq!(text, "twoTwo");

    let around = json!({"before": 1, "after": 1, "maxPerFile": 1});
    let (nums, text) = found(&json!({"pattern": "wo"}), &around);
    assert_eq!(nums, [0., 1., 1., 1., 2., 2., 2., 0., 3., 1., 3., 1., 5.]);
    assert_eq!(text, "twoonethree");

    // The indexes of the matching patterns.
    let (nums, _) = found(&json!({"patterns": ["x", "one", "on"]}), &json!({}));
    assert_eq!(nums[9..], [2., 1., 2.]);
}

#[test]
fn limits_are_applied() {
    let two = json!({"pattern": "(?i)two"});
    assert_eq!(found(&two, &json!({"skipLines": 2})).0[2..5], [1., 0., 4.]);
    assert_eq!(found(&two, &json!({"count": true})), (vec![0., 0., 2., 0.], String::new()));
    let (nums, text) = found(&json!({"pattern": "th"}), &json!({"maxLineChars": 2}));
    assert_eq!((nums[7], text.as_str()), (1.0, "th"));
    let both =
        SearchLimits::read(&Options::parse(r#"{"context": 3, "after": 1}"#).unwrap()).unwrap();
    assert_eq!((both.before, both.after, both.has_context()), (3, 1, true));
}

#[test]
fn errors_name_the_option() {
    for (options, argument) in [
        (json!({}), "pattern"),
        (json!({"pattern": 1}), "pattern"),
        (json!({"pattern": "a", "case": "upper"}), "case"),
        (json!({"pattern": "a", "word": "yes"}), "word"),
        (json!({"pattern": "a", "patterns": ["b"]}), "patterns"),
    ] {
        let error = query(&options).unwrap_err();
        assert_eq!(error.code, Code::InvalidArgument, "{options}");
        assert_eq!(error.details.get("argument").and_then(Value::as_str), Some(argument));
    }
    let any = query(&json!({"pattern": "a"})).unwrap();
    for (limits, argument) in [
        (json!({"before": 51}), "before"),
        (json!({"context": 99}), "before"),
        (json!({"after": -1}), "after"),
        (json!({"maxPerFile": 0}), "maxPerFile"),
        (json!({"skipLines": "1"}), "skipLines"),
        (json!({"count": 1}), "count"),
    ] {
        let error = search_packed(&any, TEXT, &limits.to_string(), &|| false).unwrap_err();
        assert_eq!(error.code, Code::InvalidArgument, "{limits}");
        assert_eq!(error.details.get("argument").and_then(Value::as_str), Some(argument));
    }
}

#[test]
fn some_lines_of_a_text_keep_their_numbers() {
    use std::ops::ControlFlow;
    let any = query(&json!({"pattern": "two|three"})).unwrap();
    let mut lines = Vec::new();
    any.search_lines(&TEXT[4..], 2, &SearchLimits::default(), &|| false, &mut |hit| {
        lines.push(hit.line);
        ControlFlow::Continue(())
    });
    assert_eq!(lines, [2, 3]);
}

#[test]
fn hits_beyond_the_text_that_is_wanted_are_only_counted() {
    let any = json!({"pattern": "o"});
    // A row has its path, its line and four bytes: "one" and "two" have 10 each.
    for (bytes, given, text) in
        [(1, 1, "one"), (10, 1, "one"), (11, 2, "onetwo"), (30, 3, "onetwoTwo")]
    {
        let (nums, packed) = found(&any, &json!({"maxTextBytes": bytes, "pathBytes": 3}));
        assert_eq!((nums[2], nums.len(), packed.as_str()), (3.0, 4 + 5 * given, text), "{bytes}");
    }
    // What is left out still counts for `maxPerFile`, and lines keep their numbers.
    let few = json!({"maxTextBytes": 1, "maxPerFile": 2, "skipLines": 1});
    assert_eq!(found(&any, &few), (vec![0., 0., 2., 0., 2., 2., 3., 0., 3.], "two".to_owned()));
    let across = json!({"pattern": "o\n[^x]", "multiline": true});
    assert_eq!(found(&across, &json!({"maxTextBytes": 1})).0[2], 1.0);
}

#[test]
fn an_interrupt_ends_a_search_as_cancelled() {
    let text = "x\n".repeat(1 << 20);
    let any = query(&json!({"pattern": "x"})).unwrap();
    let error = search_packed(&any, text.as_bytes(), "{}", &|| true).unwrap_err();
    assert_eq!(error.code, Code::Cancelled);
}
