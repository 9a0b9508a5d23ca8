//! Derives from a search pattern a condition on the grams (short substrings) that every text with a
//! match has.
//!
//! A gram query is weaker than its expression: it accepts everything that can match, and some texts
//! that cannot. It is built by traversing the parsed expression in order with the set of strings
//! that can have matched so far. Their ends are kept, so that grams across the border of two parts
//! of the expression count too.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use super::blocks::CHUNK_OVERLAP_BYTES;
use super::grams::{
    ANY_DIGIT_BYTE, NON_ASCII_GRAM, NON_ASCII_NUMBER_GRAM, fold_gram_byte, grams_of,
};
use super::query_options::{Case, MAX_GROUP_NESTING, QueryOptions};

/// The maximum number of strings that are tracked at once; beyond it their grams are recorded and
/// only their ends are kept.
const MAX_TRACKED_STRINGS: usize = 64;
/// The maximum number of ASCII characters of a class that are enumerated; a larger class counts as
/// any text.
const MAX_ENUMERATED_ASCII_CHARS: usize = 16;
/// The maximum number of characters beyond ASCII of a class that are enumerated; of a larger class
/// only the mark for such characters counts.
const MAX_ENUMERATED_NON_ASCII_CHARS: usize = 32;
/// The maximum number of repetitions that are expanded; further ones count as any text.
const MAX_EXPANDED_REPETITIONS: u32 = 8;
/// The maximum number of grams of a query; one with more costs more than it saves and becomes
/// [`GramQuery::Any`].
const MAX_QUERY_GRAMS: usize = 20_000;

/// A condition on the grams of a block which every block with a match satisfies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GramQuery {
    /// Every block satisfies the condition: nothing is known.
    Any,
    /// The block has all of these grams.
    Grams(Vec<u32>),
    /// The block satisfies all of these conditions.
    All(Vec<GramQuery>),
    /// The block satisfies one of these conditions.
    One(Vec<GramQuery>),
}

impl GramQuery {
    /// Returns the gram query of a valid search query.
    pub(super) fn of(options: &QueryOptions<'_>) -> Self {
        Self::with_max_match_len(options).0
    }

    /// Returns the gram query, and the maximum length of a match in bytes; `None` if it is
    /// unlimited.
    pub(super) fn with_max_match_len(options: &QueryOptions<'_>) -> (Self, Option<usize>) {
        let (plan, reach) = if options.is_text() {
            // A plain text is not parsed, because parsing takes longer than a whole query without
            // results.
            let folded: Vec<u8> = options.pattern.bytes().map(fold_gram_byte).collect();
            (grams_of_string(&folded), Some(options.pattern.len()))
        } else {
            Self::from_parsed(options)
        };
        (if plan.gram_count() > MAX_QUERY_GRAMS { GramQuery::Any } else { plan }, reach)
    }

    fn from_parsed(options: &QueryOptions<'_>) -> (Self, Option<usize>) {
        let escaped;
        let pattern = if options.regex {
            options.pattern
        } else {
            escaped = regex_syntax::escape(options.pattern);
            &escaped
        };
        let parsed = ParserBuilder::new()
            .nest_limit(MAX_GROUP_NESTING)
            .utf8(false)
            .multi_line(true)
            // Grams ignore the case of ASCII letters, so the condition stays the same.
            .case_insensitive(options.case != Case::Sensitive)
            .build()
            .parse(pattern);
        let Ok(hir) = parsed else { return (GramQuery::Any, None) };
        let mut builder = QueryBuilder { line_ends: options.multiline, left_out: Vec::new() };
        let plan = builder.required_grams(&hir);
        let left_out = builder.left_out.into_iter().map(|gram| GramQuery::Grams(vec![gram]));
        (
            one_of_queries(std::iter::once(plan).chain(left_out).collect()),
            hir.properties().maximum_len(),
        )
    }

    fn gram_count(&self) -> usize {
        match self {
            GramQuery::Any => 0,
            GramQuery::Grams(grams) => grams.len(),
            GramQuery::All(plans) | GramQuery::One(plans) => {
                plans.iter().map(GramQuery::gram_count).sum()
            }
        }
    }
}

/// Returns the condition that one of the queries holds.
fn one_of_queries(mut plans: Vec<GramQuery>) -> GramQuery {
    if plans.is_empty() || plans.contains(&GramQuery::Any) {
        return GramQuery::Any;
    }
    if plans.len() == 1 {
        return plans.remove(0);
    }
    GramQuery::One(plans)
}

/// Returns the condition that all queries hold.
fn all_of_queries(mut plans: Vec<GramQuery>) -> GramQuery {
    plans.retain(|plan| *plan != GramQuery::Any);
    match plans.len() {
        0 => GramQuery::Any,
        1 => plans.remove(0),
        _ => GramQuery::All(plans),
    }
}

/// Alternative strings, with ASCII letters in lower case, of which one is matched.
type AlternativeStrings = Vec<Vec<u8>>;

/// Builds the gram query of one expression.
struct QueryBuilder {
    /// True if a match may contain a line feed.
    line_ends: bool,
    /// The marks of blocks with characters that the strings leave out: a match with such a
    /// character need not contain the strings.
    left_out: Vec<u32>,
}

impl QueryBuilder {
    /// Returns the condition that a match of an expression on its own satisfies.
    fn required_grams(&mut self, hir: &Hir) -> GramQuery {
        let mut run = StringRun::default();
        self.extend_run(hir, &mut run);
        run.record_grams();
        all_of_queries(run.plans)
    }

    /// Continues a run of strings with the expression that follows it.
    fn extend_run(&mut self, hir: &Hir, run: &mut StringRun) {
        if let Some(strings) = self.all_strings(hir) {
            run.append(&strings);
            return;
        }
        match hir.kind() {
            HirKind::Capture(capture) => self.extend_run(&capture.sub, run),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.extend_run(part, run)),
            HirKind::Alternation(parts) => {
                let plans = parts.iter().map(|part| self.required_grams(part)).collect();
                run.interrupt(one_of_queries(plans));
            }
            HirKind::Repetition(repetition) => self.extend_by_repetition(repetition, run),
            _ => run.interrupt(GramQuery::Any),
        }
    }

    /// Continues a run of strings with the repeated expression that follows it.
    fn extend_by_repetition(&mut self, repetition: &Repetition, run: &mut StringRun) {
        if repetition.min == 0 {
            return run.interrupt(GramQuery::Any);
        }
        let Some(strings) = self.all_strings(&repetition.sub) else {
            let plan = self.required_grams(&repetition.sub);
            return run.interrupt(plan);
        };
        let spelt_out = repetition.min.min(MAX_EXPANDED_REPETITIONS);
        for _ in 0..spelt_out {
            run.append(&strings);
        }
        if repetition.max == Some(spelt_out) {
            return;
        }
        // The further repetitions lie between the first and the last ones.
        run.interrupt(GramQuery::Any);
        for _ in 0..spelt_out {
            run.append(&strings);
        }
    }

    /// Returns all strings that an expression can match, if they are at most
    /// [`MAX_TRACKED_STRINGS`].
    fn all_strings(&mut self, hir: &Hir) -> Option<AlternativeStrings> {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Some(vec![Vec::new()]),
            HirKind::Literal(literal) => {
                Some(vec![literal.0.iter().map(|&byte| fold_gram_byte(byte)).collect()])
            }
            HirKind::Class(class) => self.class_strings(class),
            HirKind::Capture(capture) => self.all_strings(&capture.sub),
            HirKind::Concat(parts) => {
                let mut strings = vec![Vec::new()];
                for part in parts {
                    strings = concatenate_all_pairs(&strings, &self.all_strings(part)?)?;
                }
                Some(strings)
            }
            HirKind::Alternation(parts) => {
                let mut strings = Vec::new();
                for part in parts {
                    strings.extend(self.all_strings(part)?);
                    if strings.len() > MAX_TRACKED_STRINGS {
                        return None;
                    }
                }
                Some(sort_and_dedup(strings))
            }
            HirKind::Repetition(Repetition { min: 0, max: Some(1), sub, .. }) => {
                let mut strings = self.all_strings(sub)?;
                strings.push(Vec::new());
                Some(sort_and_dedup(strings))
            }
            HirKind::Repetition(repetition) => {
                if repetition.max != Some(repetition.min)
                    || repetition.min > MAX_EXPANDED_REPETITIONS
                {
                    return None;
                }
                let sub = self.all_strings(&repetition.sub)?;
                let mut strings = vec![Vec::new()];
                for _ in 0..repetition.min {
                    strings = concatenate_all_pairs(&strings, &sub)?;
                }
                Some(strings)
            }
        }
    }

    /// Returns the strings of one character that a class can match, except characters for which the
    /// gram of all non-ASCII characters stands.
    fn class_strings(&mut self, class: &Class) -> Option<AlternativeStrings> {
        let mut ascii = Vec::new();
        let mut others = Vec::new();
        let (mut many_others, mut numbers) = (false, true);
        match class {
            Class::Unicode(class) => {
                for range in class.ranges() {
                    let (start, end) = (range.start() as u32, range.end() as u32);
                    ascii.extend((start..=end.min(0x7f)).map(|code| code as u8));
                    let beyond = start.max(0x80);
                    many_others |=
                        end >= beyond && (end - beyond) as usize >= MAX_ENUMERATED_NON_ASCII_CHARS;
                    if end >= beyond {
                        let letters = (beyond..=end).filter_map(char::from_u32);
                        others.extend(letters.clone().take(MAX_ENUMERATED_NON_ASCII_CHARS + 1));
                        numbers &= letters.clone().all(char::is_numeric);
                    }
                }
            }
            Class::Bytes(class) => {
                for range in class.ranges() {
                    if range.end() > 0x7f {
                        return None;
                    }
                    ascii.extend(range.start()..=range.end());
                }
            }
        }
        if !self.line_ends {
            // A match within a line contains no line feed.
            ascii.retain(|&byte| byte != b'\n');
        }
        let digits = ascii.iter().filter(|byte| byte.is_ascii_digit()).count();
        if digits > 3 {
            ascii.retain(|byte| !byte.is_ascii_digit());
            if digits > 0 {
                ascii.push(ANY_DIGIT_BYTE);
            }
        }
        let mut strings: AlternativeStrings =
            ascii.iter().map(|&byte| vec![fold_gram_byte(byte)]).collect();
        strings = sort_and_dedup(strings);
        let many_others = many_others || others.len() > MAX_ENUMERATED_NON_ASCII_CHARS;
        if strings.len() > MAX_ENUMERATED_ASCII_CHARS || many_others && strings.is_empty() {
            return None;
        }
        if many_others {
            // A match with one of the characters left out is in a block that has the gram for such
            // characters.
            let gram = if numbers { NON_ASCII_NUMBER_GRAM } else { NON_ASCII_GRAM };
            if !self.left_out.contains(&gram) {
                self.left_out.push(gram);
            }
        } else {
            strings.extend(others.iter().map(|letter| letter.to_string().into_bytes()));
        }
        Some(strings)
    }
}

/// The strings that can have matched since the last part of unknown text, and the conditions so
/// far.
struct StringRun {
    strings: AlternativeStrings,
    plans: Vec<GramQuery>,
}

impl Default for StringRun {
    fn default() -> Self {
        Self { strings: vec![Vec::new()], plans: Vec::new() }
    }
}

impl StringRun {
    /// Continues the strings with one of `next`.
    fn append(&mut self, next: &AlternativeStrings) {
        if let Some(strings) = concatenate_all_pairs(&self.strings, next) {
            self.strings = strings;
            return;
        }
        self.record_grams();
        // Only the last two bytes form grams with the following text.
        let ends =
            self.strings.iter().map(|string| string[string.len().saturating_sub(2)..].into());
        self.strings = concatenate_all_pairs(&sort_and_dedup(ends.collect()), next)
            .unwrap_or_else(|| next.clone());
    }

    /// Continues with unknown text that satisfies `plan`.
    fn interrupt(&mut self, plan: GramQuery) {
        self.record_grams();
        self.plans.push(plan);
        self.strings = vec![Vec::new()];
    }

    /// Records the grams of the strings as a condition.
    fn record_grams(&mut self) {
        let plans = self.strings.iter().map(|string| grams_of_string(string));
        self.plans.push(one_of_queries(plans.collect()));
    }
}

/// Returns the grams of a string, each line separately, because lines are in different blocks. The
/// parts of a long line may be in different chunks.
fn grams_of_string(string: &[u8]) -> GramQuery {
    all_of_queries(
        string
            .split(|&byte| byte == b'\n')
            .flat_map(overlapping_parts)
            .map(|piece| match grams_of(piece) {
                grams if grams.is_empty() => GramQuery::Any,
                grams => GramQuery::Grams(grams),
            })
            .collect(),
    )
}

/// Splits a line into overlapping parts that together contain all its grams.
fn overlapping_parts(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let begins = (0..line.len().max(1)).step_by(CHUNK_OVERLAP_BYTES - 2);
    begins.map(|begin| &line[begin..line.len().min(begin + CHUNK_OVERLAP_BYTES)])
}

/// Returns each string of the first list followed by each of the second; `None` for more than
/// [`MAX_TRACKED_STRINGS`].
fn concatenate_all_pairs(
    first: &AlternativeStrings,
    second: &AlternativeStrings,
) -> Option<AlternativeStrings> {
    if first.len() * second.len() > MAX_TRACKED_STRINGS {
        return None;
    }
    let pairs = first.iter().flat_map(|a| second.iter().map(|b| [&a[..], &b[..]].concat()));
    Some(sort_and_dedup(pairs.collect()))
}

fn sort_and_dedup(mut strings: AlternativeStrings) -> AlternativeStrings {
    strings.sort_unstable();
    strings.dedup();
    strings
}

#[cfg(test)]
mod tests;
