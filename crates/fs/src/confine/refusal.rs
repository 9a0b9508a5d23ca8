//! Determines which layer of the system refused a call with EACCES: the permissions of the file, or
//! a restriction of the process such as Landlock.
//!
//! The kernel checks permissions first and restrictions second, and returns the same error. So the
//! permissions are checked again separately: if they allow the access, another layer refused it.
//! File systems that decide themselves (network file systems, FUSE) are excluded.

use filewright_core::pattern::policy::Intent;
use filewright_core::{Code, Error, Result};
use rustix::fd::AsFd;
use rustix::fs::{Access, AtFlags};
use rustix::io::Errno;

use crate::dir::stat::Kind;
use crate::root::{FinalSymlink, MissingPolicy, Roots};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RefusingLayer {
    /// The permission bits and access lists of the file.
    Permissions,
    /// Landlock, applied by this process or a parent process.
    #[cfg(target_os = "linux")]
    Landlock,
    /// A security module that labels processes, such as AppArmor, alone or with Landlock.
    #[cfg(target_os = "linux")]
    SecurityModule,
}

/// Says whether the permissions of a file alone allow an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PermissionsVerdict {
    Allow,
    Refuse,
    /// The answer is not known: it depends on the kind of change, or could not be checked.
    Unknown,
}

impl Roots {
    /// Adds `details.layer`, the layer that refused, to an error of the system, if that can be
    /// determined. `asked` are the paths of the call with the access that it needed.
    ///
    /// # Errors
    /// The error of `result`.
    pub fn tell_layer<T>(&self, asked: &[(&[u8], Intent)], result: Result<T>) -> Result<T> {
        result.map_err(|error| match self.layer_of(asked, &error) {
            Some(layer) => layer.tell(error),
            None => error,
        })
    }

    /// Returns the layer that refused, or `None` if the error is another one or the layer is not
    /// known.
    fn layer_of(&self, asked: &[(&[u8], Intent)], error: &Error) -> Option<RefusingLayer> {
        let errno = error.details.get("errno").and_then(serde_json::Value::as_i64);
        let refused = error.code == Code::PermissionDenied
            && errno == Some(Errno::ACCESS.raw_os_error().into());
        if !refused {
            return None;
        }
        let said: Vec<_> =
            asked.iter().map(|&(path, intent)| self.permissions(path, intent)).collect();
        if said.contains(&PermissionsVerdict::Refuse) {
            return Some(RefusingLayer::Permissions);
        }
        if said.contains(&PermissionsVerdict::Unknown) { None } else { layer_above_permissions() }
    }

    /// Checks the permissions for an access to a path without making it.
    fn permissions(&self, path: &[u8], intent: Intent) -> PermissionsVerdict {
        let place = match self.locate(path, Intent::Read, FinalSymlink::Follow, MissingPolicy::Stop)
        {
            Ok(place) => place,
            // Landlock refuses only to open a directory for reading, and resolving a path opens
            // none that way. So the permissions have refused.
            Err(error) if error.code == Code::PermissionDenied => {
                return PermissionsVerdict::Refuse;
            }
            Err(_) => return PermissionsVerdict::Unknown,
        };
        if makes_own_access_decisions(&place.dir) {
            return PermissionsVerdict::Unknown;
        }
        let allows = |name: &[u8], access: Access| {
            let flags = AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW;
            rustix::fs::accessat(&place.dir, name, access, flags)
        };
        let entry = place.name.as_deref().filter(|_| place.found.is_some());
        let asked = match (intent, entry) {
            (Intent::Read, Some(name)) => match place.kind() {
                Some(Kind::Dir) => [(name, Access::READ_OK | Access::EXEC_OK); 2],
                _ => [(name, Access::READ_OK); 2],
            },
            (Intent::Read, None) => [(&b"."[..], Access::READ_OK | Access::EXEC_OK); 2],
            (Intent::Write, entry) => {
                let directory = (&b"."[..], Access::WRITE_OK | Access::EXEC_OK);
                [directory, entry.map_or(directory, |name| (name, Access::WRITE_OK))]
            }
        };
        for (name, access) in asked {
            match allows(name, access) {
                Ok(()) => {}
                // A change that replaces the entry does not need this permission.
                Err(Errno::ACCESS) if intent == Intent::Write && name != b"." => {
                    return PermissionsVerdict::Unknown;
                }
                Err(Errno::ACCESS) => return PermissionsVerdict::Refuse,
                Err(_) => return PermissionsVerdict::Unknown,
            }
        }
        PermissionsVerdict::Allow
    }
}

impl RefusingLayer {
    /// Adds the layer to an error: as `details.layer`, and in the message if the permissions would
    /// have allowed the access.
    fn tell(self, mut error: Error) -> Error {
        // The type is written out because outside Linux nothing else in the table tells it.
        let (name, above): (_, Option<&str>) = match self {
            Self::Permissions => ("permissions", None),
            #[cfg(target_os = "linux")]
            Self::Landlock => ("landlock", Some("Landlock, which restricts this process,")),
            #[cfg(target_os = "linux")]
            Self::SecurityModule => ("security_module", Some("a security module of the system")),
        };
        if let Some(above) = above {
            error.message = format!("{above} refuses what its permissions would allow");
            error.hint = Some("work elsewhere, or ask the user to give the process access".into());
        }
        error.detail("layer", name)
    }
}

/// Determines now whether a security module labels this process, because a restricted thread cannot
/// read procfs.
#[cfg(target_os = "linux")]
pub(crate) fn cache_security_label() {
    has_security_label();
}

/// Reports whether a security module such as AppArmor restricts this process: its label is neither
/// empty nor `unconfined`. Cached.
#[cfg(target_os = "linux")]
fn has_security_label() -> bool {
    static LABELLED: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *LABELLED.get_or_init(|| {
        let label = crate::process::read_system_file("/proc/self/attr/current").unwrap_or_default();
        let label = label.trim_ascii_end().strip_suffix(b"\0").unwrap_or(label.trim_ascii_end());
        !matches!(label, b"" | b"unconfined" | b"kernel")
    })
}

#[cfg(target_os = "linux")]
fn layer_above_permissions() -> Option<RefusingLayer> {
    if has_security_label() || crate::confine::landlock::landlock_abi() == 0 {
        return Some(RefusingLayer::SecurityModule);
    }
    Some(RefusingLayer::Landlock)
}

#[cfg(not(target_os = "linux"))]
fn layer_above_permissions() -> Option<RefusingLayer> {
    None
}

/// Reports whether the file system decides about accesses itself, so that the permission bits do
/// not tell, as network file systems and FUSE do. True if its type cannot be read.
#[cfg(target_os = "linux")]
fn makes_own_access_decisions(directory: impl AsFd) -> bool {
    /// The magic numbers of NFS, SMB (three versions), 9P, FUSE and Ceph.
    const SELF_DECIDING_FILE_SYSTEMS: [u32; 7] =
        [0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x0102_1997, 0x6573_5546, 0x00C3_6400];
    // The kernel's numbers have 32 bits, whatever the width of the field.
    rustix::fs::fstatfs(directory)
        .map_or(true, |facts| SELF_DECIDING_FILE_SYSTEMS.contains(&(facts.f_type as u32)))
}

#[cfg(not(target_os = "linux"))]
fn makes_own_access_decisions(_: impl AsFd) -> bool {
    false
}
