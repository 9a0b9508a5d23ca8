//! The table of protected and secret places: which files other programs run or obey, and which
//! files hold secrets. One row per place, with the reason. The documentation is printed from this
//! file.
//!
//! A pattern is a list of names separated by `/`. It matches at any depth, in any letter case; with
//! a leading `/` it matches from the root of the file system. `*` stands for any part of one name,
//! `{a,b}` for either. What a pattern matches is covered with everything below it; a pattern that
//! ends in `/**` covers only what is below.
//!
//! `refuse`: a program runs or obeys the file without another act of a person, so tools never write
//! it. `ask`: a file that is edited in ordinary work but decides what programs run: a person is
//! asked where one can be asked, otherwise the file is written and the answer says so. `secret`:
//! the content is not read without a grant. `allow` and `readable` are exceptions for exactly that
//! path.

/// The decision of a row on the paths that it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceDecision {
    /// Tools never write the path.
    Refuse,
    /// Tools write the path after a person approved. Without an approver they write it and report
    /// it.
    Ask,
    /// Tools may write the path: an exception from a wider row.
    Allow,
    /// Reading the content needs a grant.
    Secret,
    /// The content may be read: an exception from a wider row.
    Readable,
}

impl PlaceDecision {
    /// Returns the keyword in options and documents.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Ask => "ask",
            Self::Allow => "allow",
            Self::Secret => "secret",
            Self::Readable => "readable",
        }
    }

    pub(super) fn of_word(word: &str) -> Option<Self> {
        let all = [Self::Refuse, Self::Ask, Self::Allow, Self::Secret, Self::Readable];
        all.into_iter().find(|decision| decision.word() == word)
    }
}

/// One row of the table of protected and secret places.
#[derive(Clone, Copy, Debug)]
pub struct PlaceRow {
    /// The pattern, in the syntax that this module describes.
    pub pattern: &'static str,
    /// The decision on the matching paths.
    pub decision: PlaceDecision,
    /// One sentence: which program runs or reads the file, and when.
    pub reason: &'static str,
}

const fn row(decision: PlaceDecision, pattern: &'static str, reason: &'static str) -> PlaceRow {
    PlaceRow { pattern, decision, reason }
}
const fn refuse(pattern: &'static str, reason: &'static str) -> PlaceRow {
    row(PlaceDecision::Refuse, pattern, reason)
}
const fn ask(pattern: &'static str, reason: &'static str) -> PlaceRow {
    row(PlaceDecision::Ask, pattern, reason)
}
const fn allow(pattern: &'static str, reason: &'static str) -> PlaceRow {
    row(PlaceDecision::Allow, pattern, reason)
}
const fn secret(pattern: &'static str, reason: &'static str) -> PlaceRow {
    row(PlaceDecision::Secret, pattern, reason)
}
const fn readable(pattern: &'static str, reason: &'static str) -> PlaceRow {
    row(PlaceDecision::Readable, pattern, reason)
}

/// All paths that are protected or secret by name.
#[rustfmt::skip]
pub static PLACE_ROWS: &[PlaceRow] = &[
    // Git
    refuse(".git", "Git runs the hooks, filters and commands that its own files name."),
    allow(".git/info/exclude", "Ignore patterns of one clone; git runs nothing from them."),
    allow(".git/{COMMIT_EDITMSG,MERGE_MSG,SQUASH_MSG,TAG_EDITMSG}", "The text of a message; git runs nothing from it."),
    refuse("*.git/**", "A bare repository: git runs its hooks and the commands that its config names."),
    refuse(".gitmodules", "Git takes the addresses and update commands of submodules from it."),
    refuse("{.gitconfig,.config/git}", "Every git command obeys the user's configuration, which can name commands."),
    refuse("{.husky,.githooks,.git-hooks}", "A directory of git hooks: git runs them at commit, merge and checkout."),
    ask(".gitattributes", "Git chooses by it which configured filter and diff commands it runs."),
    ask("{.pre-commit-config.yaml,.pre-commit-config.yml}", "pre-commit runs the commands it names at the next commit."),
    ask("{lefthook,.lefthook,lefthook-local,.lefthook-local}.{yml,yaml,toml,json}", "Lefthook runs the commands it names at the next commit."),
    ask(".overcommit.yml", "Overcommit runs the commands it names at the next commit."),
    ask("{.lintstagedrc,.lintstagedrc.*,lint-staged.config.*}", "lint-staged runs the commands it names at the next commit."),
    refuse("{.hg,.sl}", "Mercurial and Sapling run the hooks, aliases and extensions that files of the repository name, also of one that it points to."),
    refuse("{.hgrc,.config/hg,.config/sapling,.jj,.jjconfig.toml,.config/jj}", "Mercurial, Sapling and Jujutsu run commands that their configuration names."),
    refuse("{.svn,.bzr}", "Subversion and Breezy run commands and plugins that their working copy's configuration names."),

    // Coding agents
    refuse("{.claude,.claude.json}", "Claude Code runs the hooks and starts the servers that its settings name."),
    refuse("{.codex,.gemini,.qwen}", "Codex, Gemini CLI and Qwen Code start the servers that their settings name."),
    refuse("{.cursor,.windsurf,.trae,.kiro,.zencoder}", "These editors start the servers and hooks that this directory names."),
    refuse("{.continue,.roo,.kilocode,.cline,.amazonq,.augment,.junie,.factory,.goose}", "These agents start the servers and hooks that this directory names."),
    refuse("{.opencode,opencode.json,opencode.jsonc,.config/opencode}", "opencode loads plugins and starts the servers that it names."),
    refuse("{.crush,.crush.json,crush.json,.config/crush}", "Crush starts the servers that it names."),
    refuse("{.config/goose,.config/amp,.amp}", "Goose and Amp start the servers that it names."),
    refuse("{.aider.conf.yml,.aider.conf.yaml}", "aider runs the lint and test commands it names after each change."),
    refuse(".mcp.json", "Agents start the MCP servers that it names."),
    refuse("{.github/hooks/*.json,.github/mcp.json,.copilot}", "Copilot runs the hooks and starts the servers that it names."),
    refuse("{.agents,.agent}/{hooks,hooks.json,mcp.json,mcp_config.json,settings.json,plugins}", "Antigravity and other agents run the hooks and start the servers that it names."),
    refuse(".clinerules/hooks", "Cline runs the programs in it."),
    refuse("{.antigravity,.codeium,.codebuddy,.forge,.hermes,.iflow,.qoder,.qoder.json,.tabnine,.openclaw,.openhands,.rovodev,.warp,.vibe,.grok,.kimi,.lmstudio}", "These agents start the servers and hooks that this directory names."),
    refuse("{.pi,.omp}", "Pi and its forks load the extensions in this directory."),
    refuse("{.kilo,kilo.json,kilo.jsonc,.config/kilo,.config/mcp}", "Kilo and other agents start the servers that it names."),
    refuse("{claude_desktop_config.json,cline_mcp_settings.json,mcp_settings.json}", "A client starts the servers that it names."),
    ask(".claude-plugin", "Claude Code runs the hooks and starts the servers of the plugin that it describes."),
    ask(".github/copilot-setup-steps.yml", "Copilot's agent runs these steps before it works."),

    // Instructions of agents: how an injected instruction would last
    ask("{.cursorrules,.windsurfrules,.clinerules,.roorules,.roomodes,.goosehints,.hermes.md,.rules}", "Agents take the instructions in it as their own."),
    ask("{AGENTS,AGENTS.*,AGENT,CLAUDE,CLAUDE.*,GEMINI,QWEN,WARP,CRUSH,CODEBUDDY,IFLOW,OPENCODE,SKILL}.md", "Agents take the instructions in it as their own."),
    ask(".github/{copilot-instructions.md,instructions,agents,skills,prompts,chatmodes}", "Copilot and other agents take the instructions in it as their own."),
    ask("{.agents,.agent}", "Agents take the instructions and skills in it as their own."),

    // Editors
    refuse(".vscode/{settings,tasks,launch,mcp}.json", "VS Code runs tasks when the folder opens, and settings name the programs it starts."),
    ask(".vscode/extensions.json", "VS Code offers to install the extensions it names."),
    ask("*.code-workspace", "VS Code takes settings and tasks from it, as from `.vscode`."),
    refuse(".vs", "Visual Studio runs the tasks and settings in it when the folder opens."),
    refuse(".idea/{workspace.xml,runConfigurations,tools,externalTools,watcherTasks.xml,startup.xml}", "JetBrains editors run its start-up tasks, watchers and tools."),
    refuse(".run/*.run.xml", "JetBrains editors run the configurations it names."),
    refuse(".fleet/{run,settings}.json", "Fleet runs the configurations it names."),
    refuse(".zed/{settings,tasks,debug}.json", "Zed starts the language servers and tasks that it names."),
    refuse("{.exrc,.vimrc,.gvimrc,_vimrc,.nvimrc,.nvim.lua,.lvimrc,.vim}", "Vim and Neovim run it when they start."),
    refuse("{.emacs,.emacs.el,.emacs.d,.dir-locals.el,.dir-locals-2.el}", "Emacs evaluates it when it starts or opens a file."),
    refuse("{.kakrc,.nanorc,.helix}", "The editor obeys it when it starts."),
    ask("*.sublime-project", "Sublime Text runs the build systems it names."),
    refuse("{.devcontainer,.devcontainer.json}", "Editors run its commands, some on the host, when the folder opens."),
    refuse(".config/{nvim,vim,zed,Code,VSCodium,Cursor,helix,emacs,kak,sublime-text}", "The editor runs or obeys it when it starts."),
    ask(".gitpod.yml", "Gitpod runs its tasks when a workspace starts."),

    // Shells and what runs at login
    refuse("{.bashrc,.bash_profile,.bash_login,.bash_logout,.bash_aliases,.bash_completion,.bashrc.d,.profile}", "bash runs it when a shell starts or ends."),
    refuse("{.zshrc,.zshenv,.zprofile,.zlogin,.zlogout,.zshrc.d,.oh-my-zsh,.zprezto,.config/zsh}", "zsh runs it when a shell starts or ends."),
    refuse("{.kshrc,.mkshrc,.cshrc,.tcshrc,.login,.logout,.shrc,.shinit}", "A shell runs it when it starts or ends."),
    refuse(".config/{fish,nushell,elvish,powershell,starship.toml,shell}", "A shell runs it when it starts."),
    refuse("{.inputrc,.tmux.conf,.config/tmux,.screenrc,.config/kitty,.config/alacritty,.config/wezterm,.wezterm.lua,.hyper.js}", "The terminal runs or obeys it when it starts."),
    refuse("{.xprofile,.xinitrc,.xsession,.xsessionrc,.Xresources,.pam_environment,.config/environment.d}", "The desktop session runs or obeys it at login."),
    refuse(".config/{autostart,systemd,autostart-scripts,plasma-workspace,sway,i3,hypr}", "The desktop session starts what it names at login."),
    refuse(".local/{bin,share/applications,share/systemd,share/dbus-1,share/nautilus}", "Programs here come first in the search path, or are started by the desktop."),
    refuse("Library/{LaunchAgents,LaunchDaemons,Services}", "macOS starts what it names at login."),
    refuse("Start Menu/Programs/Startup", "Windows starts what is in it at login."),
    refuse("{PowerShell,WindowsPowerShell}/{Microsoft.PowerShell_profile.ps1,profile.ps1}", "PowerShell runs it when it starts."),
    refuse("{.envrc,.direnvrc,.config/direnv}", "direnv runs it on entering the directory."),
    refuse("{.ssh,.gnupg}", "Logins and commands are decided by what is in it."),
    refuse("crontabs", "cron runs the commands it names."),

    // Debuggers and interpreters that read a file of the current directory
    refuse("{.gdbinit,.gdbearlyinit,.lldbinit,.config/gdb}", "The debugger runs its commands when it starts."),
    refuse("{.Rprofile,.Renviron,.irbrc,.pryrc,.rdebugrc,.pythonrc,.pythonrc.py,.pdbrc,.ghci,.iex.exs,.ocamlinit,.sqliterc,.psqlrc}", "The interpreter runs it when it starts in this directory."),
    refuse("{sitecustomize.py,usercustomize.py,site-packages/*.pth,dist-packages/*.pth}", "Python runs it whenever an interpreter starts."),
    refuse("{.ripgreprc,ripgreprc,.config/ripgrep}", "ripgrep takes options from it, which can name a program to run for each file."),

    // Programs that are found before those of the system. A file of tests such as conftest.py is no
    // row: what runs the tests runs each of their files.
    refuse("node_modules/{filewright,@filewright,.bin/filewright*}", "npx starts it in place of the published Filewright."),
    refuse("{git,ssh,sh,bash,cmd,powershell,pwsh,node,npm,npx,python,python3,py,rg,gh,uv,uvx,where}.{exe,com,bat,cmd}", "Windows finds a program in the current directory before that of the system."),
    ask("node_modules/.bin", "npx and the scripts of a package start the programs in it before those of the system."),
    ask("{.venv/bin,.venv/Scripts,venv/bin,venv/Scripts,pyvenv.cfg}", "Editors and tools start the interpreter of the project from it."),

    // Builds and tools: edited in ordinary work
    ask(".cargo/config{,.toml}", "Cargo takes wrappers, linkers and runners from it at the next build."),
    ask("{rust-toolchain,rust-toolchain.toml}", "rustup downloads and runs the toolchain it names."),
    ask("{.npmrc,.yarnrc,.yarnrc.yml,.pnpmfile.cjs,.pnpmfile.mjs,pnpm-workspace.yaml,.corepack.env,bunfig.toml}", "The package manager obeys it: registries, scripts, the program itself."),
    ask(".yarn/{releases,plugins}", "Yarn runs the program and plugins in it at every command."),
    ask("{.tool-versions,mise.toml,.mise.toml,mise.local.toml,.mise.local.toml,.mise,.config/mise,.rtx.toml}", "mise and asdf install and run the tools it names."),
    ask("{.bazelrc,.bazelversion,.buckconfig,.mvn,.jvmopts}", "The build takes options, wrappers and its own version from it."),
    ask("gradle/wrapper", "The Gradle wrapper downloads and runs the distribution it names."),
    refuse(".gradle/{init.gradle,init.gradle.kts,init.d,gradle.properties}", "Gradle runs it at every build of the user."),
    ask(".github/workflows", "GitHub runs it with the repository's tokens at the next push."),
    ask(".github/actions", "GitHub runs it with the repository's tokens at the next push."),
    ask("{.gitlab-ci.yml,.circleci,.travis.yml,.drone.yml,.buildkite,bitbucket-pipelines.yml,azure-pipelines.yml,Jenkinsfile,.woodpecker,.woodpecker.yml,.forgejo/workflows,.gitea/workflows}", "The CI server runs it with the project's tokens at the next push."),
    ask("{renovate.json,renovate.json5,.renovaterc,.renovaterc.json}", "Renovate runs the commands it names with the project's tokens."),

    // Secrets of projects
    secret(".env", "Environment variables: passwords and keys of a service."),
    secret(".env.*", "Environment variables: passwords and keys of a service."),
    readable(".env.{example,sample,template,dist,defaults,schema}", "An example for everybody."),
    readable(".env.*.{example,sample,template,dist,defaults,schema}", "An example for everybody."),
    readable(".env.{example,sample,template,dist,defaults,schema}.*", "An example for everybody."),
    secret("{.env~,*.env~,..env.sw*,#.env#}", "Environment variables, as an editor keeps them beside the file."),
    secret("*.env", "Environment variables: passwords and keys of a service."),
    readable("{example,sample,template,dist,defaults,schema}.env", "An example for everybody."),
    readable("*{.,-,_}{example,sample,template,dist,defaults,schema}.env", "An example for everybody."),
    secret(".envrc", "Environment variables, often with passwords."),
    secret(".dev.vars*", "Secrets of a Cloudflare worker."),
    readable(".dev.vars.{example,sample,template}", "An example for everybody."),
    secret("{*.tfvars,*.tfvars.json}", "Variables of Terraform: passwords and keys in plain text."),
    readable("*.{example,sample}.tfvars", "An example for everybody."),
    secret("*.tfstate.*.backup", "A backup of the state of Terraform, with its passwords."),
    secret("*.tfstate{,.backup,.bak,.old,.lock.info}", "The state of Terraform: every password it ever set, in plain text."),
    secret("{.vault-token,.vault_pass,.vault_pass.txt,.vault-password,.ansible-vault-pass}", "Opens a vault."),
    secret("{master.key,config/credentials/*.key}", "Opens the credentials of a Rails application."),
    secret("{secrets,.secrets}.{yml,yaml,json}", "Passwords and keys of a service, as Rails, Ansible and .NET keep them."),
    readable("templates/secrets.{yml,yaml}", "A template of Helm: it names values and holds none."),
    secret("{credentials.json,client_secret*.json}", "Keys of a service, such as an OAuth client of Google."),
    secret("auth.json", "Tokens of a registry or a service, as Composer and many agents keep them."),
    readable("{locales,locale,i18n,lang,langs,messages,translations}/auth.json", "Texts of an application."),
    readable("{locales,locale,i18n,lang,langs,messages,translations}/*/auth.json", "Texts of an application."),
    secret(".streamlit/secrets.toml", "Passwords and keys of a Streamlit application."),
    secret(".htpasswd", "Hashes of passwords."),
    secret("{service-account*.json,service_account*.json,serviceaccount*.json,gcp-key*.json,firebase-adminsdk*.json,*-firebase-adminsdk-*.json}", "The key of a Google service account."),
    secret("{.sentryclirc,sentry.properties}", "A token of Sentry."),

    // Keys
    secret("{*.pem,*.key,*.p12,*.pfx,*.jks,*.keystore,*.kdbx,*.kdb,*.ppk,*.p8,*.agekey,*.asc.key,*.pkcs12,*.bek,*.der.key}", "A private key or a store of keys."),
    secret("{id_rsa,id_dsa,id_ecdsa,id_ed25519,id_ed25519_sk,id_ecdsa_sk,id_xmss}", "A private key of SSH."),
    secret("ssh_host_*_key", "The private key of this machine's SSH server."),
    secret("{.ssh,.gnupg}", "Private keys."),
    secret("{.config/sops/age,.config/age,.age}", "Private keys of age and sops."),
    secret("{.password-store,.local/share/keyrings,.local/share/kwalletd,Library/Keychains}", "A store of passwords."),
    secret("{.local/share/gnome-keyring,.config/op,.config/Bitwarden*,.config/1Password}", "A store of passwords."),
    secret("{.minisign,.signify,.cosign,cosign.key,.step/secrets}", "A private key for signatures."),

    // Package registries
    secret("{.npmrc,.yarnrc,.yarnrc.yml,.pnpmrc,.config/pnpm/rc}", "Tokens of npm registries."),
    secret("{.pypirc,.config/pypoetry/auth.toml,.local/share/uv/credentials,uv/credentials}", "Tokens of Python registries."),
    secret(".cargo/credentials{,.toml}", "Tokens of crates.io."),
    secret("{.gem/credentials,.local/share/gem/credentials}", "Tokens of RubyGems."),
    secret(".m2/{settings.xml,settings-security.xml}", "Passwords of Maven repositories."),
    secret(".gradle/gradle.properties", "Tokens of Gradle repositories."),
    secret("{.composer,.config/composer}/auth.json", "Tokens of Composer registries."),
    secret("{.nuget/NuGet.Config,NuGet/NuGet.Config}", "Passwords of NuGet feeds."),
    secret(".hex/hex.config", "Keys of the Hex registry."),
    secret(".config/{hatch/auth.toml,pip/pip.conf}", "Passwords of Python indexes."),
    secret(".condarc", "Tokens of conda channels."),
    secret("{.bundle/config,.config/configstore,.ansible/galaxy_token,.config/helm/registry,.docker/contexts}", "Tokens of registries and of tools that keep them by their name."),

    // Clouds, hosts and databases
    secret("{.aws,.boto,.s3cfg,.passwd-s3fs}", "Keys of AWS."),
    secret("{.azure,.config/gcloud,application_default_credentials.json,.boto.cfg}", "Tokens of Azure or Google Cloud."),
    secret("{.kube,kubeconfig,kubeconfig.*,*.kubeconfig}", "Keys of Kubernetes clusters."),
    secret("{.docker/config.json,.dockercfg,.config/containers/auth.json}", "Passwords of container registries."),
    secret("{.terraform.d/credentials.tfrc.json,credentials.tfrc.json,.terraformrc,terraform.rc}", "Tokens of Terraform Cloud."),
    secret(".pulumi/credentials.json", "Tokens of Pulumi."),
    secret(".config/{gh,hub,github-copilot,glab-cli,tea,git/credentials}", "Tokens of a code host."),
    secret("{.git-credentials,.netrc,_netrc,.authinfo,.authinfo.gpg}", "Passwords by host."),
    secret(".config/{doctl,linode-cli,hcloud,scw,vercel,netlify,railway,heroku,fly,cloudflared,stripe,ngrok,rclone,wrangler,.wrangler}", "Tokens of a cloud service."),
    secret("{.fly,.heroku,.oci,.bluemix,.linode-cli,.wrangler/config,.cloudflared,.vercel/auth.json,.netlify/config.json,.railway/config.json,.ngrok2,.mc}", "Tokens of a cloud service."),
    secret("{.local/share/com.vercel.cli,.local/share/heroku,.local/share/supabase,.supabase/access-token}", "Tokens of a cloud service."),
    secret("{.pgpass,pgpass.conf,.my.cnf,.mylogin.cnf,.mongorc.js,.dbshell,.rediscli_auth,.pg_service.conf}", "Passwords of databases."),
    secret("{.databrickscfg,.databricks,.dbt/profiles.yml,.snowflake,.snowsql,.trino_history,.config/turso,.config/neonctl,.config/planetscale,.config/snowflake}", "Passwords and tokens of databases."),
    secret("{.config/doppler,.doppler,.config/infracost,.config/snyk,.config/digitalocean,.config/turbo,.config/circleci,.circleci/cli.yml,.modal.toml,.runpod,.config/replicate,.config/openai,.config/wandb,.wandb,.comet.config}", "Tokens of a cloud service."),
    secret("{wallet.dat,.bitcoin,.ethereum/keystore,.config/solana,.electrum,.foundry/keystores,.brownie/accounts,.monero}", "A wallet: the keys of money."),
    secret("{*.ovpn,.config/wireguard,.Xauthority,.ICEauthority,.ecryptfs}", "Keys of a network, a screen or an encrypted directory."),
    secret("{.thunderbird,.weechat/sec.conf,.purple/accounts.xml,.config/Signal,.config/Slack,.config/discord}", "Logins and messages of a person."),
    secret("{.ipython/profile_default/history.sqlite,.jupyter/jupyter_server_config.json,.local/share/jupyter/runtime}", "Tokens and history of notebooks."),
    secret("{.kaggle/kaggle.json,.huggingface/token,.huggingface/stored_tokens,.cache/huggingface/token,.cache/huggingface/stored_tokens,.openai,.anthropic/api_key,.cdsapirc}", "A token of a service."),
    secret("{.smbcredentials,.cifs-credentials,.msmtprc,.fetchmailrc,.mutt/passwords,.offlineimaprc}", "Passwords of mail or file servers."),
    secret("{.config/filezilla,.config/remmina,filezilla.xml,sitemanager.xml}", "Passwords of file servers."),
    secret("{.bash_history,.zsh_history,.psql_history,.mysql_history,.python_history,.node_repl_history,.sqlite_history,.rediscli_history,.irb_history,.pry_history,.lesshst,fish_history,ConsoleHost_history.txt,.config/nushell/history.txt}", "A history of commands, often with passwords."),

    // Filewright
    secret("{.local/state/filewright,serve-*.token}", "Tokens and keys of Filewright itself: who has one answers its questions."),

    // Agents
    secret(".claude/.credentials.json", "Claude Code's login."),
    secret("{.claude.json,.config/claude/.credentials.json}", "Claude Code's login and its servers' tokens."),
    secret(".codex/auth.json", "Codex's login."),
    secret(".gemini/{oauth_creds.json,google_accounts.json,mcp-oauth-tokens.json}", "Gemini CLI's login."),
    secret(".qwen/oauth_creds.json", "Qwen Code's login."),
    secret("{.local/share/opencode,.opencode}/auth.json", "opencode's logins."),
    secret(".local/share/opencode/mcp-auth.json", "Logins of opencode's servers."),
    secret("{.local/share/crush,.local/share/goose,.config/goose/secrets.yaml,.config/amp/secrets.json,.local/share/amp/secrets.json}", "An agent's login."),
    secret("{.aider.oauth-keys.env,.continue/.env,.cursor/auth.json,.config/cursor/auth.json,.factory/auth.json,.augment/session.json,.kiro/auth.json,.aws/amazonq}", "An agent's login."),
    secret("{.aider.conf.yml,.aider.conf.yaml}", "Settings of aider, often with API keys."),
    secret(".mcp-auth", "Logins of MCP servers."),
    secret("{claude_desktop_config.json,cline_mcp_settings.json,mcp_settings.json,.cursor/mcp.json,.copilot/mcp-config.json,.codeium/windsurf/mcp_config.json,.gemini/antigravity/mcp_config.json,.lmstudio/mcp.json,.config/mcp,.openclaw/openclaw.json,.openclaw/credentials,.iflow/settings.json,.iflow/oauth_creds.json,.codebuddy/settings.json,.codebuddy/mcp.json,.pi/agent/auth.json}", "The MCP servers of an agent, often with their API keys, or its login."),

    // Browsers
    secret("{.mozilla,.config/google-chrome,.config/chromium,.config/BraveSoftware,.config/microsoft-edge}", "Cookies and passwords of a browser."),
    secret("{key4.db,Login Data}", "Cookies and passwords of a browser."),

    // The system
    secret("/etc/{shadow,shadow-,gshadow,gshadow-,krb5.keytab,master.passwd}", "Hashes of the passwords of this machine."),
    secret("/etc/{ssl/private,pki/tls/private,letsencrypt,wireguard,openvpn,ipsec.secrets,ppp,NetworkManager/system-connections}", "Private keys of this machine."),
    secret("/{run,var/run}/secrets", "Secrets that a container was given."),
    secret("/{run,var/run}/credentials", "Credentials that systemd gave to services."),
    secret("/var/lib/{kubelet,docker,rancher,kubernetes}", "Secrets of containers."),
    secret("/proc/{kcore,kmem,keys,key-users}", "The memory and keys of this machine."),
    secret("/proc/*/{environ,cmdline,mem,maps,smaps,smaps_rollup,numa_maps,pagemap,auxv,stack,syscall}", "The environment and memory of a process."),
    secret("/proc/*/task/*/{environ,cmdline,mem,maps,smaps,smaps_rollup,numa_maps,pagemap,auxv,stack,syscall}", "The environment and memory of a process."),
    secret("/dev/{mem,kmem,port}", "The memory of this machine."),
];
