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

/// The words whose terms a caller wants.
pub(super) trait Wanted {
    /// Reports whether a word with this head may be wanted.
    fn may_begin(&self, head: Head) -> bool;
}

/// Every word.
pub(super) struct EveryWord;

impl Wanted for EveryWord {
    fn may_begin(&self, _: Head) -> bool {
        true
    }
}

/// No word: the terms are counted.
struct NoWord;

impl Wanted for NoWord {
    fn may_begin(&self, _: Head) -> bool {
        false
    }
}

/// How a word begins: five bits of each of its first three letters, equal for both cases, and 0 after
/// its end. No ending that is cut reaches into them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Head(u16);

impl Head {
    fn of(word: &[u8]) -> Self {
        let letter = |at| word.get(at).map_or(0, |&byte| u16::from(byte & 31));
        Self(letter(0) << 10 | letter(1) << 5 | letter(2))
    }

    /// Returns the head of the word of which this is the head of the first `len` bytes, and `next` that
    /// of the rest.
    fn joined(self, len: usize, next: Self) -> Self {
        let bits = 5 * len.min(3);
        let own = !(0x7fff >> bits);
        Self(self.0 & own | next.0 >> bits)
    }
}

/// A set of heads.
#[derive(Clone, Debug)]
pub(super) struct Heads(Box<[u64; 512]>);

impl Default for Heads {
    fn default() -> Self {
        Self(Box::new([0; 512]))
    }
}

impl Heads {
    /// Adds all heads with which an identifier can begin of which a word in lower case, without its
    /// ending, is a part or the whole.
    pub fn add(&mut self, word: &[u8]) {
        let any = || 0..32;
        let &[a, ref rest @ ..] = word else { return };
        match rest {
            [] => any().for_each(|b| any().for_each(|c| self.insert([a, b, c]))),
            [b] => any().for_each(|c| self.insert([a, *b, c])),
            [b, c, ..] => self.insert([a, *b, *c]),
        }
        // The parts of a whole can be shorter than a head.
        if let [b, ..] = rest {
            for joint in *b"_$" {
                any().for_each(|c| self.insert([a, joint, c]));
                self.insert([a, *b, joint]);
            }
        }
    }

    fn insert(&mut self, letters: [u8; 3]) {
        let Head(head) = Head::of(&letters);
        self.0[usize::from(head >> 6)] |= 1 << (head & 63);
    }

    #[inline]
    fn has(&self, Head(head): Head) -> bool {
        self.0[usize::from(head >> 6 & 511)] >> (head & 63) & 1 == 1
    }

    /// Returns the first offset from `from` on at which a text has one of the heads.
    fn find(&self, text: &[u8], from: usize) -> Option<usize> {
        let rest = text.get(from..)?;
        let found = rest.windows(3).position(|letters| self.has(Head::of(letters)));
        let last = || {
            (rest.len().saturating_sub(2)..rest.len()).find(|&at| self.has(Head::of(&rest[at..])))
        };
        found.or_else(last).map(|at| from + at)
    }
}

impl Wanted for Heads {
    #[inline]
    fn may_begin(&self, head: Head) -> bool {
        self.has(head)
    }
}

/// Cuts a text into identifiers and these into terms. Reused, because it holds the working memory.
#[derive(Debug, Default)]
pub struct Tokenizer {
    word: Vec<u8>,
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
        self.words(text, &EveryWord, |word, at| {
            word.into_iter().for_each(|word| found(hash(word), at));
        });
    }

    /// Calls `found` for each term of a text with the byte offset of its identifier, in order.
    pub(super) fn count(&mut self, text: &[u8], mut found: impl FnMut(usize)) {
        self.words(text, &NoWord, |_, at| found(at));
    }

    /// Does the same as [`Tokenizer::terms`] with those terms alone that can have one of the heads, and
    /// with few others.
    pub(super) fn find(&mut self, text: &[u8], heads: &Heads, mut found: impl FnMut(Term, usize)) {
        let mut at = 0;
        while let Some(hit) = heads.find(text, at) {
            let before = text[at..hit].iter().rev();
            let begin = hit - before.take_while(|&&byte| class_of(byte) != Class::Other).count();
            let length = self.identifier(&text[begin..], heads, |word| {
                word.into_iter().for_each(|word| found(hash(word), begin));
            });
            at = (begin + length).max(hit + 1);
        }
    }

    /// Calls `found` for each term of a text with the byte offset of its identifier, in order; with its
    /// letters if it is wanted.
    pub(super) fn words(
        &mut self,
        text: &[u8],
        wanted: &impl Wanted,
        mut found: impl FnMut(Option<&[u8]>, usize),
    ) {
        let mut at = 0;
        while at < text.len() {
            if class_of(text[at]) == Class::Other {
                at += 1;
                continue;
            }
            at += self.identifier(&text[at..], wanted, |word| found(word, at));
        }
    }

    /// Calls `found` for each term of the identifier with which a text begins, its parts, and the whole
    /// if it has several, and returns its length.
    #[inline]
    fn identifier(
        &mut self,
        text: &[u8],
        wanted: &impl Wanted,
        mut found: impl FnMut(Option<&[u8]>),
    ) -> usize {
        let (mut at, mut parts) = (0, 0);
        let (mut whole_len, mut whole_head) = (0, Head::default());
        while let Some(&first) = text.get(at)
            && class_of(first) != Class::Other
        {
            if parts == MAX_PARTS {
                at += end_of(&text[at..], |class| class == Class::Other);
                break;
            }
            let part = &text[at..at + part_len(&text[at..])];
            at += part.len();
            if class_of(first) == Class::Joint {
                continue;
            }
            parts += 1;
            let head = Head::of(part);
            if whole_len < MAX_PART_BYTES {
                whole_head = whole_head.joined(whole_len, head);
                whole_len += part.len();
            }
            if part.len() <= MAX_PART_BYTES {
                let is_wanted = wanted.may_begin(head);
                found(if is_wanted { Some(self.stem(part.iter())) } else { None });
            }
        }
        if parts > 1 && whole_len <= MAX_PART_BYTES {
            let letters = text[..at].iter().filter(|&&byte| class_of(byte) != Class::Joint);
            let is_wanted = wanted.may_begin(whole_head);
            found(if is_wanted { Some(self.stem(letters.take(whole_len))) } else { None });
        }
        at
    }

    /// Returns a word in lower case without its ending.
    fn stem<'l>(&mut self, letters: impl Iterator<Item = &'l u8>) -> &[u8] {
        self.word.clear();
        self.word.extend(letters.map(u8::to_ascii_lowercase));
        stem(&mut self.word)
    }
}

/// Returns the length of a text before the first byte for whose class `ends` is true.
fn end_of(text: &[u8], ends: impl Fn(Class) -> bool) -> usize {
    text.iter().position(|&byte| ends(class_of(byte))).unwrap_or(text.len())
}

/// Returns the length of the first part of an identifier, or of the joints before it.
fn part_len(rest: &[u8]) -> usize {
    let run = |from: usize, class: Class| from + end_of(&rest[from..], |other| other != class);
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
fn stem(word: &mut Vec<u8>) -> &[u8] {
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

/// Returns a word in lower case without its ending, as the bytes of which [`hash`] makes its term.
pub(super) fn stem_of(word: &str) -> Vec<u8> {
    let mut word = word.as_bytes().to_vec();
    stem(&mut word);
    word
}

/// Returns a word in lower case without its ending.
pub(super) fn stemmed(word: &str) -> String {
    String::from_utf8_lossy(&stem_of(word)).into_owned()
}
