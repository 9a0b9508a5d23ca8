//! Splits code and queries into terms.
//!
//! An identifier is a run of letters, digits, `_` and `$`. Its parts end where the case, or letters
//! and digits, change: `parseHTTPBody2` has `parse`, `http`, `body`, `2`. Each part is one term, in
//! lower case and without its ending ([`stem`]); an identifier of several parts also is one as a
//! whole. A term is known by the hash of its letters alone, so that an index stores no text.

/// A term: the hash of its letters. Two of a million terms seldom have the same, and a file found
/// by such a pair has no block that matches.
pub type Term = u32;

/// The maximum length of a part in bytes; longer ones are data, not words.
const MAX_PART_BYTES: usize = 40;
/// The maximum number of parts of an identifier that are terms.
const MAX_PARTS: usize = 12;

/// Cuts a text into identifiers and these into terms. Reused, because it holds the working memory.
#[derive(Debug, Default)]
pub struct Tokenizer {
    part: Vec<u8>,
    whole: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Joint,
    Other,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | 0x80..=0xff => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b'_' | b'$' => Class::Joint,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

fn class_of(byte: u8) -> Class {
    CLASSES[byte as usize]
}

impl Tokenizer {
    /// Calls `found` with each term of a text and the byte offset of its identifier, in order.
    pub fn terms(&mut self, text: &[u8], mut found: impl FnMut(Term, usize)) {
        let mut at = 0;
        while at < text.len() {
            if matches!(class_of(text[at]), Class::Other) {
                at += 1;
                continue;
            }
            let rest = &text[at..];
            let len = rest.iter().position(|&byte| class_of(byte) == Class::Other);
            let identifier = &rest[..len.unwrap_or(rest.len())];
            self.parts(identifier, |term| found(term, at));
            at += identifier.len();
        }
    }

    /// Calls `found` with each term of an identifier: its parts, and the whole if it has several.
    fn parts(&mut self, identifier: &[u8], mut found: impl FnMut(Term)) {
        let mut parts = 0;
        self.whole.clear();
        let mut from = 0;
        while from < identifier.len() && parts < MAX_PARTS {
            let len = part_len(&identifier[from..]);
            let part = &identifier[from..from + len];
            from += len;
            if class_of(part[0]) == Class::Joint {
                continue;
            }
            parts += 1;
            self.part.clear();
            self.part.extend(part.iter().map(u8::to_ascii_lowercase));
            if self.whole.len() < MAX_PART_BYTES {
                self.whole.extend_from_slice(&self.part);
            }
            if part.len() <= MAX_PART_BYTES {
                found(hash(stem(&mut self.part)));
            }
        }
        if parts > 1 && self.whole.len() <= MAX_PART_BYTES {
            found(hash(stem(&mut self.whole)));
        }
    }
}

/// Returns the length of the first part of an identifier, or of the joints before it.
fn part_len(rest: &[u8]) -> usize {
    let run = |from: usize, class: Class| {
        rest[from..]
            .iter()
            .position(|&byte| class_of(byte) != class)
            .map_or(rest.len(), |n| from + n)
    };
    match class_of(rest[0]) {
        Class::Upper => {
            let upper = run(0, Class::Upper);
            match rest.get(upper).map(|&byte| class_of(byte)) {
                // `HTTPBody`: the last capital begins the next part.
                Some(Class::Lower) if upper > 1 => upper - 1,
                Some(Class::Lower) => run(upper, Class::Lower),
                _ => upper,
            }
        }
        class => run(0, class),
    }
}

/// The hash of FNV-1a in 64 bits, of which both halves are combined.
pub(super) fn hash(letters: &[u8]) -> Term {
    let hash = hash64(0, letters);
    (hash ^ (hash >> 32)) as u32
}

/// The hash of FNV-1a (Fowler, Noll and Vo) in 64 bits. `before` is that of what precedes; 0 at the
/// beginning.
pub(super) fn hash64(before: u64, bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ before;
    for &byte in bytes {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}

/// Returns the term of a single part in lower case.
pub(super) fn term_of(part: &str) -> Term {
    hash(stem(&mut part.as_bytes().to_vec()))
}

/// Returns the parts of an identifier in lower case, with their endings.
pub(super) fn parts_of(identifier: &str) -> Vec<String> {
    let (mut parts, mut rest) = (Vec::new(), identifier.as_bytes());
    while !rest.is_empty() && parts.len() < MAX_PARTS {
        let (part, after) = rest.split_at(part_len(rest));
        if !matches!(class_of(part[0]), Class::Joint | Class::Other) {
            parts.push(String::from_utf8_lossy(part).to_ascii_lowercase());
        }
        rest = after;
    }
    parts
}

/// An ending that is cut, and what replaces it.
type Ending = (&'static [u8], &'static [u8]);

/// Returns the endings with a last letter, in the order in which they are tried. A simplification of
/// Porter's rules ("An algorithm for suffix stripping", 1980): one step, and no measure but the
/// length of what is left. Most words end in another letter, so that nothing is compared.
fn endings(last: u8) -> &'static [Ending] {
    match last {
        b's' => &[
            (b"ations", b"at"),
            (b"izes", b"iz"),
            (b"ates", b"at"),
            (b"sses", b"ss"),
            (b"ies", b"y"),
            (b"ings", b""),
            (b"ions", b""),
            (b"ers", b""),
            (b"ors", b""),
            (b"es", b""),
            (b"s", b""),
        ],
        b'n' => &[(b"ation", b"at"), (b"ion", b"")],
        b'g' => &[(b"izing", b"iz"), (b"ating", b"at"), (b"ing", b"")],
        b'd' => &[(b"ized", b"iz"), (b"ated", b"at"), (b"ied", b"y"), (b"ed", b"")],
        b'r' => &[(b"izer", b"iz"), (b"ator", b"at"), (b"er", b""), (b"or", b"")],
        b'e' => &[(b"ize", b"iz"), (b"ate", b"at"), (b"e", b"")],
        b'y' => &[(b"edly", b""), (b"ly", b"")],
        _ => &[],
    }
}

/// Cuts the ending of a word in lower case, if at least three letters are left.
pub(super) fn stem(word: &mut Vec<u8>) -> &[u8] {
    if word.len() > 3
        && let Some(&last) = word.last()
        && !word.ends_with(b"ss")
    {
        let ending = endings(last)
            .iter()
            .find(|(ending, _)| word.len() >= ending.len() + 3 && word.ends_with(ending));
        if let Some((ending, instead)) = ending {
            word.truncate(word.len() - ending.len());
            word.extend_from_slice(instead);
        }
        // `stopping` and `stop` are one word.
        let len = word.len();
        if ending.is_some_and(|(ending, _)| ending.len() > 1)
            && len > 3
            && word[len - 1] == word[len - 2]
            && !matches!(word[len - 1], b's' | b'l' | b'e')
        {
            word.pop();
        }
    }
    word
}

/// Returns a word in lower case without its ending.
pub(super) fn stemmed(word: &str) -> String {
    String::from_utf8_lossy(stem(&mut word.as_bytes().to_vec())).into_owned()
}
