//! Finds the rows that apply to a path: those of the table, and the rules that the host adds to it.

use std::sync::{Arc, LazyLock};

use super::fold::fold_name;
use super::pattern::{PlacePatterns, UNDOTTED_PARENT_NAME, expand_braces, has_other_spellings};
use super::table::{PLACE_ROWS, PlaceDecision};
use crate::error::{Code, Error, Result};

/// The maximum number of rules that a host may add; more are refused.
pub const MAX_HOST_RULES: usize = 1024;

/// The keyword of a rule that is one absolute path instead of a pattern.
const PATH_KEYWORD: &str = "path";

/// The compiled patterns of the table.
static TABLE_PATTERNS: LazyLock<PlacePatterns> = LazyLock::new(|| {
    let mut patterns = PlacePatterns::new();
    for (index, row) in PLACE_ROWS.iter().enumerate() {
        // A row that does not parse would be ignored silently, so a test parses all rows.
        let _ = patterns.add(index as u16, row.pattern, row.decision);
    }
    patterns
});

/// The rules of one policy: the table and the host's additions.
#[derive(Clone, Debug)]
pub(super) struct PlaceRules {
    host: Option<Arc<HostRules>>,
}

#[derive(Debug)]
struct HostRules {
    patterns: PlacePatterns,
    decisions: Vec<PlaceDecision>,
}

impl PlaceRules {
    /// Returns the rules of the table alone.
    pub fn table() -> Self {
        Self { host: None }
    }

    /// Adds the host's rules to the table. Each is a keyword of [`PlaceDecision`], a space and a
    /// pattern, or `path` and an absolute path that is refused.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an unknown keyword, an invalid pattern, a duplicate pattern, or an
    /// exception that matches no wider row; `LIMIT_EXCEEDED` beyond [`MAX_HOST_RULES`].
    pub fn new(places: &[String]) -> Result<Self> {
        if places.is_empty() {
            return Ok(Self::table());
        }
        if places.len() > MAX_HOST_RULES {
            return Err(Error::new(Code::LimitExceeded, "more than 1024 places"));
        }
        let mut host = HostRules { patterns: PlacePatterns::new(), decisions: Vec::new() };
        let mut named = std::collections::HashSet::new();
        for place in places {
            let (word, pattern) = place.split_once(' ').unwrap_or((place, ""));
            let row = host.decisions.len() as u16;
            if word == PATH_KEYWORD {
                host.decisions.push(PlaceDecision::Refuse);
                host.patterns.add_path(row, &crate::text::path::decode_name(pattern));
                continue;
            }
            let Some(decision) = PlaceDecision::of_word(word) else {
                let message = format!("there is no list of places '{word}'");
                return Err(Error::new(Code::InvalidArgument, message));
            };
            if !named.insert((concerns_reading(decision), pattern)) {
                let message = format!("the place '{pattern}' is named twice");
                return Err(Error::new(Code::InvalidArgument, message).detail("place", pattern));
            }
            host.patterns.add(row, pattern, decision)?;
            check_exception_narrows_row(decision, pattern)?;
            host.decisions.push(decision);
        }
        Ok(Self { host: Some(Arc::new(host)) })
    }

    /// Returns false only if no pattern ends with this name, as it is on the disk. Cheap.
    fn may_match(&self, name: &[u8]) -> bool {
        has_other_spellings(name)
            || TABLE_PATTERNS.may_match(name)
            || self.host.as_ref().is_some_and(|host| host.patterns.may_match(name))
    }

    /// Returns true if a folded name is that of a directory that may contain a refused path.
    pub fn is_parent(&self, name: &str) -> bool {
        (name.starts_with('.') || name == UNDOTTED_PARENT_NAME)
            && (TABLE_PATTERNS.parents.contains(name)
                || self.host.as_ref().is_some_and(|host| host.patterns.parents.contains(name)))
    }
}

/// Directories that contain refused paths among many ordinary files, so that they may be moved and
/// deleted.
pub(super) const MOVABLE_PARENT_NAMES: &[&str] =
    &[".config", ".local", ".gradle", ".github", ".agents", ".agent", ".clinerules", ".run"];

fn concerns_reading(decision: PlaceDecision) -> bool {
    matches!(decision, PlaceDecision::Secret | PlaceDecision::Readable)
}

/// Refuses an exception that matches no wider row, because it is probably misspelt.
fn check_exception_narrows_row(decision: PlaceDecision, pattern: &str) -> Result<()> {
    let reading = match decision {
        PlaceDecision::Allow => false,
        PlaceDecision::Readable => true,
        _ => return Ok(()),
    };
    let mut all = Vec::new();
    expand_braces(pattern, &mut all)?;
    for text in &all {
        let text = text.strip_suffix("/**").map_or_else(|| text.clone(), |dir| format!("{dir}/x"));
        let matched_rules = MatchedRules::of(&PlaceRules::table(), text.as_bytes(), 0);
        let covered = if reading {
            matched_rules.secret_row().is_some()
        } else {
            matched_rules.write_restricting_row().is_some()
        };
        if !covered {
            let kind = if reading { "secret" } else { "protected" };
            let message =
                format!("the place '{pattern}' is not {kind}, so there is no exception to make");
            return Err(Error::new(Code::InvalidArgument, message).detail("place", pattern));
        }
    }
    Ok(())
}

/// A row that covers a path, and the number of names of the path from which on it applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RuleHit {
    row: u16,
    depth: u32,
}

/// The rows that apply to a path, updated name by name.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MatchedRules {
    depth: u32,
    refuse: Option<RuleHit>,
    ask: Option<RuleHit>,
    secret: Option<RuleHit>,
    /// True if an exception of the table allows writing exactly this path.
    write_excepted: bool,
    /// True if an exception of the table allows reading exactly this path.
    readable: bool,
    /// True if the host made this path readable, whatever it contains.
    opened: bool,
}

impl MatchedRules {
    /// Returns the rows that apply to an absolute path. Names that end within the first `from`
    /// bytes are exempt, because the host chose that directory itself.
    pub fn of(places: &PlaceRules, path: &[u8], from: usize) -> Self {
        let mut matched_rules = Self::default();
        let mut start = 0;
        for name in path.split(|&byte| byte == b'/') {
            let end = start + name.len();
            if !name.is_empty() {
                matched_rules.enter(places, &path[..start], name, end > from);
            }
            start = end + 1;
        }
        matched_rules
    }

    /// Adds the next name of the path, as it is on the disk, in the directory `dir`. If not
    /// `counts`, the name is exempt from the rules.
    pub fn enter(&mut self, places: &PlaceRules, dir: &[u8], name: &[u8], counts: bool) {
        self.depth = self.depth.saturating_add(1);
        (self.write_excepted, self.readable) = (false, false);
        if !counts || !places.may_match(name) {
            return;
        }
        let name = fold_name(name);
        let depth = self.depth;
        let hit = |row: u16, below: bool| Some(RuleHit { row, depth: depth + u32::from(below) });
        // The number (1-based) of the name at which an exception begins: it overrides only rows
        // that begin at that name or below.
        let (mut allowed, mut readable) = (u32::MAX, u32::MAX);
        TABLE_PATTERNS.find(dir, &name, |found| {
            let began = (depth + 1).saturating_sub(found.names);
            match PLACE_ROWS[usize::from(found.row)].decision {
                PlaceDecision::Refuse => self.refuse = self.refuse.or(hit(found.row, found.below)),
                PlaceDecision::Ask => self.ask = self.ask.or(hit(found.row, found.below)),
                PlaceDecision::Secret => self.secret = self.secret.or(hit(found.row, found.below)),
                PlaceDecision::Allow => allowed = allowed.min(began),
                PlaceDecision::Readable => readable = readable.min(began),
            }
        });
        let ends = |hit: &Option<RuleHit>, began: u32| hit.is_none_or(|hit| hit.depth >= began);
        self.write_excepted =
            allowed != u32::MAX && ends(&self.refuse, allowed) && ends(&self.ask, allowed);
        self.readable = readable != u32::MAX && ends(&self.secret, readable);
        let Some(host) = &places.host else { return };
        let mut more = Self::default();
        host.patterns.find(dir, &name, |found| {
            let began = (depth + 1).saturating_sub(found.names);
            let row = PLACE_ROWS.len() as u16 + found.row;
            let decision = host.decisions[usize::from(found.row)];
            if matches!(decision, PlaceDecision::Allow | PlaceDecision::Ask) {
                self.refuse = self.refuse.filter(|hit| hit.depth < began);
                self.ask = self.ask.filter(|hit| hit.depth < began);
            }
            match decision {
                PlaceDecision::Refuse => more.refuse = more.refuse.or(hit(row, found.below)),
                PlaceDecision::Ask => more.ask = more.ask.or(hit(row, found.below)),
                PlaceDecision::Secret => more.secret = more.secret.or(hit(row, found.below)),
                PlaceDecision::Allow => {}
                PlaceDecision::Readable => {
                    self.secret = self.secret.filter(|hit| hit.depth < began);
                    self.opened = true;
                }
            }
        });
        self.refuse = self.refuse.or(more.refuse);
        self.ask = self.ask.or(more.ask);
        if more.secret.is_some() {
            (self.secret, self.opened) = (self.secret.or(more.secret), false);
        }
        self.write_excepted &= more.refuse.is_none() && more.ask.is_none();
        self.readable &= more.secret.is_none();
    }

    /// Returns the row that refuses writes, if any.
    pub fn refusing_row(&self) -> Option<u16> {
        self.refuse.filter(|hit| hit.depth <= self.depth && !self.write_excepted).map(|hit| hit.row)
    }

    /// Returns the row that requires an approval, if any.
    pub fn asking_row(&self) -> Option<u16> {
        let ask = self.ask.filter(|hit| hit.depth <= self.depth && !self.write_excepted);
        ask.filter(|_| self.refusing_row().is_none()).map(|hit| hit.row)
    }

    /// Returns the row that refuses writes or requires an approval, if any.
    pub fn write_restricting_row(&self) -> Option<u16> {
        self.refusing_row().or(self.asking_row())
    }

    /// Returns the row that makes the content secret, if any.
    pub fn secret_row(&self) -> Option<u16> {
        self.secret.filter(|hit| hit.depth <= self.depth && !self.readable).map(|hit| hit.row)
    }

    /// Returns true if the host made the content readable.
    pub fn is_readable_by_host(&self) -> bool {
        self.opened && self.secret_row().is_none()
    }
}

/// Returns the patterns of the secrets of the table without braces, each for a file or a directory
/// with everything below it.
pub fn secret_patterns() -> Vec<String> {
    let mut all = Vec::new();
    for row in PLACE_ROWS.iter().filter(|row| row.decision == PlaceDecision::Secret) {
        // A row that does not parse would be ignored silently, so a test parses all rows.
        let _ = expand_braces(row.pattern, &mut all);
    }
    all.into_iter().map(|text| text.strip_suffix("/**").unwrap_or(&text).to_owned()).collect()
}

/// Returns the table as text: one line per row with decision, pattern and reason, separated by
/// tabs.
pub fn table_text() -> String {
    let lines = PLACE_ROWS
        .iter()
        .map(|row| format!("{}\t{}\t{}\n", row.decision.word(), row.pattern, row.reason));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_parses_and_has_a_reason() {
        let mut patterns = PlacePatterns::new();
        for (index, row) in PLACE_ROWS.iter().enumerate() {
            patterns.add(index as u16, row.pattern, row.decision).unwrap();
            assert!(row.reason.ends_with('.') && row.reason.len() > 10, "{}", row.pattern);
        }
        // Row numbers cross to JavaScript in twelve bits.
        assert!(PLACE_ROWS.len() + MAX_HOST_RULES < 4095);
    }

    #[test]
    fn no_name_stands_in_two_rows_of_one_decision() {
        let mut seen = std::collections::HashMap::new();
        for row in PLACE_ROWS {
            let mut all = Vec::new();
            expand_braces(row.pattern, &mut all).unwrap();
            for text in all {
                let before = seen.insert((row.decision.word(), text.clone()), row.pattern);
                assert_eq!(before, None, "{text} of {}", row.pattern);
            }
        }
    }

    fn words(places: &PlaceRules, path: &str, from: usize) -> &'static str {
        let matched_rules = MatchedRules::of(places, path.as_bytes(), from);
        match (matched_rules.refusing_row(), matched_rules.asking_row(), matched_rules.secret_row())
        {
            (Some(_), _, None) => "refuse",
            (None, Some(_), None) => "ask",
            (None, None, Some(_)) => "secret",
            (None, None, None) => "free",
            (Some(_), _, Some(_)) => "refuse secret",
            (None, Some(_), Some(_)) => "ask secret",
        }
    }

    #[test]
    fn the_host_widens_and_narrows_rows() {
        let places = [
            "allow .claude/commands",
            "allow .husky",
            "ask .vscode/settings.json",
            "refuse deploy/prod",
            "refuse .github/workflows",
            "readable *.tfvars",
            "secret *.token",
            "path /w/Tools/git-hooks",
        ]
        .map(str::to_owned);
        let places = PlaceRules::new(&places).unwrap();
        for (path, expected) in [
            ("/w/.claude/commands/x.md", "free"),
            ("/w/.claude/commands/.git/config", "refuse"),
            ("/w/.claude/settings.json", "refuse"),
            ("/w/.husky/pre-commit", "free"),
            ("/w/.claude/.husky/x", "refuse"),
            ("/w/.vscode/settings.json", "ask"),
            ("/w/.vscode/tasks.json", "refuse"),
            ("/w/deploy/prod/a", "refuse"),
            ("/w/deploy/test/a", "free"),
            ("/w/.github/workflows/ci.yml", "refuse"),
            ("/w/a.tfvars", "free"),
            ("/w/a.tfstate", "secret"),
            ("/w/x.token", "secret"),
            ("/w/tools/GIT-hooks/pre-commit", "refuse"),
            ("/v/Tools/git-hooks/pre-commit", "free"),
        ] {
            assert_eq!(words(&places, path, 2), expected, "{path}");
        }
        assert!(MatchedRules::of(&places, b"/w/a.tfvars", 2).is_readable_by_host());
    }

    #[test]
    fn invalid_host_rules_are_refused() {
        for (places, code) in [
            (&["allow .vscdoe"][..], Code::InvalidArgument),
            (&["readable src"], Code::InvalidArgument),
            (&["alow .husky"], Code::InvalidArgument),
            (&["refuse "], Code::InvalidArgument),
            (&["refuse"], Code::InvalidArgument),
            (&["ask a", "refuse a"], Code::InvalidArgument),
            (&["ask *"], Code::InvalidArgument),
        ] {
            let places: Vec<String> = places.iter().map(|place| (*place).to_owned()).collect();
            assert_eq!(PlaceRules::new(&places).unwrap_err().code, code, "{places:?}");
        }
        let many = vec!["ask a".to_owned(); MAX_HOST_RULES + 1];
        assert_eq!(PlaceRules::new(&many).unwrap_err().code, Code::LimitExceeded);
    }

    #[test]
    fn names_up_to_the_root_do_not_count() {
        let table = PlaceRules::table();
        assert_eq!(words(&table, "/r/.claude/worktrees/x/src/a.ts", 0), "refuse");
        assert_eq!(words(&table, "/r/.claude/worktrees/x/src/a.ts", 23), "free");
        assert_eq!(words(&table, "/r/.claude/worktrees/x/.git/HEAD", 23), "refuse");
        assert_eq!(words(&table, "/r/p.git/main/a", 13), "free");
        assert_eq!(words(&table, "/r/p.git/config", 2), "refuse");
        assert_eq!(words(&table, "/r/p.git", 2), "free");
        assert_eq!(words(&table, "/r/.vscode/tasks.json", 10), "refuse");
    }

    #[test]
    fn an_exception_does_not_reach_out_of_its_row() {
        let table = PlaceRules::table();
        assert_eq!(words(&table, "/w/.git/info/exclude", 2), "free");
        assert_eq!(words(&table, "/w/.git/COMMIT_EDITMSG", 2), "free");
        assert_eq!(words(&table, "/w/.git/info/exclude/x", 2), "refuse");
        assert_eq!(words(&table, "/w/.husky/.git/info/exclude", 2), "refuse");
        assert_eq!(words(&table, "/w/.git/info/attributes", 2), "refuse");
        assert_eq!(words(&table, "/w/.env.example", 2), "free");
        assert_eq!(words(&table, "/w/.env.local.example", 2), "free");
    }
}
