//! One ranked search below directories that indexes contain.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use filewright_core::rank::{
    CodeBlock, CodeFound, FileBlocks, Kind, PackedCut, RankStats, RankedBlock, RankedFile,
    cut_to_pool, is_test, rank_blocks, shown_block,
};

use super::CodeOptions;
use super::ranks::{Ranks, SeenReports};
use super::reader::{
    AskedFile, DoubtedFile, FilePlace, FileReader, Known, ReadFile, ask_files, read_files,
    unchanged,
};
use crate::build::indexer::MIN_DIRTY_FILES_PER_PASS;
use crate::lifecycle::index_dirty_in_background;
use crate::lookup::{lock_refreshed_state, lock_unless_stopped};
use crate::readers::ReadGuard;
use crate::tree::FileState;
use crate::{Index, Session};
use filewright_fs::search::searcher::Search;
use filewright_fs::walk::{StopSignal, WalkRoot};

/// A directory that is searched, and the index that contains it.
pub(super) struct SearchedRoot<'a> {
    pub session: &'a Arc<Session>,
    /// The index, which is not emptied during the search.
    pub guard: ReadGuard,
    /// Its place among the directories that the caller gave, of which some may not be searched.
    pub number: usize,
    /// The start of the index, if it is another directory.
    pub opened: Option<WalkRoot<'a>>,
    pub walk_root: WalkRoot<'a>,
    pub options: &'a CodeOptions,
    /// False for an index that is made for this call.
    pub is_kept: bool,
}

/// The files of a directory that a search covers.
pub(super) struct CoveredFiles {
    ranks: Arc<Mutex<Ranks>>,
    /// [`Ranks::id`] for which `seen` has numbers.
    id: u64,
    /// For each ranked file, whether it is searched.
    seen: Vec<bool>,
    searched: usize,
    /// The numbers of the files that are too large.
    large: Vec<u32>,
    unreadable: u64,
    is_cut: bool,
    /// The length of the path of the start in the tree.
    cut: usize,
    devices: HashMap<u64, bool>,
}

/// The files to read, and what is known of the others.
struct LookedUp {
    ranked: Vec<u32>,
    doubted: Vec<DoubtedFile>,
    unread: Vec<FilePlace>,
    seen: SeenReports,
    large: Vec<u32>,
    unreadable: u64,
    devices: HashMap<u64, bool>,
}

impl SearchedRoot<'_> {
    /// Reports whether tests alone are asked for. Then large files are not counted, because for most of
    /// them it is not known whether they are tests.
    fn wants_tests_alone(&self) -> bool {
        self.options.query.kind() == Kind::Test
    }

    fn index(&self) -> &Arc<Index> {
        self.guard.index()
    }

    fn base(&self) -> &WalkRoot<'_> {
        self.opened.as_ref().unwrap_or(&self.walk_root)
    }

    /// Brings what is known about the files up to date, until `stop` ends the reading. Returns `None`
    /// if the index no longer contains the directory, or its names could not be listed in time.
    pub fn cover(&self, stop: &StopSignal<'_>) -> Option<CoveredFiles> {
        let below = self.walk_root.real.get(self.base().real.len()..)?;
        let start = {
            let state = self.index().lock();
            Arc::clone(&state.tree.dirs[state.tree.find_dir(below)? as usize].shown)
        };
        let ranks = lock_unless_stopped(&self.index().ranks, stop)?.below(&start);
        let search = Search::below(&self.options.files, &self.walk_root);
        loop {
            // The ranked files are locked while they are looked up and added, and never while others
            // are read.
            let (mut files, id) = {
                let ranks = lock_unless_stopped(&ranks, stop)?;
                (self.look_up(&search, &ranks, start.len(), stop)?, ranks.id)
            };
            let devices = std::mem::take(&mut files.devices);
            let reader = || FileReader::new(self.base(), &search, stop, &devices);
            let unchanged = unchanged(&files.doubted, stop, reader);
            let confirmed = files.believe(&unchanged, self.wants_tests_alone());
            let read = read_files(&files.unread, stop, reader);
            let (is_cut, unreadable) = (read.is_cut, files.unreadable + read.unreadable);
            for (_, version, known) in &read.others {
                if matches!(known, Known::Large) {
                    files.add(version.file, *known, self.wants_tests_alone());
                }
            }
            let mut locked = lock_always(&ranks);
            if locked.id != id {
                continue; // Another query has forgotten all files meanwhile.
            }
            for (file, stamp) in confirmed {
                locked.confirm(file, stamp, files.seen);
            }
            let added = locked.add(read, &files.unread, files.seen, &self.index().lock());
            if self.is_kept && added.passing >= MIN_DIRTY_FILES_PER_PASS {
                index_dirty_in_background(self.session, self.index());
            }
            let mut seen = vec![false; locked.docs.len()];
            let all = files.ranked.iter().chain(&added.numbers);
            all.for_each(|&number| seen[number as usize] = true);
            drop(locked);
            return Some(CoveredFiles {
                ranks,
                id,
                searched: files.ranked.len() + added.numbers.len(),
                seen,
                large: files.large,
                unreadable,
                is_cut,
                cut: start.len(),
                devices,
            });
        }
    }

    /// Applies the changes of the disk to the index, and looks up the files to search.
    fn look_up(
        &self,
        search: &Search<'_>,
        ranks: &Ranks,
        cut: usize,
        stop: &StopSignal<'_>,
    ) -> Option<LookedUp> {
        let options = &self.options.files;
        let names = options.walk.ignore.as_deref();
        let (base, index) = (self.base(), self.index());
        let (state, _) =
            lock_refreshed_state(self.session, index, base, names, options.strict, stop)?;
        let tree = &state.tree;
        let number = tree.find_dir(self.walk_root.real.get(base.real.len()..)?)?;
        let mut views = index.views.lock().unwrap_or_else(PoisonError::into_inner);
        let view = views.get(tree, number, search);
        let tests_alone = self.wants_tests_alone();
        let mut files = LookedUp {
            ranked: Vec::new(),
            doubted: Vec::new(),
            unread: Vec::new(),
            seen: SeenReports::of(&state),
            large: Vec::new(),
            unreadable: view.others().unreadable,
            devices: state.devices.clone(),
        };
        for file in (0..tree.files.len() as u32).filter(|&file| view.searches(file)) {
            let record = &tree.files[file as usize];
            if record.state == FileState::Binary {
                continue;
            }
            let known = ranks.get(&state, file);
            if let Some((known, None)) = known {
                let is_other = |number: u32| !is_test(&ranks.docs[number as usize].path);
                if !tests_alone || !matches!(known, Known::Ranked(number) if is_other(number)) {
                    files.add(file, known, tests_alone);
                }
            } else if let Some(place) = FilePlace::of(tree, file, cut)
                && (!tests_alone || is_test(&place.path))
            {
                match known {
                    Some((known, Some(stamp))) => {
                        files.doubted.push(DoubtedFile { place, stamp, known });
                    }
                    _ => files.unread.push(place),
                }
            }
        }
        Some(files)
    }
}

impl LookedUp {
    /// Adds a file that is known. Large files are not counted where tests alone are asked for.
    fn add(&mut self, file: u32, known: Known, tests_alone: bool) {
        match known {
            Known::Ranked(number) => self.ranked.push(number),
            Known::Large if !tests_alone => self.large.push(file),
            Known::Large | Known::NoText => {}
        }
    }

    /// Adds the doubted files: those that are unchanged as known, the others to the unread ones. Returns
    /// the former with their stamps.
    fn believe(&mut self, unchanged: &HashSet<u32>, tests_alone: bool) -> Vec<(u32, u64)> {
        let mut confirmed = Vec::new();
        for DoubtedFile { place, stamp, known } in std::mem::take(&mut self.doubted) {
            if unchanged.contains(&place.file) {
                confirmed.push((place.file, stamp));
                self.add(place.file, known, tests_alone);
            } else {
                self.unread.push(place);
            }
        }
        confirmed
    }
}

/// A file whose blocks are scored.
struct Candidate {
    /// The index of its directory among the searched ones.
    root: usize,
    /// Its number in the tree.
    file: u32,
    path: Arc<str>,
    stamp: u64,
    score: f64,
    /// The blocks as they are kept, and with the terms of the query.
    cut: PackedCut,
    blocks: Option<FileBlocks>,
}

/// A search of the files of several directories, which are ranked together.
pub(super) struct RankedSearch<'a, 's> {
    pub roots: &'a [SearchedRoot<'s>],
    pub covered: &'a [CoveredFiles],
    pub options: &'a CodeOptions,
    /// When to stop; without a deadline, because what was read in time is ranked and shown after it.
    pub stop: &'a StopSignal<'a>,
}

/// The result of [`RankedSearch::run`].
pub(super) struct Shown {
    pub found: CodeFound,
    /// The number of blocks that were left out because their files have changed since they were ranked.
    pub changed: usize,
}

impl RankedSearch<'_, '_> {
    /// Ranks the files and returns the best blocks with their lines, as the files are now. `None` if
    /// another query has forgotten the files meanwhile.
    pub fn run(&self) -> Option<Shown> {
        let CodeOptions { query, limit, .. } = self.options;
        let (mut best, rarity) = self.best_files()?;
        self.ask(&mut best);
        best.retain(|one| one.blocks.is_some());
        let files: Vec<RankedFile<'_>> = best
            .iter()
            .filter_map(|one| {
                let blocks = one.blocks.as_ref()?;
                Some(RankedFile {
                    root: one.root as u32,
                    path: &one.path,
                    blocks,
                    score: one.score,
                })
            })
            .collect();
        let ordered = rank_blocks(query, &rarity, &files, *limit);
        let (blocks, changed) = self.with_lines(&best, &rarity, &ordered);
        let sum = |of: fn(&CoveredFiles) -> u64| self.covered.iter().map(of).sum();
        let (large_root, first_large) = self.first_large().unwrap_or_default();
        let found = CodeFound {
            files_searched: sum(|one| one.searched as u64),
            skipped_large: sum(|one| one.large.len() as u64),
            first_large,
            large_root,
            unreadable: sum(|one| one.unreadable),
            complete: !self.covered.iter().any(|one| one.is_cut),
            blocks,
        };
        for (root, one) in self.roots.iter().zip(self.covered) {
            lock_always(&one.ranks).limit(&root.index().lock());
            if root.is_kept {
                root.index().limit_ranks();
            }
        }
        Some(Shown { found, changed })
    }

    /// Returns the directory and the path of the first file that is too large, in the order of a walk.
    fn first_large(&self) -> Option<(u64, String)> {
        let first = |(root, covered): (&SearchedRoot<'_>, &CoveredFiles)| {
            let tree = &root.index().lock().tree;
            let paths =
                covered.large.iter().filter_map(|&file| FilePlace::of(tree, file, covered.cut));
            let path = paths.map(|place| place.path).min()?;
            Some((root.number as u64, path.to_string()))
        };
        self.roots.iter().zip(self.covered).find_map(first)
    }

    /// Returns the blocks with their lines, and how many were left out because their files have changed.
    fn with_lines(
        &self,
        best: &[Candidate],
        rarity: &[f64],
        ordered: &[RankedBlock],
    ) -> (Vec<CodeBlock>, usize) {
        let searches = self.searches();
        let mut readers: Vec<FileReader<'_>> =
            (0..self.roots.len()).map(|root| self.reader(root, &searches)).collect();
        let mut texts: HashMap<usize, Option<Vec<u8>>> = HashMap::new();
        let (mut blocks, mut changed): (Vec<CodeBlock>, _) = (Vec::new(), 0);
        for block in ordered {
            let one = &best[block.file];
            let text = texts.entry(block.file).or_insert_with(|| {
                let place = self.place(one)?;
                match readers[one.root].read(&place) {
                    ReadFile::Text(text, version) if version.stamp == one.stamp => {
                        Some(text.into_owned())
                    }
                    _ => {
                        // The next attempt reads it again, also if no watch reports the change.
                        self.roots[one.root].index().lock().tree.mark_used(one.file);
                        None
                    }
                }
            });
            match text {
                Some(text) => {
                    let root = self.roots[one.root].number as u32;
                    let at = (root, &*one.path, &text[..]);
                    blocks.push(shown_block((&self.options.query, rarity), at, block));
                }
                None => changed += 1,
            }
        }
        (blocks, changed)
    }

    fn searches(&self) -> Vec<Search<'_>> {
        self.roots.iter().map(|root| Search::below(&root.options.files, &root.walk_root)).collect()
    }

    fn reader<'r>(&'r self, root: usize, searches: &'r [Search<'r>]) -> FileReader<'r> {
        let devices = &self.covered[root].devices;
        FileReader::new(self.roots[root].base(), &searches[root], self.stop, devices)
    }

    fn place(&self, one: &Candidate) -> Option<FilePlace> {
        let tree = &self.roots[one.root].index().lock().tree;
        FilePlace::of(tree, one.file, self.covered[one.root].cut)
    }

    /// Returns the files that fit best, and how rare the terms of the query are in all.
    fn best_files(&self) -> Option<(Vec<Candidate>, Vec<f64>)> {
        let query = &self.options.query;
        let mut stats = RankStats::default();
        for one in self.covered {
            stats.add(&one.locked(|ranks, seen| ranks.index.stats(query, seen))?);
        }
        let mut best: Vec<Candidate> = Vec::new();
        for (root, one) in self.covered.iter().enumerate() {
            one.locked(|ranks, seen| {
                for (number, score) in ranks.index.rank(query, &stats, seen) {
                    let doc = &ranks.docs[number as usize];
                    let (path, cut) = (Arc::clone(&doc.path), doc.cut.clone());
                    let (file, stamp) = (doc.file, doc.stamp);
                    best.push(Candidate { root, file, path, stamp, score, cut, blocks: None });
                }
            })?;
        }
        cut_to_pool(query, &mut best, |one| (one.score, one.root as u32, &one.path));
        Some((best, stats.rarity(query)))
    }

    /// Counts the terms of the query in the blocks of files.
    fn ask(&self, best: &mut [Candidate]) {
        let searches = self.searches();
        for root in 0..self.roots.len() {
            let own = || best.iter().enumerate().filter(|(_, one)| one.root == root);
            let asked = own().filter_map(|(at, one)| {
                let (place, stamp, cut) = (self.place(one)?, one.stamp, one.cut.clone());
                Some((at, AskedFile { place, stamp, cut }))
            });
            let (numbers, files): (Vec<usize>, Vec<AskedFile>) = asked.unzip();
            let blocks = ask_files(&files, &self.options.query, || self.reader(root, &searches));
            for (at, blocks) in numbers.into_iter().zip(blocks) {
                best[at].blocks = blocks;
            }
        }
    }
}

impl CoveredFiles {
    /// Calls `work` with the ranked files and which of them are searched; `None` if another query has
    /// forgotten them meanwhile.
    fn locked<T>(&self, work: impl FnOnce(&mut Ranks, &[bool]) -> T) -> Option<T> {
        let mut ranks = lock_always(&self.ranks);
        if ranks.id != self.id {
            return None;
        }
        let mut seen = self.seen.clone();
        // Other queries may have added files.
        seen.resize(ranks.docs.len(), false);
        Some(work(&mut ranks, &seen))
    }
}

fn lock_always<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
