//! The outline of a text: its definitions with their names and first lines, as they cross.

use super::{Definition, definitions, language_of, language_of_shebang};
use crate::text::{line_begin, prefix_of_chars};

/// The most characters of the line that shows a definition.
const SIGNATURE_CHARS: usize = 120;

crate::wire! {
    /// A definition as an outline shows it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct OutlineEntry {
        /// The word for the kind.
        pub kind: &'static str,
        /// The name.
        pub name: String,
        /// The line with the name, without indentation, opening brace and line end; at most 120
        /// characters.
        pub signature: String,
        /// The first line, from 1, without decorators, attributes and comments above.
        pub start_line: u64,
        /// The last line, inclusive.
        pub end_line: u64,
        /// The first line with the decorators, attributes and comments directly above.
        pub lead_line: u64,
        /// Whether its first and last line hold nothing else, so that they can be replaced as a
        /// whole.
        pub owns_lines: bool,
        /// The index of the definition around this one, or -1.
        pub parent: i64,
    }
}

crate::wire! {
    /// The definitions of a text.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Outline {
        /// Whether the language is known, by the name of the file or the first line.
        pub known: bool,
        /// The definitions by their first line, an outer one before those inside.
        pub definitions: Vec<OutlineEntry>,
    }
}

/// Returns the outline of a text in UTF-8. `name` is the name of its file.
pub fn outline(text: &[u8], name: &str) -> Outline {
    let Some(language) = language_of(name).or_else(|| language_of_shebang(text)) else {
        return Outline { known: false, definitions: Vec::new() };
    };
    let found = definitions(language, text);
    Outline { known: true, definitions: found.iter().map(|one| entry(text, one)).collect() }
}

fn entry(text: &[u8], one: &Definition) -> OutlineEntry {
    OutlineEntry {
        kind: one.kind.as_str(),
        name: String::from_utf8_lossy(&text[one.name.clone()]).into_owned(),
        signature: signature(text, one.name.start),
        start_line: one.start_line.into(),
        end_line: one.end_line.into(),
        lead_line: one.lead_line.into(),
        owns_lines: one.owns_lines,
        parent: one.parent.map_or(-1, i64::from),
    }
}

/// Returns the line around an offset, shortened. Of a long line it is the part from 200 bytes before.
fn signature(text: &[u8], at: usize) -> String {
    let window = at.saturating_sub(200);
    let begin = window + line_begin(&text[window..at], at - window);
    let rest = &text[begin..text.len().min(at + 4 * SIGNATURE_CHARS)];
    let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    let line = String::from_utf8_lossy(&rest[..end]);
    let shown = line.trim().trim_end_matches(['{', ' ']);
    let cut = prefix_of_chars(shown, SIGNATURE_CHARS);
    if cut.len() < shown.len() { format!("{cut}…") } else { cut.to_owned() }
}
