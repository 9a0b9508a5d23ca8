//! The reasons why a hunk does not apply.

use super::file::{TargetFile, eq_ignore_trailing_space, without_cr};
use crate::error::Error;
use crate::text::path::escape_controls;
use crate::text::prefix_of_chars;

/// The reason why a hunk does not apply.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum HunkMismatch {
    /// The hunk is already applied, at this line (1-based).
    Already(u64),
    /// The hunk removes the lines that it adds.
    NoChange,
    /// The hunk matches at each of these lines (1-based).
    Several(Vec<u64>),
    /// The hunk's lines stand only at this line (1-based), before the line (1-based) from which on
    /// it is looked for, because the previous hunk ends there.
    OutOfOrder { line: u64, from: u64 },
    /// The file does not have this anchor line of the hunk.
    NoAnchor(String),
    /// The hunk has no context to find it by.
    NoContext,
    /// The search would exceed the budget.
    TooMuch,
    /// The file has another line (1-based) than the patch, or ends before it (`found` is `None`).
    Differs { line: u64, expected: String, found: Option<String> },
}

impl HunkMismatch {
    /// Returns the reason for a hunk that matches at several lines (0-based).
    pub(super) fn several(lines: &[usize]) -> Self {
        Self::Several(lines.iter().map(|line| *line as u64 + 1).collect())
    }

    /// Returns the first line that differs at the position where most lines of the hunk agree.
    pub(super) fn first_difference(
        file: &TargetFile<'_>,
        old: &[&[u8]],
        expected: Option<usize>,
        from: usize,
    ) -> Self {
        let agreeing = |first: usize| {
            old.iter()
                .zip(&file.lines[first..])
                .filter(|(a, b)| eq_ignore_trailing_space(a, b))
                .count()
        };
        let named = expected.filter(|&at| at < file.lines.len() && agreeing(at) > 0);
        let likest = || {
            // Only positions where a line of more than three characters occurs are compared,
            // because there are too many others.
            let telling: Vec<(usize, &[u8])> = old
                .iter()
                .enumerate()
                .map(|(at, line)| (at, *line))
                .filter(|(_, line)| line.trim_ascii().len() > 3)
                .collect();
            (from..file.lines.len())
                .filter_map(|at| {
                    let (index, _) = telling
                        .iter()
                        .find(|(_, line)| eq_ignore_trailing_space(line, file.lines[at]))?;
                    at.checked_sub(*index)
                })
                .take(1_000)
                .max_by_key(|&first| (agreeing(first), std::cmp::Reverse(first)))
        };
        let first = named.or_else(likest).or(expected).unwrap_or(from).min(file.lines.len());
        let differs = old.iter().enumerate().find(|(index, line)| {
            file.lines.get(first + index).is_none_or(|there| !eq_ignore_trailing_space(line, there))
        });
        let (index, line) = differs.map_or((0, &b""[..]), |(index, line)| (index, *line));
        let show = |line: &[u8]| String::from_utf8_lossy(without_cr(line)).into_owned();
        Self::Differs {
            line: (first + index) as u64 + 1,
            expected: show(line),
            found: file.lines.get(first + index).map(|line| show(line)),
        }
    }

    /// Returns the code of the reason for programs.
    pub(super) const fn reason(&self) -> &'static str {
        match self {
            Self::Already(_) => "already_applied",
            Self::NoChange => "no_change",
            Self::Several(_) => "ambiguous",
            Self::OutOfOrder { .. } => "out_of_order",
            Self::NoAnchor(_) => "anchor_missing",
            Self::NoContext => "no_context",
            Self::TooMuch => "too_much",
            Self::Differs { .. } => "lines_differ",
        }
    }

    /// Returns the reason as a clause.
    pub(super) fn message(&self) -> String {
        let show = |line: &str| escape_controls(prefix_of_chars(line, 80)).into_owned();
        match self {
            Self::Already(line) => format!("it is already applied, at line {line}"),
            Self::NoChange => {
                "it changes nothing: its lines before and after are the same".to_owned()
            }
            Self::Several(lines) => {
                let listed: Vec<String> = lines.iter().take(20).map(u64::to_string).collect();
                format!("it fits at lines {} equally well", listed.join(", "))
            }
            Self::OutOfOrder { line, from } => {
                format!(
                    "its lines are at line {line}, before those of the previous hunk, which end before line {from}"
                )
            }
            Self::NoAnchor(anchor) => format!("there is no line \"{}\"", show(anchor)),
            Self::TooMuch => "the patch is too much work for a file of this size".to_owned(),
            Self::NoContext => "it has neither context nor a line number".to_owned(),
            Self::Differs { line, expected, found: Some(found) } => {
                format!("line {line} is \"{}\", the patch has \"{}\"", show(found), show(expected))
            }
            Self::Differs { line, expected, found: None } => {
                format!("the file ends before line {line}, the patch has \"{}\"", show(expected))
            }
        }
    }

    /// Returns what the author of the patch can do.
    pub(super) const fn hint(&self) -> &'static str {
        match self {
            Self::Already(_) => "leave this hunk out",
            Self::NoChange => "leave this hunk out, or send the lines that are to replace them",
            Self::Several(_) => "give more context lines, or the right line numbers",
            Self::OutOfOrder { .. } => "put the hunks in the order of the file",
            Self::NoAnchor(_) => "give a line of the file after @@, or none",
            Self::TooMuch => "apply it in parts, or write the file",
            Self::NoContext => "give the lines before and after the change",
            Self::Differs { .. } => "read the file again and make the hunk from its lines",
        }
    }

    /// Adds the data of the reason to an error.
    pub(super) fn details(&self, error: Error) -> Error {
        match self {
            Self::Already(line) => error.detail("line", *line),
            Self::Several(lines) => error.detail("lines", lines[..lines.len().min(100)].to_vec()),
            Self::OutOfOrder { line, .. } => error.detail("line", *line),
            Self::NoAnchor(anchor) => error.detail("anchor", anchor.as_str()),
            Self::NoChange | Self::NoContext | Self::TooMuch => error,
            Self::Differs { line, expected, found } => error
                .detail("line", *line)
                .detail("expected", prefix_of_chars(expected, 200))
                .detail(
                    "found",
                    found.as_deref().map(|found| prefix_of_chars(found, 200).to_owned()),
                ),
        }
    }
}
