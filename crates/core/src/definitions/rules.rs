//! The rules of each language as tables: comments, literals, and the words that define something.

use super::braces;
use super::ended;
use super::flat;
use super::found::{self, Found};
use super::indented;
use super::lexer::{Lexicon, Tokens};
use super::literals::{Literal, Quote};
use super::{Definition, Kind, Language};

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
    /// `[…]`.
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

const C_BLOCK: Option<(&str, &str, bool)> = Some(("/*", "*/", false));
const NESTED_BLOCK: Option<(&str, &str, bool)> = Some(("/*", "*/", true));

const fn lexicon(
    line: &'static [&'static str],
    block: Option<(&'static str, &'static str, bool)>,
    literals: &'static [Literal],
) -> Lexicon {
    Lexicon { line, block, literals, word: b"", preprocessor: false }
}

static PYTHON: Lexicon = lexicon(
    &["#"],
    None,
    &[Quote::lines("\"\"\""), Quote::lines("'''"), Quote::line("\""), Quote::line("'")],
);

static RUST: Rules = Rules {
    lexicon: lexicon(
        &["//"],
        NESTED_BLOCK,
        &[Literal::RustRaw, Quote::lines("\""), Literal::RustChar],
    ),
    newline: false,
    modifiers: &["pub", "async", "unsafe", "extern", "default", "safe", "auto"],
    words: &[
        ("fn", Kind::Function, Form::Body),
        ("struct", Kind::Struct, Form::Body),
        ("union", Kind::Struct, Form::Body),
        ("enum", Kind::Enum, Form::Body),
        ("trait", Kind::Trait, Form::Body),
        ("mod", Kind::Module, Form::Body),
        ("impl", Kind::Implementation, Form::Members),
        ("type", Kind::Type, Form::Value),
        ("const", Kind::Constant, Form::Value),
        ("static", Kind::Variable, Form::Value),
        ("macro_rules", Kind::Macro, Form::Body),
        ("macro", Kind::Macro, Form::Body),
    ],
    mark: Mark::Hash,
    callable: Callable::None,
};

const SCRIPT_LITERALS: &[Literal] =
    &[Quote::line("\""), Literal::Apostrophe, Quote::with("`", true, "${"), Literal::Regex(false)];

const SCRIPT_MODIFIERS: &[&str] = &[
    "export",
    "default",
    "declare",
    "abstract",
    "async",
    "public",
    "private",
    "protected",
    "static",
    "readonly",
    "override",
    "get",
    "set",
    "accessor",
];

static SCRIPT: Rules = Rules {
    lexicon: Lexicon {
        line: &["//"],
        block: C_BLOCK,
        literals: SCRIPT_LITERALS,
        word: b"$",
        preprocessor: false,
    },
    newline: true,
    modifiers: SCRIPT_MODIFIERS,
    words: &[
        ("function", Kind::Function, Form::Body),
        ("class", Kind::Class, Form::Body),
        ("const", Kind::Constant, Form::Value),
        ("let", Kind::Variable, Form::Value),
        ("var", Kind::Variable, Form::Value),
        ("interface", Kind::Interface, Form::Body),
        ("enum", Kind::Enum, Form::Body),
        ("namespace", Kind::Module, Form::Body),
        ("module", Kind::Module, Form::Body),
        ("type", Kind::Type, Form::Value),
    ],
    mark: Mark::At,
    callable: Callable::Member,
};

/// Finds the definitions of a text.
pub(super) fn find(language: Language, text: &[u8]) -> Vec<Definition> {
    match language {
        Language::Python => cut(text, &PYTHON, indented::walk),
        Language::Rust => with_braces(language, text, &RUST),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            with_braces(language, text, &SCRIPT)
        }
        _ => Vec::new(),
    }
}

fn cut(
    text: &[u8],
    lexicon: &Lexicon,
    walk: impl FnOnce(&Tokens<'_>) -> Vec<Found>,
) -> Vec<Definition> {
    let tokens = Tokens::new(text, lexicon);
    let found = walk(&tokens);
    found::finish(text, found, &tokens.comments)
}

fn with_braces(language: Language, text: &[u8], rules: &Rules) -> Vec<Definition> {
    cut(text, &rules.lexicon, |tokens| braces::walk(language, rules, tokens))
}
