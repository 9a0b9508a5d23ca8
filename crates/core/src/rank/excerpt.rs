//! The lines of a block that are shown.

use super::query::RankQuery;
use super::tokens::Tokenizer;
use super::{order::RankedBlock, tokens::Term};
use crate::pack::Packed;
use crate::text::prefix_of_chars;

/// The maximum number of lines shown of a block, besides that of its definition.
const MAX_LINES: usize = 8;
/// The maximum length of a shown line in characters.
const MAX_LINE_CHARS: usize = 200;

/// Packs a block with the lines of a text to show: the path, the first and last line, the number of
/// lines, and each with its number. Shown are the line of the definition, and those with the rarest
/// terms of the query, in the order of the text. Returns false if no line has a term.
pub fn pack_block(
    packed: &mut Packed,
    query: &RankQuery,
    rarity: &[f64],
    (path, text): (&str, &[u8]),
    block: &RankedBlock,
) -> bool {
    let lines = text.split(|&byte| byte == b'\n').zip(1_u32..);
    let lines = lines.skip(block.first as usize - 1).take((block.last - block.first + 1) as usize);
    let mut tokenizer = Tokenizer::default();
    let mut shown: Vec<(f64, u32, &[u8])> = Vec::new();
    for (line, number) in lines {
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
    let has_match = shown.iter().any(|(worth, ..)| *worth > 0.0);
    let first = |number: u32| number != block.heading;
    shown.sort_by(|a, b| first(a.1).cmp(&first(b.1)).then(b.0.total_cmp(&a.0)).then(a.1.cmp(&b.1)));
    shown.truncate(MAX_LINES + usize::from(block.heading > 0));
    shown.sort_by_key(|(_, number, _)| *number);
    packed.str(path);
    packed.num(block.first.into());
    packed.num(block.last.into());
    packed.num(shown.len() as u64);
    for (_, number, line) in shown {
        let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
        packed.num(number.into());
        packed.str(prefix_of_chars(&line, MAX_LINE_CHARS));
    }
    has_match
}
