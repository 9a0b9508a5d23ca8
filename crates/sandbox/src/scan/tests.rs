use super::*;
use std::fs;

#[test]
fn a_scan_lists_hidden_protected_and_git_entries() {
    let tree = tempfile::tempdir().unwrap();
    let root = tree.path().to_str().unwrap().to_owned();
    for path in [
        "src/a.ts",
        "src/.env",
        "denied/x",
        ".husky/pre-commit",
        ".git/HEAD",
        ".git/config",
        ".git/hooks/pre-commit",
        ".git/info/attributes",
        ".git/objects/aa/x.key",
        ".git/modules/a/b/HEAD",
        ".git/modules/a/b/objects/x",
        ".git/modules/a/b/refs/x",
        ".git/modules/a/b/config",
        ".git/worktrees/w/commondir",
        "bare/HEAD",
        "bare/objects/x",
        "bare/refs/x",
        "bare/config",
        "sub/.git",
    ] {
        let path = tree.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    std::os::unix::fs::symlink("src/.env", tree.path().join(".env")).unwrap();
    for (from, to) in [("src/.env", "src/notes"), ("denied/x", "y"), ("src/a.ts", "b.ts")] {
        fs::hard_link(tree.path().join(from), tree.path().join(to)).unwrap();
    }
    let spec = ScanSpec {
        cwd: root.clone(),
        roots: vec![root.clone()],
        scan: vec![root.clone()],
        repositories: Vec::new(),
        deny: vec!["denied".to_owned()],
        depth: None,
        lenient: false,
        opens_but: None,
        protect: true,
        secrets: true,
        places: Vec::new(),
    };
    let found: Value = serde_json::from_str(&scan(&spec).unwrap()).unwrap();
    let paths = |key: &str| -> Vec<String> {
        let mut paths: Vec<String> = found[key]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["path"].as_str().unwrap()[root.len() + 1..].to_owned())
            .collect();
        paths.sort();
        paths
    };
    assert_eq!(paths("hidden"), ["denied", "src/.env", "src/notes", "y"]);
    assert_eq!(
        paths("protected"),
        [
            ".git/config",
            ".git/hooks",
            ".git/info/attributes",
            ".git/modules/a/b/config",
            ".git/worktrees/w/commondir",
            ".husky",
            "bare/config",
        ]
    );
    assert_eq!(
        paths("repositories"),
        [".git", ".git/modules/a/b", ".git/worktrees/w", "bare", "sub/.git"]
    );
}
