//! The names of temporary files.
//!
//! A name is `.filewright-REALM-PID-STARTED-NONCE`: a reader can check whether the process that
//! created it is still running ([`crate::process`]), and the next name is unpredictable. The suffix
//! `-kept` marks an entry that a change moved aside.

use std::hash::{BuildHasher, Hasher, RandomState};

use filewright_core::walk::TEMP_NAME_PREFIX;
pub use filewright_core::walk::is_temp_name;

use crate::process::ProcessName;

/// Reports whether the name is that of an entry which this process moved aside.
pub(crate) fn is_own_aside_name(name: &[u8]) -> bool {
    is_aside_name(name) && creator_of_temp_file(name).as_ref() == Some(ProcessName::own())
}

/// Reports whether a name is that of an entry moved aside (suffix `-kept`), which is kept longer
/// than other temporary files.
pub(crate) fn is_aside_name(name: &[u8]) -> bool {
    name.ends_with(b"-kept") && is_temp_name(name)
}

/// Returns the process that created the temporary file, as its name says; `None` for any other
/// name.
pub(crate) fn creator_of_temp_file(name: &[u8]) -> Option<ProcessName> {
    if !is_temp_name(name) {
        return None;
    }
    let rest = std::str::from_utf8(name.strip_prefix(TEMP_NAME_PREFIX)?).ok()?;
    let mut parts = rest.split('-');
    let realm = parts.next()?.to_owned();
    let pid = u32::from_str_radix(parts.next()?, 16).ok()?;
    let started = u64::from_str_radix(parts.next()?, 16).ok()?;
    Some(ProcessName { realm, pid, started })
}

/// Returns a random name for a temporary file, which also identifies this process.
pub fn new_temp_name() -> Vec<u8> {
    let ProcessName { realm, pid, started } = ProcessName::own();
    // Each `RandomState` has other keys, which come from the system's random source.
    let nonce = RandomState::new().build_hasher().finish();
    format!(".filewright-{realm}-{pid:x}-{started:x}-{nonce:016x}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_identify_their_process() {
        let name = new_temp_name();
        assert!(is_temp_name(&name));
        assert_eq!(creator_of_temp_file(&name).as_ref(), Some(ProcessName::own()));
        assert_ne!(name, new_temp_name());
        assert_eq!(creator_of_temp_file(b".filewright-00000000-1-2-3"), None);
    }
}
