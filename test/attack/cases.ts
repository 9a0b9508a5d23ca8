/**
 * The attacks that Filewright is held to, and where each is made. Those without a
 * file are rows (`n`) or titles of the tests in this folder.
 */
export interface Attack {
  readonly n: number;
  /** The attack and its outcome. `W` is the workspace, `O` a place outside. */
  readonly title: string;
  /** Why it is made nowhere yet. */
  readonly missing?: string;
  /** A file elsewhere in the repository, and what it says. */
  readonly at?: readonly [file: string, says: string];
}

export const ATTACKS: readonly Attack[] = [
  { n: 1, title: "../O -> OUTSIDE_ALLOWED" },
  { n: 2, title: "absolute /etc/passwd -> OUTSIDE_ALLOWED" },
  { n: 3, title: "a/../../O -> OUTSIDE_ALLOWED" },
  { n: 4, title: "a/../a/f -> ok" },
  { n: 5, title: "W-evil/f sibling sharing the prefix -> OUTSIDE_ALLOWED" },
  { n: 6, title: "absolute path of W itself plus file -> ok" },
  { n: 7, title: "a//f, ./a/./f -> ok; //a/f is absolute -> OUTSIDE_ALLOWED" },
  { n: 8, title: "a/f/ (file with slash) -> not a directory" },
  { n: 9, title: "empty path -> INVALID_ARGUMENT" },
  { n: 10, title: "NUL inside -> INVALID_ARGUMENT, never truncated" },
  { n: 11, title: "256-byte component -> name too long" },
  { n: 12, title: "path > PATH_MAX but legal when walked (deep tree) -> ok through the walk" },
  { n: 13, title: "800 x a/../ -> ok" },
  { n: 14, title: "%2e%2e/O -> literal name, absent" },
  { n: 15, title: "..\\O on Linux -> literal name; on Windows OUTSIDE_ALLOWED" },
  { n: 16, title: "~/x -> no expansion unless asked" },
  { n: 17, title: "leading -rf name -> file, never an option" },
  { n: 18, title: "newline in name -> listed escaped, readable back" },
  { n: 19, title: "invalid UTF-8 name -> listed reversibly, readable by that form (peer fails)" },
  { n: 20, title: "bidi/ANSI escape in a name -> escaped in output" },
  { n: 21, title: "unpaired surrogate from JS -> INVALID_ARGUMENT, not U+FFFD" },
  { n: 22, title: "link -> O file, read -> OUTSIDE_ALLOWED" },
  { n: 23, title: "same, write; O unchanged" },
  { n: 24, title: "link dir -> O, dir/f" },
  { n: 25, title: "link/ trailing slash to O -> refused" },
  { n: 26, title: "relative link inside -> ok" },
  { n: 27, title: "absolute link to inside -> ok by rewrite (openat2 alone refuses)" },
  { n: 28, title: "dangling link to O, write/create -> refused, O not created" },
  {
    n: 29,
    title: "link in a *missing-parent* chain link/new/f with create_dirs -> refused, nothing made in O",
  },
  { n: 30, title: "loop a->b->a -> ELOOP error, quick" },
  { n: 31, title: "chain of 40 ok, 41 ELOOP" },
  { n: 32, title: "link -> /proc/self/root -> refused" },
  { n: 33, title: "link -> /proc/self/fd/N, /dev/fd/0 -> refused" },
  { n: 34, title: "delete(link) removes the link only" },
  { n: 35, title: "recursive delete with a link to O inside -> O intact" },
  { n: 36, title: "recursive copy: links copied as links or refused, never O's content" },
  { n: 37, title: "move of a link keeps it" },
  { n: 38, title: "glob/grep/tree do not enter link dirs to O nor loop on link to parent" },
  { n: 39, title: "creating a link pointing outside via patch (mode 120000) -> refused" },
  { n: 40, title: "gitlink mode 160000 in patch -> refused" },
  { n: 41, title: "root given as a symlink -> pinned at open; later retarget has no effect" },
  { n: 42, title: "hard link to O: write asks/denied, read flagged (Landlock alone allows)" },
  { n: 43, title: "read dir<->link" },
  { n: 44, title: "write new" },
  { n: 45, title: "overwrite/edit" },
  { n: 46, title: "mkdir -p" },
  { n: 47, title: "recursive delete" },
  { n: 48, title: "move/copy destination" },
  { n: 49, title: "list/stat: no metadata of O" },
  {
    n: 50,
    title: "moving a directory out while walking ..",
    at: ["crates/fs/tests/race.rs", "fn a_directory_that_is_moved_out_is_never_climbed_from"],
  },
  { n: 51, title: "swap of final file<->link" },
  { n: 52, title: "swap of final file<->FIFO -> never blocks" },
  {
    n: 53,
    title: "swap between approval and apply -> CONFLICT",
    at: ["test/hooks/approvals.test.ts", "changes while the reviewer thinks: a conflict"],
  },
  {
    n: 54,
    title:
      "attacker renames the temp file or plants it as a link first -> O_EXCL error, retried with a new nonce",
    at: ["crates/fs/src/write/temp.rs", "fn a_planted_name_is_not_used"],
  },
  {
    n: 55,
    title: "naive open in a Landlock worker -> 0 escapes",
    at: ["crates/fs/tests/race.rs", "fn naive_opens_on_confined_threads_escape_nowhere"],
  },
  { n: 56, title: "FIFO read -> NOT_REGULAR_FILE in <50 ms" },
  { n: 57, title: "100 FIFOs -> other ops still answer" },
  { n: 58, title: "FIFO write -> same" },
  { n: 59, title: "socket, block/char device (/dev/zero-like mknod in W) -> NOT_REGULAR_FILE" },
  { n: 60, title: "W=/proc subtree: st_size 0 files read up to the cap; mem refused" },
  { n: 61, title: "file growing while read -> stops at cap, flagged" },
  { n: 62, title: "file truncated while read (no mmap SIGBUS) -> error or short, process lives" },
  { n: 63, title: "5 GB sparse file read -> TOO_LARGE before allocation; ranged read ok" },
  { n: 64, title: "one 200 MB line -> capped" },
  { n: 65, title: "1 M entries directory -> paged, bounded memory" },
  { n: 66, title: "depth 10 000 tree -> bounded, no stack overflow in walk or delete" },
  { n: 67, title: "(a+)+$ on 1 MB of a's -> linear" },
  { n: 68, title: "regex of 10 MB / \\w{1000}{1000} -> LIMIT_EXCEEDED" },
  { n: 69, title: "glob {a,b}^30 brace bomb -> LIMIT_EXCEEDED" },
  {
    n: 70,
    title: "cancellation in the middle of grep -> <100 ms, threads freed",
    at: ["test/search.test.ts", "ends when it is told to"],
  },
  { n: 71, title: "EMFILE (low RLIMIT_NOFILE) -> retry/backoff or clean error, no leak" },
  { n: 72, title: "ENOSPC with short write: error, old content whole, no temp left (peers corrupt)" },
  { n: 73, title: "EDQUOT, EIO on write/fsync/close -> same" },
  {
    n: 74,
    title: "EROFS -> clean error",
    at: ["crates/fs/tests/disk.rs", "fn a_read_only_disk_is_said_to_be_one"],
  },
  {
    n: 75,
    title: "kill -9 at each syscall -> old or new whole; litter swept",
    at: ["test/workspace/recovery.slow.test.ts", "kill -9 at every system call that changes a file"],
  },
  { n: 76, title: "mode 0754, owner, xattr, ACL kept" },
  {
    n: 77,
    title: "hard-linked target stays linked, or explicit error in strict",
    at: ["crates/fs/tests/write.rs", "fn other_names_keep_their_bytes"],
  },
  { n: 78, title: "in-root symlink target: link kept, target changed" },
  { n: 79, title: "0444 file -> refused unless forced (peer overwrites)" },
  {
    n: 80,
    title: "unwritable directory, writable file -> in-place with backup or clear error",
    at: ["crates/fs/tests/disk.rs", "fn where_a_rename_is_not_allowed_a_file_is_written_in_place"],
  },
  {
    n: 81,
    title:
      "CRLF, BOM, missing final newline, latin-1 bytes kept by an edit elsewhere (peer: CRLF lost, e9 -> efbfbd)",
  },
  { n: 82, title: "20 concurrent disjoint edits -> 20 applied (peer: 1)" },
  { n: 83, title: "4 processes x 25 edits -> 100 applied or honest conflicts (peer: 62)" },
  { n: 84, title: "touch/mtime change, same bytes -> edit proceeds" },
  { n: 85, title: "same size and mtime restored, other bytes -> CONFLICT" },
  { n: 86, title: "multi-file: 3rd of 5 fails -> none applied" },
  {
    n: 87,
    title: "kill -9 between renames -> recovery rolls forward; second recovery is a no-op",
    at: ["test/workspace/recovery.slow.test.ts", "kill -9 at random moments"],
  },
  {
    n: 88,
    title: "forged/corrupt journal -> ignored and reported, touches nothing",
    at: ["test/workspace/journal.test.ts", "the forgery is one: under our own key it would be believed"],
  },
  {
    n: 89,
    title: "lock holder killed -> lock freed at once (OFD)",
    at: ["test/local.test.ts", "are free when the holder is killed"],
  },
  { n: 90, title: "two opposite moves a<->b at once -> no deadlock, one valid outcome" },
  {
    n: 91,
    title:
      "write .git/hooks/x, .GIT/HOOKS/x, .git/./hooks/x, via link, via rename from a neutral name, via parent rename -> PROTECTED_PATH each",
  },
  { n: 92, title: "protected path absent yet: first creation refused" },
  { n: 93, title: "renaming/deleting the *parent* of a protected path -> refused" },
  { n: 94, title: "deny rule on O reached through a link -> denied (CVE-2026-25724)" },
  { n: 95, title: "grant of a does not cover ab nor A on case-sensitive fs; does cover A on insensitive" },
  {
    n: 96,
    title: "grant file replaced by a link / world-writable -> refused",
    at: ["test/grants.test.ts", "others could have written it"],
  },
  { n: 97, title: "cwd/root argument from the model never widens policy" },
  { n: 98, title: "hook throws or times out -> denied, not allowed" },
  { n: 99, title: "same error for absent and present outside files" },
  {
    n: 100,
    title: "NFC/NFD twins: protected name in the other form refused on normalising fs",
    at: ["crates/core/src/access/fold.rs", "fn twins_are_one_name"],
  },
  {
    n: 101,
    title:
      "Windows: CON, com1.txt, COM¹, NUL .txt, f.txt::$DATA, f., f , PROGRA~1, C:f, \\\\?\\, UNC, junction -> INVALID_ARGUMENT/OUTSIDE_ALLOWED",
    at: ["crates/core/src/windows.rs", "fn names_that_stand_for_something_else_are_refused"],
  },
  { n: 102, title: "kernel without openat2 (seccomp ENOSYS, EPERM) -> all cases pass on the walk" },
  { n: 103, title: "kernel:'require' with Landlock absent -> refuses to start" },
  {
    n: 104,
    title: "confined pool: outside denied; main thread, libuv, Worker, child unaffected",
    at: [
      "test/workspace/kernel.test.ts",
      "leaves the event loop, its thread pool, workers and children alone",
    ],
  },
  {
    n: 105,
    title:
      "sandboxed command: TCP, UDP, raw, io_uring, /dev/tcp blocked; AF_UNIX allowed ; inherited fds closed; children too; chmod/utimes outside denied in the strict tier (Landlock tier cannot)",
    at: ["test/workspace/commands.test.ts", "reaches no network by any of its ways"],
  },
  {
    n: 106,
    title: "command leaves a link to O, next file tool call -> refused (CVE-2026-39861)",
    at: [
      "test/workspace/commands.test.ts",
      "leaves a link that leads out, and the next file tool does not follow it",
    ],
  },
];
