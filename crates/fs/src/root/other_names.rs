//! Other names (hard links) of files that the rules hide.
//!
//! A rule judges a path, but a file can have several. Before a file with more than one name is
//! given out or searched, the names below the roots that the rules deny or count as secrets are
//! looked at: if one of them is a name of this file, it is refused under every name. A search leaves
//! out binary and too large files without the look: it finds nothing in them.
//!
//! One walk of the roots finds the inodes of all hidden files, whatever their number of names, and
//! is kept. A file that is not among them is judged by a kept walk only if its inode has not
//! changed since the walk began (linking and renaming a file set its change time) and the walk is
//! recent, because moving a directory changes no file in it. Files with one name cost nothing.
//!
//! Outside the roots, the names of the credential files of this machine are known (`credentials`).
//!
//! Limits: other names outside the roots are unknown, and so are those in directories that cannot be
//! listed. A root `/` is not walked. In a tree with too many entries for the walk,
//! a file with several names counts as hidden.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use filewright_core::{Code, Error, Result};

use super::Roots;
use crate::dir::errno::{denied_name_error, secret_name_error};
use crate::dir::stat::{Kind, Stat};

/// The time for which a walk is used, if that is longer than [`MAX_AGE_FACTOR`] permits.
const MIN_AGE: Duration = Duration::from_secs(1);
/// How many times its own duration a walk is used at most, so that walks take a twentieth of the
/// time.
const MAX_AGE_FACTOR: u32 = 20;
/// The time in nanoseconds by which a change time can be older than the change: the kernel takes it
/// from a clock that advances by ticks.
const CLOCK_TICK_NANOS: i64 = 20_000_000;

/// The inode of a file: the numbers of its device and of itself.
type Inode = (u64, u64);

/// The kept walks of a set of roots.
#[derive(Debug, Default)]
pub(super) struct KeptNames {
    hidden: Mutex<Option<Arc<FoundNames>>>,
    linked: Mutex<Option<Arc<FoundNames>>>,
}

/// The files that a walk collects.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Those with a name that the rules hide, by these names.
    Hidden,
    /// Those with several names, by all names.
    Linked,
}

/// A name of a file.
#[derive(Debug)]
struct FoundName {
    real: Vec<u8>,
    denied: bool,
}

/// The files that one walk has found.
#[derive(Debug)]
struct FoundNames {
    began: Instant,
    /// The time at which the walk began, in nanoseconds since 1970.
    began_nanos: i64,
    took: Duration,
    names: HashMap<Inode, Vec<FoundName>>,
    /// False if the roots have too many entries.
    complete: bool,
}

impl FoundNames {
    /// Reports whether the names of the file are still those that the walk has found.
    fn is_valid_for(&self, stat: &Stat) -> bool {
        let age = self.began.elapsed();
        let is_recent = age < MIN_AGE.max(self.took * MAX_AGE_FACTOR);
        // A time in the future says nothing: the clock was set back.
        let is_future = stat.ctime > now_nanos();
        is_recent && (is_future || stat.ctime < self.began_nanos - CLOCK_TICK_NANOS)
    }

    fn of(&self, stat: &Stat) -> &[FoundName] {
        self.names.get(&(stat.dev, stat.ino)).map_or(&[], |names| names)
    }
}

impl Roots {
    /// Returns an error if a regular file, opened by its name `real`, has another name below the
    /// roots that is denied or is a secret without a grant.
    pub(crate) fn check_other_names(&self, stat: &Stat, real: &[u8]) -> Result<()> {
        if stat.nlink <= 1 || !(self.rules.denies() || self.rules.hides_secrets()) {
            return Ok(());
        }
        let found = self.names(Wanted::Hidden, stat);
        let names = found.of(stat);
        if names.iter().any(|name| name.denied && name.real != real) {
            return Err(denied_name_error());
        }
        let is_open = |name: &FoundName| name.real == real || self.is_granted(&name.real);
        let is_hidden = !names.is_empty() && !names.iter().any(is_open);
        if (is_hidden || !found.complete) && self.rules.asks_content(real) {
            return Err(secret_name_error());
        }
        if found.complete { Ok(()) } else { Err(denied_name_error()) }
    }

    /// Reports whether a search must leave out a regular file because of another name: searches
    /// leave out secrets, granted or not.
    pub fn hides_other_name(&self, stat: &Stat, real: impl FnOnce() -> Vec<u8>) -> bool {
        if stat.nlink <= 1 || !(self.rules.denies() || self.rules.hides_secrets()) {
            return false;
        }
        let found = self.names(Wanted::Hidden, stat);
        match found.of(stat) {
            [] => !found.complete,
            names => names.iter().any(|name| name.denied) || self.rules.asks_content(&real()),
        }
    }

    /// Returns the other names of a file below the roots, and those by which it is a credential file
    /// of this machine, as absolute real paths. Empty for an
    /// entry that is no regular file and for a file with a single name.
    ///
    /// # Errors
    /// Errors of the path; `LIMIT_EXCEEDED` if the roots have too many entries.
    pub fn other_names(&self, path: &[u8]) -> Result<Vec<Vec<u8>>> {
        let stat = self.stat(path)?.stat;
        if stat.kind != Kind::File || stat.nlink <= 1 {
            return Ok(Vec::new());
        }
        let real = self.realpath(path)?;
        let found = self.names(Wanted::Linked, &stat);
        if !found.complete {
            let message = "the file has several names, and there are too many entries below the \
                           roots to look for them";
            return Err(Error::new(Code::LimitExceeded, message));
        }
        let others = found.of(&stat).iter().map(|name| name.real.clone());
        Ok(others.filter(|name| *name != real).collect())
    }

    /// Returns the names of files, from the kept walk if it is valid for a file with these facts.
    fn names(&self, wanted: Wanted, stat: &Stat) -> Arc<FoundNames> {
        let asked = Instant::now();
        let kept = match wanted {
            Wanted::Hidden => &self.kept_names.hidden,
            Wanted::Linked => &self.kept_names.linked,
        };
        // Other threads wait for a walk that runs already: it serves those that asked before it.
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = &*kept
            && (found.began >= asked || found.is_valid_for(stat))
        {
            return Arc::clone(found);
        }
        let found = Arc::new(self.find_names(wanted));
        *kept = Some(Arc::clone(&found));
        found
    }

    fn find_names(&self, wanted: Wanted) -> FoundNames {
        let (began, began_nanos) = (Instant::now(), now_nanos());
        let mut names: HashMap<Inode, Vec<FoundName>> = HashMap::new();
        let complete = self.walk_names(|name| {
            if (wanted == Wanted::Linked || name.denied || name.at.secret())
                && let Some(stat) = name.stat()
                && (wanted == Wanted::Hidden || stat.nlink > 1)
            {
                let found = FoundName { real: name.at.path().to_vec(), denied: name.denied };
                names.entry((stat.dev, stat.ino)).or_default().push(found);
            }
        });
        self.credentials.for_each(|path, stat| {
            let known = names.entry((stat.dev, stat.ino)).or_default();
            if known.iter().all(|name| name.real != path) {
                known.push(FoundName { real: path.to_vec(), denied: false });
            }
        });
        FoundNames { began, began_nanos, took: began.elapsed(), names, complete }
    }
}

/// Returns the current time in nanoseconds since 1970.
fn now_nanos() -> i64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}
