//! Deny globs use the syntax of searches. The record has results for 20,000 generated patterns
//! (seed 20261124) with twelve paths each: 495 rows on which this syntax and the crate globset
//! agree, and all 204 on which they differ (`globset` holds its results). Where they differ, this
//! implementation denies more: `?` and a class match a whole multi-byte character, `[id]` also
//! matches the entry `[id]`, and `{ab}` the entry `{ab}`.

use filewright_core::pattern::policy::{PathRules, RulesConfig};
use serde_json::Value;

#[test]
fn deny_globs_answer_as_recorded_and_never_deny_less_than_globset() {
    let (mut rows, mut different) = (0, 0);
    for line in include_str!("deny_globs.jsonl").lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let deny = [row["pattern"].as_str().unwrap().to_owned()];
        let config = RulesConfig {
            cwd: b"/w",
            roots: &[b"/w", b"/w/sub"],
            deny: &deny,
            fold_case: row["fold"].as_bool().unwrap(),
            ..RulesConfig::default()
        };
        rows += 1;
        let rules = match PathRules::new(&config) {
            Ok(rules) => rules,
            Err(error) => {
                assert_eq!(row["error"], error.code.as_str(), "{line}");
                continue;
            }
        };
        for (place, path) in row["paths"].as_array().unwrap().iter().enumerate() {
            let denied = rules.denied(path.as_str().unwrap().as_bytes());
            assert_eq!(row["denied"][place], denied, "{line}");
            if let Some(before) = row["globset"].get(place) {
                different += u32::from(before != denied);
                assert!(denied || before == false, "{line}");
            }
        }
    }
    assert!(rows > 600 && different > 200, "{rows} rows, {different} differences");
}
