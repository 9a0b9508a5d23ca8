//! The calls for files below a set of roots.

use std::sync::Arc;

use filewright_core::pack::Packed;
use filewright_core::page::PageRequest;
use filewright_core::text::path::{decode_name, encode_name};
use filewright_core::wire::Wire;
use filewright_fs::cancel::CancelToken;
use filewright_fs::dir::stat::Version;
use filewright_fs::read::{ReadContent, ReadOptions, page};
use filewright_fs::records::{FileHash, PathStat, WrittenFile};
use filewright_fs::root::Roots;
use filewright_fs::search::find::FindOptions;
use filewright_fs::search::grep::GrepOptions;
use filewright_fs::search::progress::Progress;
use filewright_fs::transfer::TransferOptions;
use filewright_fs::transfer::mutate::MkdirOptions;
use filewright_fs::walk::list::{ListOptions, Position};
use filewright_fs::walk::list_tree::TreeOptions;
use filewright_fs::walk::read_outside_exclude;
use filewright_fs::write::aside::Conditions;
use filewright_fs::write::{Durability, WriteOptions};
use filewright_index::{self as index, CodeOptions, FuzzyOptions, OpenRoots, Session};

use super::{Quick, ReadPath, Scan, WritePath};

/// Returns the resolver in use as JSON: `{ resolver, reason? }`.
pub fn capabilities(roots: &Roots) -> String {
    roots.capabilities()
}

/// Returns how far the kernel enforces the roots, in three lines: `enforced`, `partial` or `none`;
/// the version of Landlock, 0 without it; the reason if it is less than requested, otherwise empty.
pub fn enforcement(open: &OpenRoots) -> String {
    let confinement = &open.confinement;
    let reason = confinement.reason.as_deref().unwrap_or_default();
    format!("{}\n{}\n{reason}", confinement.enforced.as_str(), confinement.abi)
}

/// Allows the content of these secrets to be read. Replaces all earlier grants.
pub fn grant_secrets(roots: &Roots, paths: &[String]) {
    roots.grant_secrets(paths.iter().map(|path| bytes_of(path)).collect());
}

/// Sets the state directory in which indexes are saved. Must be called by a thread that Landlock
/// does not restrict.
pub fn keep_indexes(session: &Arc<Session>, state_dir: &str) {
    index::set_state_dir(session, &decode_name(state_dir));
}

/// Reports whether an entry exists.
pub fn exists(roots: &Roots, path: &ReadPath) -> Quick<bool> {
    Ok(roots.exists(path))
}

/// Resolves to a packed `PathStat`.
pub fn stat(roots: &Roots, path: &ReadPath, follow: bool) -> Quick<Packed> {
    let found = if follow { roots.stat(path)? } else { roots.lstat(path)? };
    Ok(PathStat::from(found).packed())
}

/// Resolves to the content of a file.
pub fn read_bytes(roots: &Roots, path: &ReadPath) -> Quick<Vec<u8>> {
    let content = roots.read(path, &ReadOptions::default(), &CancelToken::new())?;
    Ok(content.bytes)
}

/// Resolves to the content of `info/exclude` of the repository outside the roots of which a
/// directory is a linked worktree; null without one.
pub fn git_exclude(roots: &Roots, path: &ReadPath) -> Quick<Option<Vec<u8>>> {
    read_outside_exclude(roots, path)
}

/// Resolves to a range of a file with its metadata, and to the metadata alone if the file still has
/// the version `if_none_match`.
pub fn read(
    roots: &Roots,
    path: &ReadPath,
    start: Option<u64>,
    end: Option<u64>,
    max_bytes: Option<u64>,
    if_none_match: Option<&str>,
    cancel: &CancelToken,
) -> Quick<ReadContent> {
    let options = ReadOptions { start: start.unwrap_or(0), end, max_bytes };
    roots.read_if_changed(path, if_none_match, &options, cancel)
}

/// Resolves to a page of a file, a packed `FilePage`.
pub fn read_page(
    roots: &Roots,
    path: &ReadPath,
    request: &str,
    cancel: &CancelToken,
) -> Quick<Packed> {
    Ok(page::read_page(roots, path, &PageRequest::from_json(request)?, cancel)?.packed())
}

/// Resolves to a packed `FileHash`: the SHA-256 of a file with its metadata.
pub fn hash_file(roots: &Roots, path: &ReadPath, cancel: &CancelToken) -> Scan<Packed> {
    let (hash, stat) = roots.hash(path, cancel)?;
    Ok(FileHash { stat: (&stat).into(), hash }.packed())
}

/// Resolves to a page of the entries of a directory. `after` is the name of the last entry of the
/// previous page, and `after_dir` says whether it was a directory.
pub fn list_dir(
    roots: &Roots,
    path: &ReadPath,
    facts: bool,
    limit: Option<u64>,
    after: Option<&str>,
    after_dir: bool,
    cancel: &CancelToken,
) -> Quick<Packed> {
    let after = after.map(|name| Position { not_dir: !after_dir, name: bytes_of(name) });
    let options = ListOptions { facts, limit: limit.map(|limit| limit as usize), after };
    Ok(roots.list(path, &options, cancel)?.packed())
}

/// Resolves to a page of the entries of a tree. `options` is the JSON that `TreeOptions::from_json`
/// parses.
pub fn list_tree(
    session: &Arc<Session>,
    path: &ReadPath,
    options: &str,
    cancel: &CancelToken,
) -> Scan<Packed> {
    let page = index::list_tree(session, path, &TreeOptions::from_json(options)?, cancel)?;
    Ok(page.packed())
}

/// Resolves to the target of a link.
pub fn read_link(roots: &Roots, path: &ReadPath) -> Quick<String> {
    roots.read_link(path).map(encoded)
}

/// Resolves to the path of an entry without links.
pub fn realpath(roots: &Roots, path: &ReadPath) -> Quick<String> {
    roots.realpath(path).map(encoded)
}

/// Resolves to the other names (hard links) of a file below the roots, as paths without links, each
/// after a NUL.
pub fn other_names(roots: &Roots, path: &ReadPath) -> Scan<String> {
    let names = roots.other_names(path)?;
    Ok(names.into_iter().map(|name| format!("\0{}", encoded(name))).collect())
}

/// Writes a file, or adds to it. Resolves to a packed `WrittenFile`. `flags` are `ChangeFlags`, and
/// `durability` is the index of one.
#[allow(clippy::too_many_arguments)] // an options object costs more
pub fn write_bytes(
    roots: &Roots,
    path: &WritePath,
    bytes: &[u8],
    if_version: Option<&str>,
    flags: u32,
    mode: Option<u64>,
    durability: u32,
    aside: Option<&str>,
    cancel: &CancelToken,
) -> Quick<Packed> {
    let options = WriteOptions::from_flags(if_version, flags, mode, durability, aside)?;
    let written = roots.write_or_append(path, bytes, flags, &options, cancel)?;
    Ok(WrittenFile::from(&written).packed())
}

/// Resolves to true if the directory was created, and to false if it existed already.
pub fn mkdir(
    roots: &Roots,
    path: &WritePath,
    parents: bool,
    exist_ok: bool,
    durability: u32,
) -> Quick<bool> {
    let durability = Durability::of_index(durability);
    roots.mkdir(path, &MkdirOptions { parents, exist_ok, durability })
}

/// Removes a file, a link or an empty directory, or renames it to `aside`.
pub fn delete(
    roots: &Roots,
    path: &WritePath,
    if_version: Option<&str>,
    aside: Option<&str>,
    durability: u32,
) -> Quick<()> {
    let conditions = Conditions::from_text(if_version, None, aside)?;
    roots.delete_if(path, &conditions, Durability::of_index(durability))
}

/// Removes an entry and everything below it, or renames it to `aside`. Resolves to packed
/// `TreeCounts`.
pub fn remove_tree(
    roots: &Roots,
    path: &WritePath,
    aside: Option<&str>,
    durability: u32,
    cancel: &CancelToken,
) -> Scan<Packed> {
    let conditions = Conditions::from_text(None, None, aside)?;
    Ok(roots.remove_tree_if(path, &conditions, Durability::of_index(durability), cancel)?.packed())
}

/// Moves a file that was set aside at `path` to the absolute path `kept` in a private directory.
pub fn put_away(roots: &Roots, path: &WritePath, kept: &str, durable: bool) -> Quick<()> {
    roots.put_away(path, &decode_name(kept), durable)
}

/// Moves a file that had this version back from the absolute path `kept`. The file that is at `path`
/// is renamed to `aside`; without that name none may be there.
pub fn bring_back(
    roots: &Roots,
    path: &WritePath,
    kept: &str,
    version: &str,
    aside: Option<&str>,
) -> Quick<()> {
    let aside = aside.map(bytes_of);
    roots.bring_back(&decode_name(kept), path, &Version::parse(version)?, aside.as_deref())
}

/// Resolves to the version of the entry under its new name; null after a move to another file
/// system, or if another program has replaced the entry already.
#[allow(clippy::too_many_arguments)] // an options object costs more
pub fn rename(
    roots: &Roots,
    from: &WritePath,
    to: &WritePath,
    flags: u32,
    durability: u32,
    if_version: Option<&str>,
    if_target: Option<&str>,
    aside: Option<&str>,
    cancel: &CancelToken,
) -> Quick<Option<String>> {
    let options = TransferOptions::from_flags(flags, durability);
    let conditions = Conditions::from_text(if_version, if_target, aside)?;
    let version = roots.rename_if(from, to, &options, &conditions, cancel)?;
    Ok(version.map(|version| version.to_string()))
}

/// Copies a file. Resolves to a packed `WrittenFile`.
#[allow(clippy::too_many_arguments)] // an options object costs more
pub fn copy_file(
    roots: &Roots,
    from: &ReadPath,
    to: &WritePath,
    flags: u32,
    durability: u32,
    if_version: Option<&str>,
    aside: Option<&str>,
    cancel: &CancelToken,
) -> Scan<Packed> {
    let options = TransferOptions::from_flags(flags, durability);
    let conditions = Conditions::from_text(if_version, None, aside)?;
    let written = roots.copy_file_if(from, to, &options, &conditions, cancel)?;
    Ok(WrittenFile::from(&written).packed())
}

/// Copies a tree. Resolves to packed `TreeCounts`.
pub fn copy_tree(
    roots: &Roots,
    from: &ReadPath,
    to: &WritePath,
    flags: u32,
    durability: u32,
    cancel: &CancelToken,
) -> Scan<Packed> {
    let options = TransferOptions::from_flags(flags, durability);
    Ok(roots.copy_tree(from, to, &options, cancel)?.packed())
}

/// Sets the permission bits of an entry.
pub fn chmod(roots: &Roots, path: &WritePath, mode: u32) -> Quick<()> {
    roots.chmod(path, mode)
}

/// Removes temporary files that dead processes left in a directory.
pub fn sweep(roots: &Roots, path: &WritePath) -> Quick<()> {
    roots.sweep(path)
}

/// Creates a symbolic link.
pub fn symlink(roots: &Roots, target: &str, path: &WritePath) -> Quick<()> {
    roots.symlink(&decode_name(target), path)
}

/// Searches the contents of files below a path. Resolves to batches of packed results.
pub fn grep(
    session: &Arc<Session>,
    path: &ReadPath,
    options: &str,
    progress: &Arc<Progress>,
    cancel: &CancelToken,
) -> Scan<Vec<Packed>> {
    let mut options = GrepOptions::from_json(options)?;
    options.progress = Arc::clone(progress);
    index::grep_indexed(session, path, &options, cancel)
}

/// Finds entries below a directory by name.
pub fn find(
    session: &Arc<Session>,
    path: &ReadPath,
    options: &str,
    cancel: &CancelToken,
) -> Scan<Packed> {
    index::find_indexed(session, path, &FindOptions::from_json(options)?, cancel)
}

/// Finds files below a directory by a fuzzy match of their paths.
pub fn find_files(
    session: &Arc<Session>,
    path: &ReadPath,
    options: &str,
    cancel: &CancelToken,
) -> Scan<Packed> {
    index::find_files(session, path, &FuzzyOptions::from_json(options)?, cancel)
}

/// Finds the blocks of files below a directory that fit a question best.
pub fn search_code(
    session: &Arc<Session>,
    path: &ReadPath,
    options: &str,
    cancel: &CancelToken,
) -> Scan<Packed> {
    index::search_code(session, path, &CodeOptions::from_json(options)?, cancel)
}

/// Builds an index of a directory, if there is none. Resolves to a packed `IndexStatus`.
pub fn warm(
    session: &Arc<Session>,
    path: &ReadPath,
    respect_ignore: bool,
    cancel: &CancelToken,
) -> Scan<Packed> {
    Ok(index::warm(session, path, respect_ignore, cancel)?.packed())
}

/// Resolves to the packed status of the index that contains a path, without any number if there is
/// none.
pub fn index_status(session: &Arc<Session>, path: &ReadPath) -> Scan<Packed> {
    Ok(index::status(session, path)?.map_or_else(Packed::new, |status| status.packed()))
}

fn bytes_of(path: &str) -> Vec<u8> {
    decode_name(path).into_owned()
}

/// Returns a name or path in the form for JavaScript.
fn encoded(name: Vec<u8>) -> String {
    encode_name(&name).into_owned()
}
