//! Limits the data of a refusal to 2,048 bytes, so that a model reads it to the end. The calls to
//! send instead (`retry`, `retries`) are added afterwards and have their own limits, because they
//! must be complete.
//!
//! The least helpful data is dropped first: further candidates, then their lines, and last the end
//! of the message.

use serde_json::Value;

use crate::error::Error;
use crate::text::{count_chars, prefix_of_chars};

/// The maximum length of a refusal as JSON, in bytes.
const MAX_REFUSAL_BYTES: usize = 2048;
/// The bytes of a refusal that are reserved for the caller's remark that the file has changed since
/// it was read, as text and as data.
const RESERVED_REMARK_BYTES: usize = 140;

/// Details that are never dropped, because they identify the edit or the file.
const NEVER_DROPPED_DETAILS: [&str; 5] = ["reason", "edit_index", "path", "file", "hunk"];

/// Shortens the refusal for a file to [`MAX_REFUSAL_BYTES`]. The layers above append the hint to
/// the message and add the path, so both are counted once more than they occur in `error`.
pub(crate) fn truncate_error(mut error: Error, path: &str) -> Error {
    let sheds: [fn(&mut Error); 8] = [
        |error| truncate_detail(error, "candidates", 1),
        |error| remove_from_each(error, "candidates", "differs"),
        |error| truncate_detail(error, "lines", 20),
        |error| remove_from_each(error, "candidates", "old_text"),
        |error| truncate_detail(error, "edits", 5),
        |error| remove_from_each(error, "hunks", "message"),
        |error| truncate_detail(error, "hunks", 5),
        |error| error.details.retain(|key, _| NEVER_DROPPED_DETAILS.contains(&key.as_str())),
    ];
    let hint = error.hint.as_deref().map_or(0, json_string_len);
    let room = MAX_REFUSAL_BYTES.saturating_sub(
        RESERVED_REMARK_BYTES + hint + json_string_len(path).min(MAX_REFUSAL_BYTES / 2),
    );
    for shed in sheds {
        if error.to_json().len() <= room {
            return error;
        }
        shed(&mut error);
    }
    while error.to_json().len() > room && error.message.len() > 40 {
        let keep = count_chars(&error.message) * 9 / 10;
        error.message =
            format!("{}\u{2026}", prefix_of_chars(&error.message, keep.saturating_sub(1)));
    }
    error
}

fn json_string_len(text: &str) -> usize {
    Value::from(text).to_string().len()
}

/// Cuts the list of a detail to `keep` items.
fn truncate_detail(error: &mut Error, key: &str, keep: usize) {
    if let Some(Value::Array(list)) = error.details.get_mut(key) {
        list.truncate(keep);
    }
}

/// Removes a key from each object in the list of a detail.
fn remove_from_each(error: &mut Error, list: &str, key: &str) {
    if let Some(Value::Array(items)) = error.details.get_mut(list) {
        for item in items.iter_mut().filter_map(Value::as_object_mut) {
            item.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::edit::{Anchor, AnchoredLines, Edit, EditOptions, OnMultiple, Strictness, plan};
    use crate::error::Error;
    use crate::patch::PatchRequest;
    use proptest::prelude::*;

    fn without_retries(mut error: Error) -> Error {
        error.details.retain(|key, _| key != "retry" && key != "retries");
        error
    }

    fn line() -> impl Strategy<Value = String> {
        prop_oneof!["[ab]{1,3}", "\\PC{0,200}", "[\u{1}-\u{1f}\"\\\\😀]{0,200}", "[a-f ]{0,3000}"]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_refusal_is_longer_than_2048_bytes(
            lines in proptest::collection::vec(line(), 0..30),
            old in proptest::collection::vec((any::<prop::sample::Index>(), line(), 0..4u8), 1..6),
            label in "[a-z/é]{1,150}",
            anchors: bool,
            many in 1..4usize,
            strictness in 0..3usize,
        ) {
            let text = lines.join("\n");
            let lines: Vec<&str> = text.split('\n').collect();
            let old: Vec<String> = old
                .iter()
                .map(|(at, other, kind)| {
                    let there = lines[at.index(lines.len())];
                    match kind {
                        0 => other.clone(),
                        1 => format!("  {there}"),
                        2 => there.replacen('a', "b", 1),
                        _ => there.to_owned(),
                    }
                })
                .collect();
            let strictness = [Strictness::Exact, Strictness::Whitespace, Strictness::Fuzzy][strictness];
            let options = EditOptions {
                strictness, on_multiple: OnMultiple::Error, label: label.clone(), ..EditOptions::default()
            };
            let at = Anchor { line: 3, hash: ['a'; 6] };
            let named = anchors.then_some(AnchoredLines { from: at, to: at, insert: None, unchanged: false });
            let edit = Edit { old: old.join("\n"), new: "q".into(), anchors: named, ..Edit::default() };
            if let Err(error) = plan(text.as_bytes(), &vec![edit; many], &options) {
                let error = without_retries(error);
                let json = error.to_json();
                prop_assert!(json.len() + error.hint.iter().map(String::len).sum::<usize>() <= 2048, "{json}");
                prop_assert!(error.hint.is_some(), "{json}");
            }
            let hunk = |line: &String| format!("@@ -1 +1 @@\n-{line}\n+x\n");
            let diff = format!("--- a/{label}\n+++ b/{label}\n{}", old.iter().map(hunk).collect::<String>());
            let contents = vec![Some(text.into_bytes().into())];
            let request = PatchRequest::parse(&diff, "{}");
            if let Err(error) = request.and_then(|request| request.apply(&[label], contents)) {
                let error = without_retries(error);
                prop_assert!(error.to_json().len() <= 2048, "{}", error.to_json());
            }
        }
    }
}
