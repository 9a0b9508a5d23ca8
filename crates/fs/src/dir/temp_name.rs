//! The names of temporary files.
//!
//! A name is `.filewright-REALM-PID-STARTED-NONCE`: a reader can tell whether the process that
//! made it still lives ([`crate::process`]), and nobody can guess the next one. With `-kept`
//! behind it the name is that of an entry that a change set aside.

use std::hash::{BuildHasher, Hasher, RandomState};

use crate::process::ProcessName;

const PREFIX: &[u8] = b".filewright-";

/// Whether a name is one that a temporary file of ours has.
pub fn is_temp_name(name: &[u8]) -> bool {
    name.starts_with(PREFIX) && maker(name).is_some()
}

/// Whether a name is one that this process gave to an entry that is set aside.
pub(crate) fn is_own_aside_name(name: &[u8]) -> bool {
    is_kept_name(name) && maker(name).as_ref() == Some(ProcessName::own())
}

/// Whether a name is that of an entry that is set aside, rather than of a temporary file.
pub(crate) fn is_kept_name(name: &[u8]) -> bool {
    name.ends_with(b"-kept") && is_temp_name(name)
}

/// Who made the temporary file of this name.
pub(crate) fn maker(name: &[u8]) -> Option<ProcessName> {
    let rest = std::str::from_utf8(name.strip_prefix(PREFIX)?).ok()?;
    let mut parts = rest.split('-');
    let realm = parts.next().filter(|realm| realm.len() == 8)?.to_owned();
    let pid = u32::from_str_radix(parts.next()?, 16).ok()?;
    let started = u64::from_str_radix(parts.next()?, 16).ok()?;
    let nonce = parts.next().filter(|nonce| nonce.len() == 16)?;
    let hex = |text: &str| text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let whole = match parts.next() {
        None => true,
        Some(last) => last == "kept" && parts.next().is_none(),
    };
    (whole && hex(&realm) && hex(nonce)).then_some(ProcessName { realm, pid, started })
}

/// A name for a temporary file that nobody has and that tells its maker.
pub fn fresh_name() -> Vec<u8> {
    let ProcessName { realm, pid, started } = ProcessName::own();
    // Keyed by the system's randomness, and differently for every state made.
    let nonce = RandomState::new().build_hasher().finish();
    format!(".filewright-{realm}-{pid:x}-{started:x}-{nonce:016x}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_their_maker() {
        let name = fresh_name();
        assert!(is_temp_name(&name));
        assert_eq!(maker(&name).as_ref(), Some(ProcessName::own()));
        assert_ne!(name, fresh_name());
        for other in
            [".filewright-", ".filewright-x", ".filewright-00000000-1-2-3", ".filewright.json"]
        {
            assert!(!is_temp_name(other.as_bytes()), "{other}");
        }
    }
}
