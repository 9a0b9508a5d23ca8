//! The policy from which a set of roots is created, as TypeScript passes it.

use std::os::unix::ffi::OsStringExt;

use filewright_core::text::path::{components, decode_name};
use filewright_core::{Code, Error, Result};
use serde_json::Value;

/// Which symbolic links are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Follow {
    /// A link is followed if its target is inside the roots.
    #[default]
    Inside,
    /// A path with a link is refused.
    Never,
    /// A link is followed wherever it leads; deny rules still apply there.
    Any,
}

/// The way of resolving paths that a policy requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResolverChoice {
    /// A path is resolved by one system call that refuses links, if the kernel has one, otherwise
    /// as with [`ResolverChoice::Walk`].
    #[default]
    Auto,
    /// A path is resolved name by name, with a descriptor for each directory. For tests and for
    /// comparison.
    Walk,
}

/// Says whether the kernel (Landlock) restricts the threads that access files to the roots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kernel {
    /// The threads are restricted if the kernel supports it; the result is reported.
    Prefer,
    /// The threads are restricted, or creating the roots fails.
    Require,
    /// Do not restrict.
    #[default]
    Off,
}

/// The directories and files that may be read and written. Paths are absolute; `None` means
/// everything.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// The base of relative entries and globs.
    pub cwd: Vec<u8>,
    /// Directories or single files that may be read.
    pub read: Option<Vec<Vec<u8>>>,
    /// Directories or single files that may be changed.
    pub write: Option<Vec<Vec<u8>>>,
    /// The globs of paths that are neither shown nor accessed.
    pub deny: Vec<String>,
    /// True if files that other programs obey, such as git's hooks, must not be changed.
    pub protect: bool,
    /// True if the disk below a root finds a name in any letter case, so that globs ignore it.
    pub folds_case: bool,
    /// Hides the content of secrets.
    pub secrets: bool,
    /// The rules of the host for single places, as in `RulesConfig::places`.
    pub places: Vec<String>,
    /// The user's git excludes, as lines of a gitignore file.
    pub git_excludes: Option<String>,
    /// The home directory of the user, whose credential files are known under every name.
    pub home: Option<Vec<u8>>,
    /// Refuses every change.
    pub read_only: bool,
    /// Which symbolic links are followed.
    pub follow: Follow,
    /// How paths are resolved.
    pub resolver: ResolverChoice,
    /// The policy for restricting the threads that access files.
    pub kernel: Kernel,
}

impl Policy {
    /// Returns a policy that allows one directory to be read and written, and nothing else.
    pub fn workspace(root: impl Into<Vec<u8>>) -> Self {
        let root = root.into();
        Self {
            cwd: root.clone(),
            read: Some(vec![root.clone()]),
            write: Some(vec![root]),
            ..Self::default()
        }
    }

    /// Returns a policy that allows everything to be read and written.
    pub fn unconfined() -> Self {
        Self { cwd: b"/".to_vec(), ..Self::default() }
    }

    /// Parses the JSON form of a `SandboxPolicy`: `{cwd, read: [paths]|null, write: [paths]|null,
    /// deny?, protect?, foldsCase?, secrets?: "grant"|"allow", places?: [words], gitExcludes?: text, readOnly?,
    /// followSymlinks?: "inside"|"never"|"any", resolver?: "auto"|"walk", kernel?:
    /// "prefer"|"require"|"off"}`. Relative entries are relative to `cwd`. Unknown keys are
    /// ignored, because a policy also contains limits that do not concern the file system.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` naming the key that is missing or malformed.
    pub fn from_json(text: &str) -> Result<Self> {
        let json: Value =
            serde_json::from_str(text).map_err(|_| invalid_key_error("policy", "JSON"))?;
        let cwd =
            json["cwd"].as_str().ok_or_else(|| invalid_key_error("cwd", "an absolute path"))?;
        let cwd = to_absolute_path(&decode_name(cwd), b"/")?;
        if json["cwd"].as_str().is_some_and(|cwd| !cwd.starts_with('/')) {
            return Err(invalid_key_error("cwd", "an absolute path"));
        }
        let flag = |key: &str| match &json[key] {
            Value::Null => Ok(false),
            Value::Bool(flag) => Ok(*flag),
            _ => Err(invalid_key_error(key, "true or false")),
        };
        let deny = match &json["deny"] {
            Value::Null => Vec::new(),
            value => parse_string_list(value)
                .ok_or_else(|| invalid_key_error("deny", "a list of globs"))?,
        };
        let named = match &json["places"] {
            Value::Null => Vec::new(),
            value => parse_string_list(value)
                .ok_or_else(|| invalid_key_error("places", "a list of places"))?,
        };
        let git_excludes = match &json["gitExcludes"] {
            Value::Null => None,
            value => Some(
                value.as_str().ok_or_else(|| invalid_key_error("gitExcludes", "text"))?.to_owned(),
            ),
        };
        let follow = match &json["followSymlinks"] {
            Value::Null => Follow::Inside,
            value => match value.as_str() {
                Some("inside") => Follow::Inside,
                Some("never") => Follow::Never,
                Some("any") => Follow::Any,
                _ => {
                    return Err(invalid_key_error(
                        "followSymlinks",
                        "\"inside\", \"never\" or \"any\"",
                    ));
                }
            },
        };
        let resolver = match &json["resolver"] {
            Value::Null => ResolverChoice::Auto,
            value => match value.as_str() {
                Some("auto") => ResolverChoice::Auto,
                Some("walk") => ResolverChoice::Walk,
                _ => return Err(invalid_key_error("resolver", "\"auto\" or \"walk\"")),
            },
        };
        let kernel = match &json["kernel"] {
            Value::Null => Kernel::Off,
            value => match value.as_str() {
                Some("prefer") => Kernel::Prefer,
                Some("require") => Kernel::Require,
                Some("off") => Kernel::Off,
                _ => return Err(invalid_key_error("kernel", "\"prefer\", \"require\" or \"off\"")),
            },
        };
        Ok(Self {
            kernel,
            read: parse_path_list(&json, "read", &cwd)?,
            write: parse_path_list(&json, "write", &cwd)?,
            deny,
            protect: flag("protect")?,
            folds_case: flag("foldsCase")?,
            places: named,
            git_excludes,
            secrets: match &json["secrets"] {
                Value::Null => false,
                value => match value.as_str() {
                    Some("allow") => false,
                    Some("grant") => true,
                    _ => return Err(invalid_key_error("secrets", "\"grant\" or \"allow\"")),
                },
            },
            home: std::env::home_dir().map(|home| home.into_os_string().into_vec()),
            read_only: flag("readOnly")?,
            follow,
            resolver,
            cwd,
        })
    }
}

fn invalid_key_error(key: &str, wanted: &str) -> Error {
    Error::new(Code::InvalidArgument, format!("{key} must be {wanted}"))
}

fn parse_string_list(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

/// Parses the list of paths at `key`. `null` returns `None`, which means everything. A missing key
/// returns an empty list, so that a misspelt key narrows a policy and never widens it.
fn parse_path_list(json: &Value, key: &str, cwd: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
    match json.get(key) {
        None => Ok(Some(Vec::new())),
        Some(Value::Null) => Ok(None),
        Some(value) => {
            let paths = parse_string_list(value)
                .ok_or_else(|| invalid_key_error(key, "a list of paths or null"))?;
            paths
                .iter()
                .map(|path| to_absolute_path(&decode_name(path), cwd))
                .collect::<Result<_>>()
                .map(Some)
        }
    }
}

/// Returns the absolute normalised form of a path relative to `base`.
pub(crate) fn to_absolute_path(path: &[u8], base: &[u8]) -> Result<Vec<u8>> {
    let joined;
    let path = if path.first() == Some(&b'/') {
        path
    } else if path.is_empty() {
        return Err(Error::new(Code::InvalidArgument, "path is empty"));
    } else {
        joined = [base, b"/", path].concat();
        &joined
    };
    Ok(super::absolute_path_of(&components(path)?.names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_policy() {
        let policy = Policy::from_json(
            r#"{"cwd":"/w","read":null,"write":[".","/tmp/x/","../s/f"],"deny":["*.key"],
                "protect":true,"readOnly":false,"followSymlinks":"never","maxOutputBytes":1}"#,
        )
        .unwrap();
        assert_eq!(policy.cwd, b"/w");
        assert_eq!(policy.read, None);
        assert_eq!(policy.write.unwrap(), [b"/w".to_vec(), b"/tmp/x".to_vec(), b"/s/f".to_vec()]);
        assert_eq!(policy.deny, ["*.key"]);
        assert!(policy.protect && !policy.read_only);
        assert_eq!(policy.follow, Follow::Never);
    }

    #[test]
    fn a_missing_list_is_no_root() {
        let policy = Policy::from_json(r#"{"cwd":"/w"}"#).unwrap();
        assert_eq!((policy.read, policy.write), (Some(vec![]), Some(vec![])));
    }

    #[test]
    fn malformed_policies() {
        for text in [
            "",
            "{}",
            r#"{"cwd":"relative"}"#,
            r#"{"cwd":""}"#,
            r#"{"cwd":"/w","read":"x"}"#,
            r#"{"cwd":"/w","read":[1]}"#,
            r#"{"cwd":"/w","read":[""]}"#,
            r#"{"cwd":"/w","deny":"x"}"#,
            r#"{"cwd":"/w","protect":1}"#,
            r#"{"cwd":"/w","followSymlinks":"yes"}"#,
            r#"{"cwd":"/w","secrets":true}"#,
            r#"{"cwd":"/w","places":"x"}"#,
            r#"{"cwd":"/w","resolver":1}"#,
        ] {
            assert_eq!(Policy::from_json(text).unwrap_err().code, Code::InvalidArgument, "{text}");
        }
    }
}
