//! Line indexes kept between pages, for the whole process.
//!
//! An index belongs to one version of one file. A file that has only grown
//! keeps its index, which then goes on where it stopped: a log is counted once.
//! That it has only grown is believed when samples of the counted part, among
//! them its end, are what they were.

use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use filewright_core::anchor::line_hash;
use filewright_core::page::{Facts, LineIndex};
use rustix::fd::AsFd;

use crate::dir::stat::{Stat, Version};

/// Bytes of all indexes at most: some hundred gigabytes of text.
const MEMORY: usize = 16 << 20;
/// Indexes at most.
const ENTRIES: usize = 64;
/// Samples of the counted part, and bytes of each.
const SAMPLES: u64 = 16;
const SAMPLE: usize = 512;
/// A file changed later than this before it was looked at may change again
/// without another time stamp. Kernels count time in steps of up to 10 ms.
const SETTLED_NANOS: i128 = 20_000_000;

struct Entry {
    dev: u64,
    ino: u64,
    size: u64,
    version: Version,
    samples: u64,
    index: LineIndex,
}

/// The entries, least recently used first.
static CACHE: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

fn with<T>(f: impl FnOnce(&mut Vec<Entry>) -> T) -> T {
    // A panic while it was held cannot leave half an entry.
    f(&mut CACHE.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// The index of an open file: the one that was kept, or a new one.
pub(super) fn take(fd: &impl AsFd, stat: &Stat, facts: &Facts) -> LineIndex {
    let new = || LineIndex::new(facts.encoding.unit(), facts.bom);
    let found = with(|entries| {
        let at = entries.iter().position(|entry| (entry.dev, entry.ino) == (stat.dev, stat.ino))?;
        let entry = entries.remove(at);
        let same = entry.version == stat.version();
        let grown = entry.size < stat.size;
        let copy = (entry.index.clone(), entry.samples);
        if same {
            entries.push(entry);
            return Some((copy, true));
        }
        // An index of a version that is gone is dropped, or goes on below.
        grown.then_some((copy, false))
    });
    match found {
        Some(((index, _), true)) if index.fits(facts.encoding.unit(), facts.bom) => index,
        Some(((index, samples), false))
            if index.fits(facts.encoding.unit(), facts.bom)
                // A unit of UTF-16 cut in two cannot be gone on with.
                && index.scanned() % facts.encoding.unit().len() as u64 == 0
                && sample(fd, index.scanned()) == Some(samples) =>
        {
            index
        }
        _ => new(),
    }
}

/// Keeps the index of a file that is still what `stat` says.
pub(super) fn keep(fd: &impl AsFd, stat: &Stat, index: LineIndex) {
    if index.scanned() == 0 || !wait_for_pending(stat) {
        return;
    }
    let known = with(|entries| {
        entries.iter().any(|entry| {
            (entry.dev, entry.ino) == (stat.dev, stat.ino)
                && entry.version == stat.version()
                && entry.index.scanned() >= index.scanned()
        })
    });
    if known {
        return;
    }
    let Some(samples) = sample(fd, index.scanned()) else { return };
    let entry = Entry {
        dev: stat.dev,
        ino: stat.ino,
        size: stat.size,
        version: stat.version(),
        samples,
        index,
    };
    with(|entries| {
        entries.retain(|other| (other.dev, other.ino) != (entry.dev, entry.ino));
        entries.push(entry);
        while entries.len() > ENTRIES
            || entries.iter().map(|entry| entry.index.memory()).sum::<usize>() > MEMORY
        {
            entries.remove(0);
        }
    });
}

/// Whether the file's last change lies far enough back that another one would
/// have another time stamp.
fn wait_for_pending(stat: &Stat) -> bool {
    let Ok(now) = SystemTime::now().duration_since(UNIX_EPOCH) else { return false };
    now.as_nanos() as i128 - i128::from(stat.ctime) > SETTLED_NANOS
}

/// A hash of samples spread over the first `scanned` bytes, the last of them at
/// their end. `None` where they cannot be read.
fn sample(fd: &impl AsFd, scanned: u64) -> Option<u64> {
    let last = scanned.saturating_sub(SAMPLE as u64);
    let mut all = Vec::with_capacity(SAMPLE * SAMPLES as usize);
    let mut bytes = [0; SAMPLE];
    for n in 0..SAMPLES {
        let read = rustix::io::pread(fd, &mut bytes, last / (SAMPLES - 1) * n).ok()?;
        all.extend_from_slice(&bytes[..read.min(scanned as usize)]);
    }
    let read = rustix::io::pread(fd, &mut bytes, last).ok()?;
    let counted = read.min((scanned - last) as usize);
    all.extend_from_slice(&bytes[..counted]);
    Some(line_hash(&all))
}
