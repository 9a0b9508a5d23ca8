//! The directory tree and the helpers that the tests of the roots share.
#![allow(dead_code)] // each test file uses its part

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use filewright_fs::root::{Policy, ResolverChoice, Roots};

/// W (allowed), O (outside), P (a sibling whose name begins with W's name).
pub struct World {
    pub dir: tempfile::TempDir,
}

impl World {
    pub fn new() -> Self {
        Self::within(tempfile::tempdir().unwrap())
    }

    /// Creates the tree in an existing directory.
    pub fn within(dir: tempfile::TempDir) -> Self {
        for name in ["w", "o", "w-evil"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        let world = Self { dir };
        fs::create_dir_all(world.at("w/a/b")).unwrap();
        fs::write(world.at("w/f"), "inside").unwrap();
        fs::write(world.at("w/a/f"), "inside a").unwrap();
        fs::write(world.at("w/a/b/f"), "inside b").unwrap();
        fs::write(world.at("o/s"), "SECRET").unwrap();
        fs::write(world.at("w-evil/f"), "SECRET").unwrap();
        world
    }

    pub fn at(&self, path: &str) -> String {
        let base = fs::canonicalize(self.dir.path()).unwrap();
        format!("{}/{path}", base.to_str().unwrap())
    }

    pub fn policy(&self) -> Policy {
        Policy::workspace(self.at("w"))
    }

    pub fn link(&self, target: &str, path: &str) {
        symlink(target.replace("$", self.at("").trim_end_matches('/')), self.at(path)).unwrap();
    }
}

pub fn both(policy: &Policy) -> [Roots; 2] {
    [ResolverChoice::Auto, ResolverChoice::Walk]
        .map(|resolver| Roots::new(&Policy { resolver, ..policy.clone() }).unwrap())
}

impl World {
    /// Returns everything below a directory: names with their types, sorted.
    pub fn tree(&self, path: &str) -> Vec<String> {
        let mut found = Vec::new();
        collect(std::path::Path::new(&self.at(path)), "", &mut found);
        found.sort();
        found
    }

    pub fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    pub fn mode(&self, path: &str) -> u32 {
        fs::symlink_metadata(self.at(path)).unwrap().permissions().mode() & 0o7777
    }

    pub fn chmod(&self, path: &str, mode: u32) {
        fs::set_permissions(self.at(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub fn fifo(&self, path: &str) {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, self.at(path), rustix::fs::FileType::Fifo, mode, 0)
            .unwrap();
    }
}

fn collect(dir: &std::path::Path, prefix: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().unwrap();
        if kind.is_symlink() {
            found.push(format!("{name} -> {}", fs::read_link(entry.path()).unwrap().display()));
        } else if kind.is_dir() {
            found.push(format!("{name}/"));
            collect(&entry.path(), &format!("{name}/"), found);
        } else if kind.is_file() {
            found.push(format!("{name}: {}", fs::read_to_string(entry.path()).unwrap_or_default()));
        } else {
            found.push(format!("{name}?"));
        }
    }
}

/// Reports whether the tests run as root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
