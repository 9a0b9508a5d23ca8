//! Tests paths and links with both resolvers.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod common;

use std::fs;
use std::path::Path;

use common::{World, both};
use filewright_core::Code;
use filewright_core::pattern::policy::Intent;
use filewright_fs::dir::stat::Stat;
use filewright_fs::root::{Follow, Policy, Roots};

fn read(roots: &Roots, path: &str) -> Result<String, Code> {
    let file = roots.open_file(path.as_bytes(), Intent::Read).map_err(|error| error.code)?;
    let mut text = String::new();
    std::io::Read::read_to_string(&mut fs::File::from(file.fd), &mut text).unwrap();
    Ok(text)
}

#[test]
fn paths() {
    let world = World::new();
    let long = format!("w/{}", "x".repeat(256));
    let many = format!("w/{}f", "a/../".repeat(800));
    let cases: &[(&str, Result<&str, Code>)] = &[
        ("w/f", Ok("inside")),
        ("w/a/b/f", Ok("inside b")),
        ("w//a///f", Ok("inside a")),
        ("w/./a/./f", Ok("inside a")),
        ("w/a/../a/f", Ok("inside a")),
        ("w/../w/f", Ok("inside")),
        (&many, Ok("inside")),
        ("w/../o/s", Err(Code::OutsideAllowed)),
        ("w/a/../../o/s", Err(Code::OutsideAllowed)),
        ("o/s", Err(Code::OutsideAllowed)),
        ("o/absent", Err(Code::OutsideAllowed)),
        ("w-evil/f", Err(Code::OutsideAllowed)),
        ("w/f/", Err(Code::NotDirectory)),
        ("w/f/x", Err(Code::NotDirectory)),
        ("w/absent", Err(Code::NotFound)),
        ("w/absent/f", Err(Code::NotFound)),
        ("w/%2e%2e/o/s", Err(Code::NotFound)),
        ("w/..\\o\\s", Err(Code::NotFound)),
        ("w/~/f", Err(Code::NotFound)),
        ("w/a", Err(Code::IsDirectory)),
        ("w", Err(Code::IsDirectory)),
        ("w/f\0.txt", Err(Code::InvalidArgument)),
        (&long, Err(Code::NameTooLong)),
    ];
    for roots in both(&world.policy()) {
        for (path, expected) in cases {
            let got = read(&roots, &world.at(path));
            assert_eq!(
                got.as_deref(),
                expected.as_ref().map(|s| *s),
                "{path} {:?}",
                roots.resolver()
            );
        }
        assert_eq!(read(&roots, ""), Err(Code::InvalidArgument));
        assert_eq!(read(&roots, "w/f"), Err(Code::InvalidArgument));
        assert_eq!(read(&roots, "/etc/passwd"), Err(Code::OutsideAllowed));
    }
}

#[test]
fn links() {
    let world = World::new();
    // (link, target): `$` is the directory that contains w and o.
    for (path, target) in [
        ("w/rel", "a/f"),
        ("w/a/up", "../f"),
        ("w/abs", "$/w/a/f"),
        ("w/absdir", "$/w/a"),
        ("w/reldir", "a/b/"),
        ("w/dots", "a/../a/./b/../f"),
        ("w/file-slash", "f/"),
        ("w/out", "$/o/s"),
        ("w/outrel", "../o/s"),
        ("w/outdir", "$/o"),
        ("w/out-and-back", "../o/../w/f"),
        ("w/sibling", "../w-evil/f"),
        ("w/dangling", "nowhere"),
        ("w/dangling-out", "$/o/absent"),
        ("w/chain1", "chain2"),
        ("w/chain2", "$/w/chain3"),
        ("w/chain3", "../o/s"),
        ("w/loop1", "loop2"),
        ("w/loop2", "loop1"),
        ("w/self", "self"),
        ("w/top", ".."),
        ("w/here", "."),
        ("w/proc-root", "/proc/self/root/etc/passwd"),
        ("w/proc-fd", "/proc/self/fd/0"),
        ("w/dev-fd", "/dev/fd/0"),
    ] {
        world.link(target, path);
    }
    let cases: &[(&str, Result<&str, Code>)] = &[
        ("w/rel", Ok("inside a")),
        ("w/a/up", Ok("inside")),
        ("w/abs", Ok("inside a")),
        ("w/absdir/f", Ok("inside a")),
        ("w/absdir/b/f", Ok("inside b")),
        ("w/reldir/f", Ok("inside b")),
        ("w/dots", Ok("inside a")),
        ("w/here/here/f", Ok("inside")),
        ("w/file-slash", Err(Code::NotDirectory)),
        ("w/rel/", Err(Code::NotDirectory)),
        ("w/out", Err(Code::OutsideAllowed)),
        ("w/outrel", Err(Code::OutsideAllowed)),
        ("w/outdir/s", Err(Code::OutsideAllowed)),
        ("w/outdir/absent", Err(Code::OutsideAllowed)),
        ("w/outdir/", Err(Code::OutsideAllowed)),
        // Between roots the path is only text, and it leads back inside.
        ("w/out-and-back", Ok("inside")),
        ("w/sibling", Err(Code::OutsideAllowed)),
        ("w/dangling", Err(Code::NotFound)),
        ("w/dangling-out", Err(Code::OutsideAllowed)),
        ("w/chain1", Err(Code::OutsideAllowed)),
        ("w/loop1", Err(Code::Loop)),
        ("w/self/x", Err(Code::Loop)),
        ("w/top/w/f", Ok("inside")),
        ("w/top/o/s", Err(Code::OutsideAllowed)),
        ("w/proc-root", Err(Code::OutsideAllowed)),
        ("w/proc-fd", Err(Code::OutsideAllowed)),
        ("w/dev-fd", Err(Code::OutsideAllowed)),
    ];
    for roots in both(&world.policy()) {
        for (path, expected) in cases {
            let got = read(&roots, &world.at(path));
            assert_eq!(
                got.as_deref(),
                expected.as_ref().map(|s| *s),
                "{path} {:?}",
                roots.resolver()
            );
        }
        assert_eq!(
            roots.open_dir(world.at("w/top").as_bytes()).unwrap_err().code,
            Code::OutsideAllowed
        );
        let dir = roots.open_dir(world.at("w/reldir").as_bytes()).unwrap();
        assert_eq!(dir.real, world.at("w/a/b").into_bytes());
    }
    let never = Policy { follow: Follow::Never, ..world.policy() };
    for roots in both(&never) {
        assert_eq!(read(&roots, &world.at("w/rel")), Err(Code::OutsideAllowed));
        assert_eq!(read(&roots, &world.at("w/absdir/f")), Err(Code::OutsideAllowed));
        assert_eq!(read(&roots, &world.at("w/f")).unwrap(), "inside");
    }
    let any = Policy { follow: Follow::Any, deny: vec!["../o/s".into()], ..world.policy() };
    fs::write(world.at("o/t"), "shared").unwrap();
    world.link("$/o/t", "w/out-t");
    for roots in both(&any) {
        assert_eq!(read(&roots, &world.at("w/out-t")).unwrap(), "shared");
        assert_eq!(read(&roots, &world.at("w/out")), Err(Code::OutsideAllowed));
        assert_eq!(read(&roots, &world.at("o/t")), Err(Code::OutsideAllowed));
    }
}

#[test]
fn forty_links_in_a_row_and_no_more() {
    let world = World::new();
    world.link("f", "w/l1");
    for n in 2..=45 {
        world.link(&format!("l{}", n - 1), &format!("w/l{n}"));
    }
    for roots in both(&world.policy()) {
        assert_eq!(read(&roots, &world.at("w/l40")).unwrap(), "inside");
        assert_eq!(read(&roots, &world.at("w/l41")), Err(Code::Loop));
        assert_eq!(read(&roots, &world.at("w/l45")), Err(Code::Loop));
    }
}

#[test]
fn several_roots() {
    let world = World::new();
    fs::create_dir_all(world.at("r/sub/deep")).unwrap();
    fs::write(world.at("r/f"), "readable").unwrap();
    fs::write(world.at("r/sub/f"), "both").unwrap();
    fs::write(world.at("o/one"), "single").unwrap();
    world.link("$/r/f", "w/to-r");
    world.link("../r/sub/f", "w/to-sub");
    world.link("$/o/one", "w/to-one");
    world.link("$/w", "r/to-w");
    world.link("$/w", "alias");
    let policy = Policy {
        cwd: world.at("w").into(),
        read: Some(["alias", "r", "o/one"].map(|p| world.at(p).into()).to_vec()),
        write: Some(["alias", "r/sub", "later/dir"].map(|p| world.at(p).into()).to_vec()),
        ..Policy::default()
    };
    for roots in both(&policy) {
        for (path, expected) in [
            ("w/f", Ok("inside")),
            ("alias/f", Ok("inside")),
            ("alias/to-r", Ok("readable")),
            ("w/to-sub", Ok("both")),
            ("r/to-w/a/f", Ok("inside a")),
            ("o/one", Ok("single")),
            ("w/to-one", Ok("single")),
            ("o/s", Err(Code::OutsideAllowed)),
            ("o", Err(Code::OutsideAllowed)),
            ("later/dir/f", Err(Code::OutsideAllowed)),
        ] {
            let got = read(&roots, &world.at(path));
            assert_eq!(
                got.as_deref(),
                expected.as_ref().map(|s| *s),
                "{path} {:?}",
                roots.resolver()
            );
        }
        for (path, expected) in [
            ("w/f", None),
            ("r/sub/f", None),
            ("w/to-sub", None),
            ("r/to-w/f", None),
            ("r/f", Some(Code::OutsideAllowed)),
            ("w/to-r", Some(Code::OutsideAllowed)),
            ("o/one", Some(Code::OutsideAllowed)),
            ("later/dir/f", Some(Code::NotFound)),
            ("later/other", Some(Code::OutsideAllowed)),
        ] {
            let got = roots.open_file(world.at(path).as_bytes(), Intent::Write);
            assert_eq!(got.err().map(|e| e.code), expected, "{path} {:?}", roots.resolver());
        }
    }
    let roots = both(&policy);
    fs::create_dir_all(world.at("later/dir")).unwrap();
    fs::write(world.at("later/dir/f"), "later").unwrap();
    // Retargeting the link that named a root has no effect.
    fs::remove_file(world.at("alias")).unwrap();
    world.link("$/o", "alias");
    for roots in roots {
        assert!(roots.open_file(world.at("later/dir/f").as_bytes(), Intent::Write).is_ok());
        assert_eq!(read(&roots, &world.at("alias/f")).unwrap(), "inside");
        assert_eq!(read(&roots, &world.at("alias/s")), Err(Code::NotFound));
    }
}

#[test]
fn rules_hold_on_the_real_path() {
    let world = World::new();
    fs::create_dir_all(world.at("w/sec")).unwrap();
    fs::create_dir_all(world.at("w/.git/hooks")).unwrap();
    fs::write(world.at("w/sec/k"), "KEY").unwrap();
    fs::write(world.at("w/.git/config"), "c").unwrap();
    world.link("sec", "w/s");
    world.link("sec/k", "w/k");
    world.link("sec/../f", "w/through");
    world.link(".git", "w/g");
    let policy = Policy { deny: vec!["sec".into()], protect: true, ..world.policy() };
    for roots in both(&policy) {
        for path in ["w/sec/k", "w/sec/absent", "w/s/k", "w/k", "w/sec", "w/through"] {
            assert_eq!(read(&roots, &world.at(path)), Err(Code::OutsideAllowed), "{path}");
        }
        assert_eq!(read(&roots, &world.at("w/g/config")).unwrap(), "c");
        for path in
            ["w/.git/config", "w/g/config", "w/.GIT/hooks/x", "w/g/hooks/x", "w/.gitmodules"]
        {
            let got = roots.open_file(world.at(path).as_bytes(), Intent::Write);
            assert_eq!(got.unwrap_err().code, Code::ProtectedPath, "{path}");
        }
    }
    for roots in both(&Policy { read_only: true, ..world.policy() }) {
        let got = roots.open_file(world.at("w/f").as_bytes(), Intent::Write);
        assert_eq!(got.unwrap_err().code, Code::ReadOnly);
        assert_eq!(read(&roots, &world.at("w/f")).unwrap(), "inside");
    }
}

#[test]
fn special_files_are_refused_by_what_they_are() {
    let world = World::new();
    let fifo = world.at("w/p");
    world.fifo("w/p");
    let _socket = std::os::unix::net::UnixListener::bind(world.at("w/s")).unwrap();
    for roots in both(&world.policy()) {
        assert_eq!(read(&roots, &fifo), Err(Code::NotRegularFile));
        assert_eq!(read(&roots, &world.at("w/s")), Err(Code::NotRegularFile));
    }
    for roots in both(&Policy::unconfined()) {
        assert_eq!(read(&roots, "/dev/null"), Err(Code::NotRegularFile));
        assert_eq!(read(&roots, "/dev/fd/0"), Err(Code::OutsideAllowed));
        assert_eq!(read(&roots, "/proc/self/root/etc/passwd"), Err(Code::OutsideAllowed));
        assert_eq!(read(&roots, "/proc/self/exe"), Err(Code::OutsideAllowed));
        assert!(read(&roots, "/proc/self/status").unwrap().contains("Pid:"));
        assert!(read(&roots, "/proc/mounts").is_ok());
    }
}

#[test]
fn trees_deeper_than_the_kernel_takes_paths() {
    let world = World::new();
    let mut dir = fs::File::open(world.at("w/a")).unwrap();
    let name = "d".repeat(100);
    for _ in 0..80 {
        rustix::fs::mkdirat(&dir, name.as_str(), rustix::fs::Mode::from_raw_mode(0o755)).unwrap();
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY;
        dir = rustix::fs::openat(&dir, name.as_str(), flags, rustix::fs::Mode::empty())
            .unwrap()
            .into();
    }
    rustix::fs::symlinkat("../../f", &dir, "up").unwrap();
    let path = format!("{}{}", world.at("w/a"), format!("/{name}").repeat(80));
    for roots in both(&world.policy()) {
        assert!(roots.open_dir(path.as_bytes()).is_ok());
        assert_eq!(read(&roots, &format!("{path}/up")), Err(Code::NotFound));
    }
    // Climbs further back than the number of kept descriptors.
    rustix::fs::symlinkat(format!("{}f", "../".repeat(80)), &dir, "far").unwrap();
    for roots in both(&world.policy()) {
        assert_eq!(read(&roots, &format!("{path}/far")).unwrap(), "inside a");
    }
}

#[test]
fn a_root_of_the_whole_system_follows_links() {
    let world = World::new();
    world.link("$/w", "l");
    let path = world.at("l/f");
    for roots in both(&Policy::unconfined()) {
        assert_eq!(read(&roots, &path).unwrap(), "inside");
        assert_eq!(read(&roots, "/../../etc/hostname"), Err(Code::OutsideAllowed));
        assert!(Path::new("/").is_dir() && roots.open_dir(b"/").is_ok());
    }
}

#[test]
fn a_hard_link_to_a_credential_file_behind_a_symbolic_link_is_refused() {
    let world = World::new();
    let dotfiles = ["ssh/keys", "aws", "config/gh", "elsewhere"];
    for dir in dotfiles {
        fs::create_dir_all(world.at(&format!("home/dotfiles/{dir}"))).unwrap();
    }
    fs::create_dir_all(world.at("home/.docker")).unwrap();
    let secrets = [
        ("ssh/id_work", "the directory is a link"),
        ("ssh/keys/deep", "deep in a directory that is a link"),
        ("aws/credentials", "another directory that is a link"),
        ("config/gh/hosts.yml", "a directory above it is a link"),
        ("netrc", "the file is a link"),
        ("docker.json", "a file with a full path in the table is a link"),
        ("elsewhere/key", "a link in a directory of secrets"),
    ];
    for (number, (path, _)) in secrets.iter().enumerate() {
        fs::write(world.at(&format!("home/dotfiles/{path}")), "content").unwrap();
        let link = world.at(&format!("w/{number}"));
        fs::hard_link(world.at(&format!("home/dotfiles/{path}")), link).unwrap();
    }
    let links = [
        (".ssh", "dotfiles/ssh"),
        (".aws", "dotfiles/aws"),
        (".config", "dotfiles/config"),
        (".netrc", "dotfiles/netrc"),
        (".docker/config.json", "../dotfiles/docker.json"),
        ("dotfiles/ssh/more", "../elsewhere"),
        // The search ends although links lead in a circle, or nowhere.
        ("dotfiles/ssh/again", "../ssh"),
        ("dotfiles/aws/gone", "../gone"),
    ];
    for (link, target) in links {
        std::os::unix::fs::symlink(target, world.at(&format!("home/{link}"))).unwrap();
    }
    fs::write(world.at("home/dotfiles/plain"), "content").unwrap();
    fs::hard_link(world.at("home/dotfiles/plain"), world.at("w/plain")).unwrap();
    let home = Some(world.at("home").into_bytes());
    for roots in &both(&Policy { secrets: true, home, ..world.policy() }) {
        let at = |number: usize| world.at(&format!("w/{number}"));
        for (number, (path, why)) in secrets.iter().enumerate() {
            assert_eq!(read(roots, &at(number)), Err(Code::GrantDenied), "{path}: {why}");
        }
        assert_eq!(read(roots, &world.at("w/plain")), Ok("content".to_owned()));
        // A grant of the file by its path in the home directory, or by its real path, opens its other names.
        for granted in ["home/.ssh/id_work", "home/dotfiles/ssh/id_work"] {
            roots.grant_secrets(vec![world.at(granted).into_bytes()]);
            assert_eq!(read(roots, &at(0)), Ok("content".to_owned()), "{granted}");
        }
        roots.grant_secrets(Vec::new());
    }
}

#[test]
fn roots_without_the_secret_filter_follow_no_link() {
    let world = World::new();
    fs::create_dir_all(world.at("w/.ssh")).unwrap();
    fs::create_dir_all(world.at("w/a")).unwrap();
    fs::write(world.at("w/.ssh/k"), "secret").unwrap();
    fs::write(world.at("w/a/k"), "open").unwrap();
    world.link(".ssh", "w/to-ssh");
    world.link("a", "w/to-a");
    world.link("a/k", "w/file");
    for follow in [Follow::Inside, Follow::Any, Follow::Never] {
        for roots in &both(&Policy { secrets: true, follow, ..world.policy() }) {
            let own = roots.without_secret_filter();
            assert_eq!(read(&own, &world.at("w/.ssh/k")), Ok("secret".to_owned()));
            assert_eq!(read(&own, &world.at("w/a/k")), Ok("open".to_owned()));
            for link in ["w/to-ssh/k", "w/to-a/k", "w/file"] {
                assert_eq!(read(&own, &world.at(link)), Err(Code::OutsideAllowed), "{link}");
            }
        }
    }
}

#[test]
fn a_hard_link_to_a_credential_file_of_the_home_directory_is_refused() {
    let world = World::new();
    fs::create_dir_all(world.at("home/.ssh/keys")).unwrap();
    fs::create_dir_all(world.at("home/.docker")).unwrap();
    let secrets = [
        (".ssh/id_work", "in a directory of secrets"),
        (".ssh/keys/deep", "deep in a directory of secrets"),
        (".docker/config.json", "by its full path"),
        ("vpn.ovpn", "by a pattern with an asterisk"),
    ];
    let plain = [("notes.txt", "no secret"), (".docker/daemon.json", "beside a secret")];
    for (number, (path, _)) in secrets.iter().chain(&plain).enumerate() {
        fs::write(world.at(&format!("home/{path}")), "content").unwrap();
        fs::hard_link(world.at(&format!("home/{path}")), world.at(&format!("w/{number}"))).unwrap();
    }
    let home = Some(world.at("home").into_bytes());
    let policy = Policy { secrets: true, home: home.clone(), ..world.policy() };
    for roots in &both(&policy) {
        let at = |number: usize| world.at(&format!("w/{number}"));
        for (number, (path, why)) in secrets.iter().enumerate() {
            assert_eq!(read(roots, &at(number)), Err(Code::GrantDenied), "{path}: {why}");
            let stat = Stat::at(rustix::fs::CWD, at(number).as_bytes()).unwrap();
            assert!(roots.hides_other_name(&stat, || at(number).into_bytes()), "{path}: {why}");
        }
        for (number, (path, why)) in plain.iter().enumerate() {
            assert_eq!(
                read(roots, &at(secrets.len() + number)),
                Ok("content".to_owned()),
                "{path}: {why}"
            );
        }
        // A grant of the file itself opens its other names.
        roots.grant_secrets(vec![world.at("home/.docker/config.json").into_bytes()]);
        assert_eq!(read(roots, &at(2)), Ok("content".to_owned()));
        roots.grant_secrets(Vec::new());
        // One that the table names is known although it is made later.
        fs::write(world.at("home/.netrc"), "later").unwrap();
        fs::hard_link(world.at("home/.netrc"), world.at("w/later")).unwrap();
        assert_eq!(
            read(roots, &world.at("w/later")),
            Err(Code::GrantDenied),
            "made after the roots were opened"
        );
        fs::remove_file(world.at("home/.netrc")).unwrap();
        // It has one name now.
        assert_eq!(read(roots, &world.at("w/later")), Ok("later".to_owned()));
        fs::remove_file(world.at("w/later")).unwrap();
    }
    for policy in [Policy { secrets: true, ..world.policy() }, Policy { home, ..world.policy() }] {
        let roots = Roots::new(&policy).unwrap();
        assert_eq!(read(&roots, &world.at("w/0")), Ok("content".to_owned()));
    }
}
