//! Writes a corrected patch in the form in which the refused one was sent.

use super::{MAX_RETRY_BYTES, Section, SentPatch};
use crate::diff::unified::{self, DiffHeader, DisplayLimits, Format, LineEndings};
use crate::patch::set::PatchedFiles;
use crate::patch::v4a;

/// The numbers of context lines with which a hunk is written, until it stands once.
const CONTEXT_LINES: [u32; 4] = [3, 6, 12, 24];

/// Writes a draft as a patch of the form that was sent, with as much context as it needs to work.
/// Returns `None` if it never does.
pub(super) fn written(
    sent: &SentPatch<'_>,
    files: &PatchedFiles<'_>,
    goal: &PatchedFiles<'_>,
    sections: &[Section],
) -> Option<String> {
    CONTEXT_LINES.into_iter().find_map(|context| {
        let text = write_sections(sent, sections, context)?;
        if text.len() > MAX_RETRY_BYTES {
            return None;
        }
        let again = (sent.parse)(&text)?;
        let mut state = files.clone();
        again.files.iter().try_for_each(|file| state.apply_file(file).map(|_| ())).ok()?;
        state.has_same_contents(goal).then_some(text)
    })
}

fn write_sections(sent: &SentPatch<'_>, sections: &[Section], context: u32) -> Option<String> {
    let whole = sent.text.strip_suffix('\n').unwrap_or(sent.text);
    let lines: Vec<&str> = whole.split('\n').collect();
    let parts = &sent.patch.files;
    let is_envelope = lines.iter().any(|line| v4a::begins_envelope(line))
        && parts.first().is_some_and(|file| {
            lines.get(file.line - 1).is_some_and(|line| line.trim().starts_with("*** "))
        });
    // The parts of a reversed patch are not written as they were sent.
    if sent.is_reversed && (is_envelope || parts.len() > 1) {
        return None;
    }
    let mut text = String::from(if is_envelope { "*** Begin Patch\n" } else { "" });
    for (index, (file, section)) in parts.iter().zip(sections).enumerate() {
        let end = parts.get(index + 1).map_or(lines.len(), |next| next.line - 1);
        let body = file.hunks.first().map_or(end, |hunk| hunk.line - 1);
        let push = |text: &mut String, lines: &[&str]| {
            for line in lines.iter().filter(|line| line.trim() != "*** End Patch") {
                text.push_str(line);
                text.push('\n');
            }
        };
        match section {
            Section::AsSent => push(&mut text, lines.get(file.line - 1..end)?),
            Section::LeftOut => {}
            Section::Corrected { before, after } => {
                push(&mut text, lines.get(file.line - 1..body)?);
                text.push_str(&hunks_text(before, after, context, is_envelope)?);
            }
        }
    }
    if is_envelope {
        text.push_str("*** End Patch\n");
    }
    Some(text)
}

/// Returns the hunks between two contents; `None` if they are not UTF-8.
fn hunks_text(before: &[u8], after: &[u8], context: u32, is_envelope: bool) -> Option<String> {
    std::str::from_utf8(before).ok()?;
    std::str::from_utf8(after).ok()?;
    let format = Format {
        header: DiffHeader { before: Some(b"f"), after: Some(b"f") },
        context,
        line_ends: LineEndings::Shown,
        limits: DisplayLimits::default(),
    };
    let diff = unified::diff(Some(before), Some(after), &Default::default(), &format).text;
    let hunks = diff.split_inclusive('\n').skip_while(|line| !line.starts_with("@@"));
    let written = hunks.filter_map(|line| match line.as_bytes().first() {
        Some(b'@') if is_envelope => Some("@@\n"),
        Some(b'\\') if is_envelope => None,
        _ => Some(line),
    });
    Some(written.collect())
}
