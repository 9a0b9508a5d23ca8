//! Pages of files on disk.
//!
//! A file of up to [`WHOLE_BYTES`] is read once, whole, and everything a page
//! says of it is exact. A bigger one is read in pieces with `pread`, never
//! mapped (a file cut short under a map is a signal, not an error): the first
//! page costs one piece, and finding a line costs one pass, after which a
//! sparse index kept for the process gives any line at once.
//!
//! A file may change while it is read. Nothing here fails for it: the page says
//! so in `changed`.

mod cache;
mod chunked_file;

use filewright_core::Result;
use filewright_core::access::Intent;
use filewright_core::encoding::{self, Encoding};
use filewright_core::page::{self, Facts, Page, PageRequest, Source};
use filewright_core::sniff::{self, Inspection};
use rustix::fd::AsFd;

use crate::cancel::CancelToken;
use crate::dir::errno::os;
use crate::dir::stat::Stat;
use crate::root::Roots;
use chunked_file::ChunkedFile;

/// Files up to this many bytes are read whole.
pub const WHOLE_BYTES: u64 = 16 << 20;

/// Bytes of a bigger file that its kind and encoding are told from.
const HEAD: usize = 64 * 1024;

/// How often a small file that changes under our hands is read again.
const ATTEMPTS: u32 = 3;

/// A page, and the file it was read from.
#[derive(Clone, Debug)]
pub struct FilePage {
    /// The page.
    pub page: Page,
    /// The facts of the file, from before the first byte was read.
    pub stat: Stat,
    /// The version that the page belongs to, with the content hash where all
    /// of the file was read.
    pub version: String,
}

/// A page of the file at `path`.
///
/// # Errors
/// Those of [`Roots::open_file`] and [`page::page`], and `CANCELLED`.
pub fn read_page(
    roots: &Roots,
    path: &[u8],
    request: &PageRequest,
    cancel: &CancelToken,
) -> Result<FilePage> {
    let file = roots.open_file(path, Intent::Read)?;
    let name = String::from_utf8_lossy(path);
    page_of(&file.fd, file.stat, &name, request, cancel)
}

/// What the file at `path` is, told by its beginning, with its facts.
///
/// # Errors
/// Those of [`Roots::open_file`], and what reading fails with.
pub fn inspect(roots: &Roots, path: &[u8]) -> Result<(Inspection, Stat)> {
    let file = roots.open_file(path, Intent::Read)?;
    let cancel = CancelToken::new();
    let mut pieces = ChunkedFile::new(&file.fd, file.stat.size.max(1), &cancel);
    let head = pieces.chunk(0, HEAD)?;
    let head = &head[..head.len().min(HEAD)];
    let complete = head.len() as u64 >= file.stat.size;
    Ok((sniff::inspect(head, &String::from_utf8_lossy(path), complete), file.stat))
}

/// A page of an open file.
fn page_of(
    fd: impl AsFd,
    stat: Stat,
    name: &str,
    request: &PageRequest,
    cancel: &CancelToken,
) -> Result<FilePage> {
    request.check(stat.size)?;
    if stat.size <= WHOLE_BYTES {
        return small(fd, stat, name, request, cancel);
    }
    big(fd, stat, name, request, cancel)
}

fn small(
    fd: impl AsFd,
    mut stat: Stat,
    name: &str,
    request: &PageRequest,
    cancel: &CancelToken,
) -> Result<FilePage> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        let bytes = chunked_file::read_whole(&fd, stat.size, cancel)?;
        let after = Stat::of(&fd).map_err(os)?;
        let changed = after.version() != stat.version() || bytes.len() as u64 != stat.size;
        // The kernel's own files say 0 bytes and hold more: nothing changed.
        let changed = changed && !(stat.size == 0 && after.version() == stat.version());
        if changed && attempt < ATTEMPTS && after.size <= WHOLE_BYTES {
            stat = after;
            continue;
        }
        let mut page = page::page(&bytes, name, request)?;
        page.changed = changed;
        let version = stat.version().with_hash(page.hash.as_deref().unwrap_or_default());
        return Ok(FilePage { page, stat, version: version.to_string() });
    }
}

fn big(
    fd: impl AsFd,
    stat: Stat,
    name: &str,
    request: &PageRequest,
    cancel: &CancelToken,
) -> Result<FilePage> {
    let mut pieces = ChunkedFile::new(&fd, stat.size, cancel);
    let head = pieces.chunk(0, HEAD)?;
    let head = &head[..head.len().min(HEAD)];
    let plain = head.is_ascii();
    let mut facts = page::facts(head, false, stat.size, name, request)?;
    let mut index = cache::take(&fd, &stat, &facts);
    let mut page = page::page_of(&mut pieces, &mut index, &facts, request)?;
    if page.lossy && plain && request.encoding == "auto" {
        // The beginning was ASCII and did not tell: the window does.
        let encoding = encoding_of_window(&mut pieces, page.start_byte)?;
        if encoding != facts.encoding && index.fits(encoding.unit(), facts.bom) {
            facts = Facts { encoding, ..facts };
            page = page::page_of(&mut pieces, &mut index, &facts, request)?;
        }
    }
    let after = Stat::of(&fd).map_err(os)?;
    page.changed = pieces.shrank() || after.version() != stat.version();
    if !page.changed {
        cache::keep(&fd, &stat, index);
    }
    Ok(FilePage { page, stat, version: stat.version().to_string() })
}

fn encoding_of_window(pieces: &mut ChunkedFile<'_>, start: u64) -> Result<Encoding> {
    let window = pieces.chunk(start, HEAD)?;
    Ok(encoding::detect(&window[..window.len().min(HEAD)], false).encoding)
}

#[cfg(test)]
mod tests;
