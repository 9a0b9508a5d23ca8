// The errors that a system call can end with, by the name of the call.
const OPEN = ["EIO", "EMFILE", "ENOSPC", "EROFS", "ENOMEM", "EINTR", "EACCES"];
const WRITE = ["EIO", "ENOSPC", "EDQUOT", "EINTR"];
const RENAME = ["EIO", "ENOSPC", "EROFS", "EINVAL", "EXDEV", "EBUSY", "EPERM"];
const REMOVE = ["EIO", "EROFS", "EBUSY", "EPERM"];
const LINK = ["EIO", "ENOSPC", "EMLINK", "EPERM"];
const MKDIR = ["EIO", "ENOSPC", "EROFS", "EMLINK"];
const SYNC = ["EIO", "ENOSPC", "EINTR", "EROFS"];
/** `EPERM` is left out: it is the error of a file system without permission bits. */
const MODE = ["EIO", "EROFS"];
/** `EACCES` is left out: by a descriptor no call has it, and strace does not tell these calls apart. */
const LOOK = ["EIO", "ENOMEM"];
const ATTRIBUTE = ["EIO", "ENOSPC", "EOPNOTSUPP", "EPERM"];

/** The calls that fail, and how. Left out are `write` and `read`, by which the event loop wakes and is woken. */
export const ERRORS = {
  ...{ open: OPEN, openat: OPEN, openat2: [...OPEN, "EAGAIN", "ENOSYS"] },
  ...{
    pwrite64: WRITE,
    writev: WRITE,
    pwritev: WRITE,
    copy_file_range: [...WRITE, "EXDEV", "EOPNOTSUPP"],
    fallocate: WRITE,
  },
  ...{ pread64: ["EIO", "ENOMEM", "EINTR"], sendfile: WRITE },
  ...{ rename: RENAME, renameat: RENAME, renameat2: RENAME },
  ...{ unlink: REMOVE, unlinkat: REMOVE, rmdir: REMOVE },
  ...{ link: LINK, linkat: LINK, symlink: LINK, symlinkat: LINK, mkdir: MKDIR, mkdirat: MKDIR },
  ...{ fsync: SYNC, fdatasync: SYNC, syncfs: SYNC },
  ...{
    chmod: MODE,
    fchmod: MODE,
    fchmodat: MODE,
    fchmodat2: MODE,
    fchown: MODE,
    fchownat: MODE,
    utimensat: MODE,
  },
  ...{ ftruncate: ["EIO", "ENOSPC", "EINTR"], truncate: ["EIO", "ENOSPC"] },
  ...{ statx: LOOK, stat: LOOK, lstat: LOOK, fstat: ["EIO", "ENOMEM"], newfstatat: LOOK },
  ...{ statfs: LOOK, fstatfs: ["EIO"], getdents64: ["EIO", "ENOMEM"], readlink: LOOK, readlinkat: LOOK },
  ...{ access: LOOK, faccessat: LOOK, faccessat2: LOOK },
  ...{ flistxattr: ATTRIBUTE, fgetxattr: ATTRIBUTE, fsetxattr: ATTRIBUTE, fremovexattr: ATTRIBUTE },
  ...{ lgetxattr: ATTRIBUTE, getxattr: ATTRIBUTE },
  ...{ ioctl: ["EIO", "ENOSPC", "EXDEV"], flock: ["ENOLCK", "EINTR", "EIO"] },
  ...{ close: ["EIO", "ENOSPC", "EINTR"], fcntl: ["EMFILE"] },
  ...{ inotify_add_watch: ["ENOSPC", "EMFILE"], inotify_init1: ["EMFILE"] },
};
