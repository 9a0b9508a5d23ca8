//! The permissions of a command, the command itself, and its outcome.

use std::borrow::Cow;
use std::time::Duration;

use filewright_core::pack::Packed;
use filewright_core::wire::Wire;
use filewright_core::{Code, Error, Result};
use serde_json::Value;

/// The permissions of a command.
#[derive(Clone, Debug, Default)]
pub struct Permissions {
    /// Directories and files that may be read and executed; `None` for everything.
    pub read: Option<Vec<String>>,
    /// Directories and files that may be changed and read.
    pub write: Vec<String>,
    /// Real paths outside `write` that may not be read, with everything below them.
    pub exclude: Vec<String>,
    /// As `exclude`; no name below these may be listed. Landlock cannot take a right back below a
    /// directory, so the directories above them cannot be listed either.
    pub unlisted: Vec<String>,
    /// Allows the use of the network.
    pub network: bool,
    /// Allows Unix sockets that are not made as a connected pair.
    pub sockets: bool,
    /// Accepts that files are not restricted if the kernel cannot do that.
    pub degrade: bool,
    /// For tests: behaves as on a kernel without Landlock.
    pub without_landlock: bool,
    /// True if the executed program restricts itself, so that no restriction is applied before.
    /// The program receives the system call filter at descriptor 9.
    pub bare: bool,
    /// Names of further system calls that are refused, even if the network is allowed.
    pub forbid: Vec<String>,
    /// The resource limits of the command.
    pub limits: ResourceLimits,
}

/// The input for finding the files that a command may not see or change. All paths are real.
#[derive(Clone, Debug, Default)]
pub struct ScanSpec {
    /// The directory that deny globs with a slash are relative to.
    pub cwd: String,
    /// The roots below which deny globs without a slash match.
    pub roots: Vec<String>,
    /// The directories to scan.
    pub scan: Vec<String>,
    /// Those of `scan` that are git directories, whatever their names.
    pub repositories: Vec<String>,
    /// The maximum depth below each scanned directory; `None` for no limit.
    pub depth: Option<usize>,
    /// The globs of entries that the command may not see.
    pub deny: Vec<String>,
    /// Continues after errors, and does not report hidden entries.
    pub lenient: bool,
    /// If set, a directory that cannot be listed is made accessible to its owner first, unless its
    /// id is in this list.
    pub opens_but: Option<Vec<String>>,
    /// Reports protected paths and repositories.
    pub protect: bool,
    /// Reports files that count as secrets by their names as hidden.
    pub secrets: bool,
    /// The rules of the host for single places, as in `RulesConfig::places`.
    pub places: Vec<String>,
}

impl ScanSpec {
    /// Parses `{cwd, roots: [paths], scan: [paths], repositories?: [paths], deny: [globs], protect,
    /// secrets, places?, depth?, lenient?, opensBut?: [ids]}`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`.
    pub fn from_json(text: &str) -> Result<Self> {
        let json = parse_json(text)?;
        let flag = |key: &str| json[key].as_bool().ok_or_else(|| malformed_error(key));
        Ok(Self {
            cwd: json["cwd"].as_str().ok_or_else(|| malformed_error("cwd"))?.to_owned(),
            roots: parse_string_list(&json["roots"])?,
            scan: parse_string_list(&json["scan"])?,
            repositories: if json["repositories"].is_null() {
                Vec::new()
            } else {
                parse_string_list(&json["repositories"])?
            },
            depth: json["depth"].as_u64().and_then(|depth| usize::try_from(depth).ok()),
            deny: parse_string_list(&json["deny"])?,
            lenient: json["lenient"].as_bool().unwrap_or(false),
            opens_but: if json["opensBut"].is_null() {
                None
            } else {
                Some(parse_string_list(&json["opensBut"])?)
            },
            protect: flag("protect")?,
            secrets: flag("secrets")?,
            places: if json["places"].is_null() {
                Vec::new()
            } else {
                parse_string_list(&json["places"])?
            },
        })
    }
}

/// The resource limits of a command. 0 means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceLimits {
    /// The maximum number of processes and threads at one time. Beyond it, the command is killed.
    pub processes: u64,
    /// The maximum memory of all processes together in bytes, without memory shared with files or
    /// other processes. Beyond it, the command is killed.
    pub memory: u64,
    /// The maximum size of one written file in bytes. The kernel refuses a longer write.
    pub file_bytes: u64,
    /// The maximum processor time of one process in seconds. The kernel kills the process beyond
    /// it.
    pub cpu_seconds: u64,
}

filewright_core::wire! {
    /// The limit that ended a command.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Limit {
        /// The number of processes and threads.
        Processes = "processes",
        /// The memory of all processes together.
        Memory = "memory",
    }
}

/// The command to run. It is executed directly, not by a shell.
#[derive(Clone, Debug, Default)]
pub struct Command {
    /// The program and its arguments; not empty.
    pub argv: Vec<String>,
    /// The working directory.
    pub cwd: String,
    /// All environment variables of the command.
    pub env: Vec<(String, String)>,
    /// The time after which the command and all its processes are killed.
    pub timeout: Duration,
    /// The maximum number of bytes that are kept of stdout, and of stderr. More is read and
    /// discarded.
    pub max_output: usize,
}

/// An operation to attempt under the restrictions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Opening a file for writing, created if it is missing.
    Write(String),
    /// Opening a TCP connection.
    TcpConnect,
    /// Creating a Unix socket.
    UnixSocket,
}

/// The restrictions that the kernel enforces for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnforcedLayers {
    /// True if files outside the permitted paths cannot be accessed.
    pub files: bool,
    /// True if the network cannot be used.
    pub network: bool,
    /// True if signals cannot be sent to processes outside the command.
    pub signals: bool,
    /// True if the kernel itself enforces the limit of processes, so that it holds however fast
    /// they are created.
    pub forks: bool,
    /// The version of Landlock; 0 without it.
    pub abi: u32,
}

/// The result of a command.
#[derive(Clone, Debug, Default)]
pub struct RunOutcome {
    /// The exit status, unless a signal ended the command.
    pub status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// True if the command was killed because its time was up.
    pub timed_out: bool,
    /// The limit that the command exceeded, for which it was killed.
    pub exceeded: Option<Limit>,
    /// True if the command wrote more than `max_output` to one of its outputs.
    pub truncated: bool,
    /// The beginning of the standard output of the command.
    pub stdout: Vec<u8>,
    /// The beginning of the standard error of the command.
    pub stderr: Vec<u8>,
}

filewright_core::wire! {
    /// How a command ended, and its output.
    pub struct SandboxedCommand<'a> {
        /// The exit status; `None` if the command was killed.
        pub exit_code: Option<i64>,
        /// The number of the signal that ended it, if one did.
        pub signal: Option<i64>,
        /// True if it was killed because its time was up.
        pub timed_out: bool,
        /// True if it wrote more than `maxOutput` to one of its outputs.
        pub truncated: bool,
        /// The standard output, with invalid UTF-8 replaced.
        pub stdout: Cow<'a, str>,
        /// The standard error output, with invalid UTF-8 replaced.
        pub stderr: Cow<'a, str>,
        /// The limit that it exceeded, for which it was killed.
        pub exceeded: Option<Limit>,
    }
}

impl RunOutcome {
    /// Returns a packed [`SandboxedCommand`].
    pub fn packed(&self) -> Packed {
        let command = SandboxedCommand {
            exit_code: self.status.map(i64::from),
            signal: self.signal.map(i64::from),
            timed_out: self.timed_out,
            truncated: self.truncated,
            stdout: String::from_utf8_lossy(&self.stdout),
            stderr: String::from_utf8_lossy(&self.stderr),
            exceeded: self.exceeded,
        };
        command.packed()
    }
}

impl Probe {
    /// Returns the operation with this name: `write`, `tcp_connect` or `unix_socket`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`.
    pub fn parse(kind: &str, path: Option<&str>) -> Result<Self> {
        match (kind, path) {
            ("write", Some(path)) => Ok(Self::Write(path.to_owned())),
            ("tcp_connect", _) => Ok(Self::TcpConnect),
            ("unix_socket", _) => Ok(Self::UnixSocket),
            _ => Err(Error::new(Code::InvalidArgument, "there is no such probe")),
        }
    }
}

impl Permissions {
    /// Parses `{read: [paths]|null, write: [paths], exclude?: [paths], unlisted?: [paths],
    /// network?, sockets?, degrade?, withoutLandlock?, bare?, forbid?: [names], limits?: {processes?, memory?, fileBytes?,
    /// cpuSeconds?}}`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`.
    pub fn from_json(text: &str) -> Result<Self> {
        let json = parse_json(text)?;
        let read = match &json["read"] {
            Value::Null => None,
            value => Some(parse_string_list(value)?),
        };
        let flag = |key: &str| json[key].as_bool().unwrap_or(false);
        let limit = |key: &str| json["limits"][key].as_u64().unwrap_or(0);
        let list = |key: &str| match &json[key] {
            Value::Null => Ok(Vec::new()),
            value => parse_string_list(value),
        };
        Ok(Self {
            read,
            write: parse_string_list(&json["write"])?,
            exclude: list("exclude")?,
            unlisted: list("unlisted")?,
            network: flag("network"),
            sockets: flag("sockets"),
            degrade: flag("degrade"),
            without_landlock: flag("withoutLandlock"),
            bare: flag("bare"),
            forbid: list("forbid")?,
            limits: ResourceLimits {
                processes: limit("processes"),
                memory: limit("memory"),
                file_bytes: limit("fileBytes"),
                cpu_seconds: limit("cpuSeconds"),
            },
        })
    }
}

impl Command {
    /// Parses `{argv, cwd, env: {name: value}, timeoutMs, maxOutput}`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`.
    pub fn from_json(text: &str) -> Result<Self> {
        let json = parse_json(text)?;
        let argv = parse_string_list(&json["argv"])?;
        if argv.is_empty() || argv.iter().any(|part| part.contains('\0')) {
            return Err(malformed_error("argv"));
        }
        let env = json["env"].as_object().ok_or_else(|| malformed_error("env"))?;
        let env = env.iter().map(|(name, value)| {
            let value = value.as_str().ok_or_else(|| malformed_error("env"))?;
            Ok((name.clone(), value.to_owned()))
        });
        let number = |key: &str| json[key].as_u64().ok_or_else(|| malformed_error(key));
        Ok(Self {
            argv,
            cwd: json["cwd"].as_str().ok_or_else(|| malformed_error("cwd"))?.to_owned(),
            env: env.collect::<Result<_>>()?,
            timeout: Duration::from_millis(number("timeoutMs")?),
            max_output: usize::try_from(number("maxOutput")?).unwrap_or(usize::MAX),
        })
    }
}

fn parse_json(text: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|_| malformed_error("JSON"))
}

fn parse_string_list(value: &Value) -> Result<Vec<String>> {
    let list = value.as_array().ok_or_else(|| malformed_error("a list"))?;
    list.iter()
        .map(|one| one.as_str().map(str::to_owned).ok_or_else(|| malformed_error("a list")))
        .collect()
}

fn malformed_error(what: &str) -> Error {
    Error::new(Code::InvalidArgument, format!("the sandbox's {what} is malformed"))
}
