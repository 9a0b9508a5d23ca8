//! The places that a program obeys or that hold what nobody may see: known by
//! their names, wherever they are.
//!
//! **Protected** is what turns a write into a command, now or at the next start
//! of a program: the hooks and the configuration of git, of agents, of editors,
//! and what shells read when they start. **Secret** is what opens something
//! else: keys, passwords, tokens.
//!
//! Neither list is complete, and what a project calls its own secrets is for a
//! deny glob. A list that refuses too much is switched off, and then protects
//! nothing: so documents that instruct agents (`AGENTS.md`) and examples
//! (`.env.example`) are on neither.

/// Protected wherever they are, with everything below them.
const PROTECTED: &[&str] = &[
    // git and what runs with it
    ".gitmodules",
    ".gitconfig",
    ".husky",
    ".pre-commit-config.yaml",
    // agents
    ".claude",
    ".claude.json",
    ".cursor",
    ".cursorrules",
    ".codex",
    ".gemini",
    ".windsurf",
    ".windsurfrules",
    ".clinerules",
    ".roo",
    ".continue",
    ".kiro",
    ".amazonq",
    ".aider.conf.yml",
    ".mcp.json",
    // editors that run what they find
    ".exrc",
    ".vimrc",
    ".nvimrc",
    ".nvim.lua",
    ".emacs",
    ".dir-locals.el",
    ".devcontainer",
    ".devcontainer.json",
    // shells, and what they run on entering a directory
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
    ".xprofile",
    ".xinitrc",
    ".xsessionrc",
    ".inputrc",
    ".envrc",
    ".ssh",
];

/// Protected in a directory of that name.
const PROTECTED_IN: &[(&str, &[&str])] = &[
    (".git", &["hooks", "config", "config.worktree"]),
    (".vscode", &["settings.json", "tasks.json", "launch.json", "mcp.json", "extensions.json"]),
    (
        ".idea",
        &["workspace.xml", "runconfigurations", "tools", "externaltools", "watchertasks.xml"],
    ),
    (".zed", &["settings.json", "tasks.json", "debug.json"]),
    (".config", &["fish", "nvim", "git"]),
];

/// Whether a path is, or lies below, a protected place. Takes its folded names.
pub(super) fn is_protected<'n>(mut names: impl Iterator<Item = &'n str>) -> bool {
    let mut way = ToProtected::default();
    names.any(|name| way.enters(name))
}

/// How far a path has come towards a protected place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ToProtected {
    within: Option<&'static [&'static str]>,
    modules: Modules,
}

impl ToProtected {
    /// Takes the next folded name of the path; whether that is a protected place.
    pub(super) fn enters(&mut self, name: &str) -> bool {
        if self.within.is_some_and(|inner| inner.contains(&name)) {
            return true;
        }
        // Every check of a path asks about every name in it, and few begin so.
        let dotted = name.starts_with('.');
        if dotted && PROTECTED.contains(&name) {
            return true;
        }
        self.modules = match (self.modules, name) {
            (Modules::InGit, "modules" | "worktrees") => Modules::Inside,
            (Modules::Inside, "hooks" | "config" | "config.worktree") => return true,
            (Modules::Inside, _) => Modules::Inside,
            (_, ".git") => Modules::InGit,
            _ => Modules::Outside,
        };
        self.within = PROTECTED_IN
            .iter()
            .find(|(outer, _)| dotted && *outer == name)
            .map(|(_, inner)| *inner);
        false
    }
}

/// How far a path has gone into the repositories that `.git` keeps of submodules.
#[derive(Clone, Copy, Debug, Default)]
enum Modules {
    #[default]
    Outside,
    InGit,
    Inside,
}

/// Whether an entry of this folded name is, or may hold, a protected place.
pub(super) fn may_hold_protected(name: &str) -> bool {
    PROTECTED.contains(&name)
        || PROTECTED_IN.iter().any(|(outer, _)| *outer == name && name != ".config")
}

/// Secret wherever they are, with everything below them.
const SECRET: &[&str] = &[
    ".env",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pypirc",
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".dockercfg",
    ".vault-token",
    ".s3cfg",
    ".boto",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_ed25519_sk",
    "id_ecdsa_sk",
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".password-store",
    "credentials.tfrc.json",
    "application_default_credentials.json",
];

/// What every name of [`SECRET`] begins with.
const SECRET_STARTS: [char; 5] = ['.', '_', 'a', 'c', 'i'];

/// Secret in a directory of that name.
const SECRET_IN: &[(&str, &[&str])] = &[
    (".docker", &["config.json"]),
    (".config", &["gcloud", "gh", "op"]),
    (".cargo", &["credentials", "credentials.toml"]),
    (".gem", &["credentials"]),
    (".m2", &["settings.xml", "settings-security.xml"]),
];

/// What secrets end in.
const SECRET_ENDS: &[&str] =
    &[".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".asc.key"];

/// What follows `.env.` where it is an example for everybody.
const EXAMPLES: &[&str] = &["example", "sample", "template", "dist", "defaults", "schema"];

/// Whether a path is, or lies below, a secret. Takes its folded names.
pub(super) fn is_secret<'n>(mut names: impl Iterator<Item = &'n str>) -> bool {
    let mut way = ToSecret::default();
    names.any(|name| way.enters(name))
}

/// How far a path has come towards a secret.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ToSecret {
    within: Option<&'static [&'static str]>,
}

impl ToSecret {
    /// Takes the next folded name of the path; whether that is a secret.
    pub(super) fn enters(&mut self, name: &str) -> bool {
        if self.within.is_some_and(|inner| inner.contains(&name)) || is_secret_name(name) {
            return true;
        }
        self.within = SECRET_IN
            .iter()
            .find(|(outer, _)| name.starts_with('.') && *outer == name)
            .map(|(_, inner)| *inner);
        false
    }
}

fn is_secret_name(name: &str) -> bool {
    if let Some(rest) = name.strip_prefix(".env.") {
        return !EXAMPLES.iter().any(|example| rest.split('.').any(|part| part == *example));
    }
    name.starts_with(SECRET_STARTS) && SECRET.contains(&name)
        || name.contains('.')
            && SECRET_ENDS.iter().any(|end| name.len() > end.len() && name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_looked_up_is_on_no_list() {
        let within = |lists: &[(&'static str, &[&str])]| -> Vec<&'static str> {
            lists.iter().map(|(outer, _)| *outer).collect()
        };
        let dotted = [PROTECTED.to_vec(), within(PROTECTED_IN), within(SECRET_IN)].concat();
        assert!(dotted.iter().all(|name| name.starts_with('.')));
        assert!(SECRET.iter().all(|name| name.starts_with(SECRET_STARTS)));
        assert!(SECRET_ENDS.iter().all(|end| end.starts_with('.')));
    }
}
