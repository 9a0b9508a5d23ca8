//! Tests creating, removing, moving and copying.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod common;

use std::fs;
use std::os::unix::fs::MetadataExt;

use common::{World, both};
use filewright_core::{Code, Error};
use filewright_fs::cancel::CancelToken;
use filewright_fs::dir::tree::TreeCounts;
use filewright_fs::root::{Follow, Policy, Roots};
use filewright_fs::transfer::TransferOptions;
use filewright_fs::transfer::mutate::MkdirOptions;
use filewright_fs::walk::list::ListOptions;
use filewright_fs::write::WriteOptions;

const PLAIN: TransferOptions = TransferOptions {
    overwrite: false,
    create_dirs: false,
    durability: filewright_fs::write::Durability::Atomic,
    preserve: filewright_fs::write::Preserve::Possible,
};
const OVERWRITE: TransferOptions = TransferOptions { overwrite: true, ..PLAIN };
const CREATE_DIRS: TransferOptions = TransferOptions { create_dirs: true, ..PLAIN };

fn code<T>(result: Result<T, Error>) -> Code {
    result.err().map_or(Code::Internal, |error| error.code)
}

struct At<'a>(&'a World, &'a Roots);

impl At<'_> {
    fn rename(&self, from: &str, to: &str, options: &TransferOptions) -> Result<(), Error> {
        self.1.rename(
            self.0.at(from).as_bytes(),
            self.0.at(to).as_bytes(),
            options,
            &CancelToken::new(),
        )
    }

    fn copy(&self, from: &str, to: &str, options: &TransferOptions) -> Result<TreeCounts, Error> {
        self.1.copy_tree(
            self.0.at(from).as_bytes(),
            self.0.at(to).as_bytes(),
            options,
            &CancelToken::new(),
        )
    }

    fn delete(&self, path: &str) -> Result<(), Error> {
        self.1.delete(self.0.at(path).as_bytes())
    }

    fn remove(&self, path: &str) -> Result<TreeCounts, Error> {
        self.1.remove_tree(self.0.at(path).as_bytes(), &CancelToken::new())
    }

    fn mkdir(&self, path: &str, options: &MkdirOptions) -> Result<bool, Error> {
        self.1.mkdir(self.0.at(path).as_bytes(), options)
    }
}

/// Runs a case with both resolvers, each in its own tree.
fn each(policy: impl Fn(&World) -> Policy, case: impl Fn(&World, &At<'_>)) {
    for index in 0..2 {
        let world = World::new();
        let roots = &both(&policy(&world))[index];
        case(&world, &At(&world, roots));
    }
}

#[test]
fn mkdir() {
    let strict = MkdirOptions { parents: false, exist_ok: false, ..MkdirOptions::default() };
    each(World::policy, |world, at| {
        world.link("a", "w/l");
        world.link("f", "w/lf");
        world.link("$/o", "w/out");
        let made = MkdirOptions::default();
        assert_eq!(at.mkdir("w/x/y/z", &made), Ok(true));
        assert_eq!(at.mkdir("w/x/y/z", &made), Ok(false));
        assert_eq!(at.mkdir("w/x/y/z/", &made), Ok(false));
        assert_eq!(at.mkdir("w/l", &made), Ok(false));
        assert_eq!(at.mkdir("w/l/", &made), Ok(false));
        assert_eq!(at.mkdir("w", &made), Ok(false));
        for (path, options, expected) in [
            ("w/x", &strict, Code::AlreadyExists),
            ("w/l", &strict, Code::AlreadyExists),
            ("w/n/m", &strict, Code::NotFound),
            ("w/f", &made, Code::AlreadyExists),
            ("w/lf", &made, Code::AlreadyExists),
            ("w/f/x", &made, Code::NotDirectory),
            ("w/out", &made, Code::AlreadyExists),
            ("w/out/n", &made, Code::OutsideAllowed),
            ("o/n", &made, Code::OutsideAllowed),
        ] {
            assert_eq!(code(at.mkdir(path, options)), expected, "{path}");
        }
        assert_eq!(world.tree("o"), ["s: SECRET"]);
        assert!(!fs::exists(world.at("w/n")).unwrap());
    });
}

#[test]
fn delete() {
    each(World::policy, |world, at| {
        world.link("$/o/s", "w/out");
        world.link("a", "w/l");
        world.fifo("w/p");
        fs::create_dir(world.at("w/empty")).unwrap();
        for (path, expected) in [
            ("w/absent", Code::NotFound),
            ("w/a", Code::NotEmpty),
            ("w/l/", Code::NotDirectory),
            ("w/f/", Code::NotDirectory),
            ("w", Code::ProtectedPath),
            ("o/s", Code::OutsideAllowed),
            ("o", Code::OutsideAllowed),
        ] {
            assert_eq!(code(at.delete(path)), expected, "{path}");
        }
        for path in ["w/out", "w/l", "w/p", "w/empty", "w/f"] {
            assert_eq!(at.delete(path), Ok(()), "{path}");
        }
        assert_eq!(world.tree("w"), ["a/", "a/b/", "a/b/f: inside b", "a/f: inside a"]);
        assert_eq!(world.tree("o"), ["s: SECRET"]);
    });
}

#[test]
fn remove_tree() {
    each(World::policy, |world, at| {
        world.link("$/o", "w/a/out");
        world.link("..", "w/a/b/up");
        world.fifo("w/a/p");
        assert_eq!(at.remove("w/a"), Ok(TreeCounts { files: 5, directories: 2, bytes: 16 }));
        assert_eq!(at.remove("w/f"), Ok(TreeCounts { files: 1, directories: 0, bytes: 6 }));
        assert_eq!(code(at.remove("w/f")), Code::NotFound);
        assert_eq!(code(at.remove("w")), Code::ProtectedPath);
        assert_eq!((world.tree("w").len(), world.tree("o").len()), (0, 1));
    });
}

/// The depth of a tree for each resolver: far deeper than the kernel accepts paths. If the cost of
/// a level depended on the levels above it, this would take millions of calls, and minutes.
const DEPTHS: [u64; 2] = [4000, 2000];

#[test]
fn trees_of_any_depth_are_made_copied_moved_and_removed() {
    let world = World::new();
    let deny = vec!["*.key".to_owned(), "sec".to_owned()];
    let policy = Policy { protect: true, secrets: true, deny, ..world.policy() };
    for (roots, depth) in both(&policy).iter().zip(DEPTHS) {
        let path = format!("w/deep{}", "/d".repeat(depth as usize - 1));
        let counts = TreeCounts { files: 1, directories: depth, bytes: 1 };
        let at = At(&world, roots);
        // Directories created for a change that is then refused are removed again.
        let inside = path.replacen("w/deep", "w/a/deep", 1);
        assert_eq!(code(at.rename("w/a", &inside, &CREATE_DIRS)), Code::InvalidArgument);
        assert_eq!(at.mkdir(&path, &MkdirOptions::default()), Ok(true));
        at.1.write(
            world.at(&format!("{path}/f")).as_bytes(),
            b"x",
            &WriteOptions::default(),
            &CancelToken::new(),
        )
        .unwrap();
        assert_eq!(at.copy("w/deep", "w/copy", &PLAIN), Ok(counts));
        assert_eq!(at.copy("w/deep", "w/copy", &OVERWRITE), Ok(counts));
        assert_eq!(at.rename("w/deep", "w/moved", &PLAIN), Ok(()));
        assert_eq!(at.remove("w/moved"), Ok(counts));
        assert_eq!(at.remove("w/copy"), Ok(counts));
        assert_eq!(
            world.tree("w"),
            ["a/", "a/b/", "a/b/f: inside b", "a/f: inside a", "f: inside"]
        );
    }
}

#[test]
fn directories_that_take_no_entries_keep_their_bits_at_any_depth() {
    // More levels than descriptors kept, alternating between writable and not.
    let levels: Vec<String> = (1..=60).map(|depth| format!("w/c{}", "/d".repeat(depth))).collect();
    let bits = |depth: usize| [0o555, 0o755, 0o511, 0o750][depth % 4];
    for merged in [false, true] {
        each(World::policy, |world, at| {
            fs::create_dir_all(world.at(&levels[59])).unwrap();
            let beside = levels[10].clone() + "/e/e";
            fs::create_dir_all(world.at(&beside)).unwrap();
            world.chmod(&beside, 0o500);
            for (depth, path) in levels.iter().enumerate().rev() {
                world.chmod(path, bits(depth));
            }
            if merged {
                fs::create_dir(world.at("w/n")).unwrap();
            }
            let options = if merged { &OVERWRITE } else { &PLAIN };
            let counts = TreeCounts { files: 0, directories: 63, bytes: 0 };
            assert_eq!(at.copy("w/c", "w/n", options), Ok(counts));
            for (depth, path) in levels.iter().enumerate() {
                assert_eq!(world.mode(&path.replacen("w/c", "w/n", 1)), bits(depth), "{path}");
            }
            assert_eq!(world.mode(&beside.replacen("w/c", "w/n", 1)), 0o500);
            for path in levels.iter().chain([&beside]) {
                world.chmod(path, 0o755);
                world.chmod(&path.replacen("w/c", "w/n", 1), 0o755);
            }
        });
    }
}

#[test]
fn trees_with_denied_or_protected_entries_are_not_removed() {
    let policy = |world: &World| Policy {
        deny: vec!["*.key".into()],
        protect: true,
        write: Some(vec![world.at("w").into(), world.at("w/inner/root").into()]),
        ..world.policy()
    };
    each(policy, |world, at| {
        for dir in ["w/sec/deep", "w/repo/.git/hooks", "w/sub", "w/inner/root"] {
            fs::create_dir_all(world.at(dir)).unwrap();
        }
        fs::write(world.at("w/sec/deep/x.key"), "K").unwrap();
        fs::write(world.at("w/sub/.gitmodules"), "m").unwrap();
        let before = world.tree("w");
        for (path, expected) in [
            ("w/sec", Code::OutsideAllowed),
            ("w/sec/deep", Code::OutsideAllowed),
            ("w/sec/deep/x.key", Code::OutsideAllowed),
            ("w/repo", Code::ProtectedPath),
            ("w/repo/.git", Code::ProtectedPath),
            ("w/repo/.git/hooks", Code::ProtectedPath),
            ("w/sub", Code::ProtectedPath),
            ("w/inner", Code::ProtectedPath),
            ("w/inner/root", Code::ProtectedPath),
        ] {
            assert_eq!(code(at.remove(path)), expected, "remove {path}");
            assert_eq!(code(at.rename(path, "w/elsewhere", &PLAIN)), expected, "rename {path}");
            assert_eq!(world.tree("w"), before, "{path}");
        }
        // Moving an entry to a protected path is refused as well.
        fs::create_dir_all(world.at("w/neutral/hooks")).unwrap();
        for (from, to) in [
            ("w/neutral", "w/.git"),
            ("w/neutral/hooks", "w/repo/.git/hooks"),
            ("w/neutral/hooks", "w/.git/hooks"),
            ("w/f", "w/.gitmodules"),
            ("w/f", "w/repo/.git"),
        ] {
            let make = TransferOptions { create_dirs: true, ..OVERWRITE };
            assert_eq!(code(at.rename(from, to, &make)), Code::ProtectedPath, "{from} -> {to}");
            assert_eq!(code(at.copy(from, to, &make)), Code::ProtectedPath, "{from} -> {to}");
        }
        let into_git = at.1.symlink(b"a", world.at("w/.git").as_bytes());
        assert_eq!(code(into_git), Code::ProtectedPath);
        fs::remove_dir_all(world.at("w/neutral")).unwrap();
        assert_eq!(world.tree("w"), before);
        // Copies leave denied entries out, and do not create protected ones.
        assert_eq!(at.copy("w/sec", "w/copy", &PLAIN).unwrap().files, 0);
        assert_eq!(code(at.copy("w/repo", "w/repo2", &PLAIN)), Code::ProtectedPath);
        fs::remove_dir_all(world.at("w/copy")).unwrap();
        assert_eq!(world.tree("w"), before);
        let listed = at.1.list(
            world.at("w/sec/deep").as_bytes(),
            &ListOptions::default(),
            &CancelToken::new(),
        );
        assert_eq!(listed.unwrap().total, 0);
    });
}

#[test]
fn rename() {
    each(World::policy, |world, at| {
        world.link("$/o/s", "w/out");
        fs::create_dir(world.at("w/empty")).unwrap();
        at.rename("w/f", "w/n/m/g", &CREATE_DIRS).unwrap();
        at.rename("w/n/m/g", "w/f", &PLAIN).unwrap();
        at.rename("w/out", "w/n/out", &PLAIN).unwrap();
        at.rename("w/a", "w/n/a/", &PLAIN).unwrap();
        at.rename("w/n/a", "w/a", &PLAIN).unwrap();
        at.rename("w/a", "w/empty", &OVERWRITE).unwrap();
        at.rename("w/empty", "w/a", &PLAIN).unwrap();
        for (from, to, options, expected) in [
            ("w/absent", "w/x", &PLAIN, Code::NotFound),
            ("w/f", "w/absent/x", &PLAIN, Code::NotFound),
            ("w/f", "w/a/f", &PLAIN, Code::AlreadyExists),
            ("w/f", "w/a", &PLAIN, Code::AlreadyExists),
            ("w/f", "w/a", &OVERWRITE, Code::IsDirectory),
            ("w/a", "w/f", &OVERWRITE, Code::NotDirectory),
            ("w/a/b", "w/n", &OVERWRITE, Code::NotEmpty),
            ("w/a", "w/a/b/in", &PLAIN, Code::InvalidArgument),
            ("w/a", "w/a/b/in", &CREATE_DIRS, Code::InvalidArgument),
            ("w/f", "w/f", &OVERWRITE, Code::SameFile),
            ("w/f", "w/new/", &PLAIN, Code::NotDirectory),
            ("w", "w/x", &PLAIN, Code::ProtectedPath),
            ("w/a", "w", &OVERWRITE, Code::ProtectedPath),
            ("w/f", "o/f", &PLAIN, Code::OutsideAllowed),
            ("w/f", "o/x/f", &CREATE_DIRS, Code::OutsideAllowed),
            ("o/s", "w/s", &PLAIN, Code::OutsideAllowed),
            ("o/absent", "w/s", &PLAIN, Code::OutsideAllowed),
        ] {
            assert_eq!(code(at.rename(from, to, options)), expected, "{from} -> {to}");
        }
        fs::hard_link(world.at("w/f"), world.at("w/h")).unwrap();
        assert_eq!(code(at.rename("w/f", "w/h", &OVERWRITE)), Code::SameFile);
        fs::remove_file(world.at("w/h")).unwrap();
        at.rename("w/f", "w/F", &PLAIN).unwrap();
        at.rename("w/F", "w/a/f", &OVERWRITE).unwrap();
        assert_eq!(
            world.tree("w"),
            [
                "a/",
                "a/b/",
                "a/b/f: inside b",
                "a/f: inside",
                "n/",
                "n/m/",
                &format!("n/out -> {}", world.at("o/s"))
            ]
        );
        assert_eq!(world.tree("o"), ["s: SECRET"]);
    });
}

#[test]
fn copy() {
    each(World::policy, |world, at| {
        world.link("f", "w/a/in");
        world.link("$/o/s", "w/a/out");
        world.fifo("w/a/p");
        world.chmod("w/a/f", 0o750);
        fs::create_dir(world.at("w/a/closed")).unwrap();
        fs::write(world.at("w/a/closed/x"), "x").unwrap();
        world.chmod("w/a/closed", 0o555);
        world.chmod("w/a/b", 0o711);
        let counts = at.copy("w/a", "w/new/copy", &CREATE_DIRS).unwrap();
        assert_eq!(counts, TreeCounts { files: 5, directories: 3, bytes: 17 });
        let out = format!("out -> {}", world.at("o/s"));
        let copied =
            ["b/", "b/f: inside b", "closed/", "closed/x: x", "f: inside a", "in -> f", &out];
        assert_eq!(world.tree("w/new/copy"), copied);
        for path in ["f", "closed", "b"] {
            assert_eq!(
                world.mode(&format!("w/new/copy/{path}")),
                world.mode(&format!("w/a/{path}"))
            );
        }
        assert_eq!(world.mode("w/new/copy"), world.mode("w/a"));
        // Merging keeps existing entries with other names.
        fs::write(world.at("w/new/copy/mine"), "mine").unwrap();
        fs::write(world.at("w/new/copy/f"), "old").unwrap();
        fs::remove_dir_all(world.at("w/new/copy/b")).unwrap();
        at.copy("w/a", "w/new/copy", &OVERWRITE).unwrap();
        assert_eq!(world.text("w/new/copy/f"), "inside a");
        assert_eq!(world.text("w/new/copy/mine"), "mine");
        assert_eq!(world.text("w/new/copy/b/f"), "inside b");
        // A link itself, and a single file.
        at.copy("w/a/out", "w/l", &PLAIN).unwrap();
        assert!(fs::symlink_metadata(world.at("w/l")).unwrap().is_symlink());
        assert_eq!(
            at.copy("w/f", "w/g", &PLAIN),
            Ok(TreeCounts { files: 1, directories: 0, bytes: 6 })
        );
        let before = world.tree("w");
        for (from, to, options, expected) in [
            ("w/a", "w/a/b/in", &PLAIN, Code::InvalidArgument),
            ("w/a", "w/a/b/x/in", &CREATE_DIRS, Code::InvalidArgument),
            ("w", "w/in", &PLAIN, Code::InvalidArgument),
            ("w/a", "w/a", &OVERWRITE, Code::SameFile),
            ("w/f", "w/f", &OVERWRITE, Code::SameFile),
            ("w/f", "w/g", &PLAIN, Code::AlreadyExists),
            ("w/a", "w/new", &PLAIN, Code::AlreadyExists),
            ("w/a", "w/f", &OVERWRITE, Code::NotDirectory),
            ("w/f", "w/a", &OVERWRITE, Code::IsDirectory),
            ("w/a/p", "w/p2", &PLAIN, Code::NotRegularFile),
            ("w/absent", "w/x", &PLAIN, Code::NotFound),
            ("w/a", "w/x/y", &PLAIN, Code::NotFound),
            ("w/a", "o/a", &PLAIN, Code::OutsideAllowed),
            ("o/s", "w/s", &PLAIN, Code::OutsideAllowed),
        ] {
            assert_eq!(code(at.copy(from, to, options)), expected, "{from} -> {to}");
            assert_eq!(world.tree("w"), before, "{from} -> {to}");
        }
        let from_link = at.1.copy_file(
            world.at("w/a/out").as_bytes(),
            world.at("w/stolen").as_bytes(),
            &PLAIN,
            &CancelToken::new(),
        );
        assert_eq!(code(from_link), Code::OutsideAllowed);
        // A conflict is detected before anything is moved.
        fs::create_dir_all(world.at("w/clash/f")).unwrap();
        let before = world.tree("w");
        assert_eq!(code(at.copy("w/a", "w/clash", &OVERWRITE)), Code::IsDirectory);
        assert_eq!(world.tree("w"), before);
        world.chmod("w/a/closed", 0o755);
        world.chmod("w/new/copy/closed", 0o755);
    });
}

#[test]
fn holes_stay_holes_and_every_byte_arrives() {
    use std::io::{Seek, SeekFrom, Write};
    each(World::policy, |world, at| {
        let mut file = fs::File::create(world.at("w/holes")).unwrap();
        for (offset, text) in [(0, "start"), (1 << 30, "middle"), ((1 << 30) + 5_000_000, "later")]
        {
            file.seek(SeekFrom::Start(offset)).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        }
        file.set_len(3 << 30).unwrap();
        at.copy("w/holes", "w/copy", &PLAIN).unwrap();
        let (from, to) =
            [("w/holes"), ("w/copy")].map(|path| fs::metadata(world.at(path)).unwrap()).into();
        assert_eq!((to.len(), from.len()), (3 << 30, 3 << 30));
        assert!(to.blocks() <= from.blocks() + 64, "{} blocks for {}", to.blocks(), from.blocks());
        let options = filewright_fs::read::ReadOptions {
            start: (1 << 30) - 10,
            end: Some((1 << 30) + 5_000_010),
            max_bytes: None,
        };
        let read = |path: &str| {
            at.1.read(world.at(path).as_bytes(), &options, &CancelToken::new()).unwrap().bytes
        };
        assert_eq!(read("w/holes"), read("w/copy"));
        for size in [0, 1, 4095, 4096, 1_000_003] {
            fs::write(world.at("w/plain"), (0..size).map(|n| (n % 251) as u8).collect::<Vec<_>>())
                .unwrap();
            at.copy("w/plain", "w/copy", &OVERWRITE).unwrap();
            assert!(
                fs::read(world.at("w/copy")).unwrap() == fs::read(world.at("w/plain")).unwrap()
            );
        }
    });
}

#[test]
fn cancelled_copies_leave_nothing() {
    let world = World::new();
    for n in 0..300 {
        fs::write(world.at(&format!("w/a/{n}")), "x".repeat(5000)).unwrap();
    }
    let before = world.tree("w").len();
    for roots in both(&world.policy()) {
        let cancel = CancelToken::new();
        std::thread::scope(|scope| {
            let copying = scope.spawn(|| {
                roots.copy_tree(
                    world.at("w/a").as_bytes(),
                    world.at("w/x/y").as_bytes(),
                    &CREATE_DIRS,
                    &cancel,
                )
            });
            cancel.cancel();
            assert_eq!(code(copying.join().unwrap()), Code::Cancelled);
        });
        assert_eq!(world.tree("w").len(), before);
    }
}

#[test]
fn chmod_and_links() {
    each(World::policy, |world, at| {
        world.link("f", "w/l");
        world.link("$/o/s", "w/out");
        let chmod = |path: &str, mode| at.1.chmod(world.at(path).as_bytes(), mode);
        world.chmod("w/f", 0o000);
        chmod("w/f", 0o640).unwrap();
        assert_eq!(world.mode("w/f"), 0o640);
        chmod("w/l", 0o4755).unwrap();
        assert_eq!(world.mode("w/f"), 0o755);
        chmod("w/a", 0o700).unwrap();
        assert_eq!(world.mode("w/a"), 0o700);
        let outside = world.mode("o/s");
        assert_eq!(code(chmod("w/out", 0o777)), Code::OutsideAllowed);
        assert_eq!(code(chmod("w/absent", 0o777)), Code::NotFound);
        assert_eq!(world.mode("o/s"), outside);
        let link = |target: &str, path: &str| {
            let target = target.replace("$", world.at("").trim_end_matches('/'));
            at.1.symlink(target.as_bytes(), world.at(path).as_bytes())
        };
        link("a/f", "w/n1").unwrap();
        link("$/w/absent", "w/n2").unwrap();
        link("../f", "w/a/n3").unwrap();
        assert_eq!(at.1.read_link(world.at("w/n1").as_bytes()).unwrap(), b"a/f");
        for (target, path, expected) in [
            ("f", "w/f", Code::AlreadyExists),
            ("f", "w/n1", Code::AlreadyExists),
            ("", "w/n4", Code::InvalidArgument),
            ("f", "w/no/n", Code::NotFound),
            ("$/o/s", "w/n4", Code::OutsideAllowed),
            ("../o", "w/n4", Code::OutsideAllowed),
            ("../../../../..", "w/n4", Code::OutsideAllowed),
            ("/etc/passwd", "w/n4", Code::OutsideAllowed),
            ("f", "o/n", Code::OutsideAllowed),
        ] {
            assert_eq!(code(link(target, path)), expected, "{path} -> {target}");
        }
        assert_eq!(code(at.1.read_link(world.at("w/f").as_bytes())), Code::InvalidArgument);
    });
    each(
        |world| Policy { follow: Follow::Any, ..world.policy() },
        |world, at| {
            at.1.symlink(b"/etc", world.at("w/etc").as_bytes()).unwrap();
        },
    );
}

#[test]
fn facts_and_real_paths() {
    each(World::policy, |world, at| {
        world.link("a", "w/l");
        world.link("$/o/s", "w/out");
        let real = |path: &str| {
            at.1.realpath(world.at(path).as_bytes()).map(|real| String::from_utf8(real).unwrap())
        };
        assert_eq!(real("w/l/f").unwrap(), world.at("w/a/f"));
        assert_eq!(real("w/l/no/such/f").unwrap(), world.at("w/a/no/such/f"));
        assert_eq!(code(real("w/out")), Code::OutsideAllowed);
        let stat = |path: &str| at.1.stat(world.at(path).as_bytes()).map(|facts| facts.stat);
        assert_eq!(stat("w/l/f").unwrap().ino, fs::metadata(world.at("w/a/f")).unwrap().ino());
        assert!(stat("w/f").unwrap().birth.is_some() || cfg!(not(target_os = "linux")));
        let link = at.1.lstat(world.at("w/out").as_bytes()).unwrap();
        assert_eq!(link.target.unwrap(), world.at("o/s").into_bytes());
        assert!(at.1.exists(world.at("w/l").as_bytes()));
        assert!(!at.1.exists(world.at("w/out").as_bytes()));
        assert_eq!(code(stat("o/s")), Code::OutsideAllowed);
        assert_eq!(code(stat("o/absent")), Code::OutsideAllowed);
    });
}
