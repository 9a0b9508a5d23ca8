//! Detects the encodings of Japanese, Chinese and Korean (CJK) texts in clear cases.
//!
//! Letter statistics for all languages cost more than all other checks of a file. The beginning of
//! most CJK texts is enough: decoded in its own encoding it consists of the most frequent
//! characters of the language, and decoded in any other it does not. All other cases are left to
//! statistics.

use encoding_rs::{BIG5, DecoderResult, EUC_JP, EUC_KR, Encoding, GB18030, SHIFT_JIS};

use super::ideographs::{CJK_PUNCTUATION, FREQUENT_HANZI, is_ideograph};

/// The number of bytes that are inspected, from the first non-ASCII byte on.
const MAX_SAMPLED_BYTES: usize = 160;
/// The minimum number of non-ASCII characters for a certain result.
const MIN_NON_ASCII_CHARS: usize = 12;

/// Returns the encoding if exactly one candidate is certain. `bytes` must begin with a non-ASCII
/// character.
pub(super) fn detect_certain_cjk(bytes: &[u8]) -> Option<&'static Encoding> {
    let window = &bytes[..bytes.len().min(MAX_SAMPLED_BYTES)];
    let high = window.iter().filter(|byte| !byte.is_ascii()).count();
    if high < MIN_NON_ASCII_CHARS || high * 3 < window.len() {
        return None; // few letters among many of ASCII: an alphabet
    }
    let candidates = [EUC_KR, EUC_JP, SHIFT_JIS, BIG5, GB18030];
    let mut sure = candidates.into_iter().filter(|encoding| {
        ScriptCounts::of(encoding, window).is_some_and(|reading| reading.is_certain(encoding))
    });
    let found = sure.next()?;
    sure.next().is_none().then_some(found)
}

/// The numbers of non-ASCII characters of a decoded sample, by script.
#[derive(Default)]
struct ScriptCounts {
    /// All non-ASCII characters.
    all: usize,
    /// Punctuation of CJK texts ([`CJK_PUNCTUATION`]).
    stops: usize,
    hiragana: usize,
    katakana: usize,
    ideographs: usize,
    /// Ideographs that are frequent in Chinese.
    frequent_hanzi: usize,
    hangul: usize,
    /// Hangul syllables that are frequent in Korean.
    frequent_hangul: usize,
}

/// The most frequent Hangul syllables, which make up half of any Korean text.
static FREQUENT_HANGUL: [u16; 44] = code_points(
    "이다는에의을고하가지도로사리기나자시어은를서해한그것인으들수있스라대아전정일보니만주구장",
);

/// Returns the code points of a text whose characters all have three bytes in UTF-8.
const fn code_points<const N: usize>(text: &str) -> [u16; N] {
    let bytes = text.as_bytes();
    let mut units = [0; N];
    let mut at = 0;
    while at < N {
        let (first, second, third) = (bytes[3 * at], bytes[3 * at + 1], bytes[3 * at + 2]);
        units[at] = (first as u16 & 0xf) << 12 | (second as u16 & 0x3f) << 6 | third as u16 & 0x3f;
        at += 1;
    }
    units
}

impl ScriptCounts {
    /// Counts the characters of the bytes decoded in an encoding; `None` if they are not valid in
    /// it.
    fn of(encoding: &'static Encoding, window: &[u8]) -> Option<Self> {
        let mut decoder = encoding.new_decoder_without_bom_handling();
        let mut units = [0; MAX_SAMPLED_BYTES + 8];
        // The decoder is not told that the input ends, so that a character cut off by the end of
        // the sample is no error.
        let (result, _, made) =
            decoder.decode_to_utf16_without_replacement(window, &mut units, false);
        if result != DecoderResult::InputEmpty {
            return None;
        }
        let mut reading = Self::default();
        for &unit in units[..made].iter().filter(|&&unit| unit >= 0x80) {
            reading.count_char(unit);
        }
        Some(reading)
    }

    fn count_char(&mut self, unit: u16) {
        self.all += 1;
        let c = u32::from(unit);
        match c {
            0x3041..=0x3096 => self.hiragana += 1,
            0x30a1..=0x30fe => self.katakana += 1,
            0xac00..=0xd7a3 => {
                self.hangul += 1;
                self.frequent_hangul += usize::from(FREQUENT_HANGUL.contains(&unit));
            }
            _ if is_ideograph(c) => {
                self.ideographs += 1;
                self.frequent_hanzi += usize::from(FREQUENT_HANZI.has(c));
            }
            _ => {
                let stop = char::from_u32(c).is_some_and(|c| CJK_PUNCTUATION.contains(c));
                self.stops += usize::from(stop);
            }
        }
    }

    /// Returns true if the counts fit a text in the language of the encoding, and hardly any other.
    fn is_certain(&self, encoding: &'static Encoding) -> bool {
        let words = self.all - self.stops;
        if words < MIN_NON_ASCII_CHARS {
            return false;
        }
        if encoding == EUC_KR {
            return self.hangul * 10 >= words * 9 && self.frequent_hangul * 10 >= words * 3;
        }
        let kana = self.hiragana + self.katakana;
        if encoding == EUC_JP || encoding == SHIFT_JIS {
            return kana + self.ideographs == words && self.hiragana * 10 >= words * 3;
        }
        kana == 0 && self.ideographs * 10 >= words * 9 && self.frequent_hanzi * 20 >= words * 9
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::{IBM866, KOI8_R, WINDOWS_874, WINDOWS_1251, WINDOWS_1252, WINDOWS_1253};
    use proptest::prelude::*;

    use super::*;

    const JAPANESE: &str = "ファイルを読み込めませんでした。もう一度やり直してください。";
    const SIMPLIFIED: &str = "如果没有这个文件，就不能开始工作，请先看一下说明再用。";
    const TRADITIONAL: &str = "如果沒有這個檔案，就不能開始工作，請先看一下說明再用。";
    const KOREAN: &str = "파일을 읽을 수 없습니다. 다시 한 번 시도해 주시기 바랍니다.";
    const RUSSIAN: &str = "не удалось прочитать файл, попробуйте ещё раз позже";

    fn told(text: &str, encoding: &'static Encoding) -> Option<&'static str> {
        let (bytes, _, lost) = encoding.encode(text);
        assert!(!lost, "{text} is not all in {}", encoding.name());
        let first = bytes.iter().position(|byte| !byte.is_ascii()).unwrap();
        detect_certain_cjk(&bytes[first..]).map(Encoding::name)
    }

    #[test]
    fn cjk_texts_are_certain() {
        for (text, encoding) in [
            (JAPANESE, EUC_JP),
            (JAPANESE, SHIFT_JIS),
            (SIMPLIFIED, GB18030),
            (TRADITIONAL, GB18030),
            (TRADITIONAL, BIG5),
            (KOREAN, EUC_KR),
        ] {
            let line = format!("// {text}\n");
            for whole in [text.to_owned(), line.clone(), line.repeat(40)] {
                assert_eq!(told(&whole, encoding), Some(encoding.name()), "{text}");
            }
        }
    }

    #[test]
    fn alphabets_and_short_texts_are_left_to_statistics() {
        for (text, encoding) in [
            (RUSSIAN, WINDOWS_1251),
            (RUSSIAN, KOI8_R),
            (RUSSIAN, IBM866),
            ("το αρχείο δεν διαβάζεται, δοκιμάστε ξανά αργότερα", WINDOWS_1253),
            ("อ่านไฟล์ไม่ได้ กรุณาลองใหม่อีกครั้งในภายหลัง", WINDOWS_874),
            ("déjà vu à l’été où l’élève a été gêné", WINDOWS_1252),
            ("ÄÖÜäöüßÄÖÜäöüßÄÖÜäöüß", WINDOWS_1252),
            ("这是文件", GB18030),
            ("日本語", SHIFT_JIS),
        ] {
            for whole in [text.to_owned(), text.to_uppercase()] {
                let (_, _, lost) = encoding.encode(&whole);
                if !lost {
                    assert_eq!(told(&whole, encoding), None, "{whole} in {}", encoding.name());
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_have_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            if let Some(encoding) = detect_certain_cjk(&bytes) {
                let window = &bytes[..bytes.len().min(MAX_SAMPLED_BYTES)];
                prop_assert!(ScriptCounts::of(encoding, window).is_some());
            }
        }
    }
}
