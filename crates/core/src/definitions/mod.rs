//! The definitions of a source text: functions, types, constants, headings, keys.
//!
//! A lexer ([`lexer`]), with a lexicon for each language, leaves out comments and strings and pairs the
//! brackets. A walker then looks at the beginning of each statement: [`braces`] for languages with
//! `{}`, [`indented`] for Python, [`ended`] for languages that close with `end`, [`flat`] for texts
//! whose lines say everything. The rules of a language are a table ([`rules`]).
//!
//! The answer is what a parser would say of ordinary code; `test/deep/outline.mjs` compares it
//! with tree-sitter's. It is no parser: code that macros build, and conditional branches of the C
//! preprocessor that open different brackets, can be missed.
//!
//! Time is linear in the text, whatever it is, and nothing recurses. What looks ahead counts: tokens
//! by [`tokens::Tokens::skip`], bytes by [`tokens::Tokens::waste`]. Where a text has used up its
//! share, which ordinary code does not, definitions are missed. A text of more than [`MAX_BYTES`] has
//! none.

mod braces;
mod ended;
mod flat;
mod form;
mod found;
mod indented;
mod language;
mod lexer;
mod literals;
mod outline;
mod rules;
mod tokens;

pub use language::{Language, language_of, language_of_shebang};
pub use outline::{Outline, OutlineEntry, outline};

use std::ops::Range;

/// The largest text whose definitions are found, in bytes. Larger ones are generated or data.
pub const MAX_BYTES: usize = 16 << 20;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// The kind of a definition.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Kind {
            $($(#[$doc])* $name,)*
        }

        impl Kind {
            /// All kinds, by their numbers.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Returns the word for the kind.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }
        }
    };
}

kinds! {
    /// A function outside a type.
    Function = "function",
    /// A function of a type.
    Method = "method",
    /// A class, object or actor.
    Class = "class",
    /// A struct, union or record.
    Struct = "struct",
    /// An enumeration.
    Enum = "enum",
    /// An interface or protocol.
    Interface = "interface",
    /// A trait or mixin.
    Trait = "trait",
    /// Members of a type that is defined elsewhere: `impl`, `extension`. Its name is the type's.
    Implementation = "impl",
    /// A type that names others: an alias, a union of types.
    Type = "type",
    /// A module, namespace or package.
    Module = "module",
    /// A constant at the top level of a file or module.
    Constant = "constant",
    /// A variable at the top level of a file or module.
    Variable = "variable",
    /// A macro.
    Macro = "macro",
    /// A heading, or the section of a configuration file.
    Section = "section",
    /// A key of a data or configuration file.
    Key = "key",
}

/// A definition in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The kind.
    pub kind: Kind,
    /// The name: a range of bytes of the text. It lies on the lines of the definition.
    pub name: Range<usize>,
    /// The first line, from 1, without decorators, attributes and comments above.
    pub start_line: u32,
    /// The last line, inclusive.
    pub end_line: u32,
    /// The first line with the decorators, attributes and comments directly above; `start_line`
    /// where there are none.
    pub lead_line: u32,
    /// Whether its first and last line hold nothing else, so that they can be replaced as a whole:
    /// blanks, `;`, `,` and a comment to the end of the line aside.
    pub owns_lines: bool,
    /// The index of the definition around this one, in the same list; always smaller than its own.
    pub parent: Option<u32>,
}

/// Returns the definitions of a text by their first line, an outer one before those inside.
pub fn definitions(language: Language, text: &[u8]) -> Vec<Definition> {
    if text.len() > MAX_BYTES {
        return Vec::new();
    }
    rules::find(language, text)
}

#[cfg(test)]
mod tests;
