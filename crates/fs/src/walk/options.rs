//! The options that searches, name searches and tree listings share.

use filewright_core::Result;
use filewright_core::options::Options;
use filewright_core::pattern::glob::{Case, Globs};

use crate::walk::WalkOptions;

/// True if a search uses an index of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexMode {
    /// Uses an existing index; a slow search starts building one for the next.
    Auto,
    /// Never uses an index.
    Off,
    /// Like [`IndexMode::Auto`], also for a whole file system or a home directory.
    Anywhere,
    /// Uses the index for names only; a search of contents reads every file.
    Strict,
}

impl IndexMode {
    /// Parses the option `index`: `auto` (the default), `off`, `anywhere` or `strict`.
    pub fn read(options: &Options) -> Result<Self> {
        Ok(match options.choice("index", &["auto", "off", "anywhere", "strict"])? {
            0 => IndexMode::Auto,
            1 => IndexMode::Off,
            2 => IndexMode::Anywhere,
            _ => IndexMode::Strict,
        })
    }
}

/// Parses the options of a walk; `patterns` is the name of the option with the globs.
pub fn walk_options(options: &Options, patterns: &str) -> Result<WalkOptions> {
    let case = if options.flag("globCase", true)? { Case::Sensitive } else { Case::Insensitive };
    let names = options.list("ignoreFiles")?;
    let names: Vec<String> = if names.is_empty() {
        filewright_core::pattern::ignore::IGNORE_FILE_NAMES.map(str::to_owned).into()
    } else {
        names.into_iter().map(str::to_owned).collect()
    };
    Ok(WalkOptions {
        hidden: options.flag("hidden", true)?,
        skip_git: true,
        ignore: options.flag("respectIgnore", true)?.then_some(names),
        globs: Globs::new(&options.list(patterns)?, &options.list("exclude")?, case)?,
        from: options.text("fromPath")?.unwrap_or_default().into(),
    })
}
