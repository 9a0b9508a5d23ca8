//! Says why a glob of a deny list, a rule or a place can match nothing below any root.
//!
//! Such a glob is a mistake that shows nowhere: it protects nothing. It is refused with its reason
//! when a policy is made. Judged are the text (what a shell or a URL would have replaced, and
//! invisible characters) and where an absolute glob begins.

use crate::pattern::glob::{Case, PatternSet};
use crate::text::unicode_normalize::{Form, to_normal_form};

/// The directories below which a glob has to match something.
#[derive(Clone, Copy, Debug)]
pub struct GlobReach<'a> {
    /// The directory from which relative globs start.
    pub cwd: &'a str,
    /// The roots; empty if the glob may match anywhere.
    pub roots: &'a [&'a str],
    /// True if letter case does not count.
    pub fold_case: bool,
    /// True for a place: it matches at any depth, and the names of a root itself never count.
    pub is_place: bool,
}

/// The maximum number of globs that the braces of one glob stand for here; further ones are not
/// checked.
const MAX_JUDGED_GLOBS: usize = 256;

/// Returns why a glob can match nothing, as the end of a sentence about it; `None` for one that
/// can. Of a glob with braces one alternative below a root is enough, while the text of each has to
/// name a path.
pub fn glob_objection(glob: &str, reach: GlobReach<'_>) -> Option<String> {
    let quotes = ['"', '\'', '`', '\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}'];
    if glob.chars().count() > 1 && glob.starts_with(quotes) && glob.ends_with(quotes) {
        return Some("is in quotes, which would be part of the name; leave them out".to_owned());
    }
    let all = alternatives(glob);
    if let Some(text) = all.iter().find_map(|one| text_objection(one, reach.is_place)) {
        return Some(text);
    }
    let mut outside = None;
    for one in &all {
        outside = Some(place_objection(one, reach)?);
    }
    outside
}

/// Returns why the text of a glob names no path; `None` for one that may.
fn text_objection(glob: &str, is_place: bool) -> Option<String> {
    let first = glob.split('/').next().unwrap_or_default();
    if first == "~" || (first.starts_with('~') && first.len() < glob.len() && is_plain(&first[1..]))
    {
        return Some(
            "begins with ~, which only a shell replaces; write the path itself".to_owned(),
        );
    }
    if is_variable(first) {
        return Some(format!(
            "begins with {first}, which only a shell replaces; write the path itself"
        ));
    }
    if let Some(scheme) = scheme_of(glob) {
        return Some(format!("is a URL ({scheme}); write the path itself"));
    }
    if first.len() == 2 && first.ends_with(':') && first.as_bytes()[0].is_ascii_alphabetic() {
        return Some("begins with a drive, and these roots are on none".to_owned());
    }
    if !is_place && let Some(at) = mistaken_separator(glob) {
        return Some(format!(
            "has a backslash before '{at}', which separates no names here; separate them with /"
        ));
    }
    glob.split('/').find_map(unseen_character).map(|c| {
        let code = u32::from(c);
        let remedy =
            if is_place { "leave it out" } else { "write it in brackets if the name has it" };
        format!("has a name that begins or ends with U+{code:04X}, which nobody sees; {remedy}")
    })
}

/// Returns why a glob can match nothing below the roots; `None` for one that can.
fn place_objection(glob: &str, reach: GlobReach<'_>) -> Option<String> {
    if reach.roots.is_empty() {
        return None;
    }
    let names = absolute_names(glob, reach)?;
    let is_reached = reach.roots.iter().any(|root| may_match_below(&names, root, reach));
    (!is_reached).then(|| {
        let roots: Vec<String> = reach.roots.iter().map(|root| format!("'{root}'")).collect();
        format!(
            "begins at the root of the file system and matches nothing below {}; write it relative to one of them",
            roots.join(" or ")
        )
    })
}

/// Returns the names of a glob from `/` on; `None` for one that matches at any depth or below the
/// working directory.
fn absolute_names(glob: &str, reach: GlobReach<'_>) -> Option<Vec<String>> {
    let own = glob.split('/').filter(|name| !name.is_empty() && *name != ".");
    if glob.starts_with('/') {
        return Some(own.map(str::to_owned).collect());
    }
    let own: Vec<&str> = own.collect();
    let up = own.iter().take_while(|name| **name == "..").count();
    if up == 0 || reach.is_place {
        return None;
    }
    let mut names: Vec<String> =
        names_of(reach.cwd).map(|name| name.replace(|c| "*?[]{}\\!".contains(c), "?")).collect();
    names.truncate(names.len().saturating_sub(up));
    names.extend(own[up..].iter().map(|name| (*name).to_owned()));
    Some(names)
}

fn names_of(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty())
}

/// Returns true if a path below `root`, or the root itself, can match a glob with these names.
fn may_match_below(glob: &[String], root: &str, reach: GlobReach<'_>) -> bool {
    let root: Vec<&str> = names_of(root).collect();
    if reach.is_place && glob.len() <= root.len() {
        return false;
    }
    glob.iter().zip(root).take_while(|(own, _)| !own.contains("**")).all(|(own, name)| {
        let case =
            if reach.fold_case || reach.is_place { Case::Insensitive } else { Case::Sensitive };
        let [own, name] = [own, name].map(|text| to_normal_form(text, Form::Nfc));
        // What does not compile is refused by the compiler of the globs, in its own words.
        PatternSet::new(&[own.into_owned()], case).map_or(true, |set| set.matches(name.as_bytes()))
    })
}

/// Returns the globs that the outermost braces stand for. Braces that are escaped or nested stay.
fn alternatives(glob: &str) -> Vec<String> {
    let (mut todo, mut done) = (vec![glob.to_owned()], Vec::new());
    while let Some(text) = todo.pop() {
        let group = text.find('{').and_then(|open| {
            let close = open + text[open..].find('}')?;
            (!text.contains('\\') && !text[open + 1..close].contains('{')).then_some((open, close))
        });
        match group {
            Some((open, close)) if todo.len() + done.len() < MAX_JUDGED_GLOBS => {
                let choices = text[open + 1..close].split(',');
                todo.extend(choices.map(|one| [&text[..open], one, &text[close + 1..]].concat()));
            }
            _ => done.push(text),
        }
    }
    done
}

/// Returns true for the letters of the name of a user.
fn is_plain(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// Returns true for `$HOME`, `${HOME}` and `%HOME%`. The names of variables have no lower case here,
/// because routes of web frameworks are called `$id`.
fn is_variable(name: &str) -> bool {
    let own = match name.strip_prefix('$') {
        Some(rest) => rest.strip_prefix('{').and_then(|it| it.strip_suffix('}')).unwrap_or(rest),
        None => match name.strip_prefix('%').and_then(|it| it.strip_suffix('%')) {
            Some(rest) => rest,
            None => return false,
        },
    };
    !own.is_empty()
        && own.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

/// Returns the scheme of a URL, such as `file:`.
fn scheme_of(glob: &str) -> Option<&str> {
    let end = glob.find(":/")?;
    let scheme = &glob[..end];
    let is_scheme = scheme.len() > 1
        && scheme.as_bytes()[0].is_ascii_alphabetic()
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+.-".contains(&b));
    (is_scheme && (glob[end..].starts_with("://") || scheme.eq_ignore_ascii_case("file")))
        .then(|| &glob[..=end])
}

/// Returns the character behind a backslash that was meant to separate names.
fn mistaken_separator(glob: &str) -> Option<char> {
    let mut chars = glob.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            continue;
        }
        let escaped = chars.next()?;
        let is_stars = escaped == '*' && chars.peek() == Some(&'*');
        if is_stars || escaped.is_alphanumeric() || escaped == '.' || escaped == '_' {
            return Some(escaped);
        }
    }
    None
}

/// Returns an invisible character at an end of a name, unless it is escaped or in brackets.
fn unseen_character(name: &str) -> Option<char> {
    let last = name.chars().next_back().filter(|c| is_unseen(*c));
    let is_escaped = || name.chars().rev().nth(1) == Some('\\');
    name.chars().next().filter(|c| is_unseen(*c)).or_else(|| last.filter(|_| !is_escaped()))
}

/// Returns true for white space, control and format characters, and fillers without a shape.
/// Variation selectors belong to the sign before them.
fn is_unseen(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
            | '\u{890}' | '\u{891}' | '\u{8e2}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objection(glob: &str, is_place: bool) -> Option<String> {
        let roots = ["/home/ann/repo", "/srv/\u{e9}t\u{e9}"];
        let reach = GlobReach { cwd: roots[0], roots: &roots, fold_case: false, is_place };
        glob_objection(glob, reach)
    }

    #[test]
    fn globs_that_can_match_nothing() {
        let globs = [
            "/vault",
            "/vault/**",
            "/home/bob/**",
            "/home/ann/rep",
            "/*/bob",
            "../x",
            "../../bob/**",
            "~",
            "~/vault",
            "~/**",
            "~ann/vault",
            "$HOME/vault",
            "%USERPROFILE%/x",
            "file:///vault",
            "file:/vault",
            "https://x/y",
            "vscode://x",
            " vault",
            "vault ",
            "vault /x",
            "vault\n",
            "\tvault",
            "vault\u{200b}",
            "\u{feff}vault/**",
            "a/vault\u{2060}/b",
            "\u{202e}x",
            "vault\u{e0041}",
            "\u{3164}",
            "vault\u{a0}",
            "'vault/**'",
            "\"vault\"",
            "\u{201c}vault\u{201d}",
            "vault\\secret",
            "private\\**",
            "C:/vault",
            "{/vault,/x}/y",
            "{~,x}/y",
            "{vault ,x}",
            "/HOME/ann/repo/x",
        ];
        for glob in globs {
            assert!(objection(glob, false).is_some(), "{glob:?}");
        }
    }

    #[test]
    fn globs_that_can_match_something() {
        let globs = [
            "vault",
            "vault/**",
            "**/vault",
            "./x",
            "*",
            "**",
            "/home/ann/repo/x",
            "/home/ann",
            "/**",
            "/*/*/repo/x",
            "/home/**",
            "/**/x",
            "../repo/x",
            "../**",
            "my docs/a b.md",
            "$id/x",
            "~$a.docx",
            "$RECYCLE.BIN/**",
            "a:b",
            "x\\ ",
            "[ ]x",
            "\\[slug\\]/**",
            "\u{2764}\u{fe0f}",
            "/srv/e\u{301}te\u{301}/x",
            "{a,b}/**",
            "/{home,srv}/**",
            "\\!x",
            "a~",
            "it's",
            "{vault,/vault}",
        ];
        for glob in globs {
            assert_eq!(objection(glob, false), None, "{glob:?}");
        }
    }

    #[test]
    fn places() {
        for place in ["/etc/x", "/home/ann/repo", "/home", "~/x", "file:///x", " x", "x\u{200b}"] {
            assert!(objection(place, true).is_some(), "{place:?}");
        }
        for place in ["/home/ann/repo/x", "/HOME/ann/repo/x", "deploy/prod", "*.token", "a b"] {
            assert_eq!(objection(place, true), None, "{place:?}");
        }
    }
}
