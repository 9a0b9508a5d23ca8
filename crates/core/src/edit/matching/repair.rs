//! Removes damage that an edit suffered on its way, such as pasted line numbers or doubled escapes.
//!
//! Each repair is a hypothesis about old and new text together, because the same damage affects
//! both. The text as sent is always the first hypothesis; the search decides which one is right.

/// A kind of damage that a repair removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::edit) enum Repair {
    /// The text is on one line, with `\n` for line endings.
    EscapedNewlines,
    /// Each line begins with its number.
    LineNumbers,
    /// The text has `\"` for `"`, and `\${` for the `${` of a template between quotes.
    EscapedQuotes,
    /// `\\` for `\`.
    DoubledBackslashes,
    /// `&lt;` for `<`.
    Entities,
    /// `\u2013` for `–`.
    UnicodeEscapes,
    /// `–` for `\u2013`, which the file has.
    UnescapedCharacters(EscapeStyle),
}

/// How a file escapes a character that is not ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::edit) enum EscapeStyle {
    /// `\u201c`
    Lower,
    /// `\u201C`
    Upper,
    /// `\xa0` for characters up to U+00FF, otherwise `\u201c`.
    Short,
}

impl Repair {
    const EVERY_REPAIR: [Self; 9] = [
        Self::EscapedNewlines,
        Self::LineNumbers,
        Self::EscapedQuotes,
        Self::DoubledBackslashes,
        Self::Entities,
        Self::UnicodeEscapes,
        Self::UnescapedCharacters(EscapeStyle::Lower),
        Self::UnescapedCharacters(EscapeStyle::Upper),
        Self::UnescapedCharacters(EscapeStyle::Short),
    ];

    /// Returns true if the repair is made where only white space may differ, because the text
    /// without it has the same meaning in every reading.
    pub(in crate::edit) const fn is_literal(self) -> bool {
        matches!(self, Self::Entities | Self::UnicodeEscapes | Self::UnescapedCharacters(_))
    }

    /// Returns the name for results and messages.
    pub(in crate::edit) const fn as_str(self) -> &'static str {
        match self {
            Self::EscapedNewlines => "escaped line ends",
            Self::LineNumbers => "line numbers",
            Self::EscapedQuotes => "escaped quotes",
            Self::DoubledBackslashes => "doubled backslashes",
            Self::Entities => "HTML entities",
            Self::UnicodeEscapes => "Unicode escapes",
            Self::UnescapedCharacters(_) => "characters that the file escapes",
        }
    }

    /// Returns the name for the details of a refusal.
    pub(in crate::edit) const fn reason(self) -> &'static str {
        match self {
            Self::EscapedNewlines => "escaped_line_ends",
            Self::LineNumbers => "line_numbers",
            Self::EscapedQuotes => "escaped_quotes",
            Self::DoubledBackslashes => "doubled_backslashes",
            Self::Entities => "html_entities",
            Self::UnicodeEscapes => "unicode_escapes",
            Self::UnescapedCharacters(_) => "unescaped_characters",
        }
    }

    /// Returns old and new text without this damage, or `None` if the old text has no sign of it.
    fn without_damage(self, old: &str, new: &str) -> Option<(String, String)> {
        let both = |repair: fn(&str) -> String| (repair(old), repair(new));
        match self {
            Self::EscapedNewlines => (!old.trim_end_matches('\n').contains('\n')
                && old.contains("\\n"))
            .then(|| both(unescape_newlines)),
            Self::LineNumbers => remove_line_numbers(old, new),
            Self::EscapedQuotes => ["\\\"", "\\'", "\\`", "\\${"]
                .iter()
                .any(|quote| old.contains(quote))
                .then(|| both(unescape_quotes)),
            Self::DoubledBackslashes => {
                old.contains("\\\\").then(|| both(|text| text.replace("\\\\", "\\")))
            }
            Self::Entities => (decode_entities(old) != old).then(|| both(decode_entities)),
            Self::UnicodeEscapes => {
                (decode_unicode_escapes(old) != old).then(|| both(decode_unicode_escapes))
            }
            Self::UnescapedCharacters(style) => {
                let plain = escape_characters(old, style);
                (plain != old && style.is_own(old)).then(|| (plain, escape_characters(new, style)))
            }
        }
    }
}

/// An edit as it may have been meant.
pub(in crate::edit) struct Hypothesis {
    pub old: String,
    pub new: String,
    /// The repairs applied; empty for the text as sent.
    pub repairs: Vec<Repair>,
}

/// Returns the texts that an edit may have meant, the text as sent first, then those with one or
/// more repairs; at most 12.
pub(in crate::edit) fn hypotheses(old: &str, new: &str) -> Vec<Hypothesis> {
    const MAX_HYPOTHESES: usize = 12;
    let mut all =
        vec![Hypothesis { old: old.to_owned(), new: new.to_owned(), repairs: Vec::new() }];
    for repair in Repair::EVERY_REPAIR {
        for at in 0..all.len() {
            if all.len() >= MAX_HYPOTHESES {
                return all;
            }
            if let Some((old, new)) = repair.without_damage(&all[at].old, &all[at].new) {
                let mut repairs = all[at].repairs.clone();
                repairs.push(repair);
                all.push(Hypothesis { old, new, repairs });
            }
        }
    }
    all
}

fn unescape_newlines(text: &str) -> String {
    unescape_backslashes(text, |c| match c {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        '"' => Some('"'),
        _ => None,
    })
}

fn unescape_quotes(text: &str) -> String {
    unescape_backslashes(text, |c| matches!(c, '"' | '\'' | '`').then_some(c)).replace("\\${", "${")
}

/// Replaces each backslash and the character after it for which `meant` returns the meaning.
fn unescape_backslashes(text: &str, meant: impl Fn(char) -> Option<char>) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek().copied().filter(|_| c == '\\').and_then(&meant) {
            Some(escaped) => {
                plain.push(escaped);
                chars.next();
            }
            None => plain.push(c),
        }
    }
    plain
}

const HTML_ENTITIES: [(&str, char); 6] =
    [("lt", '<'), ("gt", '>'), ("quot", '"'), ("apos", '\''), ("amp", '&'), ("nbsp", '\u{a0}')];

/// The maximum length in bytes of an HTML entity without its `&` and `;`.
const MAX_ENTITY_BYTES: usize = 8;

/// Decodes HTML entities once: `&amp;lt;` is `&lt;`, not `<`.
fn decode_entities(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        let name = from.bytes().take(MAX_ENTITY_BYTES + 2).position(|byte| byte == b';');
        match name.and_then(|end| Some((entity_character(&from[1..end])?, end))) {
            Some((character, end)) => {
                plain.push(character);
                rest = &from[end + 1..];
            }
            None => {
                plain.push('&');
                rest = &from[1..];
            }
        }
    }
    plain + rest
}

/// Returns the character of an HTML entity: `lt`, `#39` or `#x27`.
fn entity_character(name: &str) -> Option<char> {
    let Some(number) = name.strip_prefix('#') else {
        return HTML_ENTITIES.iter().find(|(entity, _)| *entity == name).map(|(_, plain)| *plain);
    };
    let value = match number.strip_prefix(['x', 'X']) {
        Some(hex) if hex.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            u32::from_str_radix(hex, 16).ok()?
        }
        None if number.bytes().all(|byte| byte.is_ascii_digit()) => number.parse().ok()?,
        _ => return None,
    };
    char::from_u32(value).filter(|character| !character.is_control())
}

/// Decodes `\u2013`, `\ud83d\ude00`, `\u{1f600}` and `\xa0`; not after another backslash, and not
/// to a control character.
fn decode_unicode_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        let decoded = escaped_character(from)
            .filter(|(character, _)| !character.is_ascii() && !character.is_control());
        match decoded {
            Some((character, length)) => {
                plain.push(character);
                rest = &from[length..];
            }
            None => {
                // The next character is escaped, so a backslash there begins no escape.
                let skipped = 1 + from[1..].chars().next().map_or(0, char::len_utf8);
                plain.push_str(&from[..skipped]);
                rest = &from[skipped..];
            }
        }
    }
    plain + rest
}

/// Returns the character of the escape with which a text begins, and the length of the escape.
fn escaped_character(text: &str) -> Option<(char, usize)> {
    let hex = |text: &str| {
        let is_hex = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        u32::from_str_radix(text, 16).ok().filter(|_| is_hex)
    };
    if let Some(rest) = text.strip_prefix("\\x") {
        return Some((char::from_u32(hex(rest.get(..2)?)?)?, 4));
    }
    if let Some(rest) = text.strip_prefix("\\u{") {
        let end = rest.bytes().take(7).position(|byte| byte == b'}')?;
        return Some((char::from_u32(hex(&rest[..end])?)?, 4 + end));
    }
    let first = hex(text.strip_prefix("\\u")?.get(..4)?)?;
    if let Some(character) = char::from_u32(first) {
        return Some((character, 6));
    }
    let second = hex(text[6..].strip_prefix("\\u")?.get(..4)?)?;
    let pair = [u16::try_from(first).ok()?, u16::try_from(second).ok()?];
    let character = char::decode_utf16(pair).next()?.ok()?;
    Some((character, 12))
}

impl EscapeStyle {
    /// Returns true if the style writes the characters of a text in another way than the styles
    /// before it.
    fn is_own(self, text: &str) -> bool {
        let has = |test: fn(char) -> bool| text.chars().any(|c| !c.is_ascii() && test(c));
        match self {
            Self::Lower => true,
            Self::Upper => {
                escape_characters(text, Self::Lower) != escape_characters(text, Self::Upper)
            }
            Self::Short => has(|c| u32::from(c) < 0x100),
        }
    }
}

/// Escapes the characters that are not ASCII.
fn escape_characters(text: &str, style: EscapeStyle) -> String {
    use std::fmt::Write;
    let mut plain = String::with_capacity(text.len());
    let mut units = [0u16; 2];
    for c in text.chars() {
        if c.is_ascii() {
            plain.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut units) {
            // Writing to a string cannot fail.
            let _ = match style {
                EscapeStyle::Upper => write!(plain, "\\u{unit:04X}"),
                EscapeStyle::Short if *unit < 0x100 => write!(plain, "\\x{unit:02x}"),
                EscapeStyle::Lower | EscapeStyle::Short => write!(plain, "\\u{unit:04x}"),
            };
        }
    }
    plain
}

/// Returns both texts without the line numbers of a listing, or `None` if the old text has none.
/// Every line of the old text that is not blank must have one, in ascending order; lines of the new
/// text may have one.
fn remove_line_numbers(old: &str, new: &str) -> Option<(String, String)> {
    let mut numbers = Vec::new();
    let mut plain = Vec::new();
    for line in old.split('\n') {
        match split_line_number(line) {
            Some((number, rest)) => {
                numbers.push(number);
                plain.push(rest);
            }
            None if line.trim().is_empty() => plain.push(line),
            None => return None,
        }
    }
    let ascending = numbers.windows(2).all(|pair| pair[0] < pair[1]);
    if numbers.is_empty() || !ascending {
        return None;
    }
    // `9| a` stands for `a` in a listing with a blank after the bar, or for ` a` in one without;
    // the new text decides.
    let wider: Option<Vec<&str>> = plain
        .iter()
        .map(|line| if line.is_empty() { Some(*line) } else { line.strip_prefix(' ') })
        .collect();
    let wide = |line: &str| old.contains(&format!("|{line}"));
    let wider = wider.filter(|_| plain.iter().all(|line| line.is_empty() || wide(line)));
    let narrow = new
        .split('\n')
        .filter_map(split_line_number)
        .any(|(_, rest)| !rest.is_empty() && !rest.starts_with(' '));
    let wider = wider.filter(|_| !narrow);
    let shared = |plain: &[&str]| {
        new.split('\n').filter(|line| !line.trim().is_empty() && plain.contains(line)).count()
    };
    let blank = wider.as_ref().is_some_and(|wider| shared(wider) >= shared(&plain));
    let plain = wider.filter(|_| blank).unwrap_or(plain);
    let split_line_number = |line| {
        split_line_number(line).map(|(number, rest)| {
            (number, rest.strip_prefix(' ').filter(|_| blank).unwrap_or(rest))
        })
    };
    let numbered = new.split('\n').filter(|line| split_line_number(line).is_some()).count();
    let unnumbered = new.split('\n').filter(|line| split_line_number(line).is_none());
    let unnumbered = unnumbered.filter(|line| !line.trim().is_empty()).count();
    let new = new.split('\n').map(|line| match split_line_number(line) {
        Some((_, rest)) if numbered >= unnumbered || plain.contains(&rest) => rest,
        _ => line,
    });
    Some((plain.join("\n"), new.collect::<Vec<_>>().join("\n")))
}

/// Returns a text without the line numbers with which all of its lines begin, if they do.
pub(in crate::edit) fn without_line_numbers(text: &str) -> Option<String> {
    remove_line_numbers(text, "").map(|(plain, _)| plain)
}

/// Returns a line without its number in a listing, if it has one.
pub(crate) fn without_line_number(line: &str) -> &str {
    split_line_number(line).map_or(line, |(_, rest)| rest)
}

/// Splits a line of a listing into its number and its text; `None` if it has no number.
fn split_line_number(line: &str) -> Option<(u64, &str)> {
    let text = line.trim_start();
    let text = text.strip_prefix('L').unwrap_or(text);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number = text[..digits].parse().ok()?;
    let rest = &text[digits..];
    let rest = rest.strip_prefix('#').map_or(rest, |hash| {
        hash.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '-')
    });
    // `9:k3x|a` is a line of a listing with hashes.
    let hashed = rest.strip_prefix(':').and_then(|text| {
        let hash = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
        text[hash..].strip_prefix('|').filter(|_| (2..=4).contains(&hash))
    });
    if let Some(line) = hashed {
        return Some((number, line));
    }
    for mark in ["\t", "\u{2192}", ": ", " |", "|"] {
        if let Some(line) = rest.strip_prefix(mark) {
            return Some((number, line));
        }
    }
    // An empty line may have lost the white space after its number.
    let bare = rest.trim_end();
    matches!(bare, ":" | "|" | " |" | "")
        .then_some((number, ""))
        .filter(|_| !bare.is_empty() || rest != bare)
}

#[cfg(test)]
mod tests {
    use super::EscapeStyle::{Lower, Short, Upper};
    use super::{Repair, hypotheses};

    #[test]
    fn damage_is_undone_on_both_sides() {
        use Repair::{
            DoubledBackslashes, Entities, EscapedNewlines, EscapedQuotes, LineNumbers,
            UnescapedCharacters, UnicodeEscapes,
        };
        for (old, new, repair, plain_old, plain_new) in [
            ("a\\n\\tb", "a\\nc", EscapedNewlines, "a\n\tb", "a\nc"),
            ("f(\\\"a\\\")", "f(\\\"b\\\")", EscapedQuotes, "f(\"a\")", "f(\"b\")"),
            ("\\\\d", "\\\\w", DoubledBackslashes, "\\d", "\\w"),
            ("a &lt; b", "a &amp;&amp; b", Entities, "a < b", "a && b"),
            ("&#39;&#x27;&quot;&nbsp;&amp;lt;", "&gt;", Entities, "''\"\u{a0}&lt;", ">"),
            ("a\\u2013b", "a\\u2014b", UnicodeEscapes, "a–b", "a—b"),
            ("\\ud83d\\ude00\\u{1f600}\\xe9", "", UnicodeEscapes, "😀😀é", ""),
            ("a–b", "a—b", UnescapedCharacters(Lower), "a\\u2013b", "a\\u2014b"),
            ("“", "”", UnescapedCharacters(Upper), "\\u201C", "\\u201D"),
            ("\u{a0}", "", UnescapedCharacters(Short), "\\xa0", ""),
            ("  9\ta\n 10\tb", "a\n 10\tc", LineNumbers, "a\nb", "a\nc"),
            ("9→a\n10→", "9→a", LineNumbers, "a\n", "a"),
            ("9: a\n10: b", "c", LineNumbers, "a\nb", "c"),
            ("9#k3x9q1a|a", "9#k3x9q1a|b", LineNumbers, "a", "b"),
            ("9:k3x|a\n10:zp|  b", "9:k3x|c", LineNumbers, "a\n  b", "c"),
            ("8| a\n9|   b", "8| c", LineNumbers, "a\n  b", "c"),
            ("8|a\n9|  b", "c", LineNumbers, "a\n  b", "c"),
            ("8|  a\n9|  b", "  a\n  c", LineNumbers, "  a\n  b", "  a\n  c"),
        ] {
            let all = hypotheses(old, new);
            assert_eq!((all[0].old.as_str(), all[0].repairs.len()), (old, 0));
            let found = all.iter().find(|one| one.repairs == [repair]);
            let found = found.map(|one| (one.old.as_str(), one.new.as_str()));
            assert_eq!(found, Some((plain_old, plain_new)), "{old}");
        }
    }

    #[test]
    fn other_text_is_left_alone() {
        for old in [
            "let a = 1;",
            "a\nb \\n",
            "1. one\n2. two",
            "2\tb\n1\ta",
            "port: 80\nhost: x",
            "a & b;",
            "&#1;&foo;",
            "\\u00zz\\u0041\\u000a",
        ] {
            assert_eq!(hypotheses(old, "x").len(), 1, "{old}");
        }
    }
}
