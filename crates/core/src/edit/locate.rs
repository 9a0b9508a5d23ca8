//! Where the old text stands, line by line.
//!
//! Places where every line says the same come first: of those, the ones dressed
//! most alike. Only where there is none, lines vote for diagonals, the text is
//! aligned around the best of them, and the best alignment is taken if the lines
//! that say something else are but slips of the pen, and if no other place is
//! nearly as good.

use std::collections::HashMap;

use super::align::{Alignment, Cut, Scratch, Step, align};
use super::key::{Haystack, key, squeezed};
use super::lines::{trim, trim_end};
use super::needle::{Kind, LINE, Needle};
use super::similar::{LONGEST, similarity};
use super::typo::{has_word, is_slip};

/// Alignments that are tried.
const TRIED: usize = 24;
/// Other places that are looked at as rivals of the best.
const RIVALS: usize = 8;
/// Lines that occur more often do not vote.
const FREQUENT: usize = 400;
/// The least share of the old text that must be found.
const FOUND: f64 = 0.8;
/// The least share that makes a place worth showing in a refusal.
const WORTH_SHOWING: f64 = 0.4;
/// A text of fewer bytes with a word is not looked for by likeness.
const TOO_SHORT: usize = 6;

/// A place for the old text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    pub alignment: Alignment,
    /// The share of the old text that was found, 0 to 1.
    pub score: f64,
}

impl Place {
    /// The first line of the file, 1-based.
    pub(super) fn line(&self) -> u64 {
        self.alignment.file.start as u64 + 1
    }
}

/// Why there is no place.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Miss {
    /// Nothing is like it.
    Nowhere,
    /// This would be it, but for this line (0-based) of the old text.
    Different { place: Place, line: usize },
    /// These places fit equally well.
    Several(Vec<Place>),
    /// Looking any further would take too long.
    TooLarge,
}

/// Finds the places of the old text: one, or several that fit equally well and
/// word by word.
pub(super) fn locate(hay: &Haystack<'_>, needle: &Needle<'_>) -> Result<Vec<Place>, Miss> {
    let whole = word_by_word(hay, needle);
    if !whole.is_empty() {
        return Ok(whole);
    }
    if needle.words < TOO_SHORT {
        return Err(Miss::Nowhere);
    }
    if let [line] = needle.lines.as_slice() {
        let within = within_a_line(hay, &line.key);
        if !within.is_empty() {
            return Ok(within);
        }
    }
    by_likeness(hay, needle).map(|place| vec![place])
}

/// Places where every line says the same, dressed equally well.
fn word_by_word(hay: &Haystack<'_>, needle: &Needle<'_>) -> Vec<Place> {
    let n = needle.len();
    let Some(pivot) = (0..n).max_by_key(|&at| needle.lines[at].key.len()) else { return vec![] };
    if needle.lines[pivot].kind == Kind::Blank || hay.len() < n {
        return Vec::new();
    }
    let rank = |first: usize| -> Option<u8> {
        let lines = needle.lines.iter().zip(first..);
        let fits = lines.clone().all(|(line, at)| line.hash == hay.hashes[at]);
        fits.then(|| lines.map(|(line, at)| dressed(line.text, hay.line(at))).max().unwrap_or(0))
    };
    let mut best = u8::MAX;
    let mut places = Vec::new();
    for first in 0..=hay.len() - n {
        if hay.hashes[first + pivot] != needle.lines[pivot].hash {
            continue;
        }
        match rank(first) {
            Some(rank) if rank < best => (best, places) = (rank, vec![first]),
            Some(rank) if rank == best => places.push(first),
            _ => {}
        }
    }
    places.into_iter().map(|first| even(first, n, i32::from(best))).collect()
}

/// How differently two lines that say the same are dressed.
fn dressed(old: &[u8], file: &[u8]) -> u8 {
    if trim_end(old) == trim_end(file) {
        0
    } else if trim(old) == trim(file) {
        1
    } else if squeezed(old) == squeezed(file) {
        2
    } else {
        3
    }
}

/// Line for line from the file's line `first` on.
pub(super) fn even(first: usize, lines: usize, cost: i32) -> Place {
    let steps = (0..lines).map(|at| Step::Pair {
        old: at..at + 1,
        file: first + at..first + at + 1,
        likeness: 1.0,
        cut: Cut::default(),
    });
    let alignment = Alignment { steps: steps.collect(), file: first..first + lines, cost };
    Place { alignment, score: 1.0 }
}

/// Places where a single old line is part of a file's line, but for white space.
fn within_a_line(hay: &Haystack<'_>, key: &[u8]) -> Vec<Place> {
    let finder = memchr::memmem::Finder::new(key);
    let mut places = Vec::new();
    for line in 0..hay.len() {
        let len = hay.lens[line] as usize;
        if len <= key.len() || len > LONGEST {
            continue;
        }
        let text = hay.line(line);
        let map = KeyMap::new(text);
        for at in finder.find_iter(&map.key) {
            let cut = Cut { head: map.starts[at], tail: text.len() - map.ends[at + key.len() - 1] };
            let pair = Step::Pair { old: 0..1, file: line..line + 1, likeness: 1.0, cut };
            let alignment = Alignment { steps: vec![pair], file: line..line + 1, cost: 10 };
            places.push(Place { alignment, score: 1.0 });
        }
    }
    places
}

/// A line's key, and for each of its bytes where the character begins and ends
/// that it comes from.
struct KeyMap {
    key: Vec<u8>,
    starts: Vec<usize>,
    ends: Vec<usize>,
}

impl KeyMap {
    fn new(line: &[u8]) -> Self {
        let mut map = Self { key: Vec::new(), starts: Vec::new(), ends: Vec::new() };
        let mut at = 0;
        while at < line.len() {
            let len = 1 + line[at + 1..].iter().take_while(|&&byte| byte & 0xc0 == 0x80).count();
            let part = key(&line[at..at + len]);
            map.starts.resize(map.starts.len() + part.len(), at);
            map.ends.resize(map.ends.len() + part.len(), at + len);
            map.key.extend(part);
            at += len;
        }
        map
    }
}

fn by_likeness(hay: &Haystack<'_>, needle: &Needle<'_>) -> Result<Place, Miss> {
    let mut scratch = Scratch::new();
    let mut found: Vec<Alignment> = Vec::new();
    let mut tried: Vec<isize> = Vec::new();
    for diagonal in diagonals(hay, needle, &mut scratch) {
        if tried.len() >= TRIED {
            break;
        }
        if scratch.left < 0 {
            return Err(Miss::TooLarge);
        }
        if tried.iter().any(|near| near.abs_diff(diagonal) <= 1) {
            continue;
        }
        tried.push(diagonal);
        found.extend(align(hay, needle, diagonal, &mut scratch));
    }
    found.sort_by_key(|alignment| (alignment.cost, alignment.file.start));
    let share = |alignment: &Alignment| 1.0 - f64::from(alignment.cost) / f64::from(needle.total);
    let mut found =
        found.into_iter().map(|alignment| Place { score: share(&alignment), alignment });
    let best = found.next().ok_or(Miss::Nowhere)?;
    if best.score < FOUND {
        return Err(match first_difference(hay, needle, &best.alignment) {
            Some(line) if best.score >= WORTH_SHOWING => Miss::Different { place: best, line },
            _ => Miss::Nowhere,
        });
    }
    if let Some(line) = first_difference(hay, needle, &best.alignment) {
        return Err(Miss::Different { place: best, line });
    }
    let lines = best.alignment.file.clone();
    // A place that would be refused by itself is no rival.
    let rival = found.take(RIVALS).find(|place| {
        let apart =
            place.alignment.file.end <= lines.start || place.alignment.file.start >= lines.end;
        apart && first_difference(hay, needle, &place.alignment).is_none()
    });
    if let Some(rival) = rival {
        let (cost, other) = (best.alignment.cost, rival.alignment.cost);
        let clear = (LINE * 12 / 100).max(needle.total * 3 / 100);
        if other - cost < clear || (cost > LINE / 10 && cost * 10 > other * 7) {
            return Err(Miss::Several(vec![best, rival]));
        }
    }
    Ok(best)
}

/// The first line of the old text that the file has in other words, or not at
/// all: slips of the pen do not count, as long as they are few.
fn first_difference(
    hay: &Haystack<'_>,
    needle: &Needle<'_>,
    alignment: &Alignment,
) -> Option<usize> {
    let known = |word: &[u8]| has_word(hay.text, word);
    let mut slips = 0;
    alignment.steps.iter().find_map(|step| match step {
        Step::Pair { old, file, likeness, .. } if *likeness < 1.0 => {
            slips += 1;
            let line = old.start;
            let few = slips <= 1 + needle.len() / 4;
            let slip = is_slip(needle.lines[line].text, hay.line(file.start), &known);
            (!few || !slip).then_some(line)
        }
        Step::OldOnly(line) => (needle.lines[*line].kind != Kind::Blank).then_some(*line),
        Step::Pair { .. } | Step::FileOnly(_) => None,
    })
}

/// The diagonals worth a look, best first: those that most lines vote for, and
/// where few do, those of lines like the longest.
fn diagonals(hay: &Haystack<'_>, needle: &Needle<'_>, scratch: &mut Scratch) -> Vec<isize> {
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for line in needle.lines.iter().filter(|line| line.kind != Kind::Blank) {
        places.insert(line.hash, Vec::new());
    }
    for at in 0..hay.len() {
        if let Some(places) = places.get_mut(&hay.hashes[at])
            && places.len() <= FREQUENT
        {
            places.push(at);
        }
    }
    let mut votes: HashMap<isize, f64> = HashMap::new();
    for (old, line) in needle.lines.iter().enumerate() {
        let Some(places) = places.get(&line.hash).filter(|places| places.len() <= FREQUENT) else {
            continue;
        };
        for &at in places {
            let vote = f64::from(line.weight) / (places.len() as f64).sqrt();
            *votes.entry(at as isize - old as isize).or_default() += vote;
        }
    }
    let mut votes: Vec<(isize, f64)> = votes.into_iter().collect();
    votes.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut diagonals: Vec<isize> =
        votes.into_iter().map(|(diagonal, _)| diagonal).take(64).collect();
    if needle.len() <= 3 {
        // Few lines, and what they have in common with others may say little.
        diagonals.splice(0..0, like_the_longest(hay, needle, scratch));
    } else if diagonals.len() < 2 {
        diagonals.extend(like_the_longest(hay, needle, scratch));
    }
    diagonals
}

/// The diagonals on which the longest old line stands at a line much like it.
fn like_the_longest(hay: &Haystack<'_>, needle: &Needle<'_>, scratch: &mut Scratch) -> Vec<isize> {
    let Some((old, line)) =
        needle.lines.iter().enumerate().rev().max_by_key(|(_, line)| line.key.len())
    else {
        return Vec::new();
    };
    let len = line.key.len();
    if !(8..=LONGEST).contains(&len) {
        return Vec::new();
    }
    let mut alike: Vec<(f64, usize)> = Vec::new();
    for at in 0..hay.len() {
        let other = hay.lens[at] as usize;
        if other.abs_diff(len) * 10 > len * 3 || scratch.left < 0 {
            continue;
        }
        let text = trim(hay.line(at));
        let ends = |text: &[u8]| (text.first().copied(), text.last().copied());
        let (own, theirs) = (ends(trim(line.text)), ends(text));
        if own.0 != theirs.0 && own.1 != theirs.1 {
            continue;
        }
        scratch.left -= (other * len.div_ceil(64)) as i64;
        let likeness = similarity(&line.key, &key(hay.line(at)), 0.7);
        if likeness > 0.7 {
            alike.push((likeness, at));
        }
    }
    alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    alike.into_iter().take(TRIED).map(|(_, at)| at as isize - old as isize).collect()
}
