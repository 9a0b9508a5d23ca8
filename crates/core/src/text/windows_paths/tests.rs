use super::*;
use proptest::prelude::*;

fn base() -> WindowsBase {
    let roots = ["/C:/Users/RUNNER~1/repo".to_owned(), "/C:/repo".to_owned(), "/D:/".to_owned()];
    WindowsBase::new("/C:/repo/pkg", &roots).unwrap()
}

#[test]
fn paths_become_the_form_of_the_inside() {
    for (typed, inner) in [
        ("a.ts", "/C:/repo/pkg/a.ts"),
        (r"src\a.ts", "/C:/repo/pkg/src/a.ts"),
        (r"src\lib/a.ts", "/C:/repo/pkg/src/lib/a.ts"),
        (r"..\a.ts", "/C:/repo/a.ts"),
        ("./a//b", "/C:/repo/pkg/a/b"),
        (".", "/C:/repo/pkg/"),
        ("..", "/C:/repo/"),
        ("src/", "/C:/repo/pkg/src/"),
        (r"src\", "/C:/repo/pkg/src/"),
        (r"C:\repo\a.ts", "/C:/repo/a.ts"),
        ("c:/repo/a.ts", "/C:/repo/a.ts"),
        ("/c:/repo/a.ts", "/C:/repo/a.ts"),
        (r"\C:\repo\a.ts", "/C:/repo/a.ts"),
        (r"C:\REPO\A.ts", "/C:/repo/A.ts"),
        (r"C:\elsewhere\..\repo", "/C:/repo"),
        (r"D:\", "/D:"),
        ("/D:", "/D:"),
        (r"c:\users\runner~1\REPO\a", "/C:/Users/RUNNER~1/repo/a"),
        (r"E:\other", "/E:/other"),
        ("a\u{2215}b\u{ff0f}c\u{ff3c}d", "/C:/repo/pkg/a\u{2215}b\u{ff0f}c\u{ff3c}d"),
    ] {
        assert_eq!(base().resolve(typed).as_deref(), Ok(inner), "{typed}");
    }
}

#[test]
fn paths_that_mean_something_else_are_refused() {
    use Code::{InvalidArgument, NameTooLong, OutsideAllowed};
    for (typed, code) in [
        ("", InvalidArgument),
        ("a\0b", InvalidArgument),
        (r"\\server\share\x", OutsideAllowed),
        ("//server/share/x", OutsideAllowed),
        (r"\/server\share", OutsideAllowed),
        (r"/\server\share", OutsideAllowed),
        (r"\\localhost\C$\repo", OutsideAllowed),
        (r"\\?\C:\repo\a.ts", OutsideAllowed),
        (r"\\?\UNC\server\share", OutsideAllowed),
        ("//?/C:/repo", OutsideAllowed),
        (r"\\.\C:\repo", OutsideAllowed),
        (r"\\.\pipe\x", OutsideAllowed),
        (r"\\.\PhysicalDrive0", OutsideAllowed),
        (r"\??\C:\repo", OutsideAllowed),
        ("/??/C:/repo", OutsideAllowed),
        (r"\\", OutsideAllowed),
        (r"\\\C:\repo", OutsideAllowed),
        ("//C:/repo", OutsideAllowed),
        (r"\repo\a.ts", OutsideAllowed),
        ("/repo/a.ts", OutsideAllowed),
        ("/", OutsideAllowed),
        (r"\", OutsideAllowed),
        ("/Device/HarddiskVolume1/x", OutsideAllowed),
        ("/GLOBALROOT/x", OutsideAllowed),
        (r"C:\..\x", OutsideAllowed),
        (r"..\..\..\x", OutsideAllowed),
        (r"C:\repo\..\..\D:\x", OutsideAllowed),
        (r"C:\repo\D:\x", InvalidArgument),
        ("C:", InvalidArgument),
        ("C:a.ts", InvalidArgument),
        ("C:..", InvalidArgument),
        ("/C:a.ts", InvalidArgument),
        ("1:/x", InvalidArgument),
        ("\u{e9}:/x", InvalidArgument),
        ("CC:/x", InvalidArgument),
        ("file:///C:/repo/a.ts", InvalidArgument),
        (r"CON\..\a.ts", InvalidArgument),
        (r"a. \..\b", InvalidArgument),
        (r"src\ENV~1", InvalidArgument),
        (r"C:\repo\GIT~1\config", InvalidArgument),
        (r"C:\Users\RUNNER~1\other", InvalidArgument),
        (r"C:\Users\RUNNER~1\repo\GIT~1", InvalidArgument),
        (r"C:\PROGRA~1\x", InvalidArgument),
        (r"C:\repo\a.ts ", InvalidArgument),
        (r"C:\repo \a.ts", InvalidArgument),
        (r"C:\repo\a.ts::$DATA", InvalidArgument),
        (r".\.git::$INDEX_ALLOCATION\config", InvalidArgument),
        ("a/.. /b", InvalidArgument),
        ("a/... /b", InvalidArgument),
    ] {
        assert_eq!(base().resolve(typed).map_err(|error| error.code), Err(code), "{typed:?}");
    }
    for long in ["x".repeat(256), "a/".repeat(17_000)] {
        assert_eq!(base().resolve(&long).map_err(|error| error.code), Err(NameTooLong));
    }
}

#[test]
fn roots_are_drives_and_never_of_the_network() {
    for (given, inner) in [
        (r"C:\repo", Ok("/C:/repo")),
        ("c:/repo/", Ok("/C:/repo")),
        ("/C:/repo", Ok("/C:/repo")),
        (r"C:\Users\RUNNER~1\Temp", Ok("/C:/Users/RUNNER~1/Temp")),
        ("D:\\", Ok("/D:")),
        ("repo", Ok("/E:/work/repo")),
        ("..", Ok("/E:")),
        (r"\\server\share", Err(Code::OutsideAllowed)),
        (r"\\?\C:\repo", Err(Code::OutsideAllowed)),
        (r"\repo", Err(Code::OutsideAllowed)),
        ("C:repo", Err(Code::InvalidArgument)),
        (r"C:\repo:x", Err(Code::InvalidArgument)),
    ] {
        let found = windows_root(given, "/E:/work").map_err(|error| error.code);
        assert_eq!(found.as_deref(), inner.as_deref(), "{given}");
    }
    let network = windows_root(r"\\server\share", "/C:").unwrap_err();
    assert_eq!(
        network.hint.as_deref(),
        Some(r"use a directory on a drive of this machine, such as C:\repo")
    );
}

/// Returns the file that Windows opens for a name: without the dots and spaces at its end, without a
/// stream, and the whole of it in lower case.
fn opened_name(name: &str) -> String {
    name.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']).to_lowercase()
}

fn any_typed_path() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "a",
            "A",
            ".git",
            ".GIT",
            ".env",
            "..",
            ".",
            "...",
            "C:",
            "D:",
            "c",
            ":",
            "::$DATA",
            " ",
            ".",
            "~1",
            "GIT~1",
            "CON",
            "nul",
            "com\u{b9}",
            "?",
            "??",
            "*",
            "UNC",
            "server",
            "\u{e9}",
            "repo",
            "REPO",
            "pkg",
            "\u{2215}",
            "\u{131}",
        ])
        .prop_map(str::to_owned),
        prop::sample::select(vec!["/", "\\", "//", "\\\\"]).prop_map(str::to_owned),
        "[ -~]{0,3}",
    ];
    prop::collection::vec(piece, 0..9).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn what_is_accepted_names_exactly_the_file_of_its_names(typed in any_typed_path()) {
        let Ok(inner) = base().resolve(&typed) else { return Ok(()) };
        let bytes = inner.as_bytes();
        prop_assert!(bytes[0] == b'/' && bytes[1].is_ascii_uppercase() && bytes[2] == b':');
        prop_assert!(!inner.contains('\\') && !inner[3..].contains([':', '\0']));
        prop_assert!(!inner.contains("//"));
        for name in inner[3..].split('/').filter(|name| !name.is_empty()) {
            prop_assert!(name != "." && name != "..");
            prop_assert_eq!(opened_name(name), name.to_lowercase());
            prop_assert!(check_name(name).is_ok());
        }
    }

    #[test]
    fn separators_and_drives_have_one_meaning(typed in any_typed_path()) {
        let answer = base().resolve(&typed).map_err(|error| error.code);
        for turned in [typed.replace('/', "\\"), typed.replace('\\', "/")] {
            prop_assert_eq!(&base().resolve(&turned).map_err(|error| error.code), &answer);
        }
    }

    #[test]
    fn what_is_accepted_stays_the_same_when_it_comes_back(typed in any_typed_path()) {
        let Ok(inner) = base().resolve(&typed) else { return Ok(()) };
        let again = base().resolve(&inner);
        let shown = base().resolve(&inner[1..].replace('/', "\\"));
        // `C:` alone would mean the directory of the process on that drive.
        if inner.len() > 3 {
            prop_assert_eq!(shown.as_deref(), Ok(&inner[..]));
        }
        prop_assert_eq!(again.as_deref(), Ok(&inner[..]));
    }
}
