//! The patch to send instead of a refused one.
//!
//! Each hunk that does not apply gets another place: anywhere in the file, at each of several places,
//! or where its lines are most similar. Hunks that change nothing, or that are applied already, are
//! left out. The result is written as a new patch of the same form with the lines of the file, and
//! is tried before it is reported. A file with a hunk that no place justifies has no retry.

mod above;
mod by_change;
mod contents;
mod partial;
mod places;
mod readings;
mod written;

use serde_json::{Value, json};

use super::attempt::HunkOptions;
use super::set::PatchedFiles;
use super::{FilePatch, Patch};
use crate::edit::{MAX_RETRIES, WorkBudget};
use crate::error::{Code, Error};
use contents::{corrected_contents, repeats_context};
use written::written;

/// The maximum length in bytes of a retry.
const MAX_RETRY_BYTES: usize = 64 << 10;

/// A refused patch.
pub(super) struct SentPatch<'p> {
    /// The patch as it was sent, but with the marks of its context lines.
    pub text: &'p str,
    pub patch: &'p Patch,
    pub hunks: HunkOptions,
    /// True if the patch is undone. Its retry is a patch that is not.
    pub is_reversed: bool,
    /// True if the text differs from the one that was sent, so that it is a retry as it stands.
    pub is_repaired: bool,
    /// Parses another text with the options of the call.
    pub parse: &'p dyn Fn(&str) -> Option<Patch>,
}

/// The part of a patch for one file, as it is sent again.
#[derive(Clone)]
enum Section {
    /// The part as it was sent.
    AsSent,
    /// The part with other hunks, which make this content of the one before.
    Corrected { before: Vec<u8>, after: Vec<u8> },
    /// All hunks of the part have nothing to do, so it is left out.
    LeftOut,
}

/// Adds to the error of a refused patch the patch to send instead, as the detail `retry`, or one for
/// each of several places, as `retries`. Adds nothing if a place is unknown.
pub(super) fn add_retry(error: Error, sent: &SentPatch<'_>, files: &PatchedFiles<'_>) -> Error {
    if error.code != Code::PatchFailed {
        return error;
    }
    let found = retries(sent, files);
    match found.as_slice() {
        [] => error,
        [only] => error.detail("retry", json!({ "patch": only })),
        several => {
            let all = several.iter().map(|patch| json!({ "patch": patch }));
            error.detail("retries", all.collect::<Value>())
        }
    }
}

/// Returns the patches that can be meant, each tried on the files.
fn retries(sent: &SentPatch<'_>, files: &PatchedFiles<'_>) -> Vec<String> {
    let work = WorkBudget::default();
    let mut drafts: Vec<(PatchedFiles<'_>, Vec<Section>)> = vec![(files.clone(), Vec::new())];
    for file in &sent.patch.files {
        let mut next = Vec::new();
        for (state, sections) in drafts {
            next.extend(continued(&state, sections, file, sent, &work));
            next.truncate(MAX_RETRIES);
        }
        drafts = next;
    }
    let found: Vec<String> = drafts
        .iter()
        .filter(|(_, sections)| !sections.iter().all(|one| matches!(one, Section::LeftOut)))
        .filter(|(state, sections)| {
            match sections.iter().all(|one| matches!(one, Section::AsSent)) {
                true => sent.is_repaired && !state.has_same_contents(files),
                false => true,
            }
        })
        .filter_map(|(state, sections)| written(sent, files, state, sections))
        .collect();
    // The only one left of several places would be a guess.
    if found.len() == 1 && drafts.len() > 1 { Vec::new() } else { found }
}

/// Returns the drafts that continue one with the part of the patch for the next file.
fn continued<'s>(
    state: &PatchedFiles<'s>,
    sections: Vec<Section>,
    file: &FilePatch,
    sent: &SentPatch<'_>,
    work: &WorkBudget,
) -> Vec<(PatchedFiles<'s>, Vec<Section>)> {
    let mut applied = state.clone();
    let before = state.content_to_update(file);
    let is_meant = |applied: &PatchedFiles<'_>| {
        let after = applied.content_to_update(file);
        !before
            .clone()
            .zip(after)
            .is_some_and(|((_, before), (_, after))| repeats_context(&file.hunks, before, after))
    };
    if applied.apply_file(file).is_ok() {
        if sent.is_repaired && !is_meant(&applied) {
            return Vec::new();
        }
        let mut sections = sections;
        sections.push(Section::AsSent);
        return vec![(applied, sections)];
    }
    let Some((path, before)) = before else { return Vec::new() };
    let made = corrected_contents(before, file, sent.hunks, work);
    let drafts = made.into_iter().map(|after| {
        let mut sections = sections.clone();
        sections.push(match after == before {
            true => Section::LeftOut,
            false => Section::Corrected { before: before.to_vec(), after: after.clone() },
        });
        let mut state = state.clone();
        state.set_content(path.clone(), after);
        (state, sections)
    });
    drafts.collect()
}

#[cfg(test)]
mod tests;
