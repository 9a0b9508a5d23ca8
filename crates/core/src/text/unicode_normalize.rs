//! Converts text to Unicode normal forms: by tables in native builds, by the host in WebAssembly,
//! because every JavaScript engine has `String.prototype.normalize`.
//!
//! The host may have another Unicode version. Only characters that were assigned in between can
//! differ.

use std::borrow::Cow;

/// The normal forms that this crate uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Canonical composition.
    Nfc,
    /// Compatibility composition.
    Nfkc,
}

#[cfg(not(feature = "normal-forms"))]
static HOST_NORMALIZE: std::sync::OnceLock<fn(&str, Form) -> String> = std::sync::OnceLock::new();

/// Registers the host's function; later calls have no effect. Without one, text is not normalised.
#[cfg(not(feature = "normal-forms"))]
pub fn use_host(normalise: fn(&str, Form) -> String) {
    let _ = HOST_NORMALIZE.set(normalise);
}

/// Returns the text in a normal form; borrowed if it certainly is in that form already.
pub fn to_normal_form(text: &str, form: Form) -> Cow<'_, str> {
    if text.chars().all(is_stable_when_composed) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(normalise(text, form))
    }
}

#[cfg(feature = "normal-forms")]
fn normalise(text: &str, form: Form) -> String {
    use unicode_normalization::UnicodeNormalization;
    match form {
        Form::Nfc => text.nfc().collect(),
        Form::Nfkc => text.nfkc().collect(),
    }
}

#[cfg(not(feature = "normal-forms"))]
fn normalise(text: &str, form: Form) -> String {
    HOST_NORMALIZE.get().map_or_else(|| text.to_owned(), |convert| convert(text, form))
}

/// Returns true if a character stays the same in every composed form, whatever its neighbours are:
/// true for the letters of most texts, false for every combining character.
fn is_stable_when_composed(c: char) -> bool {
    matches!(
        c,
        '\0'..='\u{9f}'
            | '\u{c0}'..='\u{131}'
            | '\u{391}'..='\u{3a1}'
            | '\u{3a3}'..='\u{3ce}'
            | '\u{400}'..='\u{481}'
            | '\u{5d0}'..='\u{5ea}'
            | '\u{621}'..='\u{64a}'
            | '\u{2010}'
            | '\u{2012}'..='\u{2016}'
            | '\u{2018}'..='\u{2023}'
            | '\u{2500}'..='\u{259f}'
            | '\u{3001}'..='\u{3020}'
            | '\u{3041}'..='\u{3096}'
            | '\u{30a1}'..='\u{30fe}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7a3}'
            | '\u{1f300}'..='\u{1f64f}'
    )
}

#[cfg(test)]
mod tests {
    use unicode_normalization::UnicodeNormalization;
    use unicode_normalization::{IsNormalized, is_nfc_quick, is_nfkc_quick};

    use super::{Form, is_stable_when_composed, to_normal_form};

    #[test]
    fn stable_characters_do_not_change() {
        let stable = ('\0'..=char::MAX).filter(|c| is_stable_when_composed(*c));
        for c in stable {
            assert_eq!(is_nfc_quick([c].into_iter()), IsNormalized::Yes, "{c:?}");
            assert_eq!(is_nfkc_quick([c].into_iter()), IsNormalized::Yes, "{c:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn the_short_cut_changes_nothing(text in "[\u{0}-\u{ffff}\u{300}\u{3099}\u{1100}e가カ]{0,8}") {
            assert_eq!(to_normal_form(&text, Form::Nfc), text.nfc().collect::<String>());
            assert_eq!(to_normal_form(&text, Form::Nfkc), text.nfkc().collect::<String>());
        }
    }
}
