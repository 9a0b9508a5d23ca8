//! Copies metadata from a replaced file to its successor: owner, group, permission bits, extended
//! attributes and access lists. All are set before the rename, so that the file never has other
//! permissions than before.

use std::os::fd::AsFd;

use filewright_core::Result;
use rustix::fs::{Gid, Mode, Timespec, Timestamps, Uid, XattrFlags};
use rustix::io::Errno;

use super::Preserve;
use crate::dir::errno::{mode_error, os_error};
use crate::dir::stat::{Kind, Stat};

/// The result of copying the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnerCopy {
    /// The new file has the old owner.
    Kept,
    /// The owner could not be changed, so only writing in place preserves it.
    Foreign,
}

/// Copies owner and group of the old file to the new one, whose metadata is `now`.
pub(crate) fn copy_owner(new: impl AsFd, now: &Stat, old: &Stat) -> Result<OwnerCopy> {
    let uid = (now.uid != old.uid).then(|| Uid::from_raw(old.uid));
    let gid = (now.gid != old.gid).then(|| Gid::from_raw(old.gid));
    if uid.is_none() && gid.is_none() {
        return Ok(OwnerCopy::Kept);
    }
    match rustix::fs::fchown(new, uid, gid) {
        Ok(()) => Ok(OwnerCopy::Kept),
        Err(_) => Ok(OwnerCopy::Foreign),
    }
}

/// The error message for extended attributes that could not be copied.
pub(super) const LOST_ATTRIBUTES_MESSAGE: &str = "its extended attributes cannot be kept";

/// Copies owner, group and extended attributes of an entry that is moved to another file system.
/// With [`Preserve::Strict`], fails if something is lost, for example other hard links, which stay
/// on the old one.
pub(crate) fn copy_moved_metadata(
    new: impl AsFd,
    old: impl AsFd,
    facts: &Stat,
    preserve: Preserve,
) -> Result<()> {
    if facts.kind == Kind::File && facts.nlink > 1 {
        preserve.check_loss("it has other names, which stay on the other file system")?;
    }
    let now = Stat::of(&new).map_err(os_error)?;
    if copy_owner(&new, &now, facts)? == OwnerCopy::Foreign {
        preserve.check_loss("its owner cannot be kept")?;
    }
    if !copy_attributes(new, old).all {
        preserve.check_loss(LOST_ATTRIBUTES_MESSAGE)?;
    }
    Ok(())
}

/// Sets permission bits and the sticky bit. Set-user-id and set-group-id are dropped, as the kernel
/// does on a write, because new content must not run with the privileges of the old. A file system
/// without permission bits is no error.
pub(crate) fn set_mode(new: impl AsFd, mode: u32) -> Result<()> {
    match rustix::fs::fchmod(new, Mode::from_raw_mode((mode & 0o1777) as _)) {
        // The errors are those of file systems without permission bits.
        Ok(()) | Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        Err(errno) => Err(mode_error(errno)),
    }
}

/// Copies the access and modification times of a file; ignores a failure.
pub(crate) fn copy_times(new: impl AsFd, old: &Stat) {
    let time = |nanos: i64| Timespec {
        tv_sec: nanos.div_euclid(1_000_000_000),
        tv_nsec: nanos.rem_euclid(1_000_000_000) as _,
    };
    let times = Timestamps { last_access: time(old.atime), last_modification: time(old.mtime) };
    let _ = rustix::fs::futimens(new, &times);
}

/// Reports whether an extended attribute must not be copied, because it belongs to the old content
/// or the kernel sets it.
fn is_attribute_not_copied(name: &[u8]) -> bool {
    matches!(name, b"security.capability" | b"security.ima" | b"security.evm")
}

const ACL_ATTRIBUTE: &str = "system.posix_acl_access";

/// The result of copying extended attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CopiedAttributes {
    /// True if all were copied.
    pub all: bool,
    /// True if an access list was among them, which changes the permission bits.
    pub has_list: bool,
}

/// Copies extended attributes and the access list as far as possible.
pub(crate) fn copy_attributes(new: impl AsFd, old: impl AsFd) -> CopiedAttributes {
    let mut has_list = false;
    let mut all = true;
    for name in attribute_names(&old) {
        if is_attribute_not_copied(&name) {
            continue;
        }
        has_list |= name == ACL_ATTRIBUTE.as_bytes();
        all &= attribute_value(&old, &name).is_some_and(|value| {
            rustix::fs::fsetxattr(&new, name.as_slice(), &value, XattrFlags::empty()).is_ok()
                // The kernel has set this attribute itself already.
                || attribute_value(&new, &name).as_ref() == Some(&value)
        });
    }
    if !has_list {
        // An access list inherited from the directory would allow other users access.
        let _ = rustix::fs::fremovexattr(&new, ACL_ATTRIBUTE);
    }
    CopiedAttributes { all, has_list }
}

/// Returns the names of the extended attributes of a file; none if they cannot be read.
fn attribute_names(fd: impl AsFd) -> Vec<Vec<u8>> {
    let mut list = Vec::with_capacity(1024);
    loop {
        list.clear();
        match rustix::fs::flistxattr(&fd, rustix::buffer::spare_capacity(&mut list)) {
            Ok(_) => break,
            Err(Errno::RANGE) if list.capacity() < 64 * 1024 => list.reserve(64 * 1024),
            Err(_) => return Vec::new(),
        }
    }
    list.split(|&byte| byte == 0).filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect()
}

/// Returns the value of an extended attribute, or `None` if it cannot be read.
fn attribute_value(fd: impl AsFd, name: &[u8]) -> Option<Vec<u8>> {
    let mut value = Vec::with_capacity(1024);
    loop {
        value.clear();
        match rustix::fs::fgetxattr(&fd, name, rustix::buffer::spare_capacity(&mut value)) {
            Ok(_) => return Some(value),
            Err(Errno::RANGE) if value.capacity() < 64 * 1024 => value.reserve(64 * 1024),
            Err(_) => return None,
        }
    }
}
