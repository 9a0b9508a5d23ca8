//! The results of a search, and their encoding for JavaScript.

use filewright_core::pack::Packed;
use filewright_core::wire;
use filewright_core::wire::Wire;

use super::file_matches::{FileMatches, pack_in_batches, path_as_text};
use super::options::GrepOutput;
use super::searcher::Search;

wire! {
    /// The reason why a search is incomplete.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum IncompleteReason {
        /// There are more results than `maxResults`.
        MaxResults = "max_results",
        /// At least one file has more hits than `maxPerFile`.
        MaxPerFile = "max_per_file",
        /// The time limit was reached.
        Timeout = "timeout",
    }
}

wire! {
    /// The way in which a search made sure that its view is current.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Freshness {
        /// It read all files.
        Scan = "scan",
        /// The system reports every change.
        Watch = "watch",
        /// It compared the times of files.
        Sweep = "sweep",
    }
}

wire! {
    /// The totals of a search of contents.
    #[derive(Clone, Debug)]
    pub struct SearchTotals {
        /// The number of matching lines. Exact when the search is complete, otherwise a lower
        /// bound.
        pub total_matches: u64,
        /// The number of files with hits.
        pub files_with_matches: u64,
        /// The number of files that were searched.
        pub files_searched: u64,
        /// The number of binary files.
        pub skipped_binary: u64,
        /// The number of files larger than `maxFileBytes`.
        pub skipped_large: u64,
        /// The number of entries that could not be read.
        pub unreadable: u64,
        /// The number of files and whole directories excluded by ignore files.
        pub ignored: u64,
        /// True when `maxResults` truncated the result.
        pub truncated: bool,
        /// How the search made sure that its view is current.
        pub fresh: Freshness,
    }
}

wire! {
    /// The head of the result of a search; the hits follow it.
    #[derive(Clone, Debug)]
    pub struct SearchHead {
        ..totals: SearchTotals,
        /// The reason why the search is incomplete; `None` when it is complete.
        pub incomplete_reason: Option<IncompleteReason>,
        /// The path to continue from; `None` when nothing follows.
        pub next_path: Option<String>,
        /// The line of that path to continue after.
        pub next_line: u64,
        /// True when hits come with the lines around them.
        pub context: bool,
    }
}

impl Search<'_> {
    /// Encodes the results for JavaScript; see [`super::grep::grep`].
    pub fn results(
        self,
        unreadable: u64,
        ignored: u64,
        stopped_at: Option<&[u8]>,
        fresh: Freshness,
    ) -> Vec<Packed> {
        let options = self.options;
        let mut found = std::mem::take(&mut *self.found());
        found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let mut reason = None;
        let mut next: Option<(Box<[u8]>, u64)> = None;
        if found.iter().any(|file| file.more) && options.max_per_file {
            reason = Some(IncompleteReason::MaxPerFile);
        }
        if let Some(stopped_at) = stopped_at {
            reason = Some(IncompleteReason::Timeout);
            // Files that sort before `stopped_at` are complete; that file itself may be incomplete.
            found.retain(|file| *file.path <= *stopped_at);
            let line = match found.last() {
                Some(file) if *file.path == *stopped_at => file.line_of(file.ends.len()),
                _ => 0,
            };
            next = Some((stopped_at.into(), line));
        }
        let total: u64 = found.iter().map(|file| file.hits).sum();
        let mut left = options.max_results;
        let mut truncated = false;
        for index in 0..found.len() {
            let units = self.units_of(found[index].hits);
            if units <= left {
                left -= units;
                continue;
            }
            truncated = true;
            reason = Some(IncompleteReason::MaxResults);
            let keep = left as usize;
            next = if keep > 0 {
                let file = &mut found[index];
                file.cut(keep);
                Some((file.path.clone(), file.line_of(keep)))
            } else {
                // The limit falls between two files: continues after the last line of the previous
                // one.
                index.checked_sub(1).map(|before| {
                    let file = &found[before];
                    let whole = options.output != GrepOutput::Content;
                    let line = if whole { u64::MAX >> 11 } else { file.line_of(file.ends.len()) };
                    (file.path.clone(), line)
                })
            };
            found.truncate(index + usize::from(keep > 0));
            break;
        }
        let files = found.len() as u64;
        if let Some(place) = self.cut_text(&mut found) {
            truncated = true;
            next = Some(place);
        }
        let totals = SearchTotals {
            total_matches: total,
            files_with_matches: files,
            files_searched: self.searched.into_inner(),
            skipped_binary: self.binary.into_inner(),
            skipped_large: self.large.into_inner(),
            unreadable: unreadable + self.unreadable.into_inner(),
            ignored,
            truncated,
            fresh,
        };
        let head = SearchHead {
            totals,
            incomplete_reason: reason,
            next_path: next.as_ref().map(|(path, _)| path_as_text(path).to_owned()),
            next_line: next.as_ref().map_or(0, |(_, line)| *line),
            context: options.limits.has_context(),
        };
        let mut results = vec![head.packed()];
        pack_in_batches(found, &mut results);
        results
    }

    /// Removes the results after the one that reaches `maxTextBytes`. Returns the path and the line
    /// from which to continue; `None` if nothing was removed.
    fn cut_text(&self, found: &mut Vec<FileMatches>) -> Option<(Box<[u8]>, u64)> {
        let mut left = self.options.limits.max_text_bytes;
        if left == u64::MAX {
            return None;
        }
        let files = found.len();
        for index in 0..files {
            let file = &mut found[index];
            let (bytes, line) = if self.options.output == GrepOutput::Content {
                let enough = file.ends.iter().position(|end| end.text_bytes >= left);
                let given = enough.map_or(file.ends.len(), |last| last + 1);
                let bytes = file.ends.last().map_or(0, |end| end.text_bytes);
                if (given as u64) < file.hits {
                    let line = file.line_of(given);
                    file.cut_packed(given);
                    let path = file.path.clone();
                    found.truncate(index + 1);
                    return Some((path, line));
                }
                (bytes, file.line_of(given))
            } else {
                // The path and a line end.
                (file.path.len() as u64 + 1, u64::MAX >> 11)
            };
            left = left.saturating_sub(bytes);
            if left == 0 && index + 1 < files {
                let path = file.path.clone();
                found.truncate(index + 1);
                return Some((path, line));
            }
        }
        None
    }
}
