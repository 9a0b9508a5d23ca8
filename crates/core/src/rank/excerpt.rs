//! The lines of a block that are shown.

use super::found::{CodeBlock, CodeLine};
use super::order::RankedBlock;
use super::query::RankQuery;
use super::tokens::{Term, Tokenizer, hash64};
use crate::text::prefix_of_chars;

/// The maximum number of lines shown of a block, besides that of its definition.
const MAX_LINES: usize = 8;
/// The maximum length of a shown line in characters.
const MAX_LINE_CHARS: usize = 200;

/// Returns a block with the lines of a text to show: the line of the definition, and those with the
/// rarest terms of the query, in the order of the text; the first line with text where there are
/// none. `rarity` is [`RankStats::rarity`](super::RankStats::rarity).
pub fn shown_block(
    (query, rarity): (&RankQuery, &[f64]),
    (root, path, text): (u32, &str, &[u8]),
    block: &RankedBlock,
) -> CodeBlock {
    let lines = text.split(|&byte| byte == b'\n').zip(1_u32..);
    let lines = lines.skip(block.first as usize - 1).take((block.last - block.first + 1) as usize);
    let mut tokenizer = Tokenizer::default();
    let mut sum = 0;
    let mut first = None;
    let mut shown: Vec<(f64, u32, &[u8])> = Vec::new();
    for (line, number) in lines {
        sum = hash64(sum, line);
        if first.is_none() && !line.trim_ascii().is_empty() {
            first = Some((0.0, number, line));
        }
        let mut found: Vec<Term> = Vec::new();
        tokenizer.terms(line, |term, _| found.push(term));
        let terms = query.terms.iter().zip(rarity);
        let worth: f64 = terms
            .filter(|(term, _)| found.contains(&term.term))
            .map(|(term, rare)| term.weight * rare)
            .sum();
        if worth > 0.0 || number == block.heading {
            shown.push((worth, number, line));
        }
    }
    if shown.is_empty() {
        shown.extend(first);
    }
    let heading = |number: u32| number != block.heading;
    let worth = |a: &f64, b: &f64| b.total_cmp(a);
    shown.sort_by(|a, b| {
        heading(a.1).cmp(&heading(b.1)).then(worth(&a.0, &b.0)).then(a.1.cmp(&b.1))
    });
    shown.truncate(MAX_LINES + usize::from(block.heading > 0));
    shown.sort_by_key(|(_, number, _)| *number);
    let as_line = |(_, number, line): (f64, u32, &[u8])| {
        let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
        let text = prefix_of_chars(&line, MAX_LINE_CHARS).to_owned();
        CodeLine { line: number.into(), text }
    };
    CodeBlock {
        root: root.into(),
        path: path.to_owned(),
        first: block.first.into(),
        last: block.last.into(),
        hash: format!("{:06x}", (sum ^ sum >> 32) & 0xff_ffff),
        lines: shown.into_iter().map(as_line).collect(),
    }
}
