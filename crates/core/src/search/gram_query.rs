//! Derives from a regular expression the grams that every match must contain.
//!
//! A gram query is weaker than its expression: it accepts everything that can match, and some texts
//! that cannot. It is built by traversing the parsed expression in order with the set of strings
//! that can have matched so far. Their ends are kept, so that grams across the border of a literal
//! and a class count too.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use super::blocks::MAX_STRING_BYTES;
use super::grams::{BEYOND_ASCII, DIGIT, NUMBER_BEYOND_ASCII, fold, of_needle};
use super::query::{Case, MAX_NESTING, QueryOptions};

/// The maximum number of strings tracked at once.
const MAX_STRINGS: usize = 64;
/// The maximum number of characters of a class that are enumerated, in ASCII and beyond.
const MAX_ASCII_CHARS: usize = 16;
const MAX_NON_ASCII_CHARS: usize = 32;
/// The maximum number of repetitions that are expanded.
const MAX_REPETITIONS: u32 = 8;
/// A query with more grams costs more than it saves.
const MAX_GRAMS: usize = 20_000;

/// A condition on the grams of a block that every block with a match satisfies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GramQuery {
    /// Always true: nothing is known.
    Any,
    /// True if the block has all of these grams.
    Grams(Vec<u32>),
    /// True if all of these hold.
    All(Vec<GramQuery>),
    /// True if one of these holds.
    One(Vec<GramQuery>),
}

impl GramQuery {
    /// Returns the gram query of a valid search query.
    pub(super) fn of(options: &QueryOptions<'_>) -> Self {
        Self::and_reach(options).0
    }

    /// Returns the gram query and the maximum length of a match in bytes; `None` is unlimited.
    pub(super) fn and_reach(options: &QueryOptions<'_>) -> (Self, Option<usize>) {
        let (plan, reach) = if options.is_text() {
            // Derived without parsing, which takes longer than a query without results.
            let folded: Vec<u8> = options.pattern.bytes().map(fold).collect();
            (needle(&folded), Some(options.pattern.len()))
        } else {
            Self::of_parsed(options)
        };
        (if plan.grams() > MAX_GRAMS { GramQuery::Any } else { plan }, reach)
    }

    fn of_parsed(options: &QueryOptions<'_>) -> (Self, Option<usize>) {
        let escaped;
        let pattern = if options.regex {
            options.pattern
        } else {
            escaped = regex_syntax::escape(options.pattern);
            &escaped
        };
        let parsed = ParserBuilder::new()
            .nest_limit(MAX_NESTING)
            .utf8(false)
            .multi_line(true)
            // Grams are folded, so accepting both cases costs nothing.
            .case_insensitive(options.case != Case::Sensitive)
            .build()
            .parse(pattern);
        let Ok(hir) = parsed else { return (GramQuery::Any, None) };
        let mut planner = Planner { line_ends: options.multiline, left_out: Vec::new() };
        let plan = planner.required(&hir);
        let left_out = planner.left_out.into_iter().map(|gram| GramQuery::Grams(vec![gram]));
        (one(std::iter::once(plan).chain(left_out).collect()), hir.properties().maximum_len())
    }

    /// Returns the condition for matching one of several queries.
    pub fn one_of(plans: impl IntoIterator<Item = GramQuery>) -> Self {
        one(plans.into_iter().collect())
    }

    fn grams(&self) -> usize {
        match self {
            GramQuery::Any => 0,
            GramQuery::Grams(grams) => grams.len(),
            GramQuery::All(plans) | GramQuery::One(plans) => {
                plans.iter().map(GramQuery::grams).sum()
            }
        }
    }
}

fn one(mut plans: Vec<GramQuery>) -> GramQuery {
    if plans.is_empty() || plans.contains(&GramQuery::Any) {
        return GramQuery::Any;
    }
    if plans.len() == 1 {
        return plans.remove(0);
    }
    GramQuery::One(plans)
}

fn all(mut plans: Vec<GramQuery>) -> GramQuery {
    plans.retain(|plan| *plan != GramQuery::Any);
    match plans.len() {
        0 => GramQuery::Any,
        1 => plans.remove(0),
        _ => GramQuery::All(plans),
    }
}

/// Alternative strings, folded like grams, of which one is matched.
type Strings = Vec<Vec<u8>>;

struct Planner {
    /// True if a match may span lines.
    line_ends: bool,
    /// The grams that mark blocks with characters that the query leaves out.
    left_out: Vec<u32>,
}

impl Planner {
    fn required(&mut self, hir: &Hir) -> GramQuery {
        let mut run = StringRun::default();
        self.follow(hir, &mut run);
        run.end();
        all(run.plans)
    }

    /// Continues the traversal with an expression that follows the previous one.
    fn follow(&mut self, hir: &Hir, run: &mut StringRun) {
        if let Some(strings) = self.exact(hir) {
            run.then(&strings);
            return;
        }
        match hir.kind() {
            HirKind::Capture(capture) => self.follow(&capture.sub, run),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.follow(part, run)),
            HirKind::Alternation(parts) => {
                let plans = parts.iter().map(|part| self.required(part)).collect();
                run.gap(one(plans));
            }
            HirKind::Repetition(repetition) => self.repeat(repetition, run),
            _ => run.gap(GramQuery::Any),
        }
    }

    fn repeat(&mut self, repetition: &Repetition, run: &mut StringRun) {
        if repetition.min == 0 {
            return run.gap(GramQuery::Any);
        }
        let Some(strings) = self.exact(&repetition.sub) else {
            let plan = self.required(&repetition.sub);
            return run.gap(plan);
        };
        let spelt_out = repetition.min.min(MAX_REPETITIONS);
        for _ in 0..spelt_out {
            run.then(&strings);
        }
        if repetition.max == Some(spelt_out) {
            return;
        }
        // Other text may be between the previous strings and these, but these come last.
        run.gap(GramQuery::Any);
        for _ in 0..spelt_out {
            run.then(&strings);
        }
    }

    /// Returns all strings that an expression can match, if they are few.
    fn exact(&mut self, hir: &Hir) -> Option<Strings> {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Some(vec![Vec::new()]),
            HirKind::Literal(literal) => {
                Some(vec![literal.0.iter().map(|&byte| fold(byte)).collect()])
            }
            HirKind::Class(class) => self.class(class),
            HirKind::Capture(capture) => self.exact(&capture.sub),
            HirKind::Concat(parts) => {
                let mut strings = vec![Vec::new()];
                for part in parts {
                    strings = cross(&strings, &self.exact(part)?)?;
                }
                Some(strings)
            }
            HirKind::Alternation(parts) => {
                let mut strings = Vec::new();
                for part in parts {
                    strings.extend(self.exact(part)?);
                    if strings.len() > MAX_STRINGS {
                        return None;
                    }
                }
                Some(distinct(strings))
            }
            HirKind::Repetition(Repetition { min: 0, max: Some(1), sub, .. }) => {
                let mut strings = self.exact(sub)?;
                strings.push(Vec::new());
                Some(distinct(strings))
            }
            HirKind::Repetition(repetition) => {
                if repetition.max != Some(repetition.min) || repetition.min > MAX_REPETITIONS {
                    return None;
                }
                let sub = self.exact(&repetition.sub)?;
                let mut strings = vec![Vec::new()];
                for _ in 0..repetition.min {
                    strings = cross(&strings, &sub)?;
                }
                Some(strings)
            }
        }
    }

    fn class(&mut self, class: &Class) -> Option<Strings> {
        let mut ascii = Vec::new();
        let mut others = Vec::new();
        let (mut many_others, mut numbers) = (false, true);
        match class {
            Class::Unicode(class) => {
                for range in class.ranges() {
                    let (start, end) = (range.start() as u32, range.end() as u32);
                    ascii.extend((start..=end.min(0x7f)).map(|code| code as u8));
                    let beyond = start.max(0x80);
                    many_others |= end >= beyond && (end - beyond) as usize >= MAX_NON_ASCII_CHARS;
                    if end >= beyond {
                        let letters = (beyond..=end).filter_map(char::from_u32);
                        others.extend(letters.clone().take(MAX_NON_ASCII_CHARS + 1));
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
            // No line contains a line feed.
            ascii.retain(|&byte| byte != b'\n');
        }
        let digits = ascii.iter().filter(|byte| byte.is_ascii_digit()).count();
        if digits > 3 {
            ascii.retain(|byte| !byte.is_ascii_digit());
            if digits > 0 {
                ascii.push(DIGIT);
            }
        }
        let mut strings: Strings = ascii.iter().map(|&byte| vec![fold(byte)]).collect();
        strings = distinct(strings);
        let many_others = many_others || others.len() > MAX_NON_ASCII_CHARS;
        if strings.len() > MAX_ASCII_CHARS || many_others && strings.is_empty() {
            return None;
        }
        if many_others {
            // A match that contains one of them is in a block with the mark for such characters.
            let gram = if numbers { NUMBER_BEYOND_ASCII } else { BEYOND_ASCII };
            if !self.left_out.contains(&gram) {
                self.left_out.push(gram);
            }
        } else {
            strings.extend(others.iter().map(|letter| letter.to_string().into_bytes()));
        }
        Some(strings)
    }
}

/// The strings that can have matched since the last gap, and the conditions so far.
struct StringRun {
    strings: Strings,
    plans: Vec<GramQuery>,
}

impl Default for StringRun {
    fn default() -> Self {
        Self { strings: vec![Vec::new()], plans: Vec::new() }
    }
}

impl StringRun {
    /// One of these strings follows.
    fn then(&mut self, next: &Strings) {
        if let Some(strings) = cross(&self.strings, next) {
            self.strings = strings;
            return;
        }
        self.note();
        // Only the ends form grams with the following text.
        let ends =
            self.strings.iter().map(|string| string[string.len().saturating_sub(2)..].into());
        self.strings = cross(&distinct(ends.collect()), next).unwrap_or_else(|| next.clone());
    }

    /// Unknown text follows that satisfies `plan`.
    fn gap(&mut self, plan: GramQuery) {
        self.end();
        self.plans.push(plan);
        self.strings = vec![Vec::new()];
    }

    fn end(&mut self) {
        self.note();
    }

    fn note(&mut self) {
        let plans = self.strings.iter().map(|string| needle(string));
        self.plans.push(one(plans.collect()));
    }
}

/// Returns the grams of a string, each line separately, because lines are in different blocks. The
/// parts of a long line may be in different chunks.
fn needle(string: &[u8]) -> GramQuery {
    all(string
        .split(|&byte| byte == b'\n')
        .flat_map(pieces)
        .map(|piece| match of_needle(piece) {
            grams if grams.is_empty() => GramQuery::Any,
            grams => GramQuery::Grams(grams),
        })
        .collect())
}

/// Splits a line into overlapping parts that together contain all its grams.
fn pieces(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let begins = (0..line.len().max(1)).step_by(MAX_STRING_BYTES - 2);
    begins.map(|begin| &line[begin..line.len().min(begin + MAX_STRING_BYTES)])
}

fn cross(first: &Strings, second: &Strings) -> Option<Strings> {
    if first.len() * second.len() > MAX_STRINGS {
        return None;
    }
    let pairs = first.iter().flat_map(|a| second.iter().map(|b| [&a[..], &b[..]].concat()));
    Some(distinct(pairs.collect()))
}

fn distinct(mut strings: Strings) -> Strings {
    strings.sort_unstable();
    strings.dedup();
    strings
}

#[cfg(test)]
mod tests;
