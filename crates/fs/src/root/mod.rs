//! The set of roots, at which every operation of this crate starts.
//!
//! A [`Roots`] is created once from a [`Policy`]. Each root is resolved at that moment and pinned
//! by a descriptor: moving it, or retargeting a link in its path, has no effect afterwards. An
//! operation takes an absolute path and an intent, and works relative to descriptors below a root:
//!
//! - `resolve_entry` resolves a path to a `ResolvedEntry`: the descriptor of a directory and
//!   one name in it. Nearly always one `openat2` call that forbids links suffices, so that the
//!   path as written is the real path; otherwise it uses
//! - `components`, which walks descriptor by descriptor and interprets links itself.
//! - `open` opens a resolved entry after checking its type.
//!
//! Rights and rules are checked on the real path, which contains no link. A path outside is refused
//! with the same message whether or not it exists, and nothing outside is accessed to find out.

mod absolute;
mod anchor;
mod components;
mod created_dirs;
mod credentials;
mod entry;
mod open;
mod other_names;
mod policy;
mod renew;
mod repository;
mod resolve_entry;
mod resolver;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, RwLock};

use filewright_core::Result;
use filewright_core::pattern::ignore::{IgnoreKind, IgnoreRules, Stack};
use filewright_core::pattern::policy::{
    AccessVerdict, Intent, PathCursor, PathRules, RulesConfig, SECRET_HEAD_BYTES, holds_secret,
    may_hold_secret,
};

pub use absolute::is_within;
pub use open::{AskedName, OpenDir, OpenFile};
pub use policy::{Follow, Kernel, Policy, ResolverChoice};
pub use renew::RenewedRoots;
pub use resolver::Resolver;

pub(crate) use absolute::{absolute_path_of, parent_of, push_path_name};
pub(crate) use created_dirs::CreatedDirs;
pub(crate) use entry::{FinalSymlink, MissingPolicy, ResolvedEntry};
pub(crate) use open::{MAX_PATH_ATTEMPTS, contains_private_key, open_resolved_file};
pub(crate) use policy::to_absolute_path as normalised_path;
pub(crate) use repository::repository_marks_in;

use credentials::CredentialFiles;

use crate::dir::base_directory_flags;
pub(crate) use crate::dir::errno::outside_for_intent_error;
use crate::dir::errno::{os_error, protected_error, secret_content_error, secret_error};
use crate::dir::sweeps::SweepTimes;

/// A directory or file that a policy allows to access.
#[derive(Clone, Debug)]
struct Root {
    /// The pinned directory: the root itself, or its deepest existing parent if the root is a file
    /// or does not exist yet.
    anchor: Arc<OwnedFd>,
    anchor_path: Vec<u8>,
    /// The real path of the root: that of the anchor, or below it.
    path: Vec<u8>,
    /// The path as the policy names it, if that differs.
    alias: Option<Vec<u8>>,
    read: bool,
    write: bool,
}

impl Root {
    /// Reports whether the root has the right for `intent`.
    fn allows(&self, intent: Intent) -> bool {
        match intent {
            Intent::Read => self.read,
            Intent::Write => self.write,
        }
    }

    /// Reports whether path resolution may enter `path`: the root and everything below, and the
    /// directories between the anchor and the root.
    fn reaches(&self, path: &[u8]) -> bool {
        is_within(path, &self.path)
            || (is_within(&self.path, path) && is_within(path, &self.anchor_path))
    }
}

/// The roots of one policy, each pinned by a descriptor, and the policy's rules.
#[derive(Debug)]
pub struct Roots {
    roots: Vec<Root>,
    rules: PathRules,
    read_only: bool,
    follow: Follow,
    /// True if every path must be a real one: a link on the way means that the path has changed.
    real_paths: bool,
    resolver: Resolver,
    /// The ignore rules from the user's git excludes, which every walk begins with, and a hash of
    /// their text.
    pub(crate) excludes: (Stack, u64),
    /// The absolute real paths of the secrets that a person allowed to be read, including
    /// everything below them.
    granted: RwLock<Vec<Vec<u8>>>,
    kept_names: other_names::KeptNames,
    credentials: Arc<CredentialFiles>,
    pub(crate) sweeps: SweepTimes,
}

/// Parses the user's git excludes, the lines of a gitignore file that hold for every repository.
/// Returns the rules and a hash of the text, which is 0 without one.
fn parse_git_excludes(text: Option<&str>) -> (Stack, u64) {
    let Some(text) = text else { return (Stack::new(), 0) };
    let mut content = DefaultHasher::new();
    text.hash(&mut content);
    let rules = vec![(IgnoreKind::GLOBAL, IgnoreRules::parse(text.as_bytes()))];
    (Stack::new().enter(b"", rules, false), content.finish())
}

impl Roots {
    /// Resolves and pins the roots of a policy.
    ///
    /// # Errors
    /// Errors of the policy or its globs; `LOOP`, `PERMISSION_DENIED` and similar if a root cannot
    /// be resolved. A root that does not exist yet is not an error.
    pub fn new(policy: &Policy) -> Result<Self> {
        let resolver = Resolver::choose(policy.resolver);
        let everything = Self::whole_file_system(resolver)?;
        let mut roots: Vec<Root> = Vec::new();
        for (paths, intent) in [(&policy.read, Intent::Read), (&policy.write, Intent::Write)] {
            let slash = [b"/".to_vec()];
            for path in paths.as_deref().unwrap_or(&slash) {
                let root = everything.pin(path)?;
                let index = roots
                    .iter()
                    .position(|known| known.path == root.path && known.alias == root.alias)
                    .unwrap_or_else(|| {
                        roots.push(root);
                        roots.len() - 1
                    });
                match intent {
                    Intent::Read => roots[index].read = true,
                    Intent::Write => roots[index].write = true,
                }
            }
        }
        let cwd = everything.realpath_of(&policy.cwd)?;
        let paths: Vec<&[u8]> = roots.iter().map(|root| root.path.as_slice()).collect();
        let rules = PathRules::new(&RulesConfig {
            cwd: &cwd,
            roots: &paths,
            deny: &policy.deny,
            protect: policy.protect,
            secrets: policy.secrets,
            fold_case: policy.folds_case || cfg!(any(target_os = "macos", target_os = "windows")),
            places: &policy.places,
        })?;
        if policy.follow == Follow::Any {
            // A root without rights, so that a link may lead through any directory, although
            // nothing there is allowed by that alone.
            roots.push(everything.pin(b"/")?);
        }
        let credentials = Arc::new(CredentialFiles::find(&rules, policy.home.as_deref()));
        Ok(Self {
            roots,
            rules,
            credentials,
            read_only: policy.read_only,
            follow: policy.follow,
            real_paths: false,
            resolver,
            excludes: parse_git_excludes(policy.git_excludes.as_deref()),
            granted: RwLock::default(),
            kept_names: other_names::KeptNames::default(),
            sweeps: SweepTimes::default(),
        })
    }

    /// Reports whether the policy lets links lead outside the roots.
    #[cfg(target_os = "linux")]
    pub(crate) fn follows_anywhere(&self) -> bool {
        self.follow == Follow::Any
    }

    /// Yields the directory that Landlock must allow for each root with rights: its descriptor,
    /// whether it is exactly the root (false if it is a parent, because the root is a file or
    /// missing), and whether it may be changed.
    #[cfg(target_os = "linux")]
    pub(crate) fn places(&self) -> impl Iterator<Item = (&Arc<OwnedFd>, bool, bool)> + '_ {
        self.roots.iter().filter(|root| root.read || root.write).map(|root| {
            let write = root.write && !self.read_only;
            (&root.anchor, root.path == root.anchor_path, write)
        })
    }

    /// Yields the roots with rights that lie in no other one, except for `/`: their directories and
    /// real paths. A root that is a file or is missing is left out.
    pub(crate) fn outermost(&self) -> impl Iterator<Item = (BorrowedFd<'_>, &[u8])> + '_ {
        let roots = || {
            self.roots.iter().filter(|root| {
                (root.read || root.write) && root.path == root.anchor_path && root.path != b"/"
            })
        };
        let is_inner = move |at: usize, root: &Root| {
            roots().enumerate().any(|(other, outer)| {
                is_within(&root.path, &outer.path) && (outer.path != root.path || other < at)
            })
        };
        roots()
            .enumerate()
            .filter(move |(at, root)| !is_inner(*at, root))
            .map(|(_, root)| (root.anchor.as_fd(), &root.path[..]))
    }

    /// Returns one root at `/` with all rights and no rules. The roots of a policy are resolved
    /// with it.
    pub(crate) fn whole_file_system(resolver: Resolver) -> Result<Self> {
        let opened = rustix::fs::open("/", base_directory_flags(), rustix::fs::Mode::empty())
            .map_err(os_error)?;
        let root = Root {
            anchor: anchor::share(opened),
            anchor_path: b"/".to_vec(),
            path: b"/".to_vec(),
            alias: None,
            read: true,
            write: true,
        };
        let rules = PathRules::none();
        Ok(Self {
            roots: vec![root],
            rules,
            credentials: Arc::default(),
            read_only: false,
            follow: Follow::Inside,
            real_paths: false,
            resolver,
            excludes: parse_git_excludes(None),
            granted: RwLock::default(),
            kept_names: other_names::KeptNames::default(),
            sweeps: SweepTimes::default(),
        })
    }

    /// Resolves a path and returns a root without rights for it, pinned by the directory itself or
    /// by its deepest existing parent.
    fn pin(&self, path: &[u8]) -> Result<Root> {
        let place = self.locate(path, Intent::Read, FinalSymlink::Follow, MissingPolicy::Stop)?;
        let whole = place.real_with_missing();
        let (opened, anchor_path) = match place.open_directory() {
            Some(opened) => (opened.map_err(os_error)?, whole.clone()),
            None => (place.dir.duplicate().map_err(os_error)?, parent_of(&place.real).to_vec()),
        };
        let alias = (whole != path).then(|| path.to_vec());
        let anchor = anchor::share(opened);
        Ok(Root { anchor, anchor_path, path: whole, alias, read: false, write: false })
    }

    /// Resolves a path to its real path, with missing names kept.
    fn realpath_of(&self, path: &[u8]) -> Result<Vec<u8>> {
        let place = self.locate(path, Intent::Read, FinalSymlink::Follow, MissingPolicy::Stop)?;
        Ok(place.real_with_missing())
    }

    /// Returns the rules for paths: what is denied, protected or secret.
    pub fn rules(&self) -> &PathRules {
        &self.rules
    }

    /// Returns whether symbolic links are followed.
    pub(crate) fn follow(&self) -> Follow {
        self.follow
    }

    /// Returns the resolver in use.
    pub fn resolver(&self) -> Resolver {
        self.resolver
    }

    /// Returns the resolver in use as JSON: `{ resolver, reason? }`.
    pub fn capabilities(&self) -> String {
        let mut object = serde_json::Map::new();
        object.insert("resolver".into(), self.resolver.name().into());
        if let Some(reason) = self.resolver.reason() {
            object.insert("reason".into(), reason.into());
        }
        serde_json::Value::Object(object).to_string()
    }

    /// Reports whether rights and rules permit an absolute resolved path to be read (or written).
    pub fn permits(&self, real: &[u8], intent: Intent) -> bool {
        self.check(real, intent).is_ok()
    }

    /// Returns an error if the rights of the roots or the rules forbid `intent` on an absolute
    /// resolved path.
    pub(crate) fn check(&self, real: &[u8], intent: Intent) -> Result<()> {
        if !self.has_right(real, intent) {
            return Err(outside_for_intent_error(intent));
        }
        match self.rules.verdict(real, intent) {
            AccessVerdict::Allowed => Ok(()),
            AccessVerdict::Denied => Err(outside_for_intent_error(intent)),
            AccessVerdict::Protected => Err(protected_error()),
        }
    }

    /// Returns the same roots with secrets as ordinary files and without links. For reads by the
    /// host itself, such as saving the content of a file before a change so that it can be undone.
    /// Its paths are real ones: a link on the way, which another program has put there meanwhile,
    /// must not lead to a secret.
    #[must_use]
    pub fn without_secret_filter(&self) -> Self {
        let roots = self.with_roots(self.roots.clone(), self.rules.clone().with_secrets_allowed());
        Self { real_paths: true, ..roots }
    }

    /// Returns the same policy with these roots and rules, without the granted secrets and without
    /// the times of sweeps.
    fn with_roots(&self, roots: Vec<Root>, rules: PathRules) -> Self {
        Self {
            roots,
            rules,
            credentials: Arc::clone(&self.credentials),
            read_only: self.read_only,
            follow: self.follow,
            real_paths: self.real_paths,
            resolver: self.resolver,
            excludes: self.excludes.clone(),
            granted: RwLock::default(),
            kept_names: other_names::KeptNames::default(),
            sweeps: SweepTimes::default(),
        }
    }

    /// Allows the content of the secrets at and below these absolute real paths to be read.
    /// Replaces all earlier grants.
    pub fn grant_secrets(&self, paths: Vec<Vec<u8>>) {
        *self.granted.write().unwrap_or_else(|poisoned| poisoned.into_inner()) = paths;
    }

    /// Reports whether a resolved path counts as a secret by its name and is not granted.
    pub(crate) fn is_hidden_secret(&self, real: &[u8]) -> bool {
        self.rules.secret(real) && !self.is_granted(real)
    }

    /// Reports whether a person allowed the secret at this path, or a directory above it, to be
    /// read.
    fn is_granted(&self, real: &[u8]) -> bool {
        let granted = self.granted.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        granted.iter().any(|path| is_within(real, path))
    }

    /// Returns an error if a resolved path counts as a secret by its name and is not granted.
    pub(crate) fn check_secret(&self, real: &[u8]) -> Result<()> {
        if self.is_hidden_secret(real) { Err(secret_error()) } else { Ok(()) }
    }

    /// Returns an error if an open file contains a private key and is not granted. `real` is its
    /// absolute real path.
    pub(crate) fn check_content(&self, fd: &OwnedFd, real: &[u8]) -> Result<()> {
        self.check_for_key(real, || contains_private_key(fd))
    }

    /// Does the same as [`Roots::check_content`] for the first bytes of a file: all of them, or at
    /// least [`SECRET_HEAD_BYTES`].
    pub(crate) fn check_head(&self, head: &[u8], real: &[u8]) -> Result<()> {
        let head = &head[..head.len().min(SECRET_HEAD_BYTES)];
        self.check_for_key(real, || may_hold_secret(head) && holds_secret(head))
    }

    fn check_for_key(&self, real: &[u8], has_key: impl Fn() -> bool) -> Result<()> {
        if !self.rules.hides_secrets() || !has_key() {
            return Ok(());
        }
        if self.rules.asks_content(real) && !self.is_granted(real) {
            return Err(secret_content_error());
        }
        Ok(())
    }

    /// Returns an error if `from` is a secret without a grant and `to` would not count as a secret,
    /// so that a copy or move would make it readable.
    pub(crate) fn check_secret_copy(&self, from: &[u8], to: &[u8]) -> Result<()> {
        if self.is_hidden_secret(from) && !self.rules.secret(to) {
            Err(secret_error())
        } else {
            Ok(())
        }
    }

    /// Does the same as [`Roots::check_secret_copy`], for an entry of a walk, whose rules are
    /// evaluated name by name.
    pub(crate) fn check_secret_copy_on(
        &self,
        from: &PathCursor<'_>,
        to: &PathCursor<'_>,
    ) -> Result<()> {
        let kept = from.secret() && !self.is_granted(from.path());
        if kept && !to.secret() { Err(secret_error()) } else { Ok(()) }
    }

    /// Does the same as [`Roots::check`] for writing, for an entry of a walk in a directory that
    /// may be written.
    pub(crate) fn check_written_on(&self, entry: &PathCursor<'_>) -> Result<()> {
        if !self.has_right(entry.path(), Intent::Write) || entry.denied_entry() {
            return Err(outside_for_intent_error(Intent::Write));
        }
        if entry.protected() { Err(protected_error()) } else { Ok(()) }
    }

    /// Reports whether a symbolic link may lead to the absolute path `path`: whether that may be
    /// read or written.
    pub(crate) fn link_target_allowed(&self, path: &[u8]) -> bool {
        self.root_for(path).is_some_and(|(_, real)| {
            self.permits(&real, Intent::Read) || self.permits(&real, Intent::Write)
        })
    }

    /// Reports whether a root with the right for `intent` contains a resolved path.
    fn has_right(&self, real: &[u8], intent: Intent) -> bool {
        self.roots.iter().any(|root| root.allows(intent) && is_within(real, &root.path))
    }

    /// Reports whether the path is a root or contains one: such an entry is not moved, replaced or
    /// deleted.
    pub(crate) fn contains_root(&self, real: &[u8]) -> bool {
        self.roots.iter().any(|root| (root.read || root.write) && is_within(&root.path, real))
    }

    /// Returns the index of the deepest root that contains the path as written, and the path with
    /// the root's alias replaced by its real path; `None` outside the roots.
    fn root_for(&self, path: &[u8]) -> Option<(usize, Vec<u8>)> {
        let named = || self.roots.iter().filter(|root| root.read || root.write);
        let (name, root) = named()
            .flat_map(|root| [Some(&root.path), root.alias.as_ref()].map(|name| (name, root)))
            .filter_map(|(name, root)| {
                name.filter(|name| is_within(path, name)).map(|name| (name, root))
            })
            .max_by_key(|(name, _)| name.len())?;
        let real = if name == &root.path {
            path.to_vec()
        } else {
            let mut real = root.path.clone();
            for name in
                path[name.len()..].split(|&byte| byte == b'/').filter(|name| !name.is_empty())
            {
                push_path_name(&mut real, name);
            }
            real
        };
        let index =
            self.deepest_root(|root| (root.read || root.write) && is_within(&real, &root.path))?;
        Some((index, real))
    }

    /// Returns the directory that an index for searches below `real` covers: the deepest readable
    /// root that contains `real` and for which `fits` is true, otherwise `real` itself if `fits` is
    /// true for it.
    pub fn index_root<'a>(
        &'a self,
        real: &'a [u8],
        fits: impl Fn(&[u8]) -> bool,
    ) -> Option<&'a [u8]> {
        let whole = |root: &&Root| root.read && root.path == root.anchor_path;
        let around = self.roots.iter().filter(whole).map(|root| &root.path[..]);
        let around = around.filter(|path| is_within(real, path) && fits(path));
        around.max_by_key(|path| path.len()).or_else(|| fits(real).then_some(real))
    }

    /// Returns the index of the deepest root from whose anchor path resolution may enter `path`.
    fn nearest_anchor(&self, path: &[u8]) -> Option<usize> {
        self.deepest_root(|root| root.reaches(path))
    }

    /// Returns the index of the root with the longest path for which `fits` is true.
    fn deepest_root(&self, fits: impl Fn(&Root) -> bool) -> Option<usize> {
        (0..self.roots.len())
            .filter(|&index| fits(&self.roots[index]))
            .max_by_key(|&index| self.roots[index].path.len())
    }
}
