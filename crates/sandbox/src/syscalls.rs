//! The numbers of system calls by name, for hosts that forbid more calls than the filter does.
//!
//! The kernel never changes the numbers. A name that exists only on another processor architecture
//! is accepted and has no effect, so that a host can use one list on every machine.

use filewright_core::{Code, Error, Result};

/// One call per line: name, number on x86_64, number on aarch64; `-` if it does not exist there.
const SYSCALL_TABLE: &str = include_str!("syscalls.txt");

/// The call that cannot be forbidden, because no command could start without it.
const REQUIRED_CALL: &str = "execve";

/// Yields the columns of each line: name, number on x86_64, number on aarch64.
fn table_columns() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let lines = SYSCALL_TABLE.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let mut columns = line.split(' ');
        Some((columns.next()?, columns.next()?, columns.next()?))
    })
}

/// Returns the names of the calls that can be forbidden, in alphabetical order.
pub fn syscall_names() -> impl Iterator<Item = &'static str> {
    table_columns().map(|(name, ..)| name).filter(|&name| name != REQUIRED_CALL)
}

/// Returns the numbers of the named calls on this processor architecture, without those that do not
/// exist on it.
///
/// # Errors
/// `INVALID_ARGUMENT` for a name that is not in [`syscall_names`].
pub(crate) fn call_numbers(names: &[String]) -> Result<Vec<u32>> {
    let mut numbers = Vec::with_capacity(names.len());
    for name in names {
        let line = table_columns().find(|&(known, ..)| known == name && known != REQUIRED_CALL);
        let Some((_, on_x86_64, on_aarch64)) = line else {
            let what = format!("there is no system call {name:?} to forbid");
            return Err(Error::new(Code::InvalidArgument, what));
        };
        let here = if cfg!(target_arch = "aarch64") { on_aarch64 } else { on_x86_64 };
        numbers.extend(here.parse::<u32>());
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(names: &[&str]) -> Result<Vec<u32>> {
        call_numbers(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn numbers_are_those_of_the_system_headers() {
        for (name, number) in [
            ("accept4", libc::SYS_accept4),
            ("chdir", libc::SYS_chdir),
            ("clone3", libc::SYS_clone3),
            ("fchmodat", libc::SYS_fchmodat),
            ("io_uring_setup", libc::SYS_io_uring_setup),
            ("mkdirat", libc::SYS_mkdirat),
            ("mount", libc::SYS_mount),
            ("openat", libc::SYS_openat),
            ("ptrace", libc::SYS_ptrace),
            ("renameat2", libc::SYS_renameat2),
            ("sync", libc::SYS_sync),
            ("unlinkat", libc::SYS_unlinkat),
        ] {
            assert_eq!(numbers(&[name]), Ok(vec![number as u32]), "{name}");
        }
    }

    #[test]
    fn every_line_has_a_name_of_its_own_and_two_columns_of_numbers() {
        let all: Vec<_> = table_columns().collect();
        assert!(all.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(all.len() > 350);
        for (name, on_x86_64, on_aarch64) in all {
            for column in [on_x86_64, on_aarch64] {
                assert!(column == "-" || column.parse::<u32>().is_ok(), "{name}");
            }
        }
    }

    #[test]
    fn calls_that_this_processor_lacks_need_no_number() {
        let (here, both) = (numbers(&["fork"]).unwrap(), numbers(&["fork", "sync"]).unwrap());
        assert_eq!(here.len(), usize::from(cfg!(target_arch = "x86_64")));
        assert_eq!(both.len(), here.len() + 1);
    }

    #[test]
    fn unknown_names_and_the_call_that_starts_a_command_are_refused() {
        for name in ["", "unlink_at", "UNLINK", "execve"] {
            assert_eq!(numbers(&[name]).unwrap_err().code, Code::InvalidArgument, "{name}");
        }
    }
}
