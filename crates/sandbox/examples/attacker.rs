//! The attacker for the tests in `test/attack`: a program that exchanges two names as fast as
//! possible, and one that starts another program as if the kernel lacked a system call. It is not
//! published.
//!
//! ```text
//! attacker exchange A B ROUNDS          runs until stdin closes; prints `enough` after ROUNDS, and
//! the count attacker reach                        tries each way to a network, a socket and keyed
//! data: `name errno`, one per line, or `name killed SIGNAL` attacker without openat2 ENOSYS CMD…  CMD gets ENOSYS (or EPERM) from every such call
//! ```
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["exchange", a, b, rounds] => match rounds.parse() {
            Ok(rounds) => linux::exchange(a, b, rounds),
            Err(_) => Err(format!("{rounds} is no number")),
        },
        ["reach"] => {
            linux::reach();
            Ok(())
        }
        ["without", call, errno, command @ ..] if !command.is_empty() => {
            linux::without(call, errno, command)
        }
        _ => {
            Err("attacker exchange A B ROUNDS | attacker without CALL ERRNO COMMAND...".to_owned())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("attacker: {why}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("attacker: only for Linux");
    ExitCode::FAILURE
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io::Read;
    use std::os::unix::process::CommandExt;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use libc::sock_filter;
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    /// The number of exchanges between two pauses: odd, so that both states occur during pauses.
    const BURST: u64 = 255;
    /// The pauses in microseconds. Calls that check a name several times complete during the longer
    /// pauses, and are interrupted during the shorter ones.
    const RESTS: [u64; 4] = [0, 50, 200, 1000];

    pub fn exchange(a: &str, b: &str, rounds: u64) -> Result<(), String> {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        std::thread::spawn(move || {
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            told.store(true, Ordering::Relaxed);
        });
        let (mut done, mut missed) = (0_u64, 0_u64);
        while !stop.load(Ordering::Relaxed) {
            match renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE) {
                Ok(()) => done += 1,
                // The attacked program has just moved the entry.
                Err(_) => {
                    missed += 1;
                    continue;
                }
            }
            if done == 1 {
                println!("ready");
            }
            if done == rounds {
                println!("enough");
            }
            if done.is_multiple_of(BURST) {
                let burst = done / BURST;
                // A caller that needs more rounds than requested is slow, so it gets longer and
                // longer pauses.
                let slow = done.saturating_sub(rounds) / (24 * BURST);
                let rest = RESTS[(burst % 4) as usize] << slow.min(12);
                std::thread::sleep(Duration::from_micros(rest));
            }
        }
        println!("{done} {missed}");
        Ok(())
    }

    pub fn reach() {
        let open = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        // The list includes the descriptor of the directory that was just read.
        println!("descriptors {}", open.saturating_sub(1));
        let mut parameters = [0_u8; 120];
        // SAFETY: the socket calls take only numbers; the last call writes at most the 120 bytes of
        // its parameter structure, which is ours.
        let got = unsafe {
            let socket =
                |domain, kind, protocol| errno_of(libc::socket(domain, kind, protocol).into());
            [
                ("raw", socket(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP)),
                ("packet", socket(libc::AF_PACKET, libc::SOCK_RAW, 0)),
                ("netlink", socket(libc::AF_NETLINK, libc::SOCK_RAW, 0)),
                ("unix", socket(libc::AF_UNIX, libc::SOCK_STREAM, 0)),
                ("unix datagram", socket(libc::AF_UNIX, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0)),
                (
                    "io_uring",
                    errno_of(libc::syscall(libc::SYS_io_uring_setup, 1, parameters.as_mut_ptr())),
                ),
            ]
        };
        for (name, errno) in got {
            println!("{name} {errno}");
        }
        reach_by_pairs_and_keys();
        #[cfg(target_arch = "x86_64")]
        reach_by_other_conventions();
    }

    /// Tries the kinds of pairs of sockets, and data that is reached by a key.
    fn reach_by_pairs_and_keys() {
        let mut pair = [0; 2];
        let kinds = [
            ("stream pair", libc::SOCK_STREAM | libc::SOCK_CLOEXEC),
            ("packet pair", libc::SOCK_SEQPACKET),
            ("datagram pair", libc::SOCK_DGRAM | libc::SOCK_NONBLOCK),
            ("raw pair", libc::SOCK_RAW),
        ];
        for (name, kind) in kinds {
            // SAFETY: the call writes two descriptors into `pair`.
            let made = unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, pair.as_mut_ptr()) };
            println!("{name} {}", errno_of(made.into()));
        }
        let keyed = [
            ("add_key", libc::SYS_add_key),
            ("request_key", libc::SYS_request_key),
            ("keyctl", libc::SYS_keyctl),
            ("shmget", libc::SYS_shmget),
            ("shmat", libc::SYS_shmat),
            ("msgget", libc::SYS_msgget),
            ("msgrcv", libc::SYS_msgrcv),
            ("semget", libc::SYS_semget),
            ("semop", libc::SYS_semop),
            ("mq_open", libc::SYS_mq_open),
            ("mount", libc::SYS_mount),
            ("fsopen", libc::SYS_fsopen),
        ];
        for (name, call) in keyed {
            // SAFETY: each call gets numbers or null, which none of them writes to.
            let made = unsafe { libc::syscall(call, 0, 0, 0, 0, 0) };
            println!("{name} {}", errno_of(made));
        }
    }

    /// Tries the calls in the two further conventions of x86_64: x32, and that of 32-bit programs,
    /// in which `socketcall` takes its arguments from memory.
    #[cfg(target_arch = "x86_64")]
    fn reach_by_other_conventions() {
        const X32_BIT: i64 = 0x4000_0000;
        let socket = (libc::SYS_socket | X32_BIT, libc::AF_UNIX);
        // SAFETY: the call takes only numbers.
        let made = unsafe { libc::syscall(socket.0, socket.1, libc::SOCK_STREAM, 0) };
        println!("unix of x32 {}", errno_of(made));
        for (name, number) in [("socket of 32 bits", 359_i64), ("socketcall of 32 bits", 102)] {
            // SAFETY: the child makes system calls only. The arguments of `socketcall` are on a
            // page below 4 GiB that it maps.
            unsafe {
                let child = libc::fork();
                if child == 0 {
                    let (protection, flags) = (
                        libc::PROT_READ | libc::PROT_WRITE,
                        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_32BIT,
                    );
                    let page = libc::mmap(std::ptr::null_mut(), 4096, protection, flags, -1, 0);
                    page.cast::<[i32; 3]>().write([libc::AF_UNIX, libc::SOCK_STREAM, 0]);
                    let mut result = number;
                    std::arch::asm!(
                        "push rbx", "mov rbx, {first}", "int 0x80", "pop rbx",
                        first = in(reg) 1_i64,
                        inlateout("rax") result,
                        in("rcx") page,
                        in("rdx") 0_i64,
                    );
                    libc::_exit(if result < 0 { (-result) as i32 } else { 0 });
                }
                let mut status = 0;
                libc::waitpid(child, &raw mut status, 0);
                if libc::WIFSIGNALED(status) {
                    println!("{name} killed {}", libc::WTERMSIG(status));
                } else {
                    println!("{name} {}", libc::WEXITSTATUS(status));
                }
            }
        }
    }

    /// Returns the errno of a call that returned this, or 0.
    fn errno_of(result: i64) -> i32 {
        match result {
            ..0 => std::io::Error::last_os_error().raw_os_error().unwrap_or(-1),
            _ => 0,
        }
    }

    pub fn without(call: &str, errno: &str, command: &[&str]) -> Result<(), String> {
        let number = match call {
            "openat2" => libc::SYS_openat2,
            "landlock" => libc::SYS_landlock_create_ruleset,
            other => return Err(format!("{other} is not known")),
        };
        let errno = match errno {
            "ENOSYS" => libc::ENOSYS,
            "EPERM" => libc::EPERM,
            other => return Err(format!("{other} is not known")),
        };
        let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
        // The filter loads the number of the call, returns the error if it matches, and otherwise
        // allows the call.
        let steps = [
            step(0x20, 0, 0, 0),
            step(0x15, 0, 1, number as u32),
            step(0x06, 0, 0, 0x0005_0000 | errno as u32),
            step(0x06, 0, 0, 0x7FFF_0000),
        ];
        let program = libc::sock_fprog { len: 4, filter: steps.as_ptr().cast_mut() };
        // SAFETY: the first call takes numbers; `program` describes `steps`, which outlives the
        // second, and the kernel copies it.
        let refused = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
                || libc::prctl(
                    libc::PR_SET_SECCOMP,
                    libc::SECCOMP_MODE_FILTER,
                    &raw const program,
                    0,
                    0,
                ) != 0
        };
        if refused {
            return Err(format!("no filter: {}", std::io::Error::last_os_error()));
        }
        let (name, arguments) = command.split_first().ok_or("no command")?;
        Err(std::process::Command::new(name).args(arguments).exec().to_string())
    }
}
