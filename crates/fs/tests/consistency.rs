//! For a path that stays inside, the result is that of the plain file system; for any other it is a
//! refusal.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod common;

use std::fs;
use std::io::ErrorKind;

use common::{World, both};
use filewright_core::Code;
use filewright_core::pattern::policy::Intent;
use proptest::prelude::*;

/// A name in the test tree: only few names, so that paths and links often refer to each other.
fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "f", "l1", "l2", "l3", "none"]).prop_map(str::to_owned)
}

fn target() -> impl Strategy<Value = String> {
    let part = prop_oneof![4 => name(), 3 => Just("..".to_owned()), 1 => Just(".".to_owned())];
    (
        prop::sample::select(vec!["", "", "", "$/w/", "$/o/", "/"]),
        prop::collection::vec(part, 1..5),
        any::<bool>(),
    )
        .prop_map(|(start, parts, slash)| {
            format!("{start}{}{}", parts.join("/"), if slash { "/" } else { "" })
        })
}

/// Generates links: their positions (a directory and a name) and their targets.
fn links() -> impl Strategy<Value = Vec<(String, String)>> {
    let place = (
        prop::sample::select(vec!["w", "w/a", "w/a/b"]),
        prop::sample::select(vec!["l1", "l2", "l3"]),
    )
        .prop_map(|(dir, name)| format!("{dir}/{name}"));
    prop::collection::vec((place, target()), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn as_the_plain_file_system(
        links in links(),
        paths in prop::collection::vec(prop::collection::vec(name(), 1..6), 1..12),
    ) {
        let world = World::new();
        let base = world.at("");
        for (path, target) in &links {
            let target = target.replace('$', base.trim_end_matches('/'));
            let _ = std::os::unix::fs::symlink(target, world.at(path));
        }
        let inside = world.at("w");
        for roots in both(&world.policy()) {
            for names in &paths {
                let path = format!("{inside}/{}", names.join("/"));
                let ours = roots.open_file(path.as_bytes(), Intent::Read);
                let code = ours.as_ref().err().map(|error| error.code);
                match fs::canonicalize(&path) {
                    Ok(real) if real.starts_with(&inside) && real.is_file() => {
                        let ours = ours.unwrap();
                        prop_assert_eq!(&ours.real, real.as_os_str().as_encoded_bytes());
                        let plain = fs::metadata(&real).unwrap();
                        use std::os::unix::fs::MetadataExt;
                        prop_assert_eq!(ours.stat.ino, plain.ino());
                    }
                    Ok(real) if real.starts_with(&inside) => {
                        prop_assert_eq!(code, Some(Code::IsDirectory));
                        let dir = roots.open_dir(path.as_bytes()).unwrap();
                        prop_assert_eq!(&dir.real, real.as_os_str().as_encoded_bytes());
                    }
                    Ok(_) => prop_assert_eq!(code, Some(Code::OutsideAllowed), "{}", path),
                    Err(error) => {
                        // A failure outside is always a refusal, whatever failed there.
                        let plain = match error.kind() {
                            ErrorKind::NotFound => Code::NotFound,
                            ErrorKind::NotADirectory => Code::NotDirectory,
                            _ => Code::Loop,
                        };
                        prop_assert!(
                            code == Some(plain) || code == Some(Code::OutsideAllowed),
                            "{path}: {code:?}, plainly {plain:?}"
                        );
                    }
                }
            }
        }
    }
}
