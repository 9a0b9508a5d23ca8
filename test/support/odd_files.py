"""A file system with the habits of others, over a directory, for tests of what does not behave as a local disk.

    python3 odd_files.py BELOW ABOVE [HABIT ...]

fold       a name is looked up as it is, then in any letter case, as on macOS and Windows
renumber   an entry gets another inode number when it is renamed, as on virtiofs, gcsfuse and shares of Docker Desktop
no-fsync   fsync fails with EINVAL
no-chmod   permission bits cannot be set: EIO

A file without a habit also has another inode number after it was forgotten.
"""

import errno
import os
import sys
import zlib

try:  # Debian's package has another name than that of PyPI.
    from fusepy import FUSE, FuseOSError, Operations
except ImportError:
    from fuse import FUSE, FuseOSError, Operations

STAT = ("st_atime", "st_ctime", "st_gid", "st_mode", "st_mtime", "st_nlink", "st_size", "st_uid")


class OddFiles(Operations):
    """Passes every operation to the directory below, but for the habits."""

    def __init__(self, below, habits):
        self.below = below
        self.habits = habits

    def real(self, path):
        """Returns the path below; a part that no name fits stays as it is."""
        found = self.below
        for part in path.strip("/").split("/"):
            if part == "":
                continue
            if "fold" in self.habits and not os.path.lexists(os.path.join(found, part)):
                try:
                    names = os.listdir(found)
                except OSError:
                    names = []
                part = next((name for name in names if name.casefold() == part.casefold()), part)
            found = os.path.join(found, part)
        return found

    def target(self, path):
        """Returns the path below of a name that is made: the last part keeps its letter case."""
        parent, name = os.path.split(path)
        return os.path.join(self.real(parent), name)

    def access(self, path, mode):
        if not os.access(self.real(path), mode):
            raise FuseOSError(errno.EACCES)

    def getattr(self, path, fh=None):
        facts = os.lstat(self.real(path)) if fh is None else os.fstat(fh)
        told = {name: getattr(facts, name) for name in STAT}
        # Of the path alone, as where numbers are given out by name.
        if "renumber" in self.habits:
            told["st_ino"] = zlib.crc32(path.encode("utf-8", "surrogateescape")) + (facts.st_ino << 32)
        return told

    def readdir(self, path, fh):
        return [".", "..", *os.listdir(self.real(path))]

    def readlink(self, path):
        return os.readlink(self.real(path))

    def chmod(self, path, mode):
        if "no-chmod" in self.habits:
            raise FuseOSError(errno.EIO)
        os.chmod(self.real(path), mode)

    def chown(self, path, uid, gid):
        os.chown(self.real(path), uid, gid, follow_symlinks=False)

    def mkdir(self, path, mode):
        os.mkdir(self.target(path), mode)

    def rmdir(self, path):
        os.rmdir(self.real(path))

    def unlink(self, path):
        os.unlink(self.real(path))

    def symlink(self, name, target):
        os.symlink(target, self.target(name))

    def rename(self, old, new):
        source, present = self.real(old), self.real(new)
        replaces = present != source and os.path.lexists(present)
        os.rename(source, present if replaces else self.target(new))

    def link(self, target, name):
        os.link(self.real(name), self.target(target), follow_symlinks=False)

    def utimens(self, path, times=None):
        os.utime(self.real(path), times, follow_symlinks=False)

    def open(self, path, flags):
        return os.open(self.real(path), flags)

    def create(self, path, mode, fi=None):
        return os.open(self.real(path), os.O_RDWR | os.O_CREAT, mode)

    def read(self, path, size, offset, fh):
        return os.pread(fh, size, offset)

    def write(self, path, data, offset, fh):
        return os.pwrite(fh, data, offset)

    def truncate(self, path, length, fh=None):
        os.truncate(self.real(path) if fh is None else fh, length)

    def flush(self, path, fh):
        return None

    def fsync(self, path, datasync, fh):
        if "no-fsync" in self.habits:
            raise FuseOSError(errno.EINVAL)
        os.fsync(fh)

    def release(self, path, fh):
        os.close(fh)

    def statfs(self, path):
        facts = os.statvfs(self.real(path))
        names = ("f_bavail", "f_bfree", "f_blocks", "f_bsize", "f_favail", "f_ffree", "f_files", "f_frsize", "f_namemax")
        return {name: getattr(facts, name) for name in names}


if __name__ == "__main__":
    BELOW, ABOVE, *HABITS = sys.argv[1:]
    OPTIONS = {"use_ino": True} if "renumber" in HABITS else {}
    FUSE(
        OddFiles(BELOW, HABITS),
        ABOVE,
        foreground=True,
        nothreads=True,
        entry_timeout=0,
        attr_timeout=0,
        allow_other=True,
        **OPTIONS,
    )
