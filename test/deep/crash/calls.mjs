// The system calls of Linux that take a path or a descriptor, by their effect on a file system.

/** The system calls that change a name, content, size or mode, or that make a change lasting. */
export const CHANGING_CALLS = [
  ...["openat", "openat2", "open", "creat"],
  ...["write", "pwrite64", "writev", "pwritev", "pwritev2", "copy_file_range", "sendfile", "splice", "ioctl"],
  ...["ftruncate", "truncate", "fallocate"],
  ...["rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat"],
  ...["unlink", "unlinkat", "rmdir", "mkdir", "mkdirat"],
  ...["chmod", "fchmod", "fchmodat", "fchmodat2", "utimensat"],
  ...["fchown", "fchownat", "fsetxattr", "fremovexattr"],
  ...["fsync", "fdatasync", "sync_file_range", "syncfs"],
];

/** The system calls with a path or a descriptor that change neither content nor names. */
const READING_CALLS = [
  ...["read", "pread64", "readv", "preadv", "close", "lseek", "mmap", "fadvise64", "readahead"],
  ...["stat", "lstat", "fstat", "newfstatat", "statx", "statfs", "fstatfs", "getdents64"],
  ...["readlink", "readlinkat", "access", "faccessat", "faccessat2", "getcwd", "chdir", "fchdir", "execve"],
  ...["getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr"],
  // Locks and flags of a descriptor, and descriptors that are no files.
  ...["flock", "fcntl", "dup", "dup2", "dup3", "poll", "ppoll", "select", "pselect6", "epoll_create1"],
  ...["epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2", "eventfd2", "pipe2", "signalfd4"],
  ...["timerfd_create", "timerfd_settime", "inotify_init1", "inotify_add_watch", "inotify_rm_watch"],
  ...["fanotify_init", "fanotify_mark", "pidfd_open", "pidfd_send_signal", "memfd_create", "bpf"],
  ...["io_uring_setup", "io_uring_register", "io_uring_enter", "perf_event_open"],
  ...["landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "setns"],
  ...["close_range", "execveat", "userfaultfd", "finit_module"],
];

const known = new Set([...CHANGING_CALLS, ...READING_CALLS]);

/**
 * Returns the system calls of a trace that neither list has. A trace of `%file,%desc` with such a call means that
 * the lists are incomplete, so that no round stops at it.
 * @param {Iterable<string>} names
 * @returns {string[]}
 */
export const unlistedCalls = (names) => [...new Set(names)].filter((name) => !known.has(name)).sort();
