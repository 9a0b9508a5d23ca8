//! The rules of each language as tables: comments, literals, and the words that define something.

use super::braces;
use super::ended;
use super::flat;
use super::form::{Callable, Form, Mark, Rules};
use super::found::{self, Found};
use super::indented;
use super::lexer::{self, Lexicon};
use super::literals::{Literal, Quote};
use super::tokens::Tokens;
use super::{Definition, Kind, Language};

const C_BLOCK: Option<(&str, &str, bool)> = Some(("/*", "*/", false));
const NESTED_BLOCK: Option<(&str, &str, bool)> = Some(("/*", "*/", true));

const fn lexicon(
    line: &'static [&'static str],
    block: Option<(&'static str, &'static str, bool)>,
    literals: &'static [Literal],
) -> Lexicon {
    Lexicon { line, block, literals, word: b"", preprocessor: false, attributes: false }
}

static PYTHON: Lexicon = lexicon(
    &["#"],
    None,
    &[Quote::lines("\"\"\""), Quote::lines("'''"), Quote::line("\""), Quote::line("'")],
);

static RUBY: Lexicon = Lexicon {
    line: &["#"],
    block: None,
    literals: &[
        Literal::Pod("=begin", "=end"),
        Literal::Pod("__END__", "\0"),
        Literal::Heredoc("<<"),
        Literal::Operator(&[
            ("%w", 1),
            ("%i", 1),
            ("%q", 1),
            ("%r", 1),
            ("%s", 1),
            ("%x", 1),
            ("%W", 1),
            ("%I", 1),
            ("%Q", 1),
        ]),
        Literal::Fixed("$'", 0),
        Literal::Fixed("$`", 0),
        Literal::Fixed("$\"", 0),
        Quote::with("\"", true, "#{"),
        Quote::with("`", true, "#{"),
        Quote::lines("'"),
        Literal::Regex(true),
    ],
    word: b"?!@$",
    preprocessor: false,
    attributes: false,
};

static LUA: Lexicon =
    lexicon(&["--"], None, &[Literal::LuaLong, Quote::line("\""), Quote::line("'")]);

static ELIXIR: Lexicon = Lexicon {
    line: &["#"],
    block: None,
    literals: &[
        Quote::with("\"\"\"", true, "#{"),
        Quote::lines("'''"),
        Literal::Operator(&[
            ("~r", 1),
            ("~s", 1),
            ("~w", 1),
            ("~c", 1),
            ("~D", 1),
            ("~T", 1),
            ("~U", 1),
            ("~S", 1),
            ("~R", 1),
            ("~W", 1),
        ]),
        Quote::with("\"", true, "#{"),
        Quote::lines("'"),
        Literal::Fixed("?", 1),
    ],
    word: b"?!@",
    preprocessor: false,
    attributes: false,
};

static SQL: Lexicon = lexicon(&["--"], C_BLOCK, &[Literal::DollarText, Quote::raw("'", "'")]);

static HASKELL: Lexicon = Lexicon {
    line: &["--"],
    block: Some(("{-", "-}", true)),
    literals: &[Quote::line("\""), Literal::RustChar],
    word: b"'",
    preprocessor: true,
    attributes: false,
};

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
        attributes: false,
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

const C_LITERALS: &[Literal] = &[Literal::CppRaw, Quote::line("\""), Literal::RustChar];

const C_LEXICON: Lexicon = Lexicon {
    line: &["//"],
    block: C_BLOCK,
    literals: C_LITERALS,
    word: b"$",
    preprocessor: true,
    attributes: false,
};

static C: Rules = Rules {
    lexicon: C_LEXICON,
    newline: false,
    modifiers: &[
        "static",
        "inline",
        "typedef",
        "extern",
        "constexpr",
        "consteval",
        "constinit",
        "virtual",
        "friend",
        "public",
        "private",
        "protected",
    ],
    words: &[
        ("struct", Kind::Struct, Form::Tagged),
        ("class", Kind::Class, Form::Tagged),
        ("union", Kind::Struct, Form::Tagged),
        ("enum", Kind::Enum, Form::Tagged),
        ("namespace", Kind::Module, Form::Body),
        ("concept", Kind::Type, Form::Value),
        ("using", Kind::Type, Form::Value),
    ],
    mark: Mark::Bracket,
    callable: Callable::Typed,
};

const JAVA_MODIFIERS: &[&str] = &[
    "public",
    "private",
    "protected",
    "static",
    "final",
    "abstract",
    "native",
    "synchronized",
    "strictfp",
    "transient",
    "volatile",
    "default",
    "sealed",
    "internal",
    "override",
    "virtual",
    "async",
    "partial",
    "readonly",
    "extern",
    "unsafe",
    "new",
    "ref",
    "required",
    "file",
    "external",
    "factory",
    "late",
    "const",
    "covariant",
    "base",
    "non",
];

static JAVA: Rules = Rules {
    lexicon: lexicon(
        &["//"],
        C_BLOCK,
        &[Quote::lines("\"\"\""), Quote::line("\""), Literal::RustChar],
    ),
    newline: false,
    modifiers: JAVA_MODIFIERS,
    words: &[
        ("class", Kind::Class, Form::Body),
        ("interface", Kind::Interface, Form::Body),
        ("enum", Kind::Enum, Form::Body),
        ("record", Kind::Struct, Form::Body),
    ],
    mark: Mark::At,
    callable: Callable::Typed,
};

static C_SHARP: Rules = Rules {
    lexicon: Lexicon {
        line: &["//"],
        block: C_BLOCK,
        literals: &[
            Quote::raw("\"\"\"", "\"\"\""),
            Quote::raw("$\"\"\"", "\"\"\""),
            Quote::raw("@\"", "\""),
            Quote::raw("$@\"", "\""),
            Quote::raw("@$\"", "\""),
            Literal::Text(Quote {
                open: "$\"",
                close: "\"",
                escape: b'\\',
                lines: false,
                hole: "{",
            }),
            Quote::line("\""),
            Quote::line("'"),
        ],
        word: b"",
        preprocessor: true,
        attributes: false,
    },
    newline: false,
    modifiers: JAVA_MODIFIERS,
    words: &[
        ("class", Kind::Class, Form::Body),
        ("interface", Kind::Interface, Form::Body),
        ("struct", Kind::Struct, Form::Body),
        ("enum", Kind::Enum, Form::Body),
        ("record", Kind::Struct, Form::Body),
        ("namespace", Kind::Module, Form::Body),
    ],
    mark: Mark::Bracket,
    callable: Callable::Typed,
};

static DART: Rules = Rules {
    lexicon: lexicon(
        &["//"],
        NESTED_BLOCK,
        &[
            Quote::raw("r\"\"\"", "\"\"\""),
            Quote::raw("r'''", "'''"),
            Quote::with("\"\"\"", true, "${"),
            Quote::with("'''", true, "${"),
            Quote::with("\"", false, "${"),
            Quote::with("'", false, "${"),
        ],
    ),
    newline: false,
    modifiers: JAVA_MODIFIERS,
    words: &[
        ("class", Kind::Class, Form::Body),
        ("mixin", Kind::Trait, Form::Body),
        ("enum", Kind::Enum, Form::Body),
        ("extension", Kind::Implementation, Form::Body),
        ("typedef", Kind::Type, Form::Value),
    ],
    mark: Mark::At,
    callable: Callable::Typed,
};

static GO: Rules = Rules {
    lexicon: lexicon(
        &["//"],
        C_BLOCK,
        &[Quote::line("\""), Quote::raw("`", "`"), Literal::RustChar],
    ),
    newline: true,
    modifiers: &[],
    words: &[
        ("func", Kind::Function, Form::Go),
        ("type", Kind::Type, Form::Go),
        ("const", Kind::Constant, Form::Go),
        ("var", Kind::Variable, Form::Go),
    ],
    mark: Mark::None,
    callable: Callable::Interface,
};

static PHP: Rules = Rules {
    lexicon: Lexicon {
        line: &["//", "#"],
        block: C_BLOCK,
        literals: &[
            Literal::Markup,
            Literal::Heredoc("<<<"),
            Quote::lines("\""),
            Quote::lines("'"),
        ],
        word: b"$",
        preprocessor: false,
        attributes: true,
    },
    newline: false,
    modifiers: &[
        "public",
        "private",
        "protected",
        "static",
        "final",
        "abstract",
        "readonly",
        "var",
    ],
    words: &[
        ("function", Kind::Function, Form::Body),
        ("class", Kind::Class, Form::Body),
        ("interface", Kind::Interface, Form::Body),
        ("trait", Kind::Trait, Form::Body),
        ("enum", Kind::Enum, Form::Body),
        ("namespace", Kind::Module, Form::Body),
        ("const", Kind::Constant, Form::Value),
    ],
    mark: Mark::Hash,
    callable: Callable::None,
};

static KOTLIN: Rules = Rules {
    lexicon: lexicon(
        &["//"],
        NESTED_BLOCK,
        &[
            Literal::Text(Quote {
                open: "\"\"\"",
                close: "\"\"\"",
                escape: 0,
                lines: true,
                hole: "${",
            }),
            Quote::with("\"", false, "${"),
            Literal::RustChar,
        ],
    ),
    newline: true,
    modifiers: &[
        "public",
        "private",
        "protected",
        "internal",
        "open",
        "abstract",
        "final",
        "sealed",
        "data",
        "inner",
        "value",
        "inline",
        "enum",
        "annotation",
        "override",
        "suspend",
        "tailrec",
        "operator",
        "infix",
        "external",
        "const",
        "lateinit",
        "expect",
        "actual",
        "companion",
        "noinline",
        "crossinline",
    ],
    words: &[
        ("fun", Kind::Function, Form::Either),
        ("class", Kind::Class, Form::Body),
        ("interface", Kind::Interface, Form::Body),
        ("object", Kind::Class, Form::Body),
        ("val", Kind::Constant, Form::Value),
        ("var", Kind::Variable, Form::Value),
        ("typealias", Kind::Type, Form::Value),
        ("constructor", Kind::Method, Form::Named),
    ],
    mark: Mark::At,
    callable: Callable::None,
};

static SCALA: Rules = Rules {
    lexicon: lexicon(
        &["//"],
        NESTED_BLOCK,
        &[
            Literal::Text(Quote {
                open: "\"\"\"",
                close: "\"\"\"",
                escape: 0,
                lines: true,
                hole: "${",
            }),
            Quote::with("\"", false, "${"),
            Quote::raw("`", "`"),
            Literal::RustChar,
        ],
    ),
    newline: true,
    modifiers: &[
        "private",
        "protected",
        "override",
        "final",
        "sealed",
        "abstract",
        "implicit",
        "lazy",
        "case",
        "inline",
        "open",
        "transparent",
        "opaque",
        "infix",
        "package",
    ],
    words: &[
        ("def", Kind::Function, Form::Either),
        ("class", Kind::Class, Form::Either),
        ("trait", Kind::Trait, Form::Either),
        ("object", Kind::Class, Form::Either),
        ("enum", Kind::Enum, Form::Either),
        ("type", Kind::Type, Form::Value),
        ("val", Kind::Constant, Form::Value),
        ("var", Kind::Variable, Form::Value),
    ],
    mark: Mark::At,
    callable: Callable::None,
};

static SWIFT: Rules = Rules {
    lexicon: lexicon(
        &["//"],
        NESTED_BLOCK,
        &[Literal::SwiftRaw, Quote::with("\"\"\"", true, "\\("), Quote::with("\"", false, "\\(")],
    ),
    newline: true,
    modifiers: &[
        "public",
        "private",
        "fileprivate",
        "internal",
        "open",
        "package",
        "static",
        "final",
        "override",
        "mutating",
        "nonmutating",
        "lazy",
        "weak",
        "unowned",
        "required",
        "convenience",
        "indirect",
        "dynamic",
        "optional",
        "nonisolated",
        "isolated",
        "distributed",
        "prefix",
        "postfix",
        "infix",
        "async",
    ],
    words: &[
        ("func", Kind::Function, Form::Body),
        ("class", Kind::Class, Form::Body),
        ("struct", Kind::Struct, Form::Body),
        ("enum", Kind::Enum, Form::Body),
        ("protocol", Kind::Interface, Form::Body),
        ("actor", Kind::Class, Form::Body),
        ("extension", Kind::Implementation, Form::Body),
        ("init", Kind::Method, Form::Named),
        ("deinit", Kind::Method, Form::Named),
        ("subscript", Kind::Method, Form::Named),
        ("typealias", Kind::Type, Form::Value),
        ("associatedtype", Kind::Type, Form::Value),
        ("let", Kind::Constant, Form::Value),
        ("var", Kind::Variable, Form::Value),
    ],
    mark: Mark::At,
    callable: Callable::None,
};

static ZIG: Rules = Rules {
    lexicon: lexicon(&["//"], None, &[Literal::ZigLine, Quote::line("\""), Literal::RustChar]),
    newline: false,
    modifiers: &["pub", "export", "extern", "inline", "noinline", "comptime", "threadlocal"],
    words: &[
        ("fn", Kind::Function, Form::Body),
        ("const", Kind::Constant, Form::Value),
        ("var", Kind::Variable, Form::Value),
    ],
    mark: Mark::None,
    callable: Callable::None,
};

static R: Rules = Rules {
    lexicon: Lexicon {
        line: &["#"],
        block: None,
        literals: &[Quote::lines("\""), Quote::lines("'"), Quote::raw("`", "`")],
        word: b".",
        preprocessor: false,
        attributes: false,
    },
    newline: true,
    modifiers: &[],
    words: &[],
    mark: Mark::None,
    callable: Callable::Shell,
};

static SHELL: Rules = Rules {
    lexicon: Lexicon {
        line: &[" #"],
        block: None,
        literals: &[
            Literal::Fixed("\\", 1),
            Literal::Heredoc("<<"),
            Literal::Text(Quote { open: "$'", close: "'", escape: b'\\', lines: true, hole: "" }),
            Quote::with("\"", true, "$("),
            Literal::Text(Quote { open: "'", close: "'", escape: 0, lines: true, hole: "" }),
        ],
        word: b"-:.",
        preprocessor: false,
        attributes: false,
    },
    newline: true,
    modifiers: &[],
    words: &[("function", Kind::Function, Form::Body)],
    mark: Mark::None,
    callable: Callable::Shell,
};

static PERL: Rules = Rules {
    lexicon: Lexicon {
        line: &["#"],
        block: None,
        literals: &[
            Literal::Pod("=", "=cut"),
            Literal::Fixed("$#", 0),
            Literal::Heredoc("<<"),
            Literal::Operator(&[
                ("y", 2),
                ("s", 2),
                ("m", 1),
                ("q", 1),
                ("tr", 2),
                ("qw", 1),
                ("qq", 1),
                ("qr", 1),
                ("qx", 1),
            ]),
            Quote::lines("\""),
            Quote::lines("'"),
            Literal::Regex(false),
        ],
        word: b"",
        preprocessor: false,
        attributes: false,
    },
    newline: false,
    modifiers: &[],
    words: &[("sub", Kind::Function, Form::Body), ("package", Kind::Module, Form::Body)],
    mark: Mark::None,
    callable: Callable::None,
};

/// Finds the definitions of a text.
pub(super) fn find(language: Language, text: &[u8]) -> Vec<Definition> {
    let rules = match language {
        Language::Rust => &RUST,
        Language::JavaScript | Language::TypeScript | Language::Tsx => &SCRIPT,
        Language::C | Language::Cpp | Language::ObjectiveC => &C,
        Language::Java => &JAVA,
        Language::CSharp => &C_SHARP,
        Language::Dart => &DART,
        Language::Go => &GO,
        Language::Php => &PHP,
        Language::Kotlin => &KOTLIN,
        Language::Scala => &SCALA,
        Language::Swift => &SWIFT,
        Language::Zig => &ZIG,
        Language::R => &R,
        Language::Shell => &SHELL,
        Language::Perl => &PERL,
        Language::Python => return cut(text, &PYTHON, indented::walk),
        Language::Ruby => return cut(text, &RUBY, |tokens| ended::walk(language, tokens)),
        Language::Lua => return cut(text, &LUA, |tokens| ended::walk(language, tokens)),
        Language::Elixir => return cut(text, &ELIXIR, |tokens| ended::walk(language, tokens)),
        Language::Sql => return cut(text, &SQL, flat::sql),
        Language::Haskell => return cut(text, &HASKELL, flat::haskell),
        Language::Component => {
            return flat::component(text, |script| find(Language::TypeScript, script));
        }
        Language::Markdown => return found::finish(text, flat::markdown(text), &[]),
        Language::Ini | Language::Toml => return found::finish(text, flat::sections(text), &[]),
        Language::Yaml => return found::finish(text, flat::yaml(text), &[]),
    };
    with_braces(language, text, rules)
}

fn cut(
    text: &[u8],
    lexicon: &Lexicon,
    walk: impl FnOnce(&Tokens<'_>) -> Vec<Found>,
) -> Vec<Definition> {
    let tokens = lexer::cut(text, lexicon);
    let found = walk(&tokens);
    found::finish(text, found, &tokens.comments)
}

fn with_braces(language: Language, text: &[u8], rules: &Rules) -> Vec<Definition> {
    cut(text, &rules.lexicon, |tokens| braces::walk(language, rules, tokens))
}
