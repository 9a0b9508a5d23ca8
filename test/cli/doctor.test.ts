/** `filewright doctor` in broken states: it ends in order, and each has one line with what is wrong and a remedy. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  hasWasm,
  install,
  type Installation,
  PLATFORM,
  VERSION,
  WORKING_ADDON,
} from "../support/installed-package.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-doctor-")));
const NOBODY = 65_534;
const canBecome = process.getuid?.() === 0;
const hasStrace = spawnSync("strace", ["-V"]).status === 0;
const canUnmount = canBecome && spawnSync("unshare", ["-m", "sh", "-c", "umount -l /proc"]).status === 0;

beforeAll(() => {
  chmodSync(base, 0o755);
  for (const name of ["ws", "closed", "home", "tmp", "locked", "bin"]) mkdirSync(join(base, name));
  for (const name of ["home", "ws"]) if (canBecome) chownSync(join(base, name), NOBODY, NOBODY);
  chmodSync(join(base, "tmp"), 0o1777);
  chmodSync(join(base, "closed"), 0o700);
  chmodSync(join(base, "locked"), 0o555);
  writeFileSync(
    join(base, "old-node.cjs"),
    `
    Object.defineProperty(process, "version", { value: "v18.20.4" });
    Object.defineProperty(process, "versions", { value: { ...process.versions, node: "18.20.4" } });`,
  );
  writeFileSync(join(base, "wrong.json"), '{ "rots": ["ws"] }');
  writeFileSync(join(base, "locked.json"), '{ "stateDir": "locked/state" }');
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

interface State {
  readonly installed?: Installation;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly as?: "nobody";
  /** A program that starts the command. */
  readonly under?: readonly string[];
}

/** Runs doctor in a state, as text and as JSON. */
function reportOf(state: State) {
  const { out, status } = examine({ ...state, args: [...(state.args ?? []), "--json"] });
  return { text: examine(state).out, report: JSON.parse(out) as Report, status };
}

/** Runs doctor in a state. `@@` stands for the directory of this test. */
function examine({ installed, args = [], env = {}, as, under = [] }: State) {
  const here = (text: string): string => text.replaceAll("@@", base);
  // Another user cannot write where lines are counted, and says so.
  const uncounted = as === undefined ? {} : { NODE_V8_COVERAGE: "" };
  const { command, remove } = install(installed ?? { addon: WORKING_ADDON });
  try {
    const argv = [...under, process.execPath, command, "doctor", "--root", "@@/ws", ...args].map(here);
    const { stdout, stderr, status } = spawnSync(argv[0] as string, argv.slice(1), {
      cwd: base,
      encoding: "utf8",
      env: Object.fromEntries(
        Object.entries({
          PATH: process.env["PATH"] ?? "",
          HOME: "@@/home",
          TMPDIR: "@@/tmp",
          ...uncounted,
          ...env,
        }).map(([name, value]) => [name, here(value)]),
      ),
      ...(as === undefined ? {} : { uid: NOBODY, gid: NOBODY }),
    });
    return { out: stdout.replaceAll(base, "@@").replaceAll(dirname(command), "BIN"), err: stderr, status };
  } finally {
    remove();
  }
}

interface Report {
  readonly works: boolean;
  readonly checks: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly remedy?: string;
  }[];
}

const MISSING = `the package @filewright/native-${PLATFORM} is not installed: optional dependencies were left out (--omit=optional, --no-optional), or the lock file was made on another platform (npm/cli#4828)`;
const INSTALL_ADDON = `run: npm install @filewright/native-${PLATFORM}@${VERSION}`;
const NO_WASM = "the WebAssembly module did not load (Cannot find module)";
const SETTING =
  "set FILEWRIGHT_ENGINE to wasm, to native or to the path of a file that ends in .node, or unset it";
const ENDING_ADDON = 'process.kill(process.pid, "SIGSEGV"); for (;;);';
const throwing = (message: string): string => `throw new Error(${JSON.stringify(message)});`;

/** The state, the mark and the name of its line, what is wrong and the remedy. `x` makes the status 1. */
const STATES: readonly (readonly [
  title: string,
  state: State,
  mark: "x" | "!" | "-",
  name: string,
  message: string,
  remedy: string,
])[] = [
  ["no addon", { installed: {} }, "!", "engine", `wasm, since ${MISSING}`, INSTALL_ADDON],
  [
    "an addon of another version",
    { installed: { addon: 'module.exports = { version: () => "0.0.9" };' } },
    "!",
    "engine",
    `wasm, since the addon of the package @filewright/native-${PLATFORM} is of version 0.0.9, filewright of ${VERSION}`,
    INSTALL_ADDON,
  ],
  [
    "a broken addon",
    { installed: { addon: throwing("/x/addon.node: invalid ELF header") } },
    "!",
    "engine",
    `wasm, since the addon of the package @filewright/native-${PLATFORM} does not load (addon.node: invalid ELF header)`,
    INSTALL_ADDON,
  ],
  [
    "a C library that is too old",
    {
      installed: {
        addon: throwing("/lib/libc.so.6: version `GLIBC_9.99' not found (required by /x/addon.node)"),
      },
    },
    "!",
    "engine",
    `wasm, since the addon of the package @filewright/native-${PLATFORM} needs glibc 9.99, and this system has GLIBC`,
    "use a system with glibc 2.17 or later, or one with musl",
  ],
  [
    "an addon that ends the process",
    { installed: { addon: ENDING_ADDON } },
    "x",
    "engine",
    "loading the native addon ended the process (SIGSEGV)",
    `set FILEWRIGHT_ENGINE=wasm, or run: npm install filewright@${VERSION}`,
  ],
  [
    "no WebAssembly module",
    { installed: { addon: WORKING_ADDON, wasm: "missing" } },
    "!",
    "wasm",
    `${NO_WASM}: nothing replaces a native addon that does not load`,
    `run: npm install filewright@${VERSION}`,
  ],
  ["no engine", { installed: { wasm: "missing" } }, "x", "engine", `no engine: ${MISSING}`, INSTALL_ADDON],
  [
    "FILEWRIGHT_ENGINE without a meaning",
    { env: { FILEWRIGHT_ENGINE: "bogus" } },
    "x",
    "engine",
    "FILEWRIGHT_ENGINE is 'bogus' (did you mean 'wasm'?)",
    SETTING,
  ],
  [
    "FILEWRIGHT_DEBUG without a meaning",
    { env: { FILEWRIGHT_DEBUG: "call,serch" } },
    "!",
    "debug",
    "FILEWRIGHT_DEBUG names no area: serch",
    "set it to some of all, call, engine, lock, policy, recovery, search",
  ],
  [
    "a home directory that cannot be written",
    { env: { HOME: "/root" }, as: "nobody" },
    "!",
    "state",
    "@@/tmp/filewright-65534: locks, history, grants; not in /root/.local/state/filewright: permission denied",
    "set XDG_STATE_HOME to a directory that you can write, to keep the history",
  ],
  [
    "no place that can be written",
    { env: { HOME: "/root", TMPDIR: "@@/locked" }, as: "nobody" },
    "x",
    "state",
    "The state directory '/root/.local/state/filewright' cannot be written: permission denied (also tried: @@/locked/filewright-65534: permission denied)",
    "make it writable, name another with --state-dir (stateDir) or XDG_STATE_HOME, or refuse changes with --read-only (readOnly)",
  ],
  [
    "a state directory that is read-only",
    { args: ["--config", "@@/locked.json"], as: "nobody" },
    "x",
    "state",
    "The state directory '@@/locked/state' cannot be written: permission denied",
    "make it writable, or name another with --state-dir (stateDir) or XDG_STATE_HOME",
  ],
  [
    "a root that is missing",
    { args: ["--root", "@@/none"] },
    "x",
    "root",
    "the directory '@@/none' does not exist",
    "name a directory that you can read with --root",
  ],
  [
    "a root that cannot be read",
    { args: ["--root", "@@/closed"], as: "nobody" },
    "x",
    "root",
    "the directory '@@/closed' cannot be read: permission denied",
    "name a directory that you can read with --root",
  ],
  [
    "an old Node",
    { env: { NODE_OPTIONS: "--require @@/old-node.cjs" } },
    "x",
    "node",
    "Node v18.20.4 is too old: filewright needs 20.19 or later",
    "install a newer Node, for example: nvm install 22",
  ],
  [
    "a kernel without Landlock",
    {
      under: [
        "strace",
        "-f",
        "-o",
        "/dev/null",
        "-e",
        "trace=landlock_create_ruleset",
        "-e",
        "inject=landlock_create_ruleset:error=ENOSYS",
      ],
    },
    "!",
    "kernel",
    "none on the threads that touch files: REASON",
    "use Linux 5.13 or later with Landlock, or run the agent as a separate user",
  ],
  [
    "no /proc",
    { under: ["unshare", "-m", "sh", "-c", 'umount -l /proc; exec "$0" "$@"'] },
    "!",
    "proc",
    "/proc is not mounted: run_command and indexes of large trees work with less",
    "run: mount -t proc proc /proc",
  ],
  [
    "no bubblewrap",
    { env: { PATH: "@@/bin" } },
    "-",
    "commands",
    "bubblewrap is not installed: commands need it to be held to the whole policy",
    "run: apt-get install bubblewrap",
  ],
  [
    "an optional package that is too old",
    { installed: { addon: WORKING_ADDON, packages: { yaml: ["1.10.2", "module.exports = {};"] } } },
    "!",
    "yaml",
    "1.10.2 is too old, 2.4.0 or later is needed: reads single values of YAML files",
    "run: npm install yaml@2",
  ],
  [
    "an optional package that does not load",
    {
      installed: {
        addon: WORKING_ADDON,
        packages: { sharp: ["0.34.0", throwing("Could not load the module of sharp")] },
      },
    },
    "!",
    "sharp",
    "0.34.0 is installed and does not load (Could not load the module of sharp)",
    "run: npm install sharp@0",
  ],
  [
    "a config file with an option that there is not",
    { args: ["--config", "@@/wrong.json"] },
    "x",
    "config",
    "config @@/wrong.json: option 'rots': there is no such option; did you mean 'roots'?",
    "correct the file; filewright config --config FILE prints the options in force",
  ],
];

const isPossible = ({ as, under = [], installed }: State): boolean =>
  (as === undefined || canBecome) &&
  (under[0] !== "strace" || hasStrace) &&
  (under[0] !== "unshare" || canUnmount) &&
  (hasWasm || installed?.wasm === "missing");

describe("doctor in a broken state", () => {
  test.each(STATES.filter(([, state]) => isPossible(state)))(
    "%s",
    (_title, state, mark, name, message, remedy) => {
      const { out, err, status } = examine(state);
      const lines = out.split("\n").map((line) => line.replace(/^(\S+) +(\S+) +/u, "$1 $2 "));
      const worded = lines.map((line) =>
        line
          .replace(/this system has glibc [\d.]+/u, "this system has GLIBC")
          .replace(/Cannot find module '[^']*'/u, "Cannot find module")
          .replace(/(none on the threads that touch files: )[^;]+/u, "$1REASON"),
      );
      expect(worded).toContain(`${mark} ${name} ${message}; ${remedy}`);
      expect(err).toBe("");
      expect(status).toBe(mark === "x" ? 1 : 0);
      // Nothing else is said to be broken.
      expect(lines.filter((line) => line.startsWith("x ")).length).toBe(mark === "x" ? 1 : 0);
    },
  );

  test("and in a whole one", () => {
    const { out, err, status } = examine({});
    expect(out).toMatch(/^ok +engine +native$/mu);
    expect(out).not.toMatch(/^x/mu);
    expect([err, status]).toEqual(["", 0]);
  });

  test.each([
    ["a broken state", { args: ["--root", "@@/none"] }, 1],
    ["a whole one", {}, 0],
  ])("--json holds the same in %s", (_title, state, status) => {
    const found = reportOf(state);
    const lines = found.text.split("\n").map((line) => line.replace(/^(\S+) +(\S+) +/u, "$1 $2 "));
    expect([found.status, found.report.works]).toEqual([status, status === 0]);
    for (const { name, status: word, message, remedy } of found.report.checks) {
      const mark = { ok: "ok", absent: "-", warning: "!", broken: "x" }[word];
      expect(lines).toContain(`${mark} ${name} ${message}${remedy === undefined ? "" : `; ${remedy}`}`);
    }
  });

  test("--help and --version need no engine", () => {
    const { command, remove } = install({ wasm: "missing", addon: ENDING_ADDON });
    try {
      const run = (...args: readonly string[]) =>
        spawnSync(process.execPath, [command, ...args], { encoding: "utf8" });
      expect(run("--version")).toMatchObject({ status: 0, stdout: `${VERSION}\n`, stderr: "" });
      for (const args of [["--help"], ["doctor", "--help"], ["mcp", "--help"]])
        expect(run(...args)).toMatchObject({
          status: 0,
          stdout: expect.stringContaining("Usage: filewright"),
          stderr: "",
        });
    } finally {
      remove();
    }
  });

  test("a module that is missing ends a start in one line", () => {
    const { command, remove } = install({ addon: WORKING_ADDON });
    try {
      for (const name of readdirSync(dirname(command)))
        if (name.startsWith("run-")) rmSync(join(dirname(command), name));
      for (const args of [["mcp", base], ["grep", "x"], ["doctor"]]) {
        const { stdout, stderr, status } = spawnSync(process.execPath, [command, ...args], {
          encoding: "utf8",
        });
        expect(stderr).toMatch(
          /^filewright: cannot start on Node v[\d.]+: Cannot find module [^\n]+; run: npm install filewright@[^\n]+\n$/u,
        );
        expect([stdout, status]).toEqual(["", 1]);
      }
    } finally {
      remove();
    }
  });
});
