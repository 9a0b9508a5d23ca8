// Written by `npm run wire` from crates/node/src/exports/roots.rs; not to be edited.

#![allow(clippy::too_many_arguments, clippy::new_without_default)] // as declared

use crate::exports::roots as exports;
use crate::prelude::*;
use napi_derive::napi;

#[napi]
impl NativeRoots {
    /// Returns the resolver in use as JSON: `{ resolver, reason? }`.
    #[napi]
    pub fn capabilities(&self) -> napi::Result<Text> {
        let asked = vec![];
        self.on_this_thread(asked, |open, _| Ok(exports::capabilities(&open.session.roots)))
    }

    /// Returns how far the kernel enforces the roots, in three lines: `enforced`, `partial` or `none`;
    /// the version of Landlock, 0 without it; the reason if it is less than requested, otherwise empty.
    #[napi]
    pub fn enforcement(&self) -> napi::Result<Text> {
        let asked = vec![];
        self.on_this_thread(asked, |open, _| Ok(exports::enforcement(open)))
    }

    /// Allows the content of these secrets to be read. Replaces all earlier grants.
    #[napi]
    pub fn grant_secrets(&self, paths: Vec<String>) -> napi::Result<()> {
        let asked = vec![];
        self.on_this_thread(asked, |open, _| {
            exports::grant_secrets(&open.session.roots, &paths);
            Ok(())
        })
    }

    /// Sets the state directory in which indexes are saved. Must be called by a thread that Landlock
    /// does not restrict.
    #[napi]
    pub fn keep_indexes(&self, state_dir: String) -> napi::Result<()> {
        let asked = vec![];
        self.on_this_thread(asked, |open, _| {
            exports::keep_indexes(&open.session, &state_dir);
            Ok(())
        })
    }

    /// Reports whether an entry exists.
    #[napi]
    pub fn exists(&self, path: String) -> Promise<bool> {
        let asked = vec![asked(&path, Intent::Read)];
        self.in_lane(Lane::Quick, asked, move |open, paths| {
            exports::exists(&open.session.roots, paths[0].0)
        })
    }

    /// Resolves to a packed `PathStat`.
    #[napi]
    pub fn stat(&self, path: String, follow: bool) -> Promise<PackedResult> {
        let asked = vec![asked(&path, Intent::Read)];
        self.in_lane(Lane::Quick, asked, move |open, paths| {
            exports::stat(&open.session.roots, paths[0].0, follow)
        })
    }

    /// Resolves to the content of a file.
    #[napi]
    pub fn read_bytes(&self, path: String) -> Promise<Buffer> {
        let asked = vec![asked(&path, Intent::Read)];
        self.in_lane(Lane::Quick, asked, move |open, paths| {
            exports::read_bytes(&open.session.roots, paths[0].0)
        })
    }

    /// Resolves to the content of `info/exclude` of the repository outside the roots of which a
    /// directory is a linked worktree; null without one.
    #[napi]
    pub fn git_exclude(&self, path: String) -> Promise<Option<Buffer>> {
        let asked = vec![asked(&path, Intent::Read)];
        self.in_lane(Lane::Quick, asked, move |open, paths| {
            Ok(exports::git_exclude(&open.session.roots, paths[0].0)?.map(Buffer::from))
        })
    }

    /// Resolves to a range of a file with its metadata, and to the metadata alone if the file still has
    /// the version `if_none_match`.
    #[napi]
    pub fn read(
        &self,
        path: String,
        start: f64,
        end: f64,
        max_bytes: f64,
        if_none_match: Option<String>,
        cancel: Option<&CancelToken>,
    ) -> Promise<ReadResult> {
        let cancel = token(cancel);
        let asked = vec![asked(&path, Intent::Read)];
        self.in_lane(Lane::Quick, asked, move |open, paths| {
            exports::read(
                &open.session.roots,
                paths[0].0,
                given(start),
                given(end),
                given(max_bytes),
                if_none_match.as_deref(),
                &cancel,
            )
        })
    }

    /// Resolves to a page of a file, a packed `FilePage`.
    #[napi]
    pub fn read_page(
        &self,
        path: String,
        request: String,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let cancel = token(cancel);
        let asked = vec![asked(&path, Intent::Read)];
        self.in_lane(Lane::Quick, asked, move |open, paths| {
            exports::read_page(&open.session.roots, paths[0].0, &request, &cancel)
        })
    }

    /// Resolves to a packed `FileHash`: the SHA-256 of a file with its metadata.
    #[napi]
    pub fn hash_file(&self, path: String, cancel: Option<&CancelToken>) -> Promise<PackedResult> {
        let cancel = token(cancel);
        let asked = vec![asked(&path, Intent::Read)];
        self.in_lane(Lane::Scan, asked, move |open, paths| {
            exports::hash_file(&open.session.roots, paths[0].0, &cancel)
        })
    }

    /// Resolves to a page of the entries of a directory. `after` is the name of the last entry of the
    /// previous page, and `after_dir` says whether it was a directory.
    #[napi]
    pub fn list_dir(
        &self,
        path: String,
        facts: bool,
        limit: f64,
        after: Option<String>,
        after_dir: bool,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let cancel = token(cancel);
        let asked = vec![asked(&path, Intent::Read)];
        self.in_lane(Lane::Quick, asked, move |open, paths| {
            exports::list_dir(
                &open.session.roots,
                paths[0].0,
                facts,
                given(limit),
                after.as_deref(),
                after_dir,
                &cancel,
            )
        })
    }

    /// Resolves to a page of the entries of a tree. `options` is the JSON that `TreeOptions::from_json`
    /// parses.
    #[napi]
    pub fn list_tree(
        &self,
        path: String,
        options: String,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let cancel = token(cancel);
        let asked = vec![asked(&path, Intent::Read)];
        self.in_lane(Lane::Scan, asked, move |open, paths| {
            exports::list_tree(&open.session, paths[0].0, &options, &cancel)
        })
    }

    /// Resolves to the target of a link.
    #[napi]
    pub fn read_link(&self, path: String) -> Promise<Text> {
        let asked = vec![asked(&path, Intent::Read)];
        self.in_lane(Lane::Quick, asked, move |open, paths| {
            exports::read_link(&open.session.roots, paths[0].0)
        })
    }

    /// Resolves to the path of an entry without links.
    #[napi]
    pub fn realpath(&self, path: String) -> Promise<Text> {
        let asked = vec![asked(&path, Intent::Read)];
        self.in_lane(Lane::Quick, asked, move |open, paths| {
            exports::realpath(&open.session.roots, paths[0].0)
        })
    }

    /// Resolves to the other names (hard links) of a file below the roots, as paths without links, each
    /// after a NUL.
    #[napi]
    pub fn other_names(&self, path: String) -> Promise<Text> {
        let asked = vec![asked(&path, Intent::Read)];
        self.in_lane(Lane::Scan, asked, move |open, paths| {
            exports::other_names(&open.session.roots, paths[0].0)
        })
    }

    /// Writes a file, or adds to it. Resolves to a packed `WrittenFile`. `flags` are `ChangeFlags`, and
    /// `durability` is the index of one.
    #[napi]
    pub fn write_bytes(
        &self,
        path: String,
        bytes: Uint8Array,
        if_version: Option<String>,
        flags: u32,
        mode: f64,
        durability: u32,
        aside: Option<String>,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let cancel = token(cancel);
        let asked = vec![asked(&path, Intent::Write)];
        self.in_lane(Lane::Quick, asked, move |open, paths| {
            exports::write_bytes(
                &open.session.roots,
                paths[0].0,
                &bytes,
                if_version.as_deref(),
                flags,
                given(mode),
                durability,
                aside.as_deref(),
                &cancel,
            )
        })
    }

    /// Resolves to true if the directory was created, and to false if it existed already.
    #[napi]
    pub fn mkdir(
        &self,
        path: String,
        parents: bool,
        exist_ok: bool,
        durability: u32,
    ) -> Promise<bool> {
        let asked = vec![asked(&path, Intent::Write)];
        self.in_lane(Lane::Quick, asked, move |open, paths| {
            exports::mkdir(&open.session.roots, paths[0].0, parents, exist_ok, durability)
        })
    }

    /// Removes a file, a link or an empty directory, or renames it to `aside`.
    #[napi]
    pub fn delete(
        &self,
        path: String,
        if_version: Option<String>,
        aside: Option<String>,
        durability: u32,
    ) -> Promise<()> {
        let asked = vec![asked(&path, Intent::Write)];
        self.in_lane(Lane::Quick, asked, move |open, paths| {
            exports::delete(
                &open.session.roots,
                paths[0].0,
                if_version.as_deref(),
                aside.as_deref(),
                durability,
            )
        })
    }

    /// Removes an entry and everything below it, or renames it to `aside`. Resolves to packed
    /// `TreeCounts`.
    #[napi]
    pub fn remove_tree(
        &self,
        path: String,
        aside: Option<String>,
        durability: u32,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let cancel = token(cancel);
        let asked = vec![asked(&path, Intent::Write)];
        self.in_lane(Lane::Scan, asked, move |open, paths| {
            exports::remove_tree(
                &open.session.roots,
                paths[0].0,
                aside.as_deref(),
                durability,
                &cancel,
            )
        })
    }

    /// Moves a file that was set aside at `path` to the absolute path `kept` in a private directory.
    #[napi]
    pub fn put_away(&self, path: String, kept: String, durable: bool) -> Promise<()> {
        let asked = vec![asked(&path, Intent::Write)];
        self.in_lane(Lane::Quick, asked, move |open, paths| {
            exports::put_away(&open.session.roots, paths[0].0, &kept, durable)
        })
    }

    /// Moves a file that had this version back from the absolute path `kept`. The file that is at `path`
    /// is renamed to `aside`; without that name none may be there.
    #[napi]
    pub fn bring_back(
        &self,
        path: String,
        kept: String,
        version: String,
        aside: Option<String>,
    ) -> Promise<()> {
        let asked = vec![asked(&path, Intent::Write)];
        self.in_lane(Lane::Quick, asked, move |open, paths| {
            exports::bring_back(&open.session.roots, paths[0].0, &kept, &version, aside.as_deref())
        })
    }

    /// Resolves to the version of the entry under its new name; null after a move to another file
    /// system, or if another program has replaced the entry already.
    #[napi]
    pub fn rename(
        &self,
        from: String,
        to: String,
        flags: u32,
        durability: u32,
        if_version: Option<String>,
        if_target: Option<String>,
        aside: Option<String>,
        cancel: Option<&CancelToken>,
    ) -> Promise<Option<String>> {
        let cancel = token(cancel);
        let asked = vec![asked(&from, Intent::Write), asked(&to, Intent::Write)];
        self.in_lane(Lane::Quick, asked, move |open, paths| {
            exports::rename(
                &open.session.roots,
                paths[0].0,
                paths[1].0,
                flags,
                durability,
                if_version.as_deref(),
                if_target.as_deref(),
                aside.as_deref(),
                &cancel,
            )
        })
    }

    /// Copies a file. Resolves to a packed `WrittenFile`.
    #[napi]
    pub fn copy_file(
        &self,
        from: String,
        to: String,
        flags: u32,
        durability: u32,
        if_version: Option<String>,
        aside: Option<String>,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let cancel = token(cancel);
        let asked = vec![asked(&from, Intent::Read), asked(&to, Intent::Write)];
        self.in_lane(Lane::Scan, asked, move |open, paths| {
            exports::copy_file(
                &open.session.roots,
                paths[0].0,
                paths[1].0,
                flags,
                durability,
                if_version.as_deref(),
                aside.as_deref(),
                &cancel,
            )
        })
    }

    /// Copies a tree. Resolves to packed `TreeCounts`.
    #[napi]
    pub fn copy_tree(
        &self,
        from: String,
        to: String,
        flags: u32,
        durability: u32,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let cancel = token(cancel);
        let asked = vec![asked(&from, Intent::Read), asked(&to, Intent::Write)];
        self.in_lane(Lane::Scan, asked, move |open, paths| {
            exports::copy_tree(
                &open.session.roots,
                paths[0].0,
                paths[1].0,
                flags,
                durability,
                &cancel,
            )
        })
    }

    /// Sets the permission bits of an entry.
    #[napi]
    pub fn chmod(&self, path: String, mode: u32) -> Promise<()> {
        let asked = vec![asked(&path, Intent::Write)];
        self.in_lane(Lane::Quick, asked, move |open, paths| {
            exports::chmod(&open.session.roots, paths[0].0, mode)
        })
    }

    /// Removes temporary files that dead processes left in a directory.
    #[napi]
    pub fn sweep(&self, path: String) -> Promise<()> {
        let asked = vec![asked(&path, Intent::Write)];
        self.in_lane(Lane::Quick, asked, move |open, paths| {
            exports::sweep(&open.session.roots, paths[0].0)
        })
    }

    /// Creates a symbolic link.
    #[napi]
    pub fn symlink(&self, target: String, path: String) -> Promise<()> {
        let asked = vec![asked(&path, Intent::Write)];
        self.in_lane(Lane::Quick, asked, move |open, paths| {
            exports::symlink(&open.session.roots, &target, paths[0].0)
        })
    }

    /// Searches the contents of files below a path. Resolves to batches of packed results.
    #[napi]
    pub fn grep(
        &self,
        path: String,
        options: String,
        cancel: Option<&CancelToken>,
    ) -> Promise<Vec<PackedBatch>> {
        let progress = progress(cancel);
        let cancel = token(cancel);
        let asked = vec![asked(&path, Intent::Read)];
        self.in_lane(Lane::Scan, asked, move |open, paths| {
            Ok(exports::grep(&open.session, paths[0].0, &options, &progress, &cancel)?
                .into_iter()
                .map(PackedBatch::from)
                .collect::<Vec<_>>())
        })
    }

    /// Finds entries below a directory by name.
    #[napi]
    pub fn find(
        &self,
        path: String,
        options: String,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let cancel = token(cancel);
        let asked = vec![asked(&path, Intent::Read)];
        self.in_lane(Lane::Scan, asked, move |open, paths| {
            exports::find(&open.session, paths[0].0, &options, &cancel)
        })
    }

    /// Finds files below a directory by a fuzzy match of their paths.
    #[napi]
    pub fn find_files(
        &self,
        path: String,
        options: String,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let cancel = token(cancel);
        let asked = vec![asked(&path, Intent::Read)];
        self.in_lane(Lane::Scan, asked, move |open, paths| {
            exports::find_files(&open.session, paths[0].0, &options, &cancel)
        })
    }

    /// Finds the blocks of files below a directory that fit a question best.
    #[napi]
    pub fn search_code(
        &self,
        path: String,
        options: String,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let cancel = token(cancel);
        let asked = vec![asked(&path, Intent::Read)];
        self.in_lane(Lane::Scan, asked, move |open, paths| {
            exports::search_code(&open.session, paths[0].0, &options, &cancel)
        })
    }

    /// Builds an index of a directory, if there is none. Resolves to a packed `IndexStatus`.
    #[napi]
    pub fn warm(
        &self,
        path: String,
        respect_ignore: bool,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let cancel = token(cancel);
        let asked = vec![asked(&path, Intent::Read)];
        self.in_lane(Lane::Scan, asked, move |open, paths| {
            exports::warm(&open.session, paths[0].0, respect_ignore, &cancel)
        })
    }

    /// Resolves to the packed status of the index that contains a path, without any number if there is
    /// none.
    #[napi]
    pub fn index_status(&self, path: String) -> Promise<PackedResult> {
        let asked = vec![asked(&path, Intent::Read)];
        self.in_lane(Lane::Scan, asked, move |open, paths| {
            exports::index_status(&open.session, paths[0].0)
        })
    }
}
