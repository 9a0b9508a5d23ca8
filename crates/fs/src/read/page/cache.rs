//! A process-wide cache of line indexes.
//!
//! A line index maps line numbers to byte offsets and belongs to one version of one file. If data
//! was only appended to the file, the index is kept and continued, so that the lines of a growing
//! log are counted once. Data counts as appended if the file is larger and samples of the part
//! counted so far, including its end, are unchanged.

use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use filewright_core::anchor::line_hash;
use filewright_core::page::{KindAndEncoding, LineIndex};
use rustix::fd::AsFd;

use crate::dir::stat::{Stat, Version};

/// The maximum memory of all cached indexes in bytes, enough for some hundred gigabytes of text.
/// Beyond it, the least recently used are dropped.
const MAX_CACHE_BYTES: usize = 16 << 20;
/// The maximum number of cached indexes. Beyond it, the least recently used are dropped.
const MAX_CACHED_INDEXES: usize = 64;
/// The number of samples of the counted part of a file, besides the one at its end.
const SAMPLE_COUNT: u64 = 16;
const SAMPLE_BYTES: usize = 512;
/// The minimum time since the last change of a file, in nanoseconds, for its index to be cached. A
/// file that changed more recently may change again without a new time stamp, because kernels count
/// time in steps of up to 10 ms.
const MIN_SETTLED_NANOS: i128 = 20_000_000;

struct CachedLineIndex {
    dev: u64,
    ino: u64,
    size: u64,
    version: Version,
    samples: u64,
    index: LineIndex,
}

/// The cached indexes, least recently used first.
static INDEX_CACHE: Mutex<Vec<CachedLineIndex>> = Mutex::new(Vec::new());

fn with_cache<T>(f: impl FnOnce(&mut Vec<CachedLineIndex>) -> T) -> T {
    // A panic while the lock is held cannot leave an incomplete entry.
    f(&mut INDEX_CACHE.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// Returns the cached index of an open file, which may cover only its first part, or an empty one.
pub(super) fn cached_index(fd: &impl AsFd, stat: &Stat, facts: &KindAndEncoding) -> LineIndex {
    let new = || LineIndex::new(facts.encoding.unit(), facts.bom);
    let found = with_cache(|entries| {
        let at = entries.iter().position(|entry| (entry.dev, entry.ino) == (stat.dev, stat.ino))?;
        let entry = entries.remove(at);
        let same = entry.version == stat.version();
        let grown = entry.size < stat.size;
        let copy = (entry.index.clone(), entry.samples);
        if same {
            entries.push(entry);
            return Some((copy, true));
        }
        // The file has changed: if it is larger, the index may be continued, otherwise it is
        // dropped.
        grown.then_some((copy, false))
    });
    match found {
        Some(((index, _), true)) if index.fits(facts.encoding.unit(), facts.bom) => index,
        Some(((index, samples), false))
            if index.fits(facts.encoding.unit(), facts.bom)
                // An index that ends inside a unit of UTF-16 cannot be continued.
                && index.scanned() % facts.encoding.unit().len() as u64 == 0
                && hash_of_samples(fd, index.scanned()) == Some(samples) =>
        {
            index
        }
        _ => new(),
    }
}

/// Caches the index of an open file whose metadata is `stat`, unless the file changed less than
/// [`MIN_SETTLED_NANOS`] ago or an index that covers as much is cached.
pub(super) fn cache_index(fd: &impl AsFd, stat: &Stat, index: LineIndex) {
    if index.scanned() == 0 || !is_settled(stat) {
        return;
    }
    let known = with_cache(|entries| {
        entries.iter().any(|entry| {
            (entry.dev, entry.ino) == (stat.dev, stat.ino)
                && entry.version == stat.version()
                && entry.index.scanned() >= index.scanned()
        })
    });
    if known {
        return;
    }
    let Some(samples) = hash_of_samples(fd, index.scanned()) else { return };
    let entry = CachedLineIndex {
        dev: stat.dev,
        ino: stat.ino,
        size: stat.size,
        version: stat.version(),
        samples,
        index,
    };
    with_cache(|entries| {
        entries.retain(|other| (other.dev, other.ino) != (entry.dev, entry.ino));
        entries.push(entry);
        while entries.len() > MAX_CACHED_INDEXES
            || entries.iter().map(|entry| entry.index.memory()).sum::<usize>() > MAX_CACHE_BYTES
        {
            entries.remove(0);
        }
    });
}

/// Reports whether the last change of the file is longer ago than [`MIN_SETTLED_NANOS`], so that
/// another one would have another time stamp.
fn is_settled(stat: &Stat) -> bool {
    let Ok(now) = SystemTime::now().duration_since(UNIX_EPOCH) else { return false };
    now.as_nanos() as i128 - i128::from(stat.ctime) > MIN_SETTLED_NANOS
}

/// Returns a hash of [`SAMPLE_COUNT`] samples spread over the first `scanned` bytes of a file and
/// of one at their end, or `None` if they cannot be read.
fn hash_of_samples(fd: &impl AsFd, scanned: u64) -> Option<u64> {
    let last = scanned.saturating_sub(SAMPLE_BYTES as u64);
    let mut all = Vec::with_capacity(SAMPLE_BYTES * SAMPLE_COUNT as usize);
    let mut bytes = [0; SAMPLE_BYTES];
    for n in 0..SAMPLE_COUNT {
        let read = rustix::io::pread(fd, &mut bytes, last / (SAMPLE_COUNT - 1) * n).ok()?;
        all.extend_from_slice(&bytes[..read.min(scanned as usize)]);
    }
    let read = rustix::io::pread(fd, &mut bytes, last).ok()?;
    let counted = read.min((scanned - last) as usize);
    all.extend_from_slice(&bytes[..counted]);
    Some(line_hash(&all))
}
