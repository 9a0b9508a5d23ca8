//! Maps the system's error numbers (errno) to the error codes of Filewright, and constructs the
//! errors that several modules return. No other module maps an errno.

use filewright_core::pattern::policy::Intent;
use filewright_core::{Code, Error};
use rustix::io::Errno;

/// Returns the error for the errno of a failed system call. The message contains no path, because
/// the caller may not be allowed to see it.
pub fn os_error(errno: Errno) -> Error {
    let (code, message) = match errno {
        Errno::NOENT => (Code::NotFound, "no such file or directory"),
        Errno::ACCESS | Errno::PERM => {
            // `confine::refusal` adds the layer that refused, where the path is known.
            return Error::new(Code::PermissionDenied, "permission denied")
                .detail("errno", errno.raw_os_error());
        }
        Errno::ROFS => (Code::ReadOnly, "the file system is read-only"),
        Errno::EXIST => (Code::AlreadyExists, "something is already there"),
        Errno::ISDIR => (Code::IsDirectory, "is a directory"),
        Errno::NOTDIR => (Code::NotDirectory, "not a directory"),
        Errno::NOTEMPTY => (Code::NotEmpty, "directory is not empty"),
        Errno::LOOP => (Code::Loop, "too many symbolic links"),
        Errno::NAMETOOLONG => (Code::NameTooLong, "file name is too long"),
        Errno::NOSPC => (Code::NoSpace, "no space left on the disk"),
        Errno::DQUOT => (Code::NoSpace, "the disk quota is used up"),
        Errno::FBIG => (Code::TooLarge, "larger than the file system allows"),
        Errno::TXTBSY => (Code::PermissionDenied, "the file is a program that is running"),
        Errno::NXIO => (Code::NotRegularFile, "neither a file nor a directory"),
        Errno::INVAL => (Code::InvalidArgument, "the file system refuses the name or value"),
        Errno::ILSEQ => (Code::InvalidArgument, "the file system refuses the bytes of the name"),
        Errno::OPNOTSUPP | Errno::NOSYS => {
            (Code::UnsupportedOperation, "the file system does not support this")
        }
        Errno::MFILE | Errno::NFILE => {
            return error_with_errno(errno, "too many open files").hint(
                "work on fewer paths in one call, or raise the limit of open files (ulimit -n)",
            );
        }
        Errno::BUSY => {
            return error_with_errno(errno, "the file or directory is in use by the system");
        }
        errno => return error_with_errno(errno, "input/output failure"),
    };
    Error::new(code, message)
}

/// Returns the error for a failed `fsync`. Some file systems have none.
pub(crate) fn sync_error(errno: Errno) -> Error {
    match errno {
        Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS => Error::new(
            Code::UnsupportedOperation,
            "the file system cannot make a change durable (fsync)",
        )
        .hint("use durability: \"atomic\""),
        errno => os_error(errno),
    }
}

/// Returns the error for permission bits that cannot be set.
pub(crate) fn mode_error(errno: Errno) -> Error {
    let error = os_error(errno);
    if error.code == Code::PermissionDenied {
        return error;
    }
    let message = format!("its permission bits cannot be set: {}", error.message);
    Error { message, ..error }
}

fn error_with_errno(errno: Errno, message: &str) -> Error {
    let text = format!("{message} (os error {})", errno.raw_os_error());
    Error::new(Code::IoError, text).detail("errno", errno.raw_os_error())
}

/// Returns the error that refuses a path outside the roots. The message is the same whether or not
/// the path exists.
pub(crate) fn outside_error() -> Error {
    Error::new(Code::OutsideAllowed, "outside the allowed roots")
}

/// Returns the error that refuses a change to a protected path.
pub(crate) fn protected_error() -> Error {
    Error::new(Code::ProtectedPath, "the path is protected from change")
}

/// Returns the error that refuses to create or change a directory that git would treat as a
/// repository.
pub(crate) fn repository_error() -> Error {
    Error::new(Code::ProtectedPath, "git would take the directory for a repository")
        .detail("reason", "repository")
}

/// Returns the error that refuses to read a file that contains a private key.
pub(crate) fn secret_content_error() -> Error {
    Error::new(Code::GrantDenied, "it holds a private key, and nobody has granted it")
        .detail("reason", "secret")
        .detail("by", "content")
}

/// Returns the error that refuses to read a file that counts as a secret by its name.
pub(crate) fn secret_error() -> Error {
    Error::new(Code::GrantDenied, "it is a secret by its name, and nobody has granted it")
        .detail("reason", "secret")
}

/// Returns the error that refuses to read a file because it counts as a secret by another name.
pub(crate) fn secret_name_error() -> Error {
    let message = "it is a secret by another name (a hard link), and nobody has granted it";
    Error::new(Code::GrantDenied, message).detail("reason", "secret").detail("by", "link")
}

/// Returns the error that refuses to read a file with another name that is denied.
pub(crate) fn denied_name_error() -> Error {
    let message = "another name (a hard link) of the file is outside the allowed paths";
    Error::new(Code::OutsideAllowed, message).detail("by", "link")
}

/// Returns the error for an entry that is a FIFO, socket or device where a regular file is needed.
pub(crate) fn not_regular_error() -> Error {
    Error::new(Code::NotRegularFile, "neither a file nor a directory")
}

/// Returns the error for a path that another program changes more often than the call retries.
pub(crate) fn changing_path_error() -> Error {
    Error::new(Code::Conflict, "the path is being changed by another program")
}

/// Returns the error that refuses a path outside the roots with the right for `intent`.
pub(crate) fn outside_for_intent_error(intent: Intent) -> Error {
    match intent {
        Intent::Read => outside_error(),
        Intent::Write => {
            Error::new(Code::OutsideAllowed, "outside the roots that allow write access")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_by_errno() {
        for (errno, code) in [
            (Errno::NOENT, Code::NotFound),
            (Errno::PERM, Code::PermissionDenied),
            (Errno::ROFS, Code::ReadOnly),
            (Errno::NOSPC, Code::NoSpace),
            (Errno::DQUOT, Code::NoSpace),
            (Errno::LOOP, Code::Loop),
            (Errno::NAMETOOLONG, Code::NameTooLong),
            (Errno::MFILE, Code::IoError),
            (Errno::IO, Code::IoError),
        ] {
            assert_eq!(os_error(errno).code, code);
        }
        assert!(os_error(Errno::ROFS).message.contains("read-only"));
    }
}
