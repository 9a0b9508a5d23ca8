//! One ranked search below a directory that an index contains.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use filewright_core::pack::Packed;
use filewright_core::rank::{
    FileBlocks, FileRanking, Kind, MAX_RANKED_BYTES, RankedBlock, RankedFile, is_test, pack_block,
    rank_blocks,
};

use super::CodeOptions;
use super::ranks::{RankedDoc, Ranks};
use super::reader::{FilePlace, FileReader, ReadBlocks, ReadFile, read_blocks};
use crate::lookup::{lock_refreshed_state, lock_unless_stopped};
use crate::readers::ReadGuard;
use crate::tree::view::QueryView;
use crate::tree::{FileState, Tree};
use crate::{Index, Session};
use filewright_fs::search::searcher::Search;
use filewright_fs::walk::{StopSignal, WalkRoot};

/// The maximum number of attempts while files change between the ranking and the reading of what
/// is shown. Blocks that changed in the last one are left out.
const MAX_ATTEMPTS: u32 = 3;

/// A ranked search. `base` is the start of the index, `walk_root` that of the search.
pub(super) struct CodeSearch<'a> {
    pub session: &'a Arc<Session>,
    pub index: &'a Arc<Index>,
    pub base: &'a WalkRoot<'a>,
    pub walk_root: &'a WalkRoot<'a>,
    pub options: &'a CodeOptions,
}

/// The files of a search: those that are ranked already, and those to read.
#[derive(Default)]
struct SearchedFiles {
    ranked: Vec<u32>,
    unread: Vec<FilePlace>,
    /// For each of `unread` its version, if it is unchanged since the index read it.
    versions: Vec<Option<(u32, u64)>>,
    unreadable: u64,
}

/// The result of a search without any file, whose time was up.
pub(super) fn incomplete() -> Packed {
    let mut packed = Packed::new();
    [0, 0, 0, 0].into_iter().for_each(|number| packed.num(number));
    packed
}

impl CodeSearch<'_> {
    /// Returns the packed result; `None` if the index no longer contains the directory, or the call
    /// has to end.
    pub fn run(&self, stop: &StopSignal<'_>) -> Option<Packed> {
        // The index must not be emptied while its files are looked up.
        let _guard = ReadGuard::of(self.index)?;
        let search = Search::below(&self.options.files, self.walk_root);
        for attempt in 1..=MAX_ATTEMPTS {
            let start = self.start()?;
            // The ranked files are locked while a query looks up files and ranks them, and never
            // while it reads those that are not ranked.
            let (files, id) = {
                let mut cached = lock_unless_stopped(&self.index.ranks, stop)?;
                let ranks = cached.below(&start);
                (self.searched_files(&search, ranks, &start, stop)?, ranks.id())
            };
            let reader = || FileReader::new(self.base, &search, stop);
            let read = read_blocks(&files.unread, stop, reader);
            let (complete, unreadable) = (read.complete, files.unreadable + read.unreadable);
            let mut cached = lock_unless_stopped(&self.index.ranks, stop)?;
            let ranks = cached.below(&start);
            if ranks.id() != id {
                continue; // Another query has forgotten all files meanwhile.
            }
            let seen = add_read(ranks, files, read);
            let mut is_seen = vec![false; ranks.docs.len()];
            seen.iter().for_each(|&number| is_seen[number as usize] = true);
            let ranking = ranks.index.rank(&self.options.query, |number| is_seen[number as usize]);
            let shown = self.show(ranks, &ranking, &mut reader(), start.len());
            ranks.limit(&seen);
            if shown.changed > 0 && attempt < MAX_ATTEMPTS && !stop.now() {
                continue;
            }
            let mut packed = Packed::new();
            packed.num(seen.len() as u64);
            packed.num(unreadable);
            packed.flag(complete);
            packed.num(shown.blocks);
            packed.nums.extend(shown.packed.nums);
            packed.text.push_str(&shown.packed.text);
            return Some(packed);
        }
        None
    }

    /// Returns the path of the start of the search in the tree.
    fn start(&self) -> Option<Arc<[u8]>> {
        let below = self.walk_root.real.get(self.base.real.len()..)?;
        let state = self.index.lock();
        let start = state.tree.find_dir(below)?;
        Some(Arc::clone(&state.tree.dirs[start as usize].shown))
    }

    /// Applies the changes of the disk to the index, and returns the files to search.
    fn searched_files(
        &self,
        search: &Search<'_>,
        ranks: &Ranks,
        start: &Arc<[u8]>,
        stop: &StopSignal<'_>,
    ) -> Option<SearchedFiles> {
        let CodeOptions { files: options, query, .. } = self.options;
        let names = options.walk.ignore.as_deref();
        let (state, _) =
            lock_refreshed_state(self.session, self.index, self.base, names, options.strict, stop)?;
        let tree = &state.tree;
        let number = tree.find_dir(self.walk_root.real.get(self.base.real.len()..)?)?;
        let mut views = self.index.views.lock().unwrap_or_else(PoisonError::into_inner);
        let view = views.get(tree, number, search);
        let tests_alone = query.kind() == Kind::Test;
        let mut files =
            SearchedFiles { unreadable: view.others().unreadable, ..Default::default() };
        for file in wanted_files(tree, view) {
            let known = &tree.files[file as usize];
            let is_settled = matches!(known.state, FileState::Text | FileState::Whole);
            let version = is_settled.then_some((known.signed, known.stamp));
            let ranked = version.and_then(|version| ranks.get(version));
            match ranked {
                Some(number) if !tests_alone || is_test(&ranks.docs[number as usize].path) => {
                    files.ranked.push(number);
                }
                Some(_) => {}
                None => {
                    let Some(place) = FilePlace::of(tree, file, start.len()) else { continue };
                    if !tests_alone || is_test(&place.path) {
                        files.unread.push(place);
                        files.versions.push(version);
                    }
                }
            }
        }
        Some(files)
    }

    /// Packs the best blocks with their lines, as the files are now.
    fn show(
        &self,
        ranks: &Ranks,
        ranking: &FileRanking,
        reader: &mut FileReader<'_>,
        cut: usize,
    ) -> ShownBlocks {
        let CodeOptions { query, limit, .. } = self.options;
        let again = self.blocks_again(ranks, ranking, reader, cut);
        let mut files: Vec<RankedFile<'_>> = Vec::new();
        let mut docs: Vec<&RankedDoc> = Vec::new();
        for &(number, score) in &ranking.files {
            let doc = &ranks.docs[number as usize];
            let Some(blocks) = doc.blocks.as_ref().or_else(|| again.get(&number)) else { continue };
            files.push(RankedFile { path: &doc.path, blocks, score });
            docs.push(doc);
        }
        let mut shown = ShownBlocks::default();
        let mut texts: HashMap<usize, Option<Vec<u8>>> = HashMap::new();
        for block in rank_blocks(query, &ranking.rarity, &files, *limit) {
            let RankedBlock { file, .. } = block;
            let text = texts.entry(file).or_insert_with(|| {
                let place = FilePlace::of(&self.index.lock().tree, docs[file].file, cut);
                match place.map(|place| reader.read(&place)) {
                    Some(ReadFile::Text(text, stamp)) if stamp == docs[file].stamp => Some(text),
                    _ => None,
                }
            });
            let Some(text) = text else {
                shown.changed += 1;
                continue;
            };
            let at = (&*docs[file].path, &text[..]);
            pack_block(&mut shown.packed, query, &ranking.rarity, at, &block);
            shown.blocks += 1;
        }
        shown
    }

    /// Reads the blocks of the best files that are not kept in memory.
    fn blocks_again(
        &self,
        ranks: &Ranks,
        ranking: &FileRanking,
        reader: &mut FileReader<'_>,
        cut: usize,
    ) -> HashMap<u32, FileBlocks> {
        let mut again = HashMap::new();
        let mut tokenizer = filewright_core::rank::Tokenizer::default();
        for &(number, _) in &ranking.files {
            let doc = &ranks.docs[number as usize];
            if doc.blocks.is_some() {
                continue;
            }
            let place = FilePlace::of(&self.index.lock().tree, doc.file, cut);
            if let Some(ReadFile::Text(text, _)) = place.map(|place| reader.read(&place)) {
                again.insert(number, FileBlocks::of(&doc.path, &text, &mut tokenizer));
            }
        }
        again
    }
}

/// The packed blocks, and how many were left out because their files have changed.
#[derive(Default)]
struct ShownBlocks {
    packed: Packed,
    blocks: u64,
    changed: u64,
}

/// Returns the files of a view that can be text and are small enough to be ranked.
fn wanted_files<'t>(tree: &'t Tree, view: &'t QueryView) -> impl Iterator<Item = u32> + 't {
    (0..tree.files.len() as u32).filter(|&file| {
        let known = &tree.files[file as usize];
        view.searches(file)
            && known.state != FileState::Binary
            && u64::from(known.size) <= MAX_RANKED_BYTES
    })
}

/// Adds the files that were read to the ranked ones. Returns the numbers of all searched files.
fn add_read(ranks: &mut Ranks, files: SearchedFiles, read: ReadBlocks) -> Vec<u32> {
    let SearchedFiles { mut ranked, unread, versions, .. } = files;
    for (at, blocks, stamp) in read.files {
        let FilePlace { file, path, .. } = &unread[at];
        let version = versions[at].filter(|&(_, known)| known == stamp);
        let doc = RankedDoc { file: *file, path: path.clone(), stamp, blocks: Some(blocks) };
        ranked.extend(ranks.add(doc, version));
    }
    ranked
}
