//! Tests moving files that were set aside out of the roots, and back.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod common;

use std::fs;

use common::{World, both};
use filewright_core::{Code, Error};
use filewright_fs::dir::stat::Version;
use filewright_fs::root::{Policy, Roots};
use filewright_fs::write::Durability;
use filewright_fs::write::aside::{Conditions, aside_name};

fn code<T>(result: Result<T, Error>) -> Code {
    result.err().map_or(Code::Internal, |error| error.code)
}

/// A world with the file `w/f` set aside, the path of the aside, and the version of the file.
fn world_with_aside(roots: impl Fn(&Policy) -> Roots) -> (World, Roots, String, Version) {
    let world = World::new();
    let roots = roots(&Policy { protect: true, ..world.policy() });
    let version = roots.lstat(world.at("w/f").as_bytes()).unwrap().stat.version();
    let name = aside_name();
    let aside = world.at(&format!("w/{}", String::from_utf8(name.clone()).unwrap()));
    let conditions = Conditions { aside: Some(name), ..Conditions::default() };
    roots.delete_if(world.at("w/f").as_bytes(), &conditions, Durability::Atomic).unwrap();
    (world, roots, aside, version)
}

fn each_resolver(test: impl Fn(&World, &Roots, &str, &Version)) {
    for resolver in 0..2 {
        let (world, roots, aside, version) =
            world_with_aside(|policy| both(policy).into_iter().nth(resolver).unwrap());
        test(&world, &roots, &aside, &version);
    }
}

#[test]
fn a_file_leaves_and_comes_back() {
    each_resolver(|world, roots, aside, version| {
        // The directory is made.
        let kept = world.at("o/kept/1");
        roots.put_away(aside.as_bytes(), kept.as_bytes(), true).unwrap();
        assert_eq!(fs::read_to_string(&kept).unwrap(), "inside");
        assert!(!fs::exists(aside).unwrap());
        let path = world.at("w/a/b/back");
        roots.bring_back(kept.as_bytes(), path.as_bytes(), version, None).unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), "inside");
        assert!(!fs::exists(kept).unwrap());
    });
}

#[test]
fn the_replaced_file_is_set_aside() {
    each_resolver(|world, roots, aside, version| {
        let kept = world.at("o/1");
        roots.put_away(aside.as_bytes(), kept.as_bytes(), false).unwrap();
        let path = world.at("w/a/f");
        let back = |aside: Option<&[u8]>| {
            roots.bring_back(kept.as_bytes(), path.as_bytes(), version, aside)
        };
        assert_eq!(code(back(None)), Code::AlreadyExists);
        assert_eq!(code(back(Some(b"other"))), Code::InvalidArgument);
        assert_eq!(fs::read_to_string(&path).unwrap(), "inside a");
        let name = aside_name();
        back(Some(&name)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "inside");
        let replaced = world.at(&format!("w/a/{}", String::from_utf8(name).unwrap()));
        assert_eq!(fs::read_to_string(replaced).unwrap(), "inside a");
        assert!(!fs::exists(kept).unwrap());
    });
}

#[test]
fn only_what_was_set_aside_leaves() {
    each_resolver(|world, roots, _, _| {
        let kept = world.at("o/1");
        world.link("$/o", "w/out");
        let away =
            |path: &str| code(roots.put_away(world.at(path).as_bytes(), kept.as_bytes(), false));
        assert_eq!(away("w/a/f"), Code::InvalidArgument);
        assert_eq!(away("w/a"), Code::InvalidArgument);
        let name = String::from_utf8(aside_name()).unwrap();
        assert_eq!(away(&format!("w/{name}")), Code::NotFound);
        assert_eq!(away(&format!("o/{name}")), Code::OutsideAllowed);
        assert_eq!(away(&format!("w/out/{name}")), Code::OutsideAllowed);
        fs::create_dir(world.at(&format!("w/{name}"))).unwrap();
        assert_eq!(away(&format!("w/{name}")), Code::NotRegularFile);
        assert!(!fs::exists(kept).unwrap());
    });
}

#[test]
fn a_file_that_has_changed_stays_away() {
    each_resolver(|world, roots, aside, version| {
        let (kept, path) = (world.at("o/1"), world.at("w/back"));
        roots.put_away(aside.as_bytes(), kept.as_bytes(), false).unwrap();
        fs::write(&kept, "INSIDE").unwrap();
        let back = roots.bring_back(kept.as_bytes(), path.as_bytes(), version, None);
        assert_eq!(code(back), Code::Conflict);
        assert_eq!(fs::read_to_string(&kept).unwrap(), "INSIDE");
        assert!(!fs::exists(path).unwrap());
    });
}

#[test]
fn nothing_comes_to_where_nothing_may_be_written() {
    each_resolver(|world, roots, aside, version| {
        let kept = world.at("o/1");
        roots.put_away(aside.as_bytes(), kept.as_bytes(), false).unwrap();
        world.link("$/o", "w/out");
        let back = |path: &str| {
            code(roots.bring_back(kept.as_bytes(), world.at(path).as_bytes(), version, None))
        };
        assert_eq!(back("o/back"), Code::OutsideAllowed);
        assert_eq!(back("w/out/back"), Code::OutsideAllowed);
        assert_eq!(back("w/.git"), Code::ProtectedPath);
        fs::create_dir(world.at("w/.git")).unwrap();
        assert_eq!(back("w/.git/config"), Code::ProtectedPath);
        assert_eq!(back("w/missing/back"), Code::NotFound);
        assert_eq!(fs::read_to_string(&kept).unwrap(), "inside");
    });
}
