//! Names as forgiving volumes compare them.

/// Whether a case-folding, character-ignoring volume would take `name` for
/// `target` (ASCII, lower-case). Compares as APFS, HFS+ and ext4's casefold do
/// for these letters: letter case, the two letters that fold into ASCII, and
/// the code points that HFS+ ignores.
pub(super) fn folds_to(name: &[u8], target: &str) -> bool {
    if name.len() < target.len() {
        return false;
    }
    if name.is_ascii() {
        return name.eq_ignore_ascii_case(target.as_bytes());
    }
    let Ok(name) = std::str::from_utf8(name) else { return false };
    let folded = name.chars().filter(|c| !is_ignorable(*c)).map(|c| match c {
        '\u{017f}' => 's',
        '\u{212a}' => 'k',
        c => c.to_ascii_lowercase(),
    });
    folded.eq(target.chars())
}

fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}
