//! What the hunks of a refused patch can make of a file.
//!
//! Each hunk gets its [`places`](super::places); the contents are those of the combinations of
//! places that do not overlap, in the order of the file if possible. The first reading of the hunks
//! that gives any content is taken.

use std::collections::BTreeSet;
use std::ops::Range;

use super::places::{HunkPlaces, PlaceSearch, words};
use super::readings::{readings, replacing_reading};
use crate::edit::{self, MAX_RETRIES, Splice, WorkBudget};
use crate::patch::attempt::HunkOptions;
use crate::patch::file::TargetFile;
use crate::patch::{FilePatch, Hunk, LineMark};

/// The maximum number of hunks of one file that get another place.
const MAX_HUNKS: usize = 64;
/// The maximum number of combinations of places that are tried for one file.
const MAX_COMBINATIONS: usize = 2_000;

/// Returns the contents that the hunks of a file can mean, at most [`MAX_RETRIES`].
#[inline(never)]
pub(super) fn corrected_contents(
    text: &[u8],
    file: &FilePatch,
    options: HunkOptions,
    work: &WorkBudget,
) -> Vec<Vec<u8>> {
    if file.hunks.len() > MAX_HUNKS {
        return Vec::new();
    }
    let target = TargetFile::new(text, &file.hunks);
    let search = PlaceSearch { target: &target, options, work };
    for reading in readings(&target, &file.hunks, work) {
        let made = contents_of(&search, &reading);
        if made.is_empty() {
            continue;
        }
        // A context line or anchor may be the line to replace, whose mark was lost.
        let other = Some(&reading)
            .filter(|reading| **reading != file.hunks)
            .and_then(|reading| replacing_reading(reading))
            .map(|reading| contents_of(&search, &reading));
        let all = made.into_iter().chain(other.unwrap_or_default());
        return all.take(MAX_RETRIES).collect();
    }
    Vec::new()
}

/// Returns the contents that hunks in one reading can mean.
fn contents_of(search: &PlaceSearch<'_>, hunks: &[Hunk]) -> Vec<Vec<u8>> {
    let text = search.target.text;
    let means_blanks = hunks.iter().all(|hunk| words(hunk.before()) == words(hunk.after()));
    let places: Option<Vec<HunkPlaces>> = (0..hunks.len())
        .map(|index| {
            let places = search.places_in_order(hunks, index);
            Some(places).filter(|places| !places.all.is_empty())
        })
        .collect();
    let Some(places) = places.filter(|places| !moves_dropped_lines(hunks, places)) else {
        return Vec::new();
    };
    let mut all = Combinations { places: &places, left: MAX_COMBINATIONS, found: Vec::new() };
    all.extend(&mut Vec::new());
    // The order of the hunks is that of the file if that is possible at all.
    let in_order = |chosen: &Vec<Splice>| {
        chosen.windows(2).all(|pair| pair[0].range.start <= pair[1].range.start)
    };
    let ordered = all.found.iter().any(in_order);
    let mut contents: Vec<Vec<u8>> = Vec::new();
    for chosen in all.found.into_iter().filter(|chosen| !ordered || in_order(chosen)) {
        let made = edit::apply_splices(text, &in_order_of_file(chosen));
        // A patch that changes words does not mean to change blanks alone.
        let is_meant =
            || means_blanks || made == text || !edit::is_same_but_for_blanks(text, &made);
        if !contents.contains(&made) && is_meant() && !repeats_context(hunks, text, &made) {
            contents.push(made);
        }
        if contents.len() == MAX_RETRIES {
            break;
        }
    }
    contents
}

/// Returns splices in the order of the file. There are few, so that a sort of the library would be
/// more code than it saves time.
fn in_order_of_file(splices: Vec<Splice>) -> Vec<Splice> {
    let mut sorted: Vec<Splice> = Vec::with_capacity(splices.len());
    for splice in splices {
        let place = (splice.range.start, splice.range.end);
        let at = sorted.partition_point(|other| (other.range.start, other.range.end) <= place);
        sorted.insert(at, splice);
    }
    sorted
}

/// Returns true if a content has more lines like the context of the hunks than the one before. Then
/// a line of the patch that the file does not have was written as if the patch added it.
pub(super) fn repeats_context(hunks: &[Hunk], text: &[u8], made: &[u8]) -> bool {
    let added = texts_with(hunks, LineMark::Added);
    let context = texts_with(hunks, LineMark::Context);
    let count = |text: &[u8]| {
        let is_context = |line: &&[u8]| {
            std::str::from_utf8(line.trim_ascii())
                .is_ok_and(|line| context.contains(line) && !added.contains(line))
        };
        text.split(|byte| *byte == b'\n').filter(is_context).count()
    };
    count(made) > count(text)
}

/// Returns the lines of hunks that have a mark and a letter or a digit, without white space around.
#[inline(never)]
fn texts_with(hunks: &[Hunk], mark: LineMark) -> BTreeSet<String> {
    let lines = hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.mark == mark);
    let texts = lines.map(|line| line.text.trim().to_owned());
    texts.filter(|text| text.chars().any(char::is_alphanumeric)).collect()
}

/// Returns true if a hunk that would be left out, because the file has its new lines, adds a line
/// that another hunk removes: then the patch moves lines, and without the hunk they would be gone.
fn moves_dropped_lines(hunks: &[Hunk], places: &[HunkPlaces]) -> bool {
    let is_dropped = |index: usize| places[index].all.iter().any(Option::is_none);
    (0..hunks.len()).filter(|&index| is_dropped(index)).any(|index| {
        let added = texts_with(&hunks[index..=index], LineMark::Added);
        let own = texts_with(&hunks[index..=index], LineMark::Removed);
        (0..hunks.len()).filter(|other| *other != index).any(|other| {
            let removed = texts_with(&hunks[other..=other], LineMark::Removed);
            added.difference(&own).any(|line| removed.contains(line))
        })
    })
}

/// The choices of one place for each hunk that do not overlap.
struct Combinations<'p> {
    places: &'p [HunkPlaces],
    left: usize,
    found: Vec<Vec<Splice>>,
}

impl Combinations<'_> {
    fn extend(&mut self, chosen: &mut Vec<Option<Splice>>) {
        let Some(places) = self.places.get(chosen.len()) else {
            self.found.push(chosen.iter().flatten().cloned().collect());
            return;
        };
        for place in &places.all {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            // A hunk that repeats another one, at the place that both prove, has nothing to do.
            let is_repeat = |splice: &&Splice| {
                let others = chosen.iter().zip(self.places).filter(|(_, at)| at.is_proved);
                places.is_proved
                    && !splice.range.is_empty()
                    && others.clone().any(|(other, _)| other.as_ref() == Some(splice))
            };
            let place = place.as_ref().filter(|splice| !is_repeat(splice));
            let is_free = |splice: &Splice| {
                chosen.iter().flatten().all(|other| are_apart(&splice.range, &other.range))
            };
            if place.is_none_or(is_free) {
                chosen.push(place.cloned());
                self.extend(chosen);
                chosen.pop();
            }
        }
    }
}

/// Returns true if two ranges do not overlap; two insertions at one place do.
fn are_apart(a: &Range<usize>, b: &Range<usize>) -> bool {
    a != b && (a.end <= b.start || b.end <= a.start)
}
