//! What a command may do, what it is, and what came of it.

use std::time::Duration;

use filewright_core::{Code, Error, Result};
use serde_json::Value;

/// What a command may do.
#[derive(Clone, Debug, Default)]
pub struct Spec {
    /// Directories and files that may be read and run; `None` for everything.
    pub read: Option<Vec<String>>,
    /// Directories and files that may be changed, and read.
    pub write: Vec<String>,
    /// Whether the network may be used.
    pub network: bool,
    /// Whether less than this will do where the kernel cannot enforce it.
    pub degrade: bool,
    /// Behave as on a kernel without Landlock: for tests.
    pub without_landlock: bool,
}

/// What is run. No shell is involved unless it is one.
#[derive(Clone, Debug, Default)]
pub struct Command {
    /// The program and its arguments; not empty.
    pub argv: Vec<String>,
    /// The directory it runs in.
    pub cwd: String,
    /// Its whole environment.
    pub env: Vec<(String, String)>,
    /// After this long its whole group of processes is killed.
    pub timeout: Duration,
    /// Bytes kept of its output and of its errors, each.
    pub max_output: usize,
}

/// What is tried under the restrictions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Opening a file to write, made where it is missing.
    Write(String),
    /// Making a TCP connection.
    TcpConnect,
    /// Making a Unix socket.
    UnixSocket,
}

/// What holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The roots are enforced.
    pub files: bool,
    /// The network is closed.
    pub network: bool,
    /// The version of Landlock; 0 where there is none.
    pub abi: u32,
}

/// What came of a command.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Its exit status, unless a signal ended it.
    pub status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// It ran out of time.
    pub timed_out: bool,
    /// More was written than was kept.
    pub truncated: bool,
    /// What it wrote.
    pub stdout: Vec<u8>,
    /// What it complained.
    pub stderr: Vec<u8>,
}

impl Spec {
    /// Reads `{read: [paths]|null, write: [paths], network?, degrade?, withoutLandlock?}`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`.
    pub fn from_json(text: &str) -> Result<Self> {
        let json = parse(text)?;
        let read = match &json["read"] {
            Value::Null => None,
            value => Some(texts(value)?),
        };
        let flag = |key: &str| json[key].as_bool().unwrap_or(false);
        Ok(Self {
            read,
            write: texts(&json["write"])?,
            network: flag("network"),
            degrade: flag("degrade"),
            without_landlock: flag("withoutLandlock"),
        })
    }
}

impl Command {
    /// Reads `{argv, cwd, env: {name: value}, timeoutMs, maxOutput}`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`.
    pub fn from_json(text: &str) -> Result<Self> {
        let json = parse(text)?;
        let argv = texts(&json["argv"])?;
        if argv.is_empty() || argv.iter().any(|part| part.contains('\0')) {
            return Err(wrong("argv"));
        }
        let env = json["env"].as_object().ok_or_else(|| wrong("env"))?;
        let env = env.iter().map(|(name, value)| {
            let value = value.as_str().ok_or_else(|| wrong("env"))?;
            Ok((name.clone(), value.to_owned()))
        });
        let number = |key: &str| json[key].as_u64().ok_or_else(|| wrong(key));
        Ok(Self {
            argv,
            cwd: json["cwd"].as_str().ok_or_else(|| wrong("cwd"))?.to_owned(),
            env: env.collect::<Result<_>>()?,
            timeout: Duration::from_millis(number("timeoutMs")?),
            max_output: usize::try_from(number("maxOutput")?).unwrap_or(usize::MAX),
        })
    }
}

fn parse(text: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|_| wrong("JSON"))
}

fn texts(value: &Value) -> Result<Vec<String>> {
    let list = value.as_array().ok_or_else(|| wrong("a list"))?;
    list.iter().map(|one| one.as_str().map(str::to_owned).ok_or_else(|| wrong("a list"))).collect()
}

fn wrong(what: &str) -> Error {
    Error::new(Code::InvalidArgument, format!("the sandbox's {what} is malformed"))
}
