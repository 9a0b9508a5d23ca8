/**
 * Attempts of a command, in each tier: a table that `table.mjs` runs as one user and prints.
 *
 * A row is a shell script and a look at the disk afterwards. `strict` and `fast` say whether
 * the attempt must come to nothing there. Where `fast` is false the fast tier is known not to
 * hold, says `partial`, and the row shows that it does not.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, lstatSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** @typedef {{ base: string, root: string, result: any, pid: number, marker: string, before: any }} Seen */
/** @typedef {{ name: string, script: string, ok: (seen: Seen) => boolean, strict: boolean, fast: boolean, access?: object, cwd?: string, shell?: string, setup?: (world: { root: string, put: (path: string, text: string) => void }) => void }} Row */

const read = (...names) => readFileSync(join(...names), "utf8");
const outIsWhole = ({ base }) => read(base, "out") === "out";
const said =
  (text) =>
  ({ result }) =>
    !`${result.data?.stdout ?? ""}`.includes(text);
/** Processes of the machine with the marker of this run in their arguments. */
export function marked(marker) {
  return readdirSync("/proc").filter((name) => {
    if (!/^\d+$/u.test(name)) return false;
    try {
      return read("/proc", name, "cmdline").split("\0").includes(marker);
    } catch {
      return false;
    }
  });
}
const nothingLeft = ({ marker }) => marked(marker).length === 0;

/** Returns true when an entry has this name below a directory, however long its path is. */
function found(directory, name) {
  const args = [directory, "-name", name];
  return execFileSync("find", args, { encoding: "utf8" }).trim() !== "";
}
/** Checks that a file is missing or lacks this text, after making the directories above it readable again. */
const without =
  (text, path, ...closed) =>
  ({ root }) => {
    for (const directory of closed)
      if (existsSync(join(root, directory))) chmodSync(join(root, directory), 0o755);
    return !existsSync(join(root, path)) || !read(root, path).includes(text);
  };

const held = (name, script, ok, more = {}) => ({ name, script, ok, strict: true, fast: true, ...more });
/** Holds in the strict tier alone. */
const strict = (name, script, ok, more = {}) => held(name, script, ok, { fast: false, ...more });

const outside = [
  held("writes outside", "echo x > ../out", outIsWhole),
  held("appends outside", "echo x >> ../out", outIsWhole),
  held("empties a file outside", ": > ../out", outIsWhole),
  held("removes a file outside", "rm -f ../out", outIsWhole),
  held("makes a file outside", "echo x > ../new", ({ base }) => !existsSync(join(base, "new"))),
  held("makes a directory outside", "mkdir ../new", ({ base }) => !existsSync(join(base, "new"))),
  held("makes a pipe outside", "mkfifo ../new", ({ base }) => !existsSync(join(base, "new"))),
  held("makes a link outside", "ln -s x ../new", ({ base }) => !existsSync(join(base, "new"))),
  held("moves a file out", "echo x > in; mv in ../new", ({ base }) => !existsSync(join(base, "new"))),
  held("moves a file in", "mv ../out taken", outIsWhole),
  held("writes through a link", "ln -s ../out l; echo x > l", outIsWhole),
  held("writes through a hard link", "ln ../out h && echo x > h", outIsWhole),
  held("writes through /proc/self/cwd", "echo x > /proc/self/cwd/../out", outIsWhole),
  held("writes through /proc/self/root", 'echo x > "/proc/self/root$(dirname "$PWD")/out"', outIsWhole),
  held("has a child of a child write outside", "sh -c 'sh -c \"echo x > ../out\"'", outIsWhole),
  held("writes outside from the background", "(echo x > ../out) & wait $!", outIsWhole),
  strict(
    "changes the mode of a file outside",
    "chmod 777 ../out",
    ({ base, before }) => lstatSync(join(base, "out")).mode === before.mode,
  ),
  strict(
    "changes the times of a file outside",
    "touch -d 2001-01-01 ../out",
    ({ base, before }) => lstatSync(join(base, "out")).mtimeMs === before.mtimeMs,
  ),
  strict("sees the facts of a file outside", 'stat -c %s "$(dirname "$PWD")/out"', said("3")),
  held("reads the passwords of the machine", "cat /etc/shadow; echo", said("root:")),
  held(
    "reads a disk",
    "for d in /dev/[vsx]d[a-z] /dev/nvme*n1; do head -c 1 $d > /dev/null && echo read; done",
    said("read"),
  ),
  held(
    "writes what is read-only in a narrower workspace",
    "echo x > ../package.json",
    ({ root }) => read(root, "package.json") === "{}\n",
    { access: { write: ["src"] }, cwd: "src" },
  ),
];

const policy = [
  strict("reads a denied file", "cat denied/hidden.txt", said("hidden content")),
  strict("finds a denied file", "grep -r 'hidden content' .", said("hidden content")),
  strict("names a denied file", "ls denied", said("hidden.txt")),
  strict(
    "writes a denied file",
    "echo x > denied/hidden.txt",
    ({ root }) => read(root, "denied/hidden.txt") === "hidden content\n",
  ),
  strict("makes a denied file", "echo x > denied/new", ({ root }) => !existsSync(join(root, "denied/new"))),
  strict("removes a denied directory", "rm -rf denied", ({ root }) =>
    existsSync(join(root, "denied/hidden.txt")),
  ),
  strict("moves a denied directory", "mv denied moved && cat moved/hidden.txt", said("hidden content")),
  strict(
    "moves the directory above a denied one",
    "mv nested moved; cat moved/private/hidden.txt",
    ({ root, result }) =>
      existsSync(join(root, "nested/private/hidden.txt")) && said("private content")({ result }),
    { access: { deny: ["nested/private"] } },
  ),
  held(
    "replaces a directory above what an editor runs",
    "mv nested moved; mkdir -p nested/.vscode; echo evil > nested/.vscode/tasks.json",
    without("evil", "nested/.vscode/tasks.json"),
  ),
  held(
    "replaces the directory of what an editor runs",
    "cd nested; mv .vscode moved; mkdir -p .vscode; echo evil > .vscode/tasks.json",
    without("evil", "nested/.vscode/tasks.json"),
  ),
  held(
    "replaces the directory of git's attributes",
    "mkdir -p .git/info; mv .git/info .git/moved; mkdir .git/info; echo evil > .git/info/attributes",
    without("evil", ".git/info/attributes"),
  ),
  held(
    "closes the repository around a commondir",
    "echo evil > .git/commondir; chmod 311 .git",
    without("evil", ".git/commondir", ".git"),
  ),
  held(
    "closes the root around a commondir",
    "echo evil > .git/commondir; chmod 311 .",
    without("evil", ".git/commondir", "."),
  ),
  held(
    "closes all directories above a task",
    "mkdir -p d/e/.vscode; echo evil > d/e/.vscode/tasks.json; chmod 111 d/e/.vscode; chmod 444 d/e; chmod 600 d",
    without("evil", "d/e/.vscode/tasks.json", "d", "d/e", "d/e/.vscode"),
  ),
  held(
    "keeps a task in directories that nobody may change",
    "mkdir -p d/.vscode; echo evil > d/.vscode/tasks.json; chmod 555 d/.vscode d; echo evil > .git/commondir",
    ({ root }) =>
      without("evil", "d/.vscode/tasks.json", "d", "d/.vscode")({ root }) &&
      without("evil", ".git/commondir")({ root }),
  ),
  held(
    "makes a commondir below a path that is too long",
    "top=$PWD; d=$(printf 'd%.0s' $(seq 250)); for i in $(seq 17); do mkdir $d && cd $d; done; mkdir -p .git && echo evil > .git/commondir && mkdir $top/made",
    ({ root }) => existsSync(join(root, "made")) && !found(root, "commondir"),
  ),
  strict("reads a secret", "cat .env", said("s3cret")),
  strict("copies a secret", "cp .env copied; cat copied", said("s3cret")),
  strict("moves a secret", "mv .env moved; cat moved", said("s3cret")),
  strict("links a secret", "ln .env linked; cat linked", said("s3cret")),
  strict("follows a link to a secret", "ln -s .env follow; cat follow", said("s3cret")),
  strict("writes a secret", "echo x > .env", ({ root }) => read(root, ".env").includes("s3cret")),
  strict(
    "changes a hook of git",
    "echo x > .git/hooks/pre-commit.sample",
    ({ root }) => read(root, ".git/hooks/pre-commit.sample") === "sample\n",
  ),
  strict(
    "adds a hook to git",
    "echo x > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
    ({ root }) => !existsSync(join(root, ".git/hooks/pre-commit")),
  ),
  strict(
    "changes git's config",
    "echo '[core] fsmonitor = x' >> .git/config",
    ({ root }) => !read(root, ".git/config").includes("fsmonitor"),
  ),
  strict(
    "has git change its config",
    "git config core.fsmonitor x",
    ({ root }) => !read(root, ".git/config").includes("fsmonitor"),
  ),
  strict(
    "replaces git's config",
    "mv .git/config c; printf '[core]\\nfsmonitor = x\\n' > .git/config",
    ({ root }) => !read(root, ".git/config").includes("fsmonitor"),
  ),
  held(
    "replaces the repository",
    "mv .git old; git init -q .; git config core.fsmonitor x",
    ({ root }) => !read(root, ".git/config").includes("fsmonitor"),
  ),
  held(
    "makes a commondir",
    "mkdir c; echo c > .git/commondir",
    ({ root }) => !existsSync(join(root, ".git/commondir")),
  ),
  held(
    "makes attributes in git",
    "mkdir -p .git/info; echo '* filter=x' > .git/info/attributes",
    ({ root }) => !existsSync(join(root, ".git/info/attributes")),
  ),
  held(
    "links git's info elsewhere",
    "rm -rf .git/info; mkdir i; echo '* filter=x' > i/attributes; ln -s ../i .git/info",
    ({ root }) => !existsSync(join(root, ".git/info/attributes")),
  ),
  held(
    "makes a task of an editor",
    "mkdir -p .vscode; echo '{}' > .vscode/tasks.json",
    ({ root }) => !existsSync(join(root, ".vscode/tasks.json")),
  ),
  held(
    "makes a hook of an agent",
    "mkdir -p sub/.claude; echo '{}' > sub/.claude/settings.json",
    ({ root }) => !existsSync(join(root, "sub/.claude/settings.json")),
  ),
  held(
    "makes a .git that names another directory",
    "mkdir -p e/hooks sub; echo 'gitdir: ../e' > sub/.git",
    ({ root }) => !existsSync(join(root, "sub/.git")),
  ),
  held(
    "makes a .git that is a link",
    "mkdir -p e sub; ln -s ../e sub/.git",
    ({ root }) => !existsSync(join(root, "sub/.git")),
  ),
  strict(
    "changes what an editor runs",
    "echo x > .husky/pre-push",
    ({ root }) => read(root, ".husky/pre-push") === "husky\n",
  ),
  held(
    "reads our state",
    'cat "$(dirname "$PWD")"/state/*/* "$(dirname "$PWD")"/state/*',
    said("journal key"),
  ),
  held(
    "writes our state",
    'echo x > "$(dirname "$PWD")"/state/key',
    ({ base }) => read(base, "state/key") === "journal key\n",
  ),
];

const COVERED = [".env", "certs/dev.pem", "denied/hidden.txt"];
const asA = "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b";
/** Commits files that are denied or secret, as many repositories do. */
const tracksSecrets = ({ root, put }) => {
  put("certs/dev.pem", "a key\n");
  const git = (...args) =>
    execFileSync("git", ["-C", root, "-c", "user.name=A", "-c", "user.email=a@b", ...args]);
  git("add", "--force", ...COVERED);
  git("commit", "-qm", "secrets");
};
/** Checks that every commit, the index and every stash have the covered files as they were. */
const tracksThemStill = ({ root }) => {
  // A file that is not in a tree any more has no hash.
  const git = (...args) => spawnSync("git", ["-C", root, ...args], { encoding: "utf8" }).stdout.trim();
  const first = git("rev-list", "--reverse", "HEAD").split("\n")[1];
  const stashes = git("stash", "list", "--format=%H").split("\n").filter(Boolean);
  const trees = ["HEAD", ...stashes, git("write-tree")];
  return COVERED.every((path) =>
    trees.every((tree) => git("rev-parse", `${tree}:${path}`) === git("rev-parse", `${first}:${path}`)),
  );
};
const tracked = [
  "git commit -qam x",
  "git add -A; git commit -qm x",
  "git add .; git commit -qm x",
  "git add -u; git commit -qm x",
  "git add --ignore-errors -A; git commit -qm x",
  "git stash",
  "git stash -u",
  "git commit -qm x .env certs/dev.pem",
  "git update-index --refresh; git update-index .env certs/dev.pem denied/hidden.txt; git commit -qm x",
  "git checkout -q -b side; git commit -qam x; git merge -q main; git rebase -q HEAD~1",
  "chmod 777 .env certs/dev.pem denied; cat .env; rm -f .env; mv certs/dev.pem moved; git add -A; git commit -qm x",
].map((script) =>
  held(
    `has git record covered secrets: ${script}`,
    `${asA}; echo z >> a; ${script}`,
    tracksThemStill,
    // The fast tier covers nothing: git records the files themselves.
    { setup: tracksSecrets, fast: !script.includes("rm -f") },
  ),
);

const processes = [
  ...["environ", "maps", "cmdline", "status", "mountinfo"].map((name) =>
    held(`reads ${name} of the host`, `cat /proc/HOST/${name} > /dev/null && echo read`, said("read")),
  ),
  held("lists descriptors of the host", "ls /proc/HOST/fd && echo read", said("read")),
  held(
    "reads through the root of the host",
    'cat "/proc/HOST/root$(dirname "$PWD")/state/key"; cat "/proc/HOST/cwd/package.json" && echo read',
    ({ result }) =>
      !`${result.data.stdout}`.includes("journal key") && !`${result.data.stdout}`.includes("read"),
  ),
  held(
    "reads the environment of any other process",
    "cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -c FILEWRIGHT_HOST",
    ({ result }) => `${result.data.stdout}`.trim() === "0",
  ),
  held("kills the host", "kill -9 HOST", () => true),
  held("leaves a process in a session of its own", "setsid sleep MARKER > /dev/null 2>&1 &", nothingLeft),
  held(
    "leaves a process of a double fork",
    "(setsid sh -c 'sleep MARKER & sleep MARKER' > /dev/null 2>&1 &) ; true",
    nothingLeft,
  ),
  held(
    "leaves a process without a terminal",
    "nohup setsid nohup sleep MARKER > /dev/null 2>&1 & disown 2>/dev/null; true",
    nothingLeft,
  ),
  held(
    "leaves a daemon whose parents ended",
    "sh -c 'sh -c \"setsid sleep MARKER &\" &' > /dev/null 2>&1; true",
    nothingLeft,
  ),
  held("keeps the capabilities of root", "exec sed -n 's/^CapEff:.//p' /proc/self/status", ({ result }) =>
    /^0*$/u.test(`${result.data.stdout}`.trim()),
  ),
];

/**
 * Prints every file of the kernel that it can open for writing, by opening it: access(2) does not judge a command that
 * is the owner. Links are left out, because those in `/proc/self/fd` lead to the command's own files.
 */
export const OPEN_KERNEL_FILES = `perl -MFcntl -MFile::Find -e '
  find({ no_chdir => 1, wanted => sub {
    return if -l $_ || !-f _;
    print "$_\\n" if sysopen(my $file, $_, O_WRONLY | O_NONBLOCK);
  } }, grep { -d } "/proc", "/sys")' 2>/dev/null`;

/**
 * Makes namespaces of its own, in which a process has all capabilities, and there mounts the file systems of the
 * kernel anew and undoes the mounts of the sandbox. Prints what it can then open.
 */
export const MOUNT_KERNEL_FILES = `perl -e '
  use Fcntl;
  mkdir "m";
  my ($mount, $umount, $unshare) = (MOUNT_CALLS);
  syscall($unshare, 0x7E020000);
  my $child = fork;
  if ($child) { waitpid $child, 0; exit }
  my ($none, $at, $proc, $sys) = ("none", "m", "/proc", "/sys");
  my $opened = sub {
    for my $file (glob "$_[0]/* $_[0]/kernel/* $_[0]/sys/kernel/*") {
      print "$file\\n" if -f $file && sysopen(my $handle, $file, O_WRONLY | O_NONBLOCK);
    }
  };
  for my $type (split " ", "proc sysfs cgroup2 cgroup bpf debugfs securityfs") {
    for my $flags (0, 15) {
      next if syscall($mount, $none, $at, $type, $flags, 0) != 0;
      $opened->("m");
      syscall($umount, $at, 2);
    }
  }
  for my $place ($proc, $sys) {
    syscall($mount, $none, $place, 0, 4128, 0);
    syscall($umount, $place, 2);
    $opened->($place);
    $opened->("m") if syscall($mount, $place, $at, 0, 20480, 0) == 0 && syscall($mount, $none, $at, 0, 4128, 0) == 0;
  }'`.replace("MOUNT_CALLS", process.arch === "arm64" ? "40, 39, 97" : "165, 166, 272");

const saysNothing = ({ result }) => result.data?.stdout === "";
const kernel = [
  held("opens files of the kernel for writing", OPEN_KERNEL_FILES, saysNothing),
  held("mounts the file systems of the kernel anew", MOUNT_KERNEL_FILES, saysNothing),
  held(
    "has the kernel run a program",
    "echo '|/bin/true' > /proc/sys/kernel/core_pattern; echo /bin/true > /sys/kernel/uevent_helper",
    () => !read("/proc/sys/kernel/core_pattern").includes("/bin/true"),
  ),
  held(
    "makes a control group",
    "for at in /sys/fs/cgroup /sys/fs/cgroup/*; do mkdir $at/filewright-row && echo made; done",
    saysNothing,
  ),
];

const network = [
  held("connects by TCP", "exec 3<>/dev/tcp/127.0.0.1/PORT && echo through", said("through"), {
    shell: "bash",
  }),
  held(
    "makes a socket of the network",
    "perl -MSocket -e 'for $f (2, 10, 16, 17, 40) { print \"through\" if socket(S, $f, 2, 0) && $f != 16 || $f == 40 && socket(S, 40, 1, 0) }'; exec 3<>/dev/udp/127.0.0.1/53 && echo sent",
    ({ result }) => !`${result.data.stdout}`.includes("through") && !`${result.data.stdout}`.includes("sent"),
    { shell: "bash" },
  ),
];

const works = [
  held(
    "changes files inside",
    "echo x > in && mkdir d && mv in d/in && ln -s d l && rm -r d",
    ({ result }) => result.data.exit_code === 0,
  ),
  held(
    "reads the system",
    "cat /etc/passwd > /dev/null && test -r /proc/meminfo",
    ({ result }) => result.data.exit_code === 0,
  ),
  held(
    "throws things away",
    "echo x > /dev/null && head -c 8 /dev/urandom > /dev/null",
    ({ result }) => result.data.exit_code === 0,
  ),
  held(
    "commits with git",
    "echo two > b && git add . && git -c user.name=A -c user.email=a@b commit -qm two && git status --porcelain && git log --oneline | wc -l",
    ({ result }) => result.data.exit_code === 0 && /\b2\s*$/u.test(result.data.stdout),
  ),
  held(
    "makes a branch and a tag and merges",
    "git checkout -qb side && echo s > s && git add s && git -c user.name=A -c user.email=a@b commit -qm side && git checkout -q - && git merge -q side && git tag v1 && git stash list",
    ({ result }) => result.data.exit_code === 0,
  ),
];

/** @type {readonly Row[]} */
export const ROWS = [...outside, ...policy, ...tracked, ...processes, ...kernel, ...network, ...works];
