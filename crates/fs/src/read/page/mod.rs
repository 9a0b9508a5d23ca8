//! Pages of files on disk: some lines of a file with facts about it, such as its encoding and
//! number of lines.
//!
//! A file of up to [`MAX_WHOLE_READ_BYTES`] is read completely, and all facts in its pages are
//! exact. A bigger one is read in chunks with `pread` and never mapped, because truncating a mapped
//! file raises a signal. The first page costs one chunk. Finding a line costs one pass; afterwards
//! the cached sparse index finds any line at once.
//!
//! A file may change while it is read. That is no error: the page reports it in `changed`.

mod cache;
mod chunked_file;

use filewright_core::Result;
use filewright_core::encoding::{self, Encoding};
use filewright_core::page::{self, KindAndEncoding, Page, PageRequest, Source};
use filewright_core::pattern::policy::Intent;
use filewright_core::wire;
use rustix::fd::AsFd;

use crate::cancel::CancelToken;
use crate::dir::errno::os_error;
use crate::dir::stat::{Stat, Version, nanos_to_millis};
use crate::root::{OpenFile, Roots};
use chunked_file::ChunkedFile;

/// The maximum size in bytes of a file that is read completely for a page. A larger one is read in
/// chunks.
pub const MAX_WHOLE_READ_BYTES: u64 = 16 << 20;

/// The number of bytes from which the kind and encoding of a bigger file are detected.
const DETECTION_BYTES: usize = 64 * 1024;

/// The maximum number of times that a file of up to [`MAX_WHOLE_READ_BYTES`] is read because it
/// changes meanwhile. After that, the page is marked as `changed`.
const MAX_READ_ATTEMPTS: u32 = 3;

wire! {
    /// A page of a file on disk.
    #[derive(Clone, Debug)]
    pub struct FilePage {
        ..page: Page,
        /// The version of the file from before the first byte was read, with the hash of the
        /// content if all of it was read.
        pub version: String,
        /// When the file last changed, in milliseconds since 1970.
        pub mtime: f64,
        /// Permission bits.
        pub mode: u32,
    }
}

impl FilePage {
    fn new(page: Page, stat: &Stat, version: &Version) -> Self {
        Self {
            page,
            version: version.to_string(),
            mtime: nanos_to_millis(stat.mtime),
            mode: stat.mode,
        }
    }
}

/// Returns a page of the file at `path`.
///
/// # Errors
/// Errors of [`Roots::open_file`] and [`page::page`], and `CANCELLED`.
pub fn read_page(
    roots: &Roots,
    path: &[u8],
    request: &PageRequest,
    cancel: &CancelToken,
) -> Result<FilePage> {
    let OpenFile { fd, stat, real } = roots.open_file_to_check(path, Intent::Read)?;
    let name = String::from_utf8_lossy(path);
    if is_read_completely(&stat) && request.check(stat.size).is_ok() {
        // The bytes of the page show whether they are a secret.
        let check = |bytes: &[u8]| roots.check_head(bytes, &real);
        return page_of_small_file(&fd, stat, &name, request, cancel, check);
    }
    roots.check_content(&fd, &real)?;
    page_of_open_file(&fd, stat, &name, request, cancel)
}

/// Reports whether a file is read completely for a page, all of its bytes by its size. A file of procfs has bytes
/// and the size 0.
fn is_read_completely(stat: &Stat) -> bool {
    (1..=MAX_WHOLE_READ_BYTES).contains(&stat.size)
}

fn page_of_open_file(
    fd: impl AsFd,
    stat: Stat,
    name: &str,
    request: &PageRequest,
    cancel: &CancelToken,
) -> Result<FilePage> {
    request.check(stat.size)?;
    if stat.size <= MAX_WHOLE_READ_BYTES {
        return page_of_small_file(fd, stat, name, request, cancel, |_| Ok(()));
    }
    page_of_large_file(fd, stat, name, request, cancel)
}

/// Returns a page of a file of up to [`MAX_WHOLE_READ_BYTES`], which is read completely, unless `check`
/// refuses its bytes.
fn page_of_small_file(
    fd: impl AsFd,
    mut stat: Stat,
    name: &str,
    request: &PageRequest,
    cancel: &CancelToken,
    check: impl Fn(&[u8]) -> Result<()>,
) -> Result<FilePage> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        let bytes = chunked_file::read_whole_file(&fd, stat.size, cancel)?;
        check(&bytes)?;
        let after = Stat::of(&fd).map_err(os_error)?;
        let changed = after.version() != stat.version() || bytes.len() as u64 != stat.size;
        // Files of procfs report size 0 and have content: that is no change.
        let changed = changed && !(stat.size == 0 && after.version() == stat.version());
        if changed && attempt < MAX_READ_ATTEMPTS && after.size <= MAX_WHOLE_READ_BYTES {
            stat = after;
            continue;
        }
        let mut page = page::page(&bytes, name, request)?;
        page.changed = changed;
        let version = stat.version().with_hash(page.hash.as_deref().unwrap_or_default());
        return Ok(FilePage::new(page, &stat, &version));
    }
}

/// Returns a page of a file of more than [`MAX_WHOLE_READ_BYTES`], which is read in chunks.
fn page_of_large_file(
    fd: impl AsFd,
    stat: Stat,
    name: &str,
    request: &PageRequest,
    cancel: &CancelToken,
) -> Result<FilePage> {
    let mut pieces = ChunkedFile::new(&fd, stat.size, cancel);
    let head = pieces.chunk(0, DETECTION_BYTES)?;
    let head = &head[..head.len().min(DETECTION_BYTES)];
    let plain = head.is_ascii();
    let mut facts = page::detect_kind_and_encoding(head, false, stat.size, name, request)?;
    let mut index = cache::cached_index(&fd, &stat, &facts);
    let mut page = page::page_from_source(&mut pieces, &mut index, &facts, request)?;
    if page.lossy && plain && request.encoding == "auto" {
        // The beginning of the file was ASCII, which says nothing about the encoding, so it is
        // detected at the page.
        let encoding = detect_encoding_at(&mut pieces, page.start_byte)?;
        if encoding != facts.encoding && index.fits(encoding.unit(), facts.bom) {
            facts = KindAndEncoding { encoding, ..facts };
            page = page::page_from_source(&mut pieces, &mut index, &facts, request)?;
        }
    }
    let after = Stat::of(&fd).map_err(os_error)?;
    page.changed = pieces.shrank() || after.version() != stat.version();
    if !page.changed {
        cache::cache_index(&fd, &stat, index);
    }
    Ok(FilePage::new(page, &stat, &stat.version()))
}

/// Detects the encoding of the [`DETECTION_BYTES`] from the offset `start` on.
fn detect_encoding_at(pieces: &mut ChunkedFile<'_>, start: u64) -> Result<Encoding> {
    let window = pieces.chunk(start, DETECTION_BYTES)?;
    Ok(encoding::detect(&window[..window.len().min(DETECTION_BYTES)], false).encoding)
}

#[cfg(test)]
mod tests;
