//! Detects secrets by content: private keys and keys of service accounts.
//!
//! Only a file that consists of a key counts. A source file or a guide that quotes a key is
//! ordinary text, because users disable a rule with many false positives.

use memchr::memmem;

/// The number of bytes at the beginning of a file that are inspected.
pub const SECRET_HEAD_BYTES: usize = 64 << 10;

/// The maximum number of lines of comments and headers before a key.
const MAX_HEADER_LINES: usize = 32;

/// Returns true if a file that begins with `head` is a private key or the key of a service account.
pub fn holds_secret(head: &[u8]) -> bool {
    let head = &head[..head.len().min(SECRET_HEAD_BYTES)];
    if begins_with_utf16_mark(head) {
        let ascii: Vec<u8> = head[2..].iter().copied().filter(|&byte| byte != 0).collect();
        return holds_secret(&ascii);
    }
    let head = without_leading_blanks(head);
    match head.first() {
        Some(b'{') => is_service_account(head),
        Some(b'-' | b'#' | b'B' | b'P' | b'A') => is_private_key(head),
        _ => false,
    }
}

/// Returns false if a file that begins with these bytes cannot be a key; a cheap check before
/// [`holds_secret`].
pub fn may_hold_secret(glance: &[u8]) -> bool {
    let rest = without_leading_blanks(glance);
    if begins_with_utf16_mark(glance) {
        return true;
    }
    match rest.first() {
        None => !glance.is_empty(),
        Some(b'-') => rest.starts_with(&b"-----BEGIN "[..rest.len().min(11)]),
        Some(first) => b"{#BPA".contains(first),
    }
}

/// Returns true for a UTF-16 byte order mark, which some shells write into every file.
fn begins_with_utf16_mark(head: &[u8]) -> bool {
    head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff")
}

/// Returns the bytes without a byte order mark and white space at the beginning.
fn without_leading_blanks(head: &[u8]) -> &[u8] {
    head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start()
}

/// Returns true for the JSON key file that Google issues for a service account.
fn is_service_account(head: &[u8]) -> bool {
    memmem::find(head, b"\"private_key\"").is_some()
        && memmem::find_iter(head, b"\"service_account\"").any(|at| {
            let before = head[..at].trim_ascii_end();
            let before = before.strip_suffix(b":").unwrap_or_default().trim_ascii_end();
            before.ends_with(b"\"type\"")
        })
}

/// Returns true for PEM, PuTTY and age files that contain a private key.
fn is_private_key(head: &[u8]) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    // OpenSSL writes "Bag Attributes" and indented headers before a block, age writes comments.
    let first = lines.by_ref().take(MAX_HEADER_LINES).find(|line| {
        line.starts_with(b"-----BEGIN ")
            || line.starts_with(b"AGE-SECRET-KEY-1")
            || line.starts_with(b"PuTTY-User-Key-File-")
            || !is_line_before_key(line)
    });
    let Some(first) = first else { return false };
    if !first.starts_with(b"-----BEGIN ") {
        return first.starts_with(b"AGE-SECRET-KEY-1")
            || first.starts_with(b"PuTTY-User-Key-File-");
    }
    is_private_key_line(first) || lines.any(is_private_key_line)
}

/// Returns true for the line that begins a PEM block with a private key.
fn is_private_key_line(line: &[u8]) -> bool {
    let kind = line.strip_prefix(b"-----BEGIN ").and_then(|rest| rest.strip_suffix(b"-----"));
    kind.is_some_and(|kind| kind.ends_with(b"PRIVATE KEY") || kind == b"PGP PRIVATE KEY BLOCK")
}

/// Returns true for a line that may precede a key without being part of it.
fn is_line_before_key(line: &[u8]) -> bool {
    const STARTS: [&[u8]; 7] = [
        b"#",
        b"Bag Attributes",
        b"friendlyName:",
        b"localKeyID:",
        b"subject",
        b"issuer",
        b"Key Attributes",
    ];
    line.is_empty() || STARTS.iter().any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_secrets_by_their_content() {
        for content in [
            "-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\n",
            "\u{feff}\n -----BEGIN OPENSSH PRIVATE KEY-----\nb3\n",
            "-----BEGIN EC PRIVATE KEY-----\r\nMHc\r\n",
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\n",
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQ\n",
            "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n-----BEGIN RSA PRIVATE KEY-----\n",
            "Bag Attributes\n    friendlyName: x\nKey Attributes: <No Attributes>\n-----BEGIN PRIVATE KEY-----\n",
            "# created: 2024\n# public key: age1\nAGE-SECRET-KEY-1QQ\n",
            "PuTTY-User-Key-File-3: ssh-ed25519\n",
            "{\n  \"type\": \"service_account\",\n  \"private_key\": \"-----BEGIN\"}",
            "{\"private_key\":\"x\",\"type\" : \"service_account\"}",
        ] {
            assert!(holds_secret(content.as_bytes()), "{content}");
        }
    }

    #[test]
    fn keys_in_utf16_are_secrets() {
        let text = "-----BEGIN PRIVATE KEY-----\nMII\n";
        let bytes = [0xfeff_u16].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes);
        let bytes: Vec<u8> = bytes.collect();
        assert!(holds_secret(&bytes) && may_hold_secret(&bytes));
    }

    #[test]
    fn files_that_mention_keys_are_text() {
        for content in [
            "",
            "{}",
            "{\"type\":\"service_account\"}",
            "{\"kind\":\"service_account\",\"private_key\":1}",
            "const key = `-----BEGIN PRIVATE KEY-----\nMII`;\n",
            "# Guide\n\nPaste it:\n\n-----BEGIN PRIVATE KEY-----\n",
            "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n",
            "-----BEGIN PUBLIC KEY-----\nMII\n",
            "--- a/x\n+++ b/x\n",
            "#!/bin/sh\necho -----BEGIN PRIVATE KEY-----\n",
        ] {
            assert!(!holds_secret(content.as_bytes()), "{content}");
        }
        let mut late = vec![b'#'; SECRET_HEAD_BYTES];
        late.extend_from_slice(b"\n-----BEGIN PRIVATE KEY-----\n");
        assert!(!holds_secret(&late));
    }
}
