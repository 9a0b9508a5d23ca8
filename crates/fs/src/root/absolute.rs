//! Absolute, normalised paths as bytes: their parents, their names, and what lies below what.

/// Reports whether `path` is `base` or lies below it. Both are absolute and normalised.
pub fn is_within(path: &[u8], base: &[u8]) -> bool {
    base == b"/" || path.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

/// Returns the parent directory of a path; `/` for `/`.
pub(crate) fn parent_of(path: &[u8]) -> &[u8] {
    match memchr::memrchr(b'/', path) {
        Some(cut) if cut > 0 => &path[..cut],
        _ => b"/",
    }
}

/// Appends a name to an absolute path, with a slash between them.
pub(crate) fn push_path_name(path: &mut Vec<u8>, name: &[u8]) {
    if path.last() != Some(&b'/') {
        path.push(b'/');
    }
    path.extend_from_slice(name);
}

/// Returns the absolute path that consists of these names; `/` without names.
pub(crate) fn absolute_path_of(names: &[&[u8]]) -> Vec<u8> {
    let mut path = b"/".to_vec();
    for name in names {
        push_path_name(&mut path, name);
    }
    path
}
