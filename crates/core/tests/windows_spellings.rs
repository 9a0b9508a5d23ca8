//! Every spelling under which Windows finds a denied, secret or protected file is refused, or the
//! rules judge it as they judge the plain name. The places are those of the table of a policy, each
//! alternative of each pattern, and the spellings are made from them.
//!
//! `windows_spellings.jsonl` records some places with all their spellings, for the tests in
//! TypeScript and under Windows. `WRITE_SPELLINGS=1 cargo test --test windows_spellings` writes it.

use std::collections::BTreeSet;

use filewright_core::error::Result;
use filewright_core::pattern::policy::{PLACE_ROWS, PathRules, PlaceDecision, RulesConfig};
use filewright_core::text::windows_paths::WindowsBase;
use serde_json::{Value, json};

const ROOT: &str = "/C:/repo";
const DENY: [&str; 3] = ["vault", "notes.private", "src/keys/**"];

/// The places of the record. They stand for each kind of pattern, and for each kind of name.
const RECORDED: [&str; 24] = [
    "vault/a.txt",
    "notes.private",
    "src/keys/b.txt",
    ".git/config",
    ".git/hooks/x",
    "x.git/x",
    ".gitmodules",
    ".husky",
    ".mcp.json",
    ".vscode/tasks.json",
    ".idea/workspace.xml",
    ".bashrc",
    ".ssh/x",
    ".env",
    ".env.x",
    "x.env",
    ".npmrc",
    "x.pem",
    "id_rsa",
    "secrets.yaml",
    "credentials.json",
    "x.tfvars",
    ".aws/x",
    "config/credentials/x.key",
];

fn rules() -> Result<PathRules> {
    PathRules::new(&RulesConfig {
        cwd: ROOT.as_bytes(),
        roots: &[ROOT.as_bytes()],
        deny: &DENY.map(str::to_owned),
        protect: true,
        secrets: true,
        fold_case: true,
        ..RulesConfig::default()
    })
}

/// Returns the names for which a pattern stands, with `x` for each `*`.
fn alternatives(pattern: &str) -> Vec<String> {
    let braces =
        pattern.split_once('{').and_then(|(head, rest)| Some((head, rest.split_once('}')?)));
    let Some((head, (choices, tail))) = braces else { return vec![pattern.replace('*', "x")] };
    let choices = choices.split(',');
    choices.flat_map(|choice| alternatives(&format!("{head}{choice}{tail}"))).collect()
}

/// Returns the places that are denied, or that a row of the table protects or makes secret.
fn places() -> BTreeSet<String> {
    use PlaceDecision::{Ask, Refuse, Secret};
    let rows = PLACE_ROWS.iter().filter(|row| !row.pattern.starts_with('/'));
    let restricting = rows.filter(|row| matches!(row.decision, Refuse | Ask | Secret));
    let named = restricting.flat_map(|row| alternatives(row.pattern));
    named.map(|place| place.replace("xx", "x")).chain(RECORDED.map(str::to_owned)).collect()
}

/// Returns the short name that Windows generates first for a name.
fn short_name(name: &str) -> String {
    let (base, extension) = match name.rfind('.') {
        Some(dot) if dot > 0 => (&name[..dot], &name[dot + 1..]),
        _ => (name, ""),
    };
    let plain = |text: &str, most: usize| -> String {
        let kept = text.chars().filter(|c| !matches!(c, '.' | ' ')).take(most);
        kept.map(|c| if "+,;=[]".contains(c) { '_' } else { c.to_ascii_uppercase() }).collect()
    };
    let end = plain(extension, 3);
    format!("{}~1{}{end}", plain(base, 6), if end.is_empty() { "" } else { "." })
}

/// Returns the name in upper case and in a mixture.
fn cases(name: &str) -> [String; 2] {
    let mixed = name
        .char_indices()
        .map(|(at, c)| if at % 2 == 1 { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() });
    [name.to_ascii_uppercase(), mixed.collect()]
}

/// Returns all spellings of a name under which Windows finds the same entry.
fn spellings_of_name(name: &str) -> Vec<String> {
    let [upper, mixed] = cases(name);
    let mut all =
        vec![upper.clone(), mixed.clone(), short_name(name), short_name(name).to_lowercase()];
    for end in [
        ".",
        "..",
        " ",
        ". .",
        " .",
        "::$DATA",
        ":x",
        ":x:$DATA",
        "::$INDEX_ALLOCATION",
        ":$I30:$INDEX_ALLOCATION",
        ".::$DATA",
    ] {
        all.push(format!("{name}{end}"));
    }
    all.extend([format!("{upper}."), format!("{mixed}. ."), format!("{upper}::$DATA")]);
    all
}

/// Returns all spellings of a path below the root under which Windows finds the same entry.
fn spellings(place: &str) -> BTreeSet<String> {
    let names: Vec<&str> = place.split('/').collect();
    let mut all = BTreeSet::new();
    for at in 0..names.len() {
        for name in spellings_of_name(names[at]) {
            let mut spelled = names.clone();
            spelled[at] = &name;
            all.insert(spelled.join("/"));
            all.insert(spelled.join("\\"));
        }
    }
    let back = place.replace('/', "\\");
    let [upper, _] = cases(&back);
    all.extend([
        back.clone(),
        format!(r".\{back}"),
        format!(r"x\..\{back}"),
        format!(r"x/..\.\{back}"),
        format!(r"..\repo\{back}"),
        format!(r"..\REPO\{upper}"),
        format!(r"C:\repo\{back}"),
        format!(r"c:\Repo\{upper}"),
        format!("c:/repo/{place}"),
        format!("/C:/repo/{place}"),
        format!("/c:/REPO//{place}"),
        format!(r"\C:\repo\{back}"),
        format!(r"C:\x\..\repo\.\{back}"),
        format!("C:{back}"),
        format!(r"C:.\{back}"),
        format!(r"\repo\{back}"),
        format!("/repo/{place}"),
        format!(r"\\?\C:\repo\{back}"),
        format!("//?/C:/repo/{place}"),
        format!(r"\\.\C:\repo\{back}"),
        format!(r"\??\C:\repo\{back}"),
        format!(r"\\?\GLOBALROOT\Device\HarddiskVolume1\repo\{back}"),
        format!(r"\\localhost\C$\repo\{back}"),
        format!(r"//127.0.0.1/C$/repo/{place}"),
        format!(r"\\?\UNC\localhost\C$\repo\{back}"),
        format!("file:///C:/repo/{place}"),
    ]);
    all
}

/// The objections of the rules to a path, without the rows that say it.
fn restrictions(rules: &PathRules, inner: &str) -> u32 {
    rules.flags(inner.trim_end_matches('/').as_bytes()) & 0b10_1011
}

#[test]
fn no_spelling_of_a_restricted_place_gets_through() {
    let base = WindowsBase::new(ROOT, &[ROOT.to_owned()]).unwrap();
    let rules = rules().unwrap();
    let (mut tried, mut judged, mut through) = (0, 0, Vec::new());
    for place in places() {
        let plain = restrictions(&rules, &format!("{ROOT}/{place}"));
        assert_ne!(plain, 0, "{place} is restricted");
        for typed in spellings(&place) {
            tried += 1;
            let Ok(inner) = base.resolve(&typed) else { continue };
            judged += 1;
            if restrictions(&rules, &inner) & plain != plain {
                through.push(format!("{typed} as {inner}"));
            }
        }
    }
    assert_eq!(through, Vec::<String>::new());
    assert!(tried > 10_000 && judged > 2_000, "{tried} spellings, {judged} of them judged");
}

#[test]
#[allow(clippy::disallowed_methods)] // the record is a file of this crate
fn the_record_has_every_spelling_of_its_places() {
    let base = WindowsBase::new(ROOT, &[ROOT.to_owned()]).unwrap();
    let rules = rules().unwrap();
    let rows = RECORDED.map(|place| {
        let flags = restrictions(&rules, &format!("{ROOT}/{place}"));
        let kinds = [(1, "denied"), (2, "protected"), (32, "asks"), (8, "secret")];
        let kinds: Vec<_> =
            kinds.iter().filter(|(bit, _)| flags & bit != 0).map(|kind| kind.1).collect();
        let (judged, refused): (Vec<_>, Vec<_>) =
            spellings(place).into_iter().partition(|typed| base.resolve(typed).is_ok());
        json!({ "place": place, "kinds": kinds, "judged": judged, "refused": refused })
    });
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/windows_spellings.jsonl");
    if std::env::var_os("WRITE_SPELLINGS").is_some() {
        std::fs::write(file, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(file).unwrap(), text, "WRITE_SPELLINGS=1 writes the record");
    let count = |row: &Value| ["judged", "refused"].map(|key| row[key].as_array().unwrap().len());
    assert!(rows.iter().flat_map(count).sum::<usize>() >= 300);
}
