/** The state directory: which one is chosen where the home directory cannot be used, and what its errors say. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeEach, describe, expect, test } from "vitest";

const child = fileURLToPath(new URL("state-directory-child.mjs", import.meta.url));
const NOBODY = 65_534;
/** A number for which the list of users has no entry. */
const NAMELESS = 54_321;
/** The processes run as another user, which only root can start. */
const canBecome = process.getuid?.() === 0;

const base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-state-")));
chmodSync(base, 0o755);
afterAll(() => rmSync(base, { recursive: true, force: true }));

let place: string;
let count = 0;

beforeEach(() => {
  place = join(base, String(count++));
  for (const name of ["", "ws", "home", "run", "tmp", "state"]) {
    mkdirSync(join(place, name));
    if (name !== "") chownSync(join(place, name), NOBODY, NOBODY);
  }
  // As /tmp: everybody may write, and only rename what is theirs.
  chmodSync(join(place, "tmp"), 0o1777);
  chownSync(join(place, "tmp"), 0, 0);
  chmodSync(join(place, "run"), 0o700);
  writeFileSync(join(place, "ws/a.txt"), "hello\n");
});

interface Call {
  readonly ok: boolean;
  readonly text: string;
  readonly code?: string;
  readonly path?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

interface Outcome {
  readonly read: Call;
  readonly written: Call;
  readonly batch?: Call;
  readonly undone?: { readonly paths: readonly string[] };
  readonly access?: {
    readonly dir: string;
    readonly passed_over: readonly string[];
    readonly problem?: string;
  };
  readonly line?: string;
  readonly state: { readonly path: string };
  readonly failed?: {
    readonly code: string;
    readonly path: string;
    readonly message: string;
    readonly hint: string;
  };
}

/** Reads what the child has printed. A remedy has a line of its own where the path is long: here it never has. */
function outcomeOf(stdout: string): Outcome {
  return JSON.parse(stdout.replaceAll(place, "@").replaceAll(String.raw`.\n`, ". ")) as Outcome;
}

interface Run {
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly stateDir?: string;
}

/** Runs the child as another user. `@` in a value stands for the place of this test. */
function run({ env = {}, uid = NOBODY, stateDir }: Run): Outcome {
  const full = { PATH: process.env["PATH"] ?? "", TMPDIR: "@/tmp", ...env };
  const here = Object.fromEntries(
    Object.entries(full).map(([name, value]) => [name, value.replaceAll("@", place)]),
  );
  if (uid !== NOBODY) chownSync(join(place, "ws"), uid, uid);
  const given = stateDir === undefined ? [] : [stateDir.replaceAll("@", place)];
  const { stdout, stderr } = spawnSync(process.execPath, [child, join(place, "ws"), ...given], {
    cwd: join(place, "ws"),
    env: here,
    uid,
    gid: uid,
    encoding: "utf8",
  });
  if (stdout === "") throw new Error(stderr);
  return outcomeOf(stdout);
}

/** Makes a directory in the place of this test, whatever the umask. */
function makeDirectory(path: string, owner: number, mode: number): void {
  mkdirSync(join(place, path));
  chownSync(join(place, path), owner, owner);
  chmodSync(join(place, path), mode);
}

const DENIED = "permission denied";

/** Which directory is chosen in which environment, and why not a better one. */
const CHOICES: readonly (readonly [title: string, run: Run, chosen: string, passed: readonly string[]])[] = [
  ["XDG_STATE_HOME", { env: { XDG_STATE_HOME: "@/state", HOME: "@/home" } }, "@/state/filewright", []],
  ["HOME", { env: { HOME: "@/home" } }, "@/home/.local/state/filewright", []],
  [
    "HOME of root",
    { env: { HOME: "/root" } },
    "@/tmp/filewright-65534",
    [`/root/.local/state/filewright: ${DENIED}`],
  ],
  [
    "HOME=/nonexistent",
    { env: { HOME: "/nonexistent" } },
    "@/tmp/filewright-65534",
    [`/nonexistent/.local/state/filewright: ${DENIED}`],
  ],
  [
    "no HOME, and the system's list names /nonexistent",
    {},
    "@/tmp/filewright-65534",
    [`/nonexistent/.local/state/filewright: ${DENIED}`],
  ],
  ["no HOME, and no such user", { uid: NAMELESS }, "@/tmp/filewright-54321", ["HOME: it is not set"]],
  ["HOME=", { env: { HOME: "" } }, "@/tmp/filewright-65534", ["HOME: it is not set"]],
  ["HOME=/", { env: { HOME: "/" } }, "@/tmp/filewright-65534", ["HOME: it is the root of the file system"]],
  [
    "a relative HOME",
    { env: { HOME: "home" } },
    "@/tmp/filewright-65534",
    ["HOME: it is not an absolute path"],
  ],
  [
    "a home directory without write permission",
    { env: { HOME: "@/locked" } },
    "@/tmp/filewright-65534",
    [`@/locked/.local/state/filewright: ${DENIED}`],
  ],
  [
    "a file in the place of the home directory",
    { env: { HOME: "@/ws/a.txt" } },
    "@/tmp/filewright-65534",
    ["@/ws/a.txt/.local/state/filewright: part of its path is a file"],
  ],
  [
    "XDG_STATE_HOME without write permission: HOME is next",
    { env: { XDG_STATE_HOME: "@/locked", HOME: "@/home" } },
    "@/home/.local/state/filewright",
    [`@/locked/filewright: ${DENIED}`],
  ],
  [
    "XDG_RUNTIME_DIR before the temporary directory",
    { env: { HOME: "/root", XDG_RUNTIME_DIR: "@/run" } },
    "@/run/filewright",
    [`/root/.local/state/filewright: ${DENIED}`],
  ],
  [
    "not the XDG_RUNTIME_DIR of another user",
    { env: { HOME: "/root", XDG_RUNTIME_DIR: "@/open" } },
    "@/tmp/filewright-65534",
    [`/root/.local/state/filewright: ${DENIED}`, "@/open/filewright: other users can replace it"],
  ],
];

describe.skipIf(!canBecome)("the default state directory", () => {
  beforeEach(() => {
    mkdirSync(join(place, "locked"), { mode: 0o555 });
    mkdirSync(join(place, "open"));
    chmodSync(join(place, "open"), 0o777);
  });

  test.each(CHOICES)("%s", (_title, how, chosen, passed) => {
    const found = run(how);
    expect(found.failed).toBeUndefined();
    expect(found.written).toMatchObject({ ok: true });
    expect(found.batch).toMatchObject({ ok: true });
    expect(found.undone).toMatchObject({ paths: ["y.txt"] });
    expect(found.state.path).toBe(chosen);
    expect(statSync(chosen.replace("@", place)).mode & 0o777).toBe(0o700);
    if (passed.length === 0) {
      expect(found.access).toBeUndefined();
      expect(found.line).toBeUndefined();
    } else {
      expect(found.access).toEqual({ dir: chosen, passed_over: passed });
      expect(found.line).toBe(`Locks and history: ${chosen}; not in ${passed.join(", ")}`);
    }
  });

  test.each<[string, Readonly<Record<string, string>>, () => void, string]>([
    [
      "XDG_STATE_HOME in which another user made it first",
      { XDG_STATE_HOME: "@/tmp", HOME: "@/home" },
      () => makeDirectory("tmp/filewright", NAMELESS, 0o755),
      "@/tmp/filewright: it belongs to another user",
    ],
    [
      "XDG_STATE_HOME in which it is open to everybody",
      { XDG_STATE_HOME: "@/state", HOME: "@/home" },
      () => makeDirectory("state/filewright", NOBODY, 0o777),
      "@/state/filewright: other users can write in it (chmod go-w)",
    ],
    [
      "XDG_STATE_HOME in which it is open to its group",
      { XDG_STATE_HOME: "@/state", HOME: "@/home" },
      () => makeDirectory("state/filewright", NOBODY, 0o770),
      "@/state/filewright: other users can write in it (chmod go-w)",
    ],
    [
      "HOME in which another user made a directory above it",
      { XDG_RUNTIME_DIR: "@/run", HOME: "@/tmp" },
      () => {
        makeDirectory("tmp/.local", NAMELESS, 0o755);
        makeDirectory("tmp/.local/state", NAMELESS, 0o777);
      },
      "@/tmp/.local/state/filewright: 'state' in its path belongs to another user",
    ],
  ])("not %s", (_title, env, prepare, passed) => {
    prepare();
    const found = run({ env });
    expect(found.written).toMatchObject({ ok: true });
    expect(found.access).toMatchObject({ passed_over: [passed] });
  });

  test.each([
    ["of this user with mode 755", "home", NOBODY],
    [
      "of this user, in a home directory of another user who owns the directories in it, too",
      "other",
      NAMELESS,
    ],
  ])("one %s", (_title, home, owner) => {
    mkdirSync(join(place, "other"));
    chownSync(join(place, "other"), NAMELESS, NAMELESS);
    makeDirectory(`${home}/.local`, owner, 0o755);
    makeDirectory(`${home}/.local/state`, owner, 0o755);
    makeDirectory(`${home}/.local/state/filewright`, NOBODY, 0o755);
    const found = run({ env: { HOME: `@/${home}` } });
    expect(found.written).toMatchObject({ ok: true });
    expect(found.state.path).toBe(`@/${home}/.local/state/filewright`);
    expect(found.access).toBeUndefined();
  });

  test("a second process chooses the same one, so that their locks exclude each other", () => {
    const paths = [0, 1].map(() => run({ env: { HOME: "/root" } }).state.path);
    expect(paths).toEqual(["@/tmp/filewright-65534", "@/tmp/filewright-65534"]);
  });

  test.each([
    [
      "made by another user",
      () => mkdirSync(join(place, "tmp/filewright-65534")),
      "it belongs to another user",
    ],
    [
      "that others may use",
      () => {
        mkdirSync(join(place, "tmp/filewright-65534"));
        chownSync(join(place, "tmp/filewright-65534"), NOBODY, NOBODY);
        chmodSync(join(place, "tmp/filewright-65534"), 0o770);
      },
      "other users can use it",
    ],
    [
      "in a directory in which everybody can rename it",
      () => chmodSync(join(place, "tmp"), 0o777),
      "other users can replace it",
    ],
  ])("not a temporary one %s: files can be read, and a change says why not", (_title, prepare, reason) => {
    prepare();
    const found = run({ env: { HOME: "/root" } });
    expect(found.read).toMatchObject({ ok: true });
    expect(found.access).toEqual({
      dir: "/root/.local/state/filewright",
      passed_over: [`@/tmp/filewright-65534: ${reason}`],
      problem: DENIED,
    });
    expect(found.written).toEqual({
      ok: false,
      code: "PERMISSION_DENIED",
      text: "Error: The state directory '/root/.local/state/filewright' cannot be written: permission denied. Make it writable, or name another with --state-dir (stateDir) or XDG_STATE_HOME.",
      details: { state_directory: "/root/.local/state/filewright" },
    });
  });
});

describe.skipIf(!canBecome)("errors of the state directory name it and its remedy", () => {
  test("a stateDir that cannot be written is an error, although the default could be", () => {
    expect(run({ env: { HOME: "@/home" }, stateDir: "/root/state" }).failed).toEqual({
      code: "PERMISSION_DENIED",
      path: "/root/state",
      message: "The state directory '/root/state' cannot be written: permission denied.",
      hint: "make it writable, or name another with --state-dir (stateDir) or XDG_STATE_HOME",
    });
  });

  test("a stateDir in which others may write is an error with the remedy", () => {
    makeDirectory("state/open", NOBODY, 0o777);
    expect(run({ env: { HOME: "@/home" }, stateDir: "@/state/open" }).failed).toEqual({
      code: "PERMISSION_DENIED",
      path: "@/state/open",
      message: "The state directory '@/state/open' cannot be used: other users can write in it (chmod go-w).",
      hint: "make it yours and run chmod go-w on it, or name another with --state-dir (stateDir) or XDG_STATE_HOME",
    });
  });

  test.each([
    [
      "removed while running",
      "rm -r @/state/here",
      "IO_ERROR",
      "The state directory '@/state/here' was removed while this process used it. Restart the process, which creates it again.",
    ],
    [
      "made read-only while running",
      "chmod -R a-w @/state/here",
      "PERMISSION_DENIED",
      "The state directory '@/state/here' cannot be written: permission denied. Make it writable, or name another with --state-dir (stateDir) or XDG_STATE_HOME.",
    ],
  ])("%s", (_title, command, code, text) => {
    const env = { HOME: "@/home", DO: command };
    const { read, written } = run({ env, stateDir: "@/state/here" });
    expect(read).toMatchObject({ ok: true });
    expect(written).toEqual({
      ok: false,
      code,
      text: `Error: ${text}`,
      details: { state_directory: "@/state/here" },
    });
  });
});

const canMount =
  canBecome &&
  spawnSync("unshare", ["-m", "sh", "-c", `mount -t tmpfs -o size=64k tmpfs ${base}`]).status === 0;

describe.skipIf(!canMount)("a file system of its own", () => {
  /** Runs the child as nobody in a mount namespace in which `prepare` has run. */
  function runMounted(prepare: string, during: string, stateDir: string): Outcome {
    const script = `${prepare.replaceAll("@", place)} && exec setpriv --reuid=${NOBODY} --regid=${NOBODY} --clear-groups "$0" "$@"`;
    const argv = [
      process.execPath,
      child,
      join(place, "ws"),
      ...(stateDir === "" ? [] : [join(place, stateDir)]),
    ];
    const { stdout, stderr } = spawnSync("unshare", ["-m", "sh", "-c", script, ...argv], {
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: join(place, "home"),
        TMPDIR: join(place, "tmp"),
        DO: during.replaceAll("@", place),
      },
      encoding: "utf8",
    });
    if (stdout === "") throw new Error(stderr);
    return outcomeOf(stdout);
  }
  const small = "mount -t tmpfs -o size=64k,mode=777 tmpfs @/state";
  const fill = "head -c 1000000 /dev/zero > @/state/fill 2>/dev/null || true";

  test("a full one", () => {
    expect(runMounted(small, fill, "state/here").batch).toMatchObject({
      ok: false,
      code: "NO_SPACE",
      text: expect.stringContaining(
        "The state directory '@/state/here' cannot be written: no space left on the disk. Free space there",
      ),
      details: { state_directory: "@/state/here" },
    });
  });

  test("a full home directory is not passed over, because processes that began earlier use it", () => {
    const before = `${small.replaceAll("state", "home")} && ${fill.replaceAll("state", "home")}`;
    const found = runMounted(before, "true", "");
    expect(found.state.path).toBe("@/home/.local/state/filewright");
    expect(found.access).toEqual({
      dir: "@/home/.local/state/filewright",
      passed_over: [],
      problem: "no space left on the disk",
    });
    expect(found.batch).toMatchObject({ ok: false, code: "NO_SPACE" });
  });

  test("a read-only one", () => {
    const { failed } = runMounted(`${small} && mount -o remount,ro @/state`, "true", "state/here");
    expect(failed?.message).toBe(
      "The state directory '@/state/here' cannot be written: the file system is read-only.",
    );
  });
});
