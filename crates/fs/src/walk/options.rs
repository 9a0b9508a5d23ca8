//! The options that searches, lookups of names and listings of trees share.

use filewright_core::Result;
use filewright_core::glob::{Case, Globs};
use filewright_core::options::Options;

use crate::walk::WalkOptions;

/// Whether an index is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexMode {
    /// Where there is one; a search that took long has one made for the next.
    Auto,
    /// Never.
    Off,
    /// As [`IndexMode::Auto`], also for a whole file system or a home directory.
    Anywhere,
    /// For names as [`IndexMode::Auto`]; the contents of every file are read.
    Strict,
}

impl IndexMode {
    /// Reads `index`.
    pub fn read(options: &Options) -> Result<Self> {
        Ok(match options.choice("index", &["auto", "off", "anywhere", "strict"])? {
            0 => IndexMode::Auto,
            1 => IndexMode::Off,
            2 => IndexMode::Anywhere,
            _ => IndexMode::Strict,
        })
    }
}

/// Reads what a walk needs; the patterns are in the option of that name.
pub fn walk_options(options: &Options, patterns: &str, count_ignored: bool) -> Result<WalkOptions> {
    let case = if options.flag("globCase", true)? { Case::Sensitive } else { Case::Insensitive };
    let names = options.list("ignoreFiles")?;
    let names: Vec<String> = if names.is_empty() {
        filewright_core::ignore::FILE_NAMES.map(str::to_owned).into()
    } else {
        names.into_iter().map(str::to_owned).collect()
    };
    Ok(WalkOptions {
        hidden: options.flag("hidden", true)?,
        ignore: options.flag("respectIgnore", true)?.then_some(names),
        globs: Globs::new(&options.list(patterns)?, &options.list("exclude")?, case)?,
        count_ignored,
        from: options.text("fromPath")?.unwrap_or_default().into(),
    })
}
