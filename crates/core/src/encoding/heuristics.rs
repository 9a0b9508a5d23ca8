//! Guesses a legacy encoding in a build without tables of encodings: the host decodes a sample in
//! each candidate, and the encoding whose text is most like a language is chosen.
//!
//! Words of one script with usual capitalisation and frequent letters raise a candidate's score;
//! symbols inside words and rare characters lower it.

use super::host::Platform;
use super::ideographs::{CJK_PUNCTUATION, FREQUENT_HANZI, FREQUENT_KANJI, is_ideograph};

/// The encoding that is assumed if no candidate scores more than [`MIN_GUESS_SCORE`].
const FALLBACK_ENCODING: &str = "windows-1252";
/// The score that a candidate must exceed, because a few random bytes can reach it by chance.
const MIN_GUESS_SCORE: f64 = 0.5;

/// Returns the name of the most likely encoding of a sample with non-ASCII bytes.
pub(super) fn guess_encoding(platform: &Platform, sample: &[u8]) -> &'static str {
    let mut best = (FALLBACK_ENCODING, MIN_GUESS_SCORE);
    // Languages of one encoding are adjacent in the list, so the characters of the encoding are
    // fetched once.
    let mut code_page: Option<(&str, Option<CodePage>)> = None;
    for (names, letters) in ENCODING_CANDIDATES {
        for &name in *names {
            let points = match letters {
                LanguageLetters::Asian(script) => score_cjk(platform, name, *script, sample),
                LanguageLetters::NonLatin(_) | LanguageLetters::Latin(..) => {
                    if code_page.as_ref().is_none_or(|(known, _)| *known != name) {
                        code_page = Some((name, CodePage::of(platform, name)));
                    }
                    let known = code_page.as_ref().and_then(|(_, code_page)| code_page.as_ref());
                    known.and_then(|code_page| code_page.score_language(letters, sample))
                }
            };
            if let Some(points) = points
                && points > best.1
            {
                best = (name, points);
            }
        }
    }
    best.0
}

#[derive(Clone, Copy)]
enum LanguageLetters {
    /// A language that is recognised by its script, such as Japanese.
    Asian(AsianScript),
    /// The letters of an alphabet other than Latin, whose words contain no ASCII; frequent letters
    /// first.
    NonLatin(&'static str),
    /// The non-ASCII letters of an extended Latin alphabet, and the score of each.
    Latin(&'static str, f64),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AsianScript {
    Japanese,
    Chinese,
    Korean,
}

/// The letters of Russian, Ukrainian and Belarusian, frequent ones first.
const CYRILLIC_LETTERS: &str = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъёіїєґ";
/// The letters of Serbian and Macedonian, frequent ones first.
const SERBIAN_LETTERS: &str = "аоеинрсјтвукдмлпгзбшчжцхњћљђфџќѓѕ";
const GREEK_LETTERS: &str = "αοιετσνηυρπκμλςδγάίόχήέύφωθβώξζψϊϋΐΰ";
const HEBREW_LETTERS: &str = "יוהלאמתרבשנדעחקפםטצגכסןזךףץ";
const ARABIC_LETTERS: &str = "الينمترودبسعفهكحقجةىصشطأخضثإءذغظؤئآ";
const THAI_LETTERS: &str = "านรอกเงมยลวดทสตะปบคหแจพชขใไโผซถธศณฉภษฐฟญฮฝ่้็ัิีืุู์ำ";

/// The names of encodings, and the letters of a language that is written in each of them.
type EncodingCandidate = (&'static [&'static str], LanguageLetters);

const ENCODING_CANDIDATES: &[EncodingCandidate] = &[
    (&["windows-1252"], LanguageLetters::Latin("éèêëàâäáãåçùûüúôöóõòîïíìñßøæœ", 0.7)),
    (&["shift_jis", "euc-jp"], LanguageLetters::Asian(AsianScript::Japanese)),
    (&["gb18030", "big5"], LanguageLetters::Asian(AsianScript::Chinese)),
    (&["euc-kr"], LanguageLetters::Asian(AsianScript::Korean)),
    (
        &["windows-1251", "koi8-u", "ibm866", "iso-8859-5"],
        LanguageLetters::NonLatin(CYRILLIC_LETTERS),
    ),
    (&["windows-1251", "iso-8859-5"], LanguageLetters::NonLatin(SERBIAN_LETTERS)),
    (&["windows-1252"], LanguageLetters::Latin("éàèêçùâîôûëïœæ", 1.0)),
    (&["windows-1252"], LanguageLetters::Latin("äüöß", 1.0)),
    (&["windows-1252"], LanguageLetters::Latin("óáíéñúü", 1.0)),
    (&["windows-1252"], LanguageLetters::Latin("ãçáéíóêõâúàô", 1.0)),
    (&["windows-1252"], LanguageLetters::Latin("àèùòéì", 1.0)),
    (&["windows-1252"], LanguageLetters::Latin("åäöéæø", 1.0)),
    (&["windows-1252"], LanguageLetters::Latin("íáðóþúæéöý", 1.0)),
    (&["windows-1252"], LanguageLetters::Latin("éëïèöü", 1.0)),
    (&["windows-1250"], LanguageLetters::Latin("łęóąśżćńź", 1.0)),
    (&["windows-1250"], LanguageLetters::Latin("íáěéřčžýšůúňťóďľĺŕôä", 1.0)),
    (&["windows-1250"], LanguageLetters::Latin("áéöóőüíúű", 1.0)),
    (&["windows-1250"], LanguageLetters::Latin("ăîşâţ", 1.0)),
    (&["windows-1250"], LanguageLetters::Latin("čšžćđ", 1.0)),
    (&["iso-8859-2"], LanguageLetters::Latin("łęóąśżćńź", 1.0)),
    (&["iso-8859-2"], LanguageLetters::Latin("íáěéřčžýšůúňťóďľĺŕôä", 1.0)),
    (&["iso-8859-2"], LanguageLetters::Latin("áéöóőüíúű", 1.0)),
    (&["iso-8859-2"], LanguageLetters::Latin("ăîşâţ", 1.0)),
    (&["iso-8859-2"], LanguageLetters::Latin("čšžćđ", 1.0)),
    (&["windows-1254"], LanguageLetters::Latin("ışüöçğİâî", 1.0)),
    (&["windows-1257"], LanguageLetters::Latin("ėšįųžąūčę", 1.0)),
    (&["windows-1257"], LanguageLetters::Latin("āīēūņšļģķžč", 1.0)),
    (&["windows-1257"], LanguageLetters::Latin("äõüöšž", 1.0)),
    (&["windows-1253", "iso-8859-7"], LanguageLetters::NonLatin(GREEK_LETTERS)),
    (&["windows-1255"], LanguageLetters::NonLatin(HEBREW_LETTERS)),
    (&["windows-1256", "iso-8859-6"], LanguageLetters::NonLatin(ARABIC_LETTERS)),
    (&["windows-874"], LanguageLetters::NonLatin(THAI_LETTERS)),
];

/// Signs beyond ASCII that are usual between words.
const COMMON_SIGNS: &str = "«»„“”’‘–—…°§€·•№©®£¿¡\u{a0}";

/// Returns the score of an encoding of Chinese, Japanese or Korean (CJK); `None` if the bytes are
/// invalid in it or the host does not have it.
fn score_cjk(platform: &Platform, name: &str, script: AsianScript, sample: &[u8]) -> Option<f64> {
    (platform.find)(name)?;
    // The sample is checked as incomplete, so that a character cut off by its end is valid.
    if !(platform.fits)(name, sample, false) {
        return None;
    }
    let text = (platform.decode)(name, sample);
    let text = text.strip_suffix(char::REPLACEMENT_CHARACTER).unwrap_or(&text);
    let frequent = if script == AsianScript::Japanese { &FREQUENT_KANJI } else { &FREQUENT_HANZI };
    let points: f64 = text
        .chars()
        .filter(|c| !c.is_ascii())
        .map(|c| match is_ideograph(c as u32) {
            true => match script {
                AsianScript::Japanese if frequent.has(c as u32) => 2.0,
                AsianScript::Chinese if frequent.has(c as u32) => 2.5,
                AsianScript::Korean => -1.0,
                _ => 0.1,
            },
            false if CJK_PUNCTUATION.contains(c) => 1.0,
            false => match (script, c) {
                (AsianScript::Japanese, '\u{3041}'..='\u{3096}') => 1.8,
                (AsianScript::Japanese, '\u{30a1}'..='\u{30fe}') => 1.3,
                (AsianScript::Japanese, '\u{ff61}'..='\u{ff9f}') => -1.0,
                (AsianScript::Korean, '\u{ac00}'..='\u{d7a3}') => 1.4,
                (AsianScript::Chinese, '\u{3041}'..='\u{30fe}') => -0.5,
                (AsianScript::Chinese, _) => -1.0,
                _ => -0.5,
            },
        })
        .sum();
    // A CJK character is as much evidence as two letters of an alphabet.
    Some(1.6 * points)
}

/// The classes of characters, one bit each.
const LETTER_CLASS: u8 = 1;
const LOWER_CLASS: u8 = 2;
const UPPER_CLASS: u8 = 4;
/// A sign that is unusual inside a word.
const SYMBOL_CLASS: u8 = 8;
/// A byte without a character.
const INVALID_CLASS: u8 = 16;

/// The 256 characters of a single-byte encoding, and the classes of each as a sum of bits such as
/// [`LETTER_CLASS`].
struct CodePage {
    characters: Vec<char>,
    classes: Vec<u8>,
}

impl CodePage {
    /// Decodes all bytes with the host; `None` if it does not have the encoding.
    fn of(platform: &Platform, name: &str) -> Option<Self> {
        (platform.find)(name)?;
        let upper: Vec<u8> = (0x80..=0xff).collect();
        let text = (platform.decode)(name, &upper);
        let characters: Vec<char> = (0..0x80).map(char::from).chain(text.chars()).collect();
        if characters.len() != 256 {
            return None;
        }
        let classes = characters.iter().map(|&c| char_classes(c)).collect();
        Some(Self { characters, classes })
    }

    /// Returns the score of a language in this encoding; `None` if the bytes are invalid.
    fn score_language(&self, letters: &LanguageLetters, sample: &[u8]) -> Option<f64> {
        let own = matches!(letters, LanguageLetters::NonLatin(_));
        let mut weights = [None; 256];
        let mut points = 0.0;
        let mut before = b' ';
        for &byte in sample {
            let (class, beyond) = (self.classes[usize::from(byte)], byte >= 0x80);
            if beyond {
                if class == INVALID_CLASS {
                    return None;
                }
                let weight = &mut weights[usize::from(byte)];
                points += *weight.get_or_insert_with(|| {
                    letter_score(self.characters[usize::from(byte)], letters)
                });
            }
            if beyond || before >= 0x80 {
                let crossing = beyond != (before >= 0x80);
                points +=
                    adjacent_chars_score(self.classes[usize::from(before)], class, crossing && own);
            }
            before = byte;
        }
        Some(points)
    }
}

/// Returns true for letters, but not for the marks that combine with them.
fn is_letter(c: char) -> bool {
    let mark = matches!(c, '\u{5b0}'..='\u{5c7}' | '\u{64b}'..='\u{65f}' | '\u{670}')
        || matches!(c, '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e4d}');
    c.is_alphabetic() && !mark
}

/// Returns the classes of a character as a sum of bits such as [`LETTER_CLASS`].
fn char_classes(c: char) -> u8 {
    if c == char::REPLACEMENT_CHARACTER {
        return INVALID_CLASS;
    }
    if is_letter(c) {
        // Unicode counts these signs as lower case, but they are no letters of words.
        let lower = c.is_lowercase() && !matches!(c, 'ª' | 'º' | '\u{37a}');
        return LETTER_CLASS
            + if lower { LOWER_CLASS } else { 0 }
            + if c.is_uppercase() { UPPER_CLASS } else { 0 };
    }
    if c > '\u{9f}' && !COMMON_SIGNS.contains(c) { SYMBOL_CLASS } else { 0 }
}

/// Returns the score of a non-ASCII character as evidence for a language.
fn letter_score(c: char, letters: &LanguageLetters) -> f64 {
    let (known, own, most) = match letters {
        LanguageLetters::NonLatin(known) => (*known, true, 1.4),
        LanguageLetters::Latin(known, most) => (*known, false, *most),
        LanguageLetters::Asian(_) => return 0.0,
    };
    if let Some(rank) = known.chars().position(|letter| letter == c) {
        // Decoded in a wrong encoding of the same alphabet, a text has all the letters too, but in
        // other proportions.
        let count = known.chars().count();
        return if own { most - 0.8 * rank as f64 / count as f64 } else { most };
    }
    if is_letter(c) {
        let mut small = c.to_lowercase();
        let small = if small.len() == 1 { small.next() } else { None };
        return if small.is_some_and(|small| known.contains(small)) { 0.6 } else { -0.8 };
    }
    match c {
        _ if COMMON_SIGNS.contains(c) => 0.2,
        ..'\u{a0}' => -4.0,
        _ => -1.5,
    }
}

/// Returns the score of two adjacent characters by their classes. `foreign` says that one of them
/// is ASCII in a language whose words contain none.
fn adjacent_chars_score(first: u8, second: u8, foreign: bool) -> f64 {
    if first & second & LETTER_CLASS != 0 {
        let odd = foreign || first & LOWER_CLASS != 0 && second & UPPER_CLASS != 0;
        return if odd { -1.5 } else { 0.3 };
    }
    // A symbol inside or adjacent to a word.
    let against = |one: u8, other: u8| one & LETTER_CLASS != 0 && other & SYMBOL_CLASS != 0;
    if against(first, second) || against(second, first) { -0.8 } else { 0.0 }
}
