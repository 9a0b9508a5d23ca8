//! Reads the process table of the machine: the descendants of a process, and their number of tasks
//! (processes and threads) and memory.
//!
//! Reads `/proc` without allocating after construction, because the supervisor reads it between
//! fork and exit, where another thread may have held the allocator's lock.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags, RawDir};

/// The maximum number of processes that are read. Others are ignored.
const MAX_READ_PROCESSES: usize = 1 << 16;
/// A number above every process id of Linux (`PID_MAX_LIMIT`).
const MAX_PID: usize = 1 << 22;

#[derive(Clone, Copy)]
struct ProcessEntry {
    id: u32,
    parent: u32,
    tasks: u32,
}

/// One snapshot of the process table.
pub(crate) struct ProcessTable {
    processes: Vec<ProcessEntry>,
    /// One bit for each process id, set for the descendants.
    marked: Vec<u64>,
}

/// The resources that the descendants of a process use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResourceUsage {
    /// The number of processes and threads.
    pub(crate) tasks: u64,
    /// The memory in bytes that is not shared with files or other processes.
    pub(crate) memory: u64,
}

impl ProcessTable {
    pub(crate) fn new() -> Self {
        Self { processes: Vec::with_capacity(MAX_READ_PROCESSES), marked: vec![0; MAX_PID / 64] }
    }

    /// Reads the table and determines the descendants of the process `ancestor`, without itself.
    /// Returns false if `/proc` cannot be read.
    pub(crate) fn read(&mut self, ancestor: u32) -> bool {
        let Some(proc) = open_proc() else { return false };
        self.processes.clear();
        self.marked.fill(0);
        let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
        let mut entries = RawDir::new(&proc, &mut buffer);
        while let Some(Ok(entry)) = entries.next() {
            let Some(id) = parse_number(entry.file_name().to_bytes()) else { continue };
            if self.processes.len() == MAX_READ_PROCESSES {
                break;
            }
            // A process that has ended since it was listed is skipped.
            if let Some(process) = read_process(&proc, id) {
                self.processes.push(process);
            }
        }
        loop {
            let mut grown = false;
            for index in 0..self.processes.len() {
                let ProcessEntry { id, parent, .. } = self.processes[index];
                if !self.is_marked(id) && (parent == ancestor || self.is_marked(parent)) {
                    self.marked[id as usize / 64] |= 1 << (id % 64);
                    grown = true;
                }
            }
            if !grown {
                return true;
            }
        }
    }

    /// Returns the process ids of the descendants that the last read found.
    pub(crate) fn descendants(&self) -> impl Iterator<Item = u32> + '_ {
        self.processes.iter().map(|process| process.id).filter(|id| self.is_marked(*id))
    }

    /// Returns the number of processes and threads of the machine in the last read.
    pub(crate) fn all_tasks(&self) -> u64 {
        self.processes.iter().map(|process| u64::from(process.tasks)).sum()
    }

    /// Returns the resources that the descendants found by the last read use.
    pub(crate) fn usage(&self) -> ResourceUsage {
        let page = rustix::param::page_size() as u64;
        let proc = open_proc();
        let mut usage = ResourceUsage::default();
        for process in self.processes.iter().filter(|process| self.is_marked(process.id)) {
            usage.tasks += u64::from(process.tasks);
            let pages = proc.as_ref().and_then(|proc| private_pages(proc, process.id));
            usage.memory += pages.unwrap_or(0) * page;
        }
        usage
    }

    fn is_marked(&self, id: u32) -> bool {
        self.marked.get(id as usize / 64).is_some_and(|word| word >> (id % 64) & 1 == 1)
    }
}

fn open_proc() -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(c"/proc", flags, Mode::empty()).ok()
}

fn read_process(proc: &OwnedFd, id: u32) -> Option<ProcessEntry> {
    let mut bytes = [0; 1024];
    let text = read_process_file(proc, id, b"/stat", &mut bytes)?;
    // The name is in parentheses and may contain any character, including parentheses.
    let end = last_index_of(b')', text)?;
    let mut fields = text[end + 1..].split(|byte| *byte == b' ').filter(|field| !field.is_empty());
    let parent = parse_number(fields.nth(1)?)?;
    // Field 20 is the number of threads; field 4 is the parent.
    let tasks = parse_number(fields.nth(15)?)?;
    (id as usize).lt(&MAX_PID).then_some(ProcessEntry { id, parent, tasks })
}

/// Returns the number of memory pages of a process that are resident and not shared.
fn private_pages(proc: &OwnedFd, id: u32) -> Option<u64> {
    let mut bytes = [0; 256];
    let text = read_process_file(proc, id, b"/statm", &mut bytes)?;
    let mut fields = text.split(|byte| byte.is_ascii_whitespace());
    let resident = parse_number(fields.nth(1)?)?;
    let shared = parse_number(fields.next()?)?;
    Some(u64::from(resident.saturating_sub(shared)))
}

/// Reads the beginning of the file `name` of a process in procfs into `bytes`, as much as fits, and
/// returns it.
fn read_process_file<'b>(
    proc: &OwnedFd,
    id: u32,
    name: &[u8],
    bytes: &'b mut [u8],
) -> Option<&'b [u8]> {
    let mut path = [0_u8; 32];
    let mut digits = [0_u8; 10];
    let mut start = digits.len();
    let mut rest = id;
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let length = digits.len() - start;
    path[..length].copy_from_slice(&digits[start..]);
    path[length..length + name.len()].copy_from_slice(name);
    let path = CStr::from_bytes_until_nul(&path).ok()?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(proc.as_fd(), path, flags, Mode::empty()).ok()?;
    let count = rustix::io::read(&file, &mut *bytes).ok()?;
    Some(&bytes[..count])
}

fn last_index_of(byte: u8, text: &[u8]) -> Option<usize> {
    text.iter().rposition(|one| *one == byte)
}

/// Parses a decimal number; `None` if it is none or does not fit.
fn parse_number(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() || digits.len() > 10 {
        return None;
    }
    digits.iter().try_fold(0_u32, |sum, byte| {
        let digit = byte.is_ascii_digit().then(|| u32::from(byte - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_found_with_what_they_use() {
        let mut child =
            std::process::Command::new("sh").args(["-c", "sleep 60 & sleep 60"]).spawn().unwrap();
        let mut table = ProcessTable::new();
        let mut found = Vec::new();
        for _ in 0..500 {
            assert!(table.read(std::process::id()));
            found = table.descendants().collect();
            if found.len() >= 3 {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(found.contains(&child.id()), "{found:?}");
        let usage = table.usage();
        assert!(usage.tasks >= 3 && usage.memory > 0, "{usage:?}");
        assert!(table.read(child.id()));
        for id in table.descendants() {
            let id = rustix::process::Pid::from_raw(id.cast_signed()).unwrap();
            let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
        }
        let _ = child.kill();
        let _ = child.wait();
    }

    #[test]
    fn numbers_are_digits_alone() {
        assert_eq!(parse_number(b"120"), Some(120));
        for text in [&b""[..], b"1a", b"-1", b"99999999999"] {
            assert_eq!(parse_number(text), None);
        }
    }
}
