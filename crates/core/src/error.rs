//! The error type and its closed list of stable codes.
//!
//! The codes are public API: bindings pass them through unchanged and TypeScript turns them into
//! `FilewrightError`. A message is one lower-case clause; the layer that knows the call composes
//! the sentence with the path as the caller typed it.

use serde_json::{Map, Value};

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

macro_rules! codes {
    ($($variant:ident = $text:literal, $doc:literal;)*) => {
        /// The closed list of failure codes. The text form is stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code { $(#[doc = $doc] $variant,)* }

        impl Code {
            /// All codes, in the order of their declaration.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// Returns the stable text form, such as `NOT_FOUND`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $text,)* }
            }
        }
    };
}

codes! {
    InvalidArgument = "INVALID_ARGUMENT", "An argument is malformed or out of range.";
    NotFound = "NOT_FOUND", "The path does not exist.";
    OutsideAllowed = "OUTSIDE_ALLOWED", "The path leads outside every allowed root.";
    PermissionDenied = "PERMISSION_DENIED", "The operating system refuses.";
    GrantDenied = "GRANT_DENIED", "Nobody granted access to the directory.";
    ApprovalDenied = "APPROVAL_DENIED", "A reviewer refused the change.";
    HookBlocked = "HOOK_BLOCKED", "A hook stopped the call.";
    Cancelled = "CANCELLED", "The caller cancelled.";
    Timeout = "TIMEOUT", "A deadline passed.";
    IoError = "IO_ERROR", "Any other failure of the file system.";
    Loop = "LOOP", "Too many symbolic links.";
    NameTooLong = "NAME_TOO_LONG", "A path component is longer than the file system allows.";
    AlreadyExists = "ALREADY_EXISTS", "The destination exists.";
    IsDirectory = "IS_DIRECTORY", "A file was needed, a directory is there.";
    NotDirectory = "NOT_DIRECTORY", "A directory was needed, something else is there.";
    NotEmpty = "NOT_EMPTY", "The directory is not empty.";
    ReadOnly = "READ_ONLY", "The workspace or file system is read-only.";
    ProtectedPath = "PROTECTED_PATH", "The path is protected from change.";
    SameFile = "SAME_FILE", "Source and destination are the same file.";
    BinaryFile = "BINARY_FILE", "The content is not text.";
    UnsupportedFormat = "UNSUPPORTED_FORMAT", "The kind of file cannot be rendered.";
    TooLarge = "TOO_LARGE", "The content is larger than the limit.";
    EncodingError = "ENCODING_ERROR", "The bytes or characters do not fit the encoding.";
    InvalidRegex = "INVALID_REGEX", "The regular expression does not parse.";
    InvalidGlob = "INVALID_GLOB", "The glob does not parse.";
    MatchNotFound = "MATCH_NOT_FOUND", "The text to replace is not there.";
    MatchNotUnique = "MATCH_NOT_UNIQUE", "The text to replace is there more than once.";
    MatchCountMismatch = "MATCH_COUNT_MISMATCH", "The text is there another number of times than expected.";
    NoChange = "NO_CHANGE", "The edit would change nothing.";
    PatchFailed = "PATCH_FAILED", "A hunk of the patch does not apply.";
    Conflict = "CONFLICT", "The file changed since the version that was named.";
    LockTimeout = "LOCK_TIMEOUT", "Another writer holds the lock.";
    NoSpace = "NO_SPACE", "The disk is full.";
    UnsupportedOperation = "UNSUPPORTED_OPERATION", "The backend cannot do this.";
    SandboxSetupFailed = "SANDBOX_SETUP_FAILED", "The sandbox could not be set up.";
    UnknownTool = "UNKNOWN_TOOL", "There is no tool of that name.";
    Internal = "INTERNAL", "A defect in Filewright.";
    NotRegularFile = "NOT_REGULAR_FILE", "A FIFO, socket or device, neither file nor directory.";
    LimitExceeded = "LIMIT_EXCEEDED", "The input is beyond the engine's limits.";
    UnsupportedPlatform = "UNSUPPORTED_PLATFORM", "The platform lacks the feature.";
}

/// An error: a stable code, a one-clause explanation, an optional remedy and machine-readable
/// details (JSON, `snake_case` keys).
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// The stable code.
    pub code: Code,
    /// The cause, in lower case and without a final full stop. Names no path that the caller did
    /// not pass.
    pub message: String,
    /// The remedy for the caller, if there is one.
    pub hint: Option<String>,
    /// Data for programs by key, such as `edit_index`, or `expected` and `found`.
    pub details: Map<String, Value>,
}

impl Error {
    /// Creates an error with a code and a message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, details: Map::new() }
    }

    /// Sets the remedy.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds one detail; replaces one with the same key.
    #[must_use]
    pub fn detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// Encodes the error for JavaScript as a JSON object `{code, message, hint?, details?}`.
    pub fn to_json(&self) -> String {
        let mut object = Map::new();
        object.insert("code".into(), self.code.as_str().into());
        object.insert("message".into(), self.message.as_str().into());
        if let Some(hint) = &self.hint {
            object.insert("hint".into(), hint.as_str().into());
        }
        if !self.details.is_empty() {
            object.insert("details".into(), Value::Object(self.details.clone()));
        }
        Value::Object(object).to_string()
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.message)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_upper_case() {
        let mut seen = std::collections::HashSet::new();
        for code in Code::ALL {
            assert!(seen.insert(code.as_str()));
            assert!(code.as_str().bytes().all(|b| b.is_ascii_uppercase() || b == b'_'));
        }
    }

    #[test]
    fn json_carries_everything() {
        let error = Error::new(Code::MatchNotFound, "old_text not found")
            .hint("read the file again")
            .detail("edit_index", 1);
        assert_eq!(
            error.to_json(),
            r#"{"code":"MATCH_NOT_FOUND","details":{"edit_index":1},"hint":"read the file again","message":"old_text not found"}"#
        );
    }
}
