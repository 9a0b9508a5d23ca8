//! A set of roots from its policy until it is closed, with the threads that access its files.

use std::sync::{Arc, PoisonError, RwLock};

use filewright_core::{Code, Error, Result};
use filewright_fs::confine::Confinement;
use filewright_fs::root::{Kernel, Policy, Roots};

use crate::{Session, dispose, prepare};

/// Open roots with their indexes and threads.
#[derive(Clone, Debug)]
pub struct OpenRoots {
    /// The roots and their indexes.
    pub session: Arc<Session>,
    /// The threads that access the files.
    pub confinement: Arc<Confinement>,
    kernel: Kernel,
}

/// A set of roots that can be closed.
#[derive(Debug)]
pub struct ClosableRoots {
    /// `None` once it is closed.
    open: RwLock<Option<OpenRoots>>,
}

impl ClosableRoots {
    /// Opens the roots of a policy, given in its JSON form.
    ///
    /// # Errors
    /// Like [`Policy::from_json`], [`Roots::new`] and [`Confinement::of`].
    pub fn from_policy(policy: &str) -> Result<Self> {
        let policy = Policy::from_json(policy)?;
        let session = Arc::new(Session::new(Roots::new(&policy)?));
        // Opens a file of procfs, which threads restricted by Landlock cannot open.
        prepare();
        let confinement = Arc::new(Confinement::of(&session.roots, policy.kernel)?);
        Ok(Self::holding(OpenRoots { session, confinement, kernel: policy.kernel }))
    }

    fn holding(open: OpenRoots) -> Self {
        Self { open: RwLock::new(Some(open)) }
    }

    /// Returns the same roots and threads with secrets as ordinary files.
    ///
    /// # Errors
    /// Like [`ClosableRoots::open`].
    pub fn without_secret_filter(&self) -> Result<Self> {
        let OpenRoots { session, confinement, kernel } = self.open()?;
        let session = Arc::new(Session::new(session.roots.without_secret_filter()));
        Ok(Self::holding(OpenRoots { session, confinement, kernel }))
    }

    /// Releases descriptors, watches, indexes and threads, as soon as the running calls have
    /// finished.
    pub fn close(&self) {
        let open = self.open.write().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(open) = open {
            // Indexing in the background holds the roots too, and ends when its index is closed.
            dispose(&open.session);
        }
    }

    /// Returns the open roots, after reopening those that were deleted and created again.
    ///
    /// # Errors
    /// `UNSUPPORTED_OPERATION` once they are closed; like [`Session::renewed`].
    pub fn open(&self) -> Result<OpenRoots> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(open) = open else { return Err(closed()) };
        let Some(session) = open.session.renewed()? else { return Ok(open) };
        let confinement = Arc::new(Confinement::of(&session.roots, open.kernel)?);
        let renewed = OpenRoots { session: Arc::new(session), confinement, kernel: open.kernel };
        let mut held = self.open.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(old) = held.as_mut().filter(|held| Arc::ptr_eq(&held.session, &open.session)) {
            dispose(&old.session);
            *old = renewed;
        }
        // Another call may have closed or reopened the roots meanwhile; its result counts.
        held.clone().ok_or_else(closed)
    }
}

/// Returns the error for calls after [`ClosableRoots::close`].
fn closed() -> Error {
    Error::new(Code::UnsupportedOperation, "the storage is closed").hint("open it again")
}
