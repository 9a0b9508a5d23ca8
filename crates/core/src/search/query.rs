//! Compiles the pattern of a search.
//!
//! The syntax is ripgrep's: no look-around and no back-references, so that every search is linear
//! in the text. A pattern that does not compile is refused with the position and a remedy.

use std::sync::Arc;

use grep_matcher::{LineMatchKind, Matcher};
use grep_regex::RegexMatcherBuilder;
use regex_syntax::ast::{self, ErrorKind};
use regex_syntax::hir::{Look, translate::TranslatorBuilder};

use super::blocks::CHUNK_OVERLAP_BYTES;
use super::engine::{MatchEngine, first_candidate_line};
use super::folded_finder::FoldedFinder;
use super::gram_query::GramQuery;
use super::query_options::{Case, MAX_GROUP_NESTING, QueryOptions};
use crate::error::{Code, Error, Result};
use crate::options::{Options, invalid};

/// The maximum length of a pattern in bytes; a longer one is refused.
pub const MAX_PATTERN_BYTES: usize = 64 * 1024;
/// The maximum number of patterns in one query; more are refused.
pub const MAX_PATTERNS: usize = 100;
/// The maximum size of an automaton in bytes: 16 MiB, and half of it on WebAssembly, where words
/// are half as long, so that native and WebAssembly builds refuse about the same expressions.
const MAX_AUTOMATON_BYTES: usize = (2 << 20) * size_of::<usize>();
/// The maximum memory in bytes for cached states of an automaton per thread. States are built
/// during the search, so ordinary patterns use far less.
const MAX_CACHED_STATES_BYTES: usize = 64 << 20;
/// The maximum number of bytes before or after a match on which `\b` and `$` depend: a character,
/// or a line ending.
const MAX_LOOKAROUND_BYTES: usize = 4;

/// A compiled query. Each thread clones it to have its own working memory.
#[derive(Clone)]
pub struct Query {
    pub(super) matcher: MatchEngine,
    pub(super) way: ScanStrategy,
    /// True if the pattern names the carriage return, so that the CR of a CRLF can be part of a
    /// match.
    pub(super) names_cr: bool,
    /// Finds the lines that may match, where that is faster than the automaton.
    pub(super) folded: Option<Arc<FoldedFinder>>,
    plan: Arc<GramQuery>,
    key: Arc<str>,
    /// The maximum length of a match in bytes; `None` if it is unlimited.
    max_match_len: Option<usize>,
    /// The patterns one by one if there are several, to report which of them matched; otherwise
    /// empty.
    pub(super) parts: Vec<MatchEngine>,
}

/// How a text is scanned for matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanStrategy {
    /// Matches lie within lines: the whole text is searched, and the line around a match is
    /// inspected.
    Buffer,
    /// The pattern has `\A` or `\z`, which hold at each line, so each line is searched.
    EachLine,
    /// Matches may cross lines.
    AcrossLines,
}

impl std::fmt::Debug for Query {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The automata are left out, because they would print as megabytes.
        f.debug_struct("Query").field("way", &self.way).finish_non_exhaustive()
    }
}

impl Query {
    /// Compiles a query.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an empty pattern, `INVALID_REGEX` with `details.position` (code
    /// points, from 1) for one that does not parse, `LIMIT_EXCEEDED` for one that is too large.
    pub fn new(options: &QueryOptions<'_>) -> Result<Self> {
        let pattern = options.pattern;
        if pattern.is_empty() {
            return Err(invalid("pattern", "pattern is empty"));
        }
        if pattern.len() > MAX_PATTERN_BYTES {
            return Err(pattern_too_large_error());
        }
        let traits = if options.regex && !options.is_text() {
            PatternTraits::of(pattern)?
        } else {
            PatternTraits { names_cr: pattern.contains('\r'), ..PatternTraits::default() }
        };
        if !options.multiline && !options.regex && pattern.contains('\n') {
            return Err(invalid("pattern", "pattern contains a line break, a line never does")
                .hint("set multiline:true"));
        }
        let (plan, max_match_len) = GramQuery::with_max_match_len(options);
        let (plan, key) = (Arc::new(plan), options.key());
        let names_cr = traits.names_cr;
        let parts = Vec::new();
        let folded = None;
        let whole =
            |matcher, way| Self { matcher, way, names_cr, folded, plan, key, max_match_len, parts };
        if options.is_text() && !options.word && !pattern.contains('\n') {
            return Ok(whole(MatchEngine::of_text(pattern), ScanStrategy::Buffer));
        }
        let mut builder = RegexMatcherBuilder::new();
        builder
            .multi_line(true)
            .fixed_strings(!options.regex)
            .case_insensitive(options.case == Case::Insensitive)
            .case_smart(options.case == Case::Smart)
            .word(options.word)
            .nest_limit(MAX_GROUP_NESTING)
            .size_limit(MAX_AUTOMATON_BYTES)
            .dfa_size_limit(MAX_CACHED_STATES_BYTES)
            // In this mode `$` matches before CRLF. Without `$` the mode would only cost speed.
            .crlf(traits.line_end && !traits.names_cr);
        if options.multiline {
            let matcher =
                builder.line_terminator(None).build(pattern).map_err(pattern_build_error)?;
            let within_lines = matcher.non_matching_bytes().is_some_and(|set| set.contains(b'\n'));
            if !within_lines || traits.text_anchors {
                return Ok(whole(MatchEngine::Regex(matcher), ScanStrategy::AcrossLines));
            }
            builder.crlf(traits.line_end && !traits.names_cr);
        }
        if !traits.line_end || traits.names_cr {
            builder.line_terminator(Some(b'\n'));
        }
        let matcher = MatchEngine::Regex(builder.build(pattern).map_err(pattern_build_error)?);
        let way = if traits.text_anchors { ScanStrategy::EachLine } else { ScanStrategy::Buffer };
        let query = whole(matcher, way);
        Ok(if cfg!(target_family = "wasm") { query.with_folded_finder(options) } else { query })
    }

    /// Adds the finder of lines that may match, if the options have one.
    pub(super) fn with_folded_finder(self, options: &QueryOptions<'_>) -> Self {
        Self { folded: FoldedFinder::of(options).map(Arc::new), ..self }
    }

    /// Returns a text that identifies the query: queries with equal keys match the same.
    pub fn key(&self) -> &Arc<str> {
        &self.key
    }

    /// Returns the condition on the grams that every block with a match satisfies.
    pub fn plan(&self) -> &GramQuery {
        &self.plan
    }

    /// Returns true if each match, with the bytes around it that `\b` and `$` inspect, lies within
    /// one [`Chunk`](super::Chunk).
    pub fn fits_chunk(&self) -> bool {
        let fits = |max_match_len| max_match_len + 2 * MAX_LOOKAROUND_BYTES <= CHUNK_OVERLAP_BYTES;
        self.way == ScanStrategy::Buffer && self.max_match_len.is_some_and(fits)
    }

    /// Returns false if a chunk cannot have a match.
    pub fn may_match(&self, chunk: &[u8]) -> bool {
        match self.matcher.line_matcher() {
            Some(lines) => first_candidate_line(lines, chunk).is_some(),
            None => self.matcher.is_match(chunk),
        }
    }

    /// Looks for a sign of a match at the beginning of a text, of which `text` is read so far and
    /// more follows unless `is_end`. Returns the number of bytes that have none, after which the
    /// look can go on: whole lines or, in a longer line, all but the bytes that a match may share
    /// with what follows. `None` if there may be a match, or nothing less than the whole text can
    /// show that there is none.
    pub fn length_without_match(&self, text: &[u8], is_end: bool) -> Option<usize> {
        if self.way != ScanStrategy::Buffer {
            return None;
        }
        let (looked, passed) = match memchr::memrchr(b'\n', text) {
            _ if is_end => (text.len(), text.len()),
            Some(at) => (at + 1, at + 1),
            None if self.fits_chunk() && text.len() > CHUNK_OVERLAP_BYTES => {
                (text.len(), text.len() - CHUNK_OVERLAP_BYTES)
            }
            None => return None,
        };
        (!self.matches_some_line(&text[..looked])).then_some(passed)
    }

    /// Returns true if one of the lines of a text matches. Lines that only may match are looked at
    /// one by one: a literal of a pattern is in many more texts than the pattern.
    fn matches_some_line(&self, text: &[u8]) -> bool {
        let Some(matcher) = self.matcher.line_matcher() else {
            return self.matcher.is_match(text);
        };
        let mut rest = text;
        while !rest.is_empty() {
            let offset = match first_candidate_line(matcher, rest) {
                None => return false,
                Some(LineMatchKind::Confirmed(_)) => return true,
                Some(LineMatchKind::Candidate(offset)) => offset,
            };
            let begin = memchr::memrchr(b'\n', &rest[..offset]).map_or(0, |at| at + 1);
            let end = memchr::memchr(b'\n', &rest[offset..]).map_or(rest.len(), |at| offset + at);
            let line = &rest[begin..end];
            // The scan tries a line without its CR, or with it if the pattern names one.
            let bare = line.strip_suffix(b"\r").unwrap_or(line);
            if self.matcher.is_match(line) || self.matcher.is_match(bare) {
                return true;
            }
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        false
    }

    /// Returns true if a match may span several lines.
    pub fn crosses_lines(&self) -> bool {
        self.way == ScanStrategy::AcrossLines
    }

    /// Compiles several patterns into one query; hits say which of them matched. The pattern of
    /// `options` is ignored.
    ///
    /// # Errors
    /// Like [`Query::new`], with `details.pattern` (the index in the list) for a refused pattern;
    /// `LIMIT_EXCEEDED` for more than [`MAX_PATTERNS`].
    pub fn any_of(patterns: &[&str], options: &QueryOptions<'_>) -> Result<Self> {
        if patterns.len() > MAX_PATTERNS {
            return Err(pattern_too_large_error());
        }
        let mut parts = Vec::with_capacity(patterns.len());
        let mut whole = String::new();
        for (index, pattern) in patterns.iter().enumerate() {
            let part = Self::new(&QueryOptions { pattern, ..options.clone() })
                .map_err(|error| error.detail("pattern", index))?;
            parts.push(part.matcher);
            // Smart case is decided for each pattern separately.
            let folds = options.case == Case::Insensitive
                || options.case == Case::Smart && !pattern.chars().any(char::is_uppercase);
            whole.push_str(match (index, folds) {
                (0, true) => "(?i:",
                (0, false) => "(?:",
                (_, true) => "|(?i:",
                (_, false) => "|(?:",
            });
            if options.regex {
                whole.push_str(pattern);
            } else {
                whole.push_str(&regex_syntax::escape(pattern));
            }
            whole.push(')');
        }
        let case = Case::Sensitive;
        let whole = QueryOptions { pattern: &whole, regex: true, case, ..options.clone() };
        Ok(Self { parts, ..Self::new(&whole)? })
    }

    /// Compiles from the JSON form of the options: those of [`QueryOptions::read`] or, instead of
    /// `pattern`, several `patterns`.
    ///
    /// # Errors
    /// Like [`QueryOptions::read`] and [`Query::new`].
    pub fn from_options(options: &Options) -> Result<Self> {
        let patterns = options.list("patterns")?;
        if patterns.is_empty() {
            return Self::new(&QueryOptions::read(options)?);
        }
        if options.text("pattern")?.is_some() {
            return Err(invalid("patterns", "give either pattern or patterns"));
        }
        Self::any_of(&patterns, &QueryOptions::of(options, "")?)
    }
}

/// Properties of a regular expression that determine how it is compiled.
#[derive(Clone, Copy, Default)]
struct PatternTraits {
    /// True if the pattern contains `$`.
    line_end: bool,
    /// True if the pattern contains `\A` or `\z`.
    text_anchors: bool,
    /// True if the pattern contains a carriage return, as `\r`, `\x0D` or the character.
    names_cr: bool,
}

impl PatternTraits {
    fn of(pattern: &str) -> Result<Self> {
        let ast = ast::parse::ParserBuilder::new()
            .nest_limit(MAX_GROUP_NESTING)
            .build()
            .parse(pattern)
            .map_err(|error| pattern_parse_error(pattern, error.kind(), error.span()))?;
        let hir = TranslatorBuilder::new()
            .utf8(false)
            .multi_line(true)
            .build()
            .translate(pattern, &ast)
            .map_err(|error| {
                invalid_regex_error(pattern, error.kind().to_string(), error.span())
            })?;
        let looks = hir.properties().look_set();
        Ok(Self {
            line_end: looks.contains(Look::EndLF) || looks.contains(Look::EndCRLF),
            text_anchors: looks.contains_anchor_haystack(),
            names_cr: names_carriage_return(&ast),
        })
    }
}

/// Returns true if a pattern names a carriage return anywhere. A class such as `\s` or `[^x]`
/// contains one without naming it.
fn names_carriage_return(ast: &ast::Ast) -> bool {
    struct CarriageReturnFinder;
    impl ast::Visitor for CarriageReturnFinder {
        type Output = ();
        /// The visitor ends the visit with an error when it finds a carriage return.
        type Err = ();
        fn finish(self) -> std::result::Result<(), ()> {
            Ok(())
        }
        fn visit_pre(&mut self, ast: &ast::Ast) -> std::result::Result<(), ()> {
            match ast {
                ast::Ast::Literal(literal) if literal.c == '\r' => Err(()),
                _ => Ok(()),
            }
        }
        fn visit_class_set_item_pre(
            &mut self,
            item: &ast::ClassSetItem,
        ) -> std::result::Result<(), ()> {
            match item {
                ast::ClassSetItem::Literal(literal) if literal.c == '\r' => Err(()),
                _ => Ok(()),
            }
        }
    }
    ast::visit(ast, CarriageReturnFinder).is_err()
}

fn pattern_parse_error(pattern: &str, kind: &ErrorKind, span: &ast::Span) -> Error {
    match kind {
        ErrorKind::UnsupportedLookAround => {
            invalid_regex_error(pattern, "look-around is not supported".to_owned(), span).hint(
                "match more and filter the results, or set regex:false to search the text as it is",
            )
        }
        ErrorKind::UnsupportedBackreference => {
            invalid_regex_error(pattern, "back-references are not supported".to_owned(), span)
                .hint("spell the alternatives out, or set regex:false to search the text as it is")
        }
        ErrorKind::NestLimitExceeded(_) => pattern_too_large_error(),
        kind => invalid_regex_error(pattern, kind.to_string(), span),
    }
}

/// Returns the error `INVALID_REGEX` with the position in code points.
fn invalid_regex_error(pattern: &str, reason: String, span: &ast::Span) -> Error {
    let before = pattern.get(..span.start.offset).unwrap_or(pattern);
    let position = before.chars().count() + 1;
    Error::new(
        Code::InvalidRegex,
        format!("the regex does not parse at character {position}: {reason}"),
    )
    .hint("correct the regex, or set regex:false to search the text as it is")
    .detail("position", position)
}

/// The error for a pattern that parses but does not compile.
fn pattern_build_error(error: grep_regex::Error) -> Error {
    if is_line_break_error(&error) {
        let message = "the regex contains a line break, and a search by lines never sees one";
        return Error::new(Code::InvalidRegex, message).hint("set multiline:true");
    }
    // A pattern that parses and translates can fail only because of its size.
    pattern_too_large_error()
}

fn is_line_break_error(error: &grep_regex::Error) -> bool {
    matches!(error.kind(), grep_regex::ErrorKind::NotAllowed(_))
}

fn pattern_too_large_error() -> Error {
    Error::new(Code::LimitExceeded, "the regex is too large to compile")
        .hint("shorten it or lower its repetition counts, or set regex:false")
}
