//! Guesses a legacy encoding in a build without tables of encodings: the host decodes a sample in
//! each candidate, and the encoding whose text is most like a language is chosen.
//!
//! Words of one script with usual capitalisation and frequent letters raise a candidate's score;
//! symbols inside words and rare characters lower it.

use super::ideographs::{CJK_PUNCTUATION, FREQUENT_HANZI, FREQUENT_KANJI, is_ideograph};
use super::platform::Platform;

/// The encoding that is assumed if no candidate scores more than [`MIN_SCORE`].
const FALLBACK_ENCODING: &str = "windows-1252";
/// The score that a candidate must exceed, because a few random bytes can reach it by chance.
const MIN_SCORE: f64 = 0.5;

/// Returns the name of the most likely encoding of a sample with non-ASCII bytes.
pub(super) fn guess(platform: &Platform, sample: &[u8]) -> &'static str {
    let mut best = (FALLBACK_ENCODING, MIN_SCORE);
    // Languages of one encoding are adjacent in the list, so its characters are fetched once.
    let mut code_page: Option<(&str, Option<CodePage>)> = None;
    for (names, letters) in ENCODING_CANDIDATES {
        for &name in *names {
            let points = match letters {
                Letters::Asian(script) => score_cjk(platform, name, *script, sample),
                Letters::NonLatin(_) | Letters::Latin(..) => {
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

/// The letters of the language of a candidate.
#[derive(Clone, Copy)]
enum Letters {
    /// A language that is recognised by its script, such as Japanese.
    Asian(Script),
    /// The letters of an alphabet other than Latin, whose words contain no ASCII; frequent letters
    /// first.
    NonLatin(&'static str),
    /// The non-ASCII letters of an extended Latin alphabet, and the score of each.
    Latin(&'static str, f64),
}

/// The script of an Asian language.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
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

/// Encodings, by their names, and the letters of a language written in them.
type EncodingCandidate = (&'static [&'static str], Letters);

const ENCODING_CANDIDATES: &[EncodingCandidate] = &[
    (&["windows-1252"], Letters::Latin("éèêëàâäáãåçùûüúôöóõòîïíìñßøæœ", 0.7)),
    (&["shift_jis", "euc-jp"], Letters::Asian(Script::Japanese)),
    (&["gb18030", "big5"], Letters::Asian(Script::Chinese)),
    (&["euc-kr"], Letters::Asian(Script::Korean)),
    (&["windows-1251", "koi8-u", "ibm866", "iso-8859-5"], Letters::NonLatin(CYRILLIC_LETTERS)),
    (&["windows-1251", "iso-8859-5"], Letters::NonLatin(SERBIAN_LETTERS)),
    (&["windows-1252"], Letters::Latin("éàèêçùâîôûëïœæ", 1.0)),
    (&["windows-1252"], Letters::Latin("äüöß", 1.0)),
    (&["windows-1252"], Letters::Latin("óáíéñúü", 1.0)),
    (&["windows-1252"], Letters::Latin("ãçáéíóêõâúàô", 1.0)),
    (&["windows-1252"], Letters::Latin("àèùòéì", 1.0)),
    (&["windows-1252"], Letters::Latin("åäöéæø", 1.0)),
    (&["windows-1252"], Letters::Latin("íáðóþúæéöý", 1.0)),
    (&["windows-1252"], Letters::Latin("éëïèöü", 1.0)),
    (&["windows-1250"], Letters::Latin("łęóąśżćńź", 1.0)),
    (&["windows-1250"], Letters::Latin("íáěéřčžýšůúňťóďľĺŕôä", 1.0)),
    (&["windows-1250"], Letters::Latin("áéöóőüíúű", 1.0)),
    (&["windows-1250"], Letters::Latin("ăîşâţ", 1.0)),
    (&["windows-1250"], Letters::Latin("čšžćđ", 1.0)),
    (&["iso-8859-2"], Letters::Latin("łęóąśżćńź", 1.0)),
    (&["iso-8859-2"], Letters::Latin("íáěéřčžýšůúňťóďľĺŕôä", 1.0)),
    (&["iso-8859-2"], Letters::Latin("áéöóőüíúű", 1.0)),
    (&["iso-8859-2"], Letters::Latin("ăîşâţ", 1.0)),
    (&["iso-8859-2"], Letters::Latin("čšžćđ", 1.0)),
    (&["windows-1254"], Letters::Latin("ışüöçğİâî", 1.0)),
    (&["windows-1257"], Letters::Latin("ėšįųžąūčę", 1.0)),
    (&["windows-1257"], Letters::Latin("āīēūņšļģķžč", 1.0)),
    (&["windows-1257"], Letters::Latin("äõüöšž", 1.0)),
    (&["windows-1253", "iso-8859-7"], Letters::NonLatin(GREEK_LETTERS)),
    (&["windows-1255"], Letters::NonLatin(HEBREW_LETTERS)),
    (&["windows-1256", "iso-8859-6"], Letters::NonLatin(ARABIC_LETTERS)),
    (&["windows-874"], Letters::NonLatin(THAI_LETTERS)),
];

/// Signs beyond ASCII that are usual between words.
const COMMON_SIGNS: &str = "«»„“”’‘–—…°§€·•№©®£¿¡\u{a0}";

/// Returns the score of an encoding of Chinese, Japanese or Korean (CJK); `None` if the bytes are
/// invalid in it or the host does not have it.
fn score_cjk(platform: &Platform, name: &str, script: Script, sample: &[u8]) -> Option<f64> {
    (platform.find)(name)?;
    // Checked as incomplete, so that a character cut off by the end of the sample is valid.
    if !(platform.fits)(name, sample, false) {
        return None;
    }
    let text = (platform.decode)(name, sample);
    let text = text.strip_suffix(char::REPLACEMENT_CHARACTER).unwrap_or(&text);
    let frequent = if script == Script::Japanese { &FREQUENT_KANJI } else { &FREQUENT_HANZI };
    let points: f64 = text
        .chars()
        .filter(|c| !c.is_ascii())
        .map(|c| match is_ideograph(c as u32) {
            true => match script {
                Script::Japanese if frequent.has(c as u32) => 2.0,
                Script::Chinese if frequent.has(c as u32) => 2.5,
                Script::Korean => -1.0,
                _ => 0.1,
            },
            false if CJK_PUNCTUATION.contains(c) => 1.0,
            false => match (script, c) {
                (Script::Japanese, '\u{3041}'..='\u{3096}') => 1.8,
                (Script::Japanese, '\u{30a1}'..='\u{30fe}') => 1.3,
                (Script::Japanese, '\u{ff61}'..='\u{ff9f}') => -1.0,
                (Script::Korean, '\u{ac00}'..='\u{d7a3}') => 1.4,
                (Script::Chinese, '\u{3041}'..='\u{30fe}') => -0.5,
                (Script::Chinese, _) => -1.0,
                _ => -0.5,
            },
        })
        .sum();
    // A CJK character is as much evidence as two letters of an alphabet.
    Some(1.6 * points)
}

/// The classes of characters, as bits.
const LETTER_CLASS: u8 = 1;
const LOWER_CLASS: u8 = 2;
const UPPER_CLASS: u8 = 4;
/// A sign that is unusual inside a word.
const SYMBOL_CLASS: u8 = 8;
/// A byte without a character.
const INVALID_CLASS: u8 = 16;

/// The 256 characters of a single-byte encoding, and for each its classes as a sum of the bits
/// above.
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
        let classes = characters.iter().map(|&c| class_of(c)).collect();
        Some(Self { characters, classes })
    }

    /// Returns the score of a language in this encoding; `None` if the bytes are invalid.
    fn score_language(&self, letters: &Letters, sample: &[u8]) -> Option<f64> {
        let own = matches!(letters, Letters::NonLatin(_));
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
                points += pair_score(self.classes[usize::from(before)], class, crossing && own);
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

/// Returns the classes of a character as a sum of the bits above.
fn class_of(c: char) -> u8 {
    if c == char::REPLACEMENT_CHARACTER {
        return INVALID_CLASS;
    }
    if is_letter(c) {
        // These signs count as lower case in Unicode, but are no letters of words.
        let lower = c.is_lowercase() && !matches!(c, 'ª' | 'º' | '\u{37a}');
        return LETTER_CLASS
            + if lower { LOWER_CLASS } else { 0 }
            + if c.is_uppercase() { UPPER_CLASS } else { 0 };
    }
    if c > '\u{9f}' && !COMMON_SIGNS.contains(c) { SYMBOL_CLASS } else { 0 }
}

/// Returns the score of a non-ASCII character as evidence for a language.
fn letter_score(c: char, letters: &Letters) -> f64 {
    let (known, own, most) = match letters {
        Letters::NonLatin(known) => (*known, true, 1.4),
        Letters::Latin(known, most) => (*known, false, *most),
        Letters::Asian(_) => return 0.0,
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
fn pair_score(first: u8, second: u8, foreign: bool) -> f64 {
    if first & second & LETTER_CLASS != 0 {
        let odd = foreign || first & LOWER_CLASS != 0 && second & UPPER_CLASS != 0;
        return if odd { -1.5 } else { 0.3 };
    }
    // A symbol inside or adjacent to a word.
    let against = |one: u8, other: u8| one & LETTER_CLASS != 0 && other & SYMBOL_CLASS != 0;
    if against(first, second) || against(second, first) { -0.8 } else { 0.0 }
}
