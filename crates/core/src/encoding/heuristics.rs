//! Guesses a legacy encoding if the module carries no tables: the host decodes the sample with each
//! candidate, and the text that is most like a language wins.
//!
//! Words of one script with usual capitalisation and frequent letters raise a candidate's score;
//! symbols inside words and rare characters lower it.

use super::ideographs::{HANZI, KANJI, STOPS, is_ideograph};
use super::platform::Platform;

/// The encoding if no candidate scores better.
const LAST_RESORT: &str = "windows-1252";
/// The score that a few random bytes can reach by chance.
const MIN_SCORE: f64 = 0.5;

/// Returns the name of the most likely encoding of a sample with non-ASCII bytes.
pub(super) fn guess(platform: &Platform, sample: &[u8]) -> &'static str {
    let mut best = (LAST_RESORT, MIN_SCORE);
    // The languages of one encoding are adjacent, so that its characters are fetched once.
    let mut plane: Option<(&str, Option<Plane>)> = None;
    for (names, letters) in CANDIDATES {
        for &name in *names {
            let points = match letters {
                Letters::Asian(script) => asian(platform, name, *script, sample),
                Letters::Own(_) | Letters::Latin(..) => {
                    if plane.as_ref().is_none_or(|(known, _)| *known != name) {
                        plane = Some((name, Plane::of(platform, name)));
                    }
                    let known = plane.as_ref().and_then(|(_, plane)| plane.as_ref());
                    known.and_then(|plane| plane.score(letters, sample))
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

/// The characters by which a candidate is recognised.
#[derive(Clone, Copy)]
enum Letters {
    /// By its script.
    Asian(Script),
    /// By the letters of a separate alphabet, whose words contain no ASCII; frequent letters first.
    Own(&'static str),
    /// By the non-ASCII letters of an extended Latin alphabet, and the score of each.
    Latin(&'static str, f64),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Japanese,
    Chinese,
    Korean,
}

const CYRILLIC: &str = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъёіїєґ";
const SERBIAN: &str = "аоеинрсјтвукдмлпгзбшчжцхњћљђфџќѓѕ";
const GREEK: &str = "αοιετσνηυρπκμλςδγάίόχήέύφωθβώξζψϊϋΐΰ";
const HEBREW: &str = "יוהלאמתרבשנדעחקפםטצגכסןזךףץ";
const ARABIC: &str = "الينمترودبسعفهكحقجةىصشطأخضثإءذغظؤئآ";
const THAI: &str = "านรอกเงมยลวดทสตะปบคหแจพชขใไโผซถธศณฉภษฐฟญฮฝ่้็ัิีืุู์ำ";

type EncodingCandidate = (&'static [&'static str], Letters);

const CANDIDATES: &[EncodingCandidate] = &[
    (&["windows-1252"], Letters::Latin("éèêëàâäáãåçùûüúôöóõòîïíìñßøæœ", 0.7)),
    (&["shift_jis", "euc-jp"], Letters::Asian(Script::Japanese)),
    (&["gb18030", "big5"], Letters::Asian(Script::Chinese)),
    (&["euc-kr"], Letters::Asian(Script::Korean)),
    (&["windows-1251", "koi8-u", "ibm866", "iso-8859-5"], Letters::Own(CYRILLIC)),
    (&["windows-1251", "iso-8859-5"], Letters::Own(SERBIAN)),
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
    (&["windows-1253", "iso-8859-7"], Letters::Own(GREEK)),
    (&["windows-1255"], Letters::Own(HEBREW)),
    (&["windows-1256", "iso-8859-6"], Letters::Own(ARABIC)),
    (&["windows-874"], Letters::Own(THAI)),
];

const QUOTES: &str = "«»„“”’‘–—…°§€·•№©®£¿¡\u{a0}";

/// Scores a CJK encoding; returns `None` if the bytes are invalid in it or the host lacks it.
fn asian(platform: &Platform, name: &str, script: Script, sample: &[u8]) -> Option<f64> {
    (platform.find)(name)?;
    // Checks as a stream, so that a character cut by the end of the sample is no error.
    if !(platform.fits)(name, sample, false) {
        return None;
    }
    let text = (platform.decode)(name, sample);
    let text = text.strip_suffix(char::REPLACEMENT_CHARACTER).unwrap_or(&text);
    let frequent = if script == Script::Japanese { &KANJI } else { &HANZI };
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
            false if STOPS.contains(c) => 1.0,
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
    // A character here carries as much information as two letters of an alphabet.
    Some(1.6 * points)
}

const LETTER: u8 = 1;
const LOWER: u8 = 2;
const UPPER: u8 = 4;
/// Neither letter, quote nor control: unusual inside a word.
const SYMBOL: u8 = 8;
const INVALID: u8 = 16;

/// The characters of a single-byte encoding, and for each the sum of the class constants above.
struct Plane {
    characters: Vec<char>,
    classes: Vec<u8>,
}

impl Plane {
    /// Returns `None` if the host lacks the encoding.
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

    /// Scores a language; returns `None` if the bytes are invalid in the encoding.
    fn score(&self, letters: &Letters, sample: &[u8]) -> Option<f64> {
        let own = matches!(letters, Letters::Own(_));
        let mut weights = [None; 256];
        let mut points = 0.0;
        let mut before = b' ';
        for &byte in sample {
            let (class, beyond) = (self.classes[usize::from(byte)], byte >= 0x80);
            if beyond {
                if class == INVALID {
                    return None;
                }
                let weight = &mut weights[usize::from(byte)];
                points += *weight.get_or_insert_with(|| {
                    letter_score(self.characters[usize::from(byte)], letters)
                });
            }
            if beyond || before >= 0x80 {
                let crossing = beyond != (before >= 0x80);
                points += pair(self.classes[usize::from(before)], class, crossing && own);
            }
            before = byte;
        }
        Some(points)
    }
}

/// Matches letters, but not the marks that combine with them.
fn is_letter(c: char) -> bool {
    let mark = matches!(c, '\u{5b0}'..='\u{5c7}' | '\u{64b}'..='\u{65f}' | '\u{670}')
        || matches!(c, '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e4d}');
    c.is_alphabetic() && !mark
}

fn class_of(c: char) -> u8 {
    if c == char::REPLACEMENT_CHARACTER {
        return INVALID;
    }
    if is_letter(c) {
        // These are lower-case in appearance only.
        let lower = c.is_lowercase() && !matches!(c, 'ª' | 'º' | '\u{37a}');
        return LETTER + if lower { LOWER } else { 0 } + if c.is_uppercase() { UPPER } else { 0 };
    }
    if c > '\u{9f}' && !QUOTES.contains(c) { SYMBOL } else { 0 }
}

/// Scores a non-ASCII character as evidence for a language.
fn letter_score(c: char, letters: &Letters) -> f64 {
    let (known, own, most) = match letters {
        Letters::Own(known) => (*known, true, 1.4),
        Letters::Latin(known, most) => (*known, false, *most),
        Letters::Asian(_) => return 0.0,
    };
    if let Some(rank) = known.chars().position(|letter| letter == c) {
        // In a separate alphabet, a wrong decoding has all the letters too, but in other
        // proportions.
        let count = known.chars().count();
        return if own { most - 0.8 * rank as f64 / count as f64 } else { most };
    }
    if is_letter(c) {
        let mut small = c.to_lowercase();
        let small = if small.len() == 1 { small.next() } else { None };
        return if small.is_some_and(|small| known.contains(small)) { 0.6 } else { -0.8 };
    }
    match c {
        _ if QUOTES.contains(c) => 0.2,
        ..'\u{a0}' => -4.0,
        _ => -1.5,
    }
}

/// Scores two adjacent characters by their classes; at least one is not ASCII.
fn pair(first: u8, second: u8, foreign: bool) -> f64 {
    if first & second & LETTER != 0 {
        let odd = foreign || first & LOWER != 0 && second & UPPER != 0;
        return if odd { -1.5 } else { 0.3 };
    }
    // A symbol inside or adjacent to a word.
    let against = |one: u8, other: u8| one & LETTER != 0 && other & SYMBOL != 0;
    if against(first, second) || against(second, first) { -0.8 } else { 0.0 }
}
