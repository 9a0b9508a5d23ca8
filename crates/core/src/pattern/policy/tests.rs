use super::*;
use crate::error::Code;
use proptest::prelude::*;

fn rules(deny: &[&str]) -> PathRules {
    let deny: Vec<String> = deny.iter().map(|glob| (*glob).to_owned()).collect();
    PathRules::new(&RulesConfig {
        cwd: b"/w",
        roots: &[b"/w", b"/other"],
        deny: &deny,
        protect: true,
        secrets: true,
        fold_case: false,
        places: &[],
    })
    .unwrap()
}

#[test]
fn deny_globs() {
    // (globs, path, denied)
    let cases: &[(&[&str], &str, bool)] = &[
        (&["sec"], "/w/sec", true),
        (&["sec"], "/w/sec/deep/k", true),
        (&["sec"], "/w/a/sec/k", true),
        (&["sec"], "/other/sec", true),
        (&["sec"], "/elsewhere/sec", false),
        (&["sec"], "/w/second", false),
        (&["./sec"], "/w/sec/k", true),
        (&["./sec"], "/w/a/sec", false),
        (&["sec/"], "/w/sec", true),
        (&["sec/**"], "/w/sec", false),
        (&["sec/**"], "/w/sec/k", true),
        (&["a/sec"], "/w/a/sec", true),
        (&["a/sec"], "/w/b/a/sec", false),
        (&["a/sec"], "/other/a/sec", false),
        (&["**/a/sec"], "/other/x/a/sec/y", true),
        (&[".env*"], "/w/p/.env.local", true),
        (&["*.key"], "/w/x.key/inside", true),
        (&["a/*.key"], "/w/a/b/x.key", false),
        (&["/etc/**"], "/etc/passwd", true),
        (&["/etc"], "/etc/passwd", true),
        (&["../other/x"], "/other/x/y", true),
        (&["../*.txt"], "/a.txt", true),
        (&["{a,b}"], "/w/b", true),
        (&["[ab]c"], "/w/bc", true),
        (&["w"], "/w", false),
        (&["\\!x"], "/w/!x", true),
    ];
    for (globs, path, denied) in cases {
        assert_eq!(rules(globs).denied(path.as_bytes()), *denied, "{globs:?} {path}");
    }
}

#[test]
fn names_that_are_not_utf8_are_matched() {
    assert!(rules(&["*.key"]).denied(b"/w/\xff\xfe.key"));
}

#[test]
fn refused_globs() {
    for (glob, code) in [
        ("", Code::InvalidGlob),
        ("/", Code::InvalidGlob),
        ("!x", Code::InvalidGlob),
        ("a/../b", Code::InvalidGlob),
        ("..", Code::InvalidGlob),
        ("[", Code::InvalidGlob),
    ] {
        let deny = [glob.to_owned()];
        let config = RulesConfig { cwd: b"/w", deny: &deny, ..Default::default() };
        assert_eq!(PathRules::new(&config).unwrap_err().code, code, "{glob}");
    }
    let deny = ["x".repeat(MAX_DENY_GLOB_BYTES + 1)];
    let config = RulesConfig { cwd: b"/w", deny: &deny, ..Default::default() };
    assert_eq!(PathRules::new(&config).unwrap_err().code, Code::LimitExceeded);
}

#[test]
fn fold_case_follows_the_volume() {
    let deny = ["Secret".to_owned()];
    let config = RulesConfig { cwd: b"/w", deny: &deny, fold_case: true, ..Default::default() };
    assert!(PathRules::new(&config).unwrap().denied(b"/w/sECRET"));
}

#[test]
fn flags_sum_the_verdicts() {
    let rules = rules(&["sec"]);
    for (path, flags) in [
        ("/w/a", 0),
        ("/w/sec", 1),
        ("/w/.git", 22),
        ("/w/.git/config", 22),
        ("/w/sec/.git", 23),
        ("/w/.vscode", 4),
        ("/w/.vscode/tasks.json", 6),
        ("/w/.env", 8),
        ("/w/mise.toml", 32),
        ("/w/.npmrc", 40),
        ("/w/d/HEAD", 64),
    ] {
        assert_eq!(rules.flags(path.as_bytes()) & 0xff, flags, "{path}");
    }
    let row = |path: &str, shift: u32| {
        let number = rules.flags(path.as_bytes()) >> shift & 0xfff;
        number.checked_sub(1).map(|row| PLACE_ROWS[row as usize].pattern)
    };
    assert_eq!(row("/w/.git/config", 8), Some(".git"));
    assert_eq!(row("/w/.git/config", 20), None);
    assert_eq!(row("/w/.env", 20), Some(".env"));
    assert_eq!(row("/w/x", 8), None);
}

#[test]
fn names_of_a_directory_are_checked_in_one_call() {
    let rules = rules(&["*.key", "d/x"]);
    assert_eq!(rules.denied_names(b"/w/d", b"a/b.key/x/.key/y"), [0, 1, 1, 1, 0]);
    assert_eq!(rules.denied_names(b"/", b"w/a.key"), [0, 0]);
}

#[test]
fn protected_places() {
    let rules = rules(&[]);
    let cases = [
        ("/w/.git/hooks", true),
        ("/w/.git/hooks/pre-commit", true),
        ("/w/a/b/.git/hooks/x/y", true),
        ("/w/.GIT/Hooks/x", true),
        ("/w/.git/config", true),
        ("/w/.gitmodules", true),
        ("/w/d/.GitModules", true),
        ("/w/.g\u{200c}it/config", true),
        ("/w/.git/hoo\u{212a}\u{017f}", true),
        ("/w/.git", true),
        ("/w/.git/HEAD", true),
        ("/w/.git/commondir", true),
        ("/w/.git/info/exclude", false),
        ("/w/.git/info/config", true),
        ("/w/.github/hooks/x", false),
        ("/w/.github/hooks/x.json", true),
        ("/w/.github/hookss/x", false),
        ("/w/.GitHub/Hooks/x.json", true),
        ("/w/.hg/hgrc-not-shared", true),
        ("/w/.HG./sharedpath", true),
        ("/w/.sl/config", true),
        ("/w/a/.bzr/branch/branch.conf", true),
        ("/w/.agents/hooks.json", true),
        ("/w/.agents/Mcp_Config.json ", true),
        ("/w/.agents/skills/a/SKILL.md", false),
        ("/w/.clinerules/hooks/x", true),
        ("/w/.clinerules/x.md", false),
        ("/w/.run/a.run.xml", true),
        ("/w/node_modules/filewright/index.js", true),
        ("/w/Node_Modules/.bin/FILEWRIGHT.cmd", true),
        ("/w/node_modules/@filewright/x", true),
        ("/w/node_modules/filewrights", false),
        ("/w/GIT.EXE", true),
        ("/w/tools/npx.cmd", true),
        ("/w/docs/make.bat", false),
        ("/w/lib/site-packages/a.pth", true),
        ("/w/model.pth", false),
        ("/w/conftest.py", false),
        ("/w/git/hooks/x", false),
        ("/w/hooks/.git", true),
        ("/w/.git/configs", true),
        ("/w/.git./hooks", true),
        ("/w/.git::$INDEX_ALLOCATION/hooks", true),
        ("/w/.git/modules/a/b/hooks/x", true),
        ("/w/.git/modules/a/HEAD", true),
        ("/w/.git/worktrees/a/config.worktree", true),
        ("/w/.claude/settings.json", true),
        ("/w/.CLAUDE/hooks/x", true),
        ("/w/d/.cursor/mcp.json", true),
        ("/w/.mcp.json", true),
        ("/w/.vscode/settings.json", true),
        ("/w/.vscode/TASKS.json ", true),
        ("/w/.vscode/notes.md", false),
        ("/w/vscode/settings.json", false),
        ("/w/.vscode", false),
        ("/w/.bashrc", true),
        ("/w/home/.zshenv", true),
        ("/w/.envrc", true),
        ("/w/.config/fish/config.fish", true),
        ("/w/.config/x", false),
        ("/w/AGENTS.md", false),
        ("/w/.github/workflows/x.yml", false),
        ("/w/.gitignore", false),
        ("/w/.profile.d/x", false),
    ];
    for (path, protected) in cases {
        assert_eq!(rules.protected(path.as_bytes()), protected, "{path}");
        let verdict = rules.verdict(path.as_bytes(), Intent::Write);
        assert_eq!(verdict == AccessVerdict::Protected, protected, "{path}");
        assert_eq!(rules.verdict(path.as_bytes(), Intent::Read), AccessVerdict::Allowed);
    }
    assert!(
        rules.is_or_contains_protected(b"/w/.git") && rules.is_or_contains_protected(b"/w/.GIT")
    );
    assert!(
        rules.is_or_contains_protected(b"/w/.git/hooks")
            && !rules.is_or_contains_protected(b"/w/.github")
    );
    assert!(!PathRules::none().is_or_contains_protected(b"/w/.git"));
    assert!(
        rules.is_or_contains_protected(b"/w/.vscode")
            && rules.is_or_contains_protected(b"/w/.claude")
    );
    assert!(rules.guards_link(b".config") && !rules.guards_link(b"src"));
    assert!(
        !rules.is_or_contains_protected(b"/w/.config") && !rules.is_or_contains_protected(b"/w/a")
    );
    // Only git's entries prevent moving or deleting the whole tree.
    assert!(rules.holds(b"/w/.git", b".git") && rules.holds(b"/w/.git/hooks", b"hooks"));
    assert!(!rules.holds(b"/w/n/.vscode/tasks.json", b"tasks.json"));
    assert!(!rules.holds(b"/w/n/.claude", b".claude"));
}

#[test]
fn secrets() {
    let cases = [
        ("/w/.env", true),
        ("/w/a/.env.local", true),
        ("/w/.ENV.Production", true),
        ("/w/.env.example", false),
        ("/w/.env.local.sample", false),
        ("/w/.environment", false),
        ("/w/env", false),
        ("/w/server.pem", true),
        ("/w/tls/PRIVATE.KEY", true),
        ("/w/.key", true),
        ("/w/key", false),
        ("/w/keys.ts", false),
        ("/w/id_rsa", true),
        ("/w/id_ed25519", true),
        ("/w/id_rsa.pub", false),
        ("/w/.ssh/known_hosts", true),
        ("/w/.npmrc", true),
        ("/w/.NPMRC. ", true),
        ("/w/.aws/credentials", true),
        ("/w/.docker/config.json", true),
        ("/w/docker/config.json", false),
        ("/w/.docker/notes", false),
        ("/w/.config/gh/hosts.yml", true),
        ("/w/.cargo/config.toml", false),
        ("/w/.cargo/credentials.toml", true),
        ("/w/.git/config", false),
    ];
    for (path, secret) in cases {
        assert_eq!(rules(&[]).secret(path.as_bytes()), secret, "{path}");
        assert!(!PathRules::none().secret(path.as_bytes()));
    }
}

#[test]
fn rules_report_which_parts_are_active() {
    let some = rules(&["sec"]);
    assert!(some.denies() && some.protects() && some.hides_secrets());
    let telling = some.with_secrets_allowed();
    assert!(telling.denies() && telling.protects() && !telling.hides_secrets());
    assert!(!telling.secret(b"/w/.env"));
    let none = PathRules::none();
    assert!(!none.denies() && !none.protects() && !none.hides_secrets());
}

#[test]
fn denied_wins_over_protected() {
    assert_eq!(rules(&[".git"]).verdict(b"/w/.git/hooks", Intent::Write), AccessVerdict::Denied);
}

proptest! {
    #[test]
    fn never_panics(glob in ".{0,20}", path in proptest::collection::vec(any::<u8>(), 0..40)) {
        let deny = [glob];
        let config = RulesConfig { cwd: b"/w", deny: &deny, protect: true, ..Default::default() };
        if let Ok(rules) = PathRules::new(&config) {
            rules.verdict(&path, Intent::Write);
            rules.is_or_contains_protected(&path);
        }
    }

    #[test]
    fn everything_below_a_denied_path_is_denied(
        glob in "[ab*?]{1,3}(/[ab*?]{1,3})?",
        path in "(/[ab]{1,2}){1,4}",
        more in "(/[abc]{1,2}){1,3}",
    ) {
        let rules = rules(&[&glob]);
        let path = format!("/w{path}");
        if rules.denied(path.as_bytes()) {
            let below = format!("{}{}", path, more);
            prop_assert!(rules.denied(below.as_bytes()));
        }
    }
}
