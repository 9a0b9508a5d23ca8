//! The languages, and how a file's name or first line says which one it has.

macro_rules! languages {
    ($($(#[$doc:meta])* $name:ident: $($ending:literal)*;)*) => {
        /// A language whose definitions can be found.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Language {
            $($(#[$doc])* $name,)*
        }

        impl Language {
            /// All languages.
            pub const ALL: &[Self] = &[$(Self::$name,)*];
        }

        /// Extensions in lower case, and whole names.
        const ENDINGS: &[(&str, Language)] = &[$($(($ending, Language::$name),)*)*];
    };
}

languages! {
    /// C.
    C: "c" "h";
    /// C++, also CUDA and Arduino.
    Cpp: "cc" "cpp" "cxx" "c++" "hh" "hpp" "hxx" "h++" "inl" "ipp" "tpp" "cu" "cuh" "ino";
    /// C#.
    CSharp: "cs" "csx";
    /// Dart.
    Dart: "dart";
    /// Elixir.
    Elixir: "ex" "exs";
    /// Go.
    Go: "go";
    /// Haskell.
    Haskell: "hs";
    /// Sections and keys: INI, `.editorconfig`, properties.
    Ini: "ini" "cfg" "conf" "properties" "editorconfig" "gitconfig";
    /// Java.
    Java: "java";
    /// JavaScript, with JSX.
    JavaScript: "js" "mjs" "cjs" "jsx";
    /// Kotlin.
    Kotlin: "kt" "kts";
    /// Lua.
    Lua: "lua" "luau";
    /// Markdown.
    Markdown: "md" "markdown" "mdx" "mkd";
    /// Objective-C, also mixed with C++.
    ObjectiveC: "m" "mm";
    /// Perl.
    Perl: "pl" "pm" "t";
    /// PHP.
    Php: "php" "phtml" "php5" "phpt";
    /// Python.
    Python: "py" "pyi" "pyw" "sconstruct" "sconscript";
    /// R.
    R: "r";
    /// Ruby.
    Ruby: "rb" "rake" "gemspec" "ru" "rakefile" "gemfile" "vagrantfile" "podfile" "fastfile" "brewfile";
    /// Rust.
    Rust: "rs";
    /// Scala.
    Scala: "scala" "sc" "sbt";
    /// Shells of the Bourne family.
    Shell: "sh" "bash" "zsh" "ksh" "bats" "bashrc" "zshrc" "profile" "bash_profile" "pkgbuild";
    /// SQL.
    Sql: "sql" "ddl" "psql";
    /// Swift.
    Swift: "swift";
    /// TOML.
    Toml: "toml";
    /// TypeScript.
    TypeScript: "ts" "mts" "cts";
    /// TypeScript with JSX.
    Tsx: "tsx";
    /// Components whose `script` is JavaScript or TypeScript.
    Component: "vue" "svelte" "astro";
    /// YAML.
    Yaml: "yaml" "yml";
    /// Zig.
    Zig: "zig" "zon";
}

/// Returns the language of a file by its extension or whole name, in any letter case.
pub fn language_of(path: &str) -> Option<Language> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let ending = name.rsplit('.').next().unwrap_or(name);
    let found = ENDINGS.iter().find(|(known, _)| known.eq_ignore_ascii_case(ending));
    found.map(|(_, language)| *language)
}

/// Returns the language that the first line of a script names: `#!/usr/bin/env python3`.
pub fn language_of_shebang(text: &[u8]) -> Option<Language> {
    const PROGRAMS: &[(&str, Language)] = &[
        ("sh", Language::Shell),
        ("bash", Language::Shell),
        ("dash", Language::Shell),
        ("zsh", Language::Shell),
        ("ksh", Language::Shell),
        ("python", Language::Python),
        ("node", Language::JavaScript),
        ("bun", Language::TypeScript),
        ("deno", Language::TypeScript),
        ("ruby", Language::Ruby),
        ("perl", Language::Perl),
        ("php", Language::Php),
        ("lua", Language::Lua),
        ("elixir", Language::Elixir),
        ("Rscript", Language::R),
    ];
    let line = text.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let line = std::str::from_utf8(line.get(..line.len().min(256))?).ok()?;
    let mut words =
        line.split_ascii_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let first = words.next()?;
    let program = if first == "env" {
        words.find(|word| !word.starts_with('-') && !word.contains('='))?
    } else {
        first
    };
    let program = program.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.');
    PROGRAMS.iter().find(|(name, _)| *name == program).map(|(_, language)| *language)
}
