//! The form of the rules of a language with braces.

use super::Kind;
use super::lexer::Lexicon;

/// What follows a word that defines something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A name, then a body in braces, or the end of the statement.
    Body,
    /// A name, then anything to the end of the statement. Counts outside functions only.
    Value,
    /// A name, then a body in braces or an expression after `=`.
    Either,
    /// The word is itself the name: `init`, `constructor`.
    Named,
    /// A type of C: a name, then a body or the types that it extends; anything else only uses it.
    Tagged,
    /// `func (receiver) name`, and groups of declarations in parentheses.
    Go,
    /// A type whose members follow.
    Members,
}

/// What begins an attribute or decorator before a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// There are none.
    None,
    /// `@name(…)`.
    At,
    /// `#[…]`.
    Hash,
    /// `[…]`, also `template <…>` of C++.
    Bracket,
}

/// The functions that no word introduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Callable {
    /// There are none.
    None,
    /// `name(…) { }` among the members of a class or an object.
    Member,
    /// `Type name(…) { }` or `;`.
    Typed,
    /// `name(…)` in an interface of Go.
    Interface,
    /// `name() { }` of a shell, `name <- function(…)` of R.
    Shell,
}

/// The rules of a language with braces.
#[derive(Debug)]
pub(super) struct Rules {
    /// How it is cut.
    pub lexicon: Lexicon,
    /// Whether the end of a line can end a statement.
    pub newline: bool,
    /// Words before the word that defines.
    pub modifiers: &'static [&'static str],
    /// The words that define something.
    pub words: &'static [(&'static str, Kind, Form)],
    /// Its attributes.
    pub mark: Mark,
    /// Its functions without a word.
    pub callable: Callable,
}
