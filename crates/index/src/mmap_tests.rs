//! Tests an index against stores through a memory map.

use std::fs::{self, File, OpenOptions};
use std::os::fd::AsRawFd as _;
use std::ptr::null_mut;
use std::sync::Arc;

use crate::Session;
use crate::grep_indexed;
use crate::tests::session_of;
use crate::warm;
use filewright_fs::cancel::CancelToken;
use filewright_fs::search::grep::GrepOptions;

const OLD_TEXT: &str = "plain words\n";
const MAPPED_BYTES: &[u8] = b"map";

struct MappedFile {
    start: *mut libc::c_void,
    _file: File,
}

impl MappedFile {
    fn of(file: File) -> Self {
        let (rights, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        // SAFETY: a new mapping at an address that the kernel chooses.
        let start =
            unsafe { libc::mmap(null_mut(), OLD_TEXT.len(), rights, shared, file.as_raw_fd(), 0) };
        assert_ne!(start, libc::MAP_FAILED);
        Self { start, _file: file }
    }

    fn store(&self) {
        // SAFETY: the mapping is longer than the stored bytes.
        unsafe {
            self.start
                .cast::<u8>()
                .copy_from_nonoverlapping(MAPPED_BYTES.as_ptr(), MAPPED_BYTES.len())
        }
    }

    fn flush(&self) {
        // SAFETY: the range is the whole mapping.
        assert_eq!(unsafe { libc::msync(self.start, OLD_TEXT.len(), libc::MS_SYNC) }, 0);
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // SAFETY: the range is the whole mapping, which is no longer used.
        unsafe { libc::munmap(self.start, OLD_TEXT.len()) };
    }
}

fn count_matches(session: &Arc<Session>, path: &[u8], index: &str) -> f64 {
    let json = format!(r#"{{"pattern":"mapin","regex":false,"index":"{index}"}}"#);
    let options = GrepOptions::from_json(&json).unwrap();
    grep_indexed(session, path, &options, &CancelToken::new()).unwrap()[0].nums[0]
}

#[test]
fn a_strict_search_finds_what_is_stored_through_a_map_and_another_once_the_file_is_closed() {
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    for number in 0..40 {
        fs::write(top.join(format!("f{number}")), OLD_TEXT).unwrap();
    }
    let path = top.to_str().unwrap().as_bytes();
    let session = session_of(&top, serde_json::json!({}));
    let file = OpenOptions::new().read(true).write(true).open(top.join("f7")).unwrap();
    let mapped = MappedFile::of(file);
    std::thread::sleep(std::time::Duration::from_millis(110));
    assert_eq!(warm(&session, path, true, &CancelToken::new()).unwrap().unsigned, 0);
    assert_eq!(
        (count_matches(&session, path, "auto"), count_matches(&session, path, "strict")),
        (0.0, 0.0)
    );
    mapped.store();
    assert_eq!(count_matches(&session, path, "strict"), 1.0, "stored");
    mapped.flush();
    assert_eq!(count_matches(&session, path, "strict"), 1.0, "written to the disk");
    drop(mapped);
    assert_eq!(count_matches(&session, path, "auto"), 1.0, "closed");
    assert_eq!(count_matches(&session, path, "strict"), 1.0, "closed");
}
