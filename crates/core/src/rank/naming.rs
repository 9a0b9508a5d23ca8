//! How well the name of a file fits the words of a query: the strongest sign of a good answer.

use super::query::RankQuery;
use super::tokens::{parts_of, stemmed};

/// The names of files that say nothing; their directory does.
const NAMELESS: [&str; 5] = ["index", "mod", "__init__", "lib", "main"];
/// The least number of letters with which one word begins like another, so that both are alike.
const MIN_PREFIX: usize = 4;

/// How well a name fits; each is from 0 to 1.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Naming {
    /// The share of the parts of the name that the query has.
    pub parts: f64,
    /// The share of the words of the query that the name has, by their rarity.
    pub words: f64,
    /// The share of those that the name lacks and its folder has.
    pub folder_words: f64,
}

/// Returns how well the name of the file at `path` fits, or of its directory if it has none.
pub(super) fn naming(query: &RankQuery, rarity: &[f64], path: &str) -> Naming {
    let mut names = path
        .rsplit('/')
        .map(|name| name.strip_prefix('.').unwrap_or(name).split('.').next().unwrap_or(name))
        .skip_while(|name| NAMELESS.contains(name));
    let [parts, folder] = [(); 2].map(|()| stems(names.next().unwrap_or_default()));
    let words = || query.words.iter().map(|(word, term)| (word, rarity[*term]));
    let whole: f64 = words().map(|(_, rare)| rare).sum();
    if parts.is_empty() || whole <= 0.0 {
        return Naming::default();
    }
    let has = |parts: &[String], word: &str| parts.iter().any(|part| are_alike(word, part));
    let asked = parts.iter().filter(|part| words().any(|(word, _)| are_alike(word, part)));
    let (named, other): (Vec<_>, Vec<_>) = words().partition(|(word, _)| has(&parts, word));
    let around = other.iter().filter(|(word, _)| has(&folder, word));
    Naming {
        parts: asked.count() as f64 / parts.len() as f64,
        words: named.iter().map(|(_, rare)| rare).sum::<f64>() / whole,
        folder_words: around.map(|(_, rare)| rare).sum::<f64>() / whole,
    }
}

/// Returns the parts of a name without their endings.
fn stems(name: &str) -> Vec<String> {
    parts_of(name).into_iter().map(|part| stemmed(&part)).collect()
}

/// Reports whether two words without their endings are one, as `recover` and `recovery`.
fn are_alike(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    a == b || short.len() >= MIN_PREFIX && long.starts_with(short)
}
