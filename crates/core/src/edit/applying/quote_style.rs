//! Translates quotes, dashes and minus signs of an edit to those that the file uses in their place.

use crate::edit::lines::trim;
use crate::edit::matching::normalize::fold_char;

/// Pairs of a quote, dash or minus sign in the edit and the file's text in the same place.
#[derive(Clone, Debug, Default)]
pub(in crate::edit) struct QuoteMap {
    pairs: Vec<(char, &'static str)>,
}

impl QuoteMap {
    /// Records the quotes, dashes and minus signs in which a line as sent differs from the same
    /// line in the file.
    pub(in crate::edit) fn learn_pairs(&mut self, sent: &[u8], file: &[u8]) {
        if sent == file || (sent.is_ascii() && file.is_ascii()) {
            return;
        }
        let (Ok(sent), Ok(file)) =
            (std::str::from_utf8(trim(sent)), std::str::from_utf8(trim(file)))
        else {
            return;
        };
        let mut file = file.chars().filter(|c| !c.is_whitespace()).peekable();
        let mut pairs = Vec::new();
        for a in sent.chars().filter(|c| !c.is_whitespace()) {
            let Some(b) = file.next() else { return };
            let long =
                matches!(a, '\u{2013}' | '\u{2014}') && b == '-' && file.peek() == Some(&'-');
            if long {
                file.next();
            }
            if fold_char(a) != fold_char(b) {
                // From this character on the lines differ in more than quotes, so no further quotes
                // are paired.
                break;
            }
            let typographic = fold_char(a) != a || fold_char(b) != b;
            if let Some(known) = replaceable_char(b).filter(|_| typographic) {
                pairs.push((a, if long { "--" } else { known }));
            }
        }
        for pair in pairs {
            if !self.pairs.contains(&pair) {
                self.pairs.push(pair);
            }
        }
    }

    /// Adds the pairs of another map that this one does not have.
    pub(in crate::edit) fn add_missing_pairs(&mut self, other: &Self) {
        for pair in &other.pairs {
            if !self.pairs.contains(pair) {
                self.pairs.push(*pair);
            }
        }
    }

    /// Removes the pairs that would not fit the style of the whole file: a character of the edit is
    /// only replaced if `text`, the file, has the replacement more often.
    pub(in crate::edit) fn keep_file_style(&mut self, text: &[u8]) {
        if self.pairs.is_empty() {
            return;
        }
        let count = |text: &[u8], what: &str| memchr::memmem::find_iter(text, what).count();
        let has = |c: char| count(text, c.encode_utf8(&mut [0; 4]));
        // A model that writes one curly quote for a plain one does so for the other curly quotes
        // too.
        if self.pairs.iter().any(|(sent, file)| fold_char(*sent) != *sent && is_plain_quote(file)) {
            for (curly, plain) in CURLY_AND_PLAIN_QUOTES {
                if has(curly) == 0 && !self.pairs.iter().any(|(sent, _)| *sent == curly) {
                    self.pairs.push((curly, plain));
                }
            }
        }
        let pairs = std::mem::take(&mut self.pairs);
        self.pairs = pairs
            .iter()
            .copied()
            .filter(|&(sent, _)| {
                let instead = pairs.iter().filter(|(other, _)| *other == sent);
                has(sent) < instead.map(|(_, file)| count(text, file)).sum()
                    || (has(sent) == 0 && fold_char(sent) != sent)
            })
            .collect();
    }

    /// Returns the line with its quotes, dashes and minus signs translated to those of the file.
    pub(in crate::edit) fn translate_line(&self, line: Vec<u8>) -> Vec<u8> {
        if self.pairs.is_empty() {
            return line;
        }
        let Ok(text) = std::str::from_utf8(&line) else { return line };
        let mut placed = String::with_capacity(line.len());
        let mut before = ' ';
        for c in text.chars() {
            match self.file_text_for(c, before) {
                Some(text) => placed.push_str(text),
                None => placed.push(c),
            }
            before = c;
        }
        placed.into_bytes()
    }

    /// Returns the file's text for a character; `before` is the character before it, which tells
    /// opening quotes from closing ones. `None` if the character stays.
    fn file_text_for(&self, c: char, before: char) -> Option<&'static str> {
        let mut targets = self.pairs.iter().filter(|(sent, _)| *sent == c).map(|(_, file)| *file);
        match (targets.next(), targets.next(), targets.next()) {
            (Some(only), None, None) => Some(only),
            // The plain quote of the edit stands for both an opening and a closing quote of the
            // file.
            (Some(a), Some(b), None) => {
                let opens = before.is_whitespace() || "([{<-\u{2013}\u{2014}".contains(before);
                let opening = |text: &str| matches!(text, "\u{2018}" | "\u{201c}");
                match (opening(a), opening(b)) {
                    (true, false) => Some(if opens { a } else { b }),
                    (false, true) => Some(if opens { b } else { a }),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// The curly quotes and the plain quotes that stand for them.
const CURLY_AND_PLAIN_QUOTES: [(char, &str); 4] =
    [('\u{2018}', "'"), ('\u{2019}', "'"), ('\u{201c}', "\""), ('\u{201d}', "\"")];

/// Returns true for an ASCII quote.
fn is_plain_quote(text: &str) -> bool {
    matches!(text, "'" | "\"")
}

/// Returns the character as a text if files use it where models write another one.
fn replaceable_char(c: char) -> Option<&'static str> {
    const KNOWN: [&str; 12] = [
        "'", "\"", "-", "\u{2018}", "\u{2019}", "\u{201c}", "\u{201d}", "\u{2010}", "\u{2011}",
        "\u{2013}", "\u{2014}", "\u{2212}",
    ];
    KNOWN.into_iter().find(|known| known.starts_with(c))
}

#[cfg(test)]
mod tests {
    use super::QuoteMap;

    #[test]
    fn new_text_takes_the_files_quotes() {
        for (sent, file, new, placed) in [
            (
                "f(\u{2019}a\u{2019})",
                "f('a')",
                "f(\u{2019}b\u{2019}, \u{2019}c\u{2019})",
                "f('b', 'c')",
            ),
            (
                "\"a\"",
                "\u{201c}a\u{201d}",
                "\"b\" (\"c\")",
                "\u{201c}b\u{201d} (\u{201c}c\u{201d})",
            ),
            ("a - b", "a \u{2013} b", "c - d", "c \u{2013} d"),
            ("\u{201c}a\"", "\"a\"", "\u{201c}b\"", "\"b\""),
            ("a \u{2019} b '", "a ' b '", "'", "'"),
            ("f(\u{2014}a)", "f(--a)", "f(\u{2014}b)", "f(--b)"),
        ] {
            let mut map = QuoteMap::default();
            map.learn_pairs(sent.as_bytes(), file.as_bytes());
            assert_eq!(String::from_utf8_lossy(&map.translate_line(new.into())), placed, "{sent}");
        }
    }
}
