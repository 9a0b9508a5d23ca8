/**
 * Worlds for the table of attacks: a workspace, a place outside that must stay as
 * it is, and the ways a workspace can be held to its roots. Every row of a table
 * runs in each of them.
 */
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import {
  type Code,
  LocalBackend,
  MemoryBackend,
  NodeBackend,
  openWorkspace,
  SandboxPolicy,
  type ToolResult,
  type Workspace,
  type WorkspaceOptions,
} from "../../js/index.node.ts";
import { afterThisTest } from "../support/cleanups.ts";

/** The entry at a path before the attack; `$O` and `$W` in targets are the outside and the workspace. */
type Entry = string | Uint8Array | null | { readonly link: string } | { readonly special: "fifo" };

/** Entries by path relative to the workspace; a path that begins with `../` is next to it. */
export type Seed = Readonly<Record<string, Entry>>;

/** A way to be held to the roots. */
export interface Arm {
  readonly name: string;
  readonly disk: boolean;
  /** `node`: the disk without the addon. */
  readonly resolver: "auto" | "walk" | "node";
  readonly kernel: "require" | "off";
  /** The number of ways among which the rounds of a race are divided. */
  readonly ways: number;
}

const facts = new LocalBackend({ policy: SandboxPolicy.workspaceOnly(tmpdir()) }).capabilities();
const LANDLOCK = facts.kernel.landlock >= 3;

const EVERY: readonly Arm[] = [
  ...(["auto", "walk"] as const).flatMap((resolver) =>
    (["require", "off"] as const)
      .filter((kernel) => kernel === "off" || LANDLOCK)
      .map((kernel) => ({
        name: `${resolver === "auto" ? facts.resolver : "walk, chosen"}${kernel === "require" ? " and Landlock" : ""}`,
        disk: true,
        resolver,
        kernel,
        ways: 1,
      })),
  ),
  { name: "without the addon", disk: true, resolver: "node", kernel: "off", ways: 1 },
  { name: "memory", disk: false, resolver: "auto", kernel: "off", ways: 1 },
];

/**
 * Every way there is on this machine. Where `openat2` is taken away, `auto` is the walk as well:
 * there FILEWRIGHT_ATTACK_KERNEL asks for one way alone, as the others would be it once more.
 */
export const ARMS: readonly Arm[] = EVERY.filter(
  ({ disk, resolver, kernel }) =>
    process.env.FILEWRIGHT_ATTACK_KERNEL === undefined ||
    (disk && resolver === "auto" && kernel === process.env.FILEWRIGHT_ATTACK_KERNEL),
);

/** A seeded workspace and ways to look behind it. */
export interface World {
  readonly ws: Workspace;
  readonly arm: Arm;
  readonly root: string;
  readonly outside: string;
  /** The text of a file, or undefined where there is none that can be read by that name. */
  text(path: string): string | undefined;
  /** The bytes of a file. */
  bytes(path: string): Uint8Array;
  /** Everything below a path, one entry a line. */
  tree(path: string): string;
  /** Does something behind the workspace's back. */
  put(path: string, entry: Entry): void;
  remove(path: string): void;
  at(path: string): string;
}

const ALWAYS: Seed = {
  f: "inside f\n",
  "a/f": "inside a/f\n",
  "../out/s": "SECRET\n",
  "../out/dir/x": "SECRET\n",
  "../ws-evil/s": "SECRET\n",
};

/** Makes a world, below `base` where it is on a disk, and opens a workspace in it. */
export async function world(
  arm: Arm,
  seed: Seed = {},
  options: Omit<WorkspaceOptions, "root" | "backend"> = {},
  base: string = tmpdir(),
): Promise<World> {
  const made = arm.disk ? onDisk(arm, base) : inMemory(arm);
  for (const [path, entry] of Object.entries({ ...ALWAYS, ...seed })) made.put(path, entry);
  const ws = await openWorkspace({
    ...options,
    ...(options.cwd === undefined ? {} : { cwd: made.at(options.cwd) }),
    root: made.root,
    backend: made.backend,
    ...(made.stateDir === undefined ? {} : { stateDir: made.stateDir }),
  });
  afterThisTest(() => ws.close());
  expect(ws.capabilities().journal).toBe(arm.disk ? "disk" : "memory");
  return { ...made, ws, arm };
}

type WorldParts = Omit<World, "ws" | "arm"> & {
  readonly backend: LocalBackend | NodeBackend | MemoryBackend;
  /** Where locks and the journal are. In memory they have no directory. */
  readonly stateDir?: string;
};

/** The disk of an arm. */
export function diskOf({ resolver, kernel }: Arm, stateDir?: string): LocalBackend | NodeBackend {
  return resolver === "node"
    ? new NodeBackend({ stateDir })
    : new LocalBackend({ stateDir, resolver, kernel });
}

function onDisk(arm: Arm, within: string): WorldParts {
  const base = fs.realpathSync(fs.mkdtempSync(join(within, "filewright-attack-")));
  afterThisTest(() => fs.rmSync(base, { recursive: true, force: true }));
  const [root, outside] = [join(base, "ws"), join(base, "out")];
  for (const directory of [root, outside]) fs.mkdirSync(directory);
  const at = (path: string): string => join(root, path);
  const put = (path: string, entry: Entry): void => {
    fs.mkdirSync(dirname(at(path)), { recursive: true });
    if (entry === null) fs.mkdirSync(at(path), { recursive: true });
    else if (typeof entry === "string" || entry instanceof Uint8Array) fs.writeFileSync(at(path), entry);
    else if ("link" in entry) fs.symlinkSync(withRoots(entry.link, root, outside), at(path));
    else execFileSync("mkfifo", [at(path)]);
  };
  const stateDir = join(base, "state");
  const backend = diskOf(arm, stateDir);
  return {
    stateDir,
    root,
    outside,
    at,
    put,
    backend,
    text: (path) => (isFile(at(path)) ? fs.readFileSync(at(path), "utf8") : undefined),
    bytes: (path) => fs.readFileSync(at(path)),
    tree: (path) => diskTree(at(path), ""),
    remove: (path) => fs.rmSync(at(path), { recursive: true, force: true }),
  };
}

function isFile(path: string): boolean {
  return fs.statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function diskTree(path: string, prefix: string): string {
  const lines = fs.readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const [shown, below] = [prefix + entry.name, join(path, entry.name)];
    if (entry.isSymbolicLink()) return [`${shown} -> ${fs.readlinkSync(below)}`];
    if (entry.isDirectory()) return [`${shown}/`, diskTree(below, `${shown}/`)];
    return [`${shown}: ${isFile(below) ? fs.readFileSync(below, "utf8") : "special"}`];
  });
  return lines.sort().join("\n");
}

function inMemory(_: Arm): WorldParts {
  const [root, outside] = ["/base/ws", "/base/out"];
  const backend = new MemoryBackend({ [root]: { type: "dir" }, [outside]: { type: "dir" } });
  const at = (path: string): string => join(root, path);
  // Each change is made before the call returns: memory has nothing to wait for.
  const put = (path: string, entry: Entry): void => {
    if (entry === null) void backend.mkdir(at(path));
    else if (typeof entry === "string") void backend.writeText(at(path), entry, { createDirs: true });
    else if (entry instanceof Uint8Array) void backend.writeBytes(at(path), entry, { createDirs: true });
    else if ("link" in entry) {
      void backend.mkdir(dirname(at(path)));
      void backend.symlink(withRoots(entry.link, root, outside), at(path));
    } else throw new Error("memory has no special files");
  };
  const bytesAt = (path: string): Buffer | undefined => {
    const entry = backend.dump()[at(path)];
    return entry?.type === "file" ? Buffer.from(entry.b64, "base64") : undefined;
  };
  return {
    root,
    outside,
    at,
    put,
    backend,
    text: (path) => bytesAt(path)?.toString(),
    bytes: (path) => bytesAt(path) as Buffer,
    tree: (path) =>
      Object.entries(backend.dump())
        .filter(([name]) => name.startsWith(`${at(path)}/`))
        .map(([name, entry]) => `${name.slice(at(path).length + 1)} ${JSON.stringify(entry)}`)
        .join("\n"),
    remove: (path) => void backend.removeTree(at(path)),
  };
}

function withRoots(text: string, root: string, outside: string): string {
  return text.replaceAll("$O", outside).replaceAll("$W", root);
}

/** The expected result of a call: a code, one of several, success, anything, or a check by a function. */
export type Expected =
  | Code
  | readonly (Code | "OK")[]
  | "OK"
  | "ANY"
  | ((result: ToolResult, world: World) => void);

/** A call: its tool, its arguments (`$O` and `$W` are replaced), and what must come of it. */
export type Step = readonly [tool: string, args: Readonly<Record<string, unknown>>, expected: Expected];

/** One attack. `n` is its number in `docs/security-cases.md`. */
export interface Row {
  readonly n: number;
  readonly title: string;
  readonly seed?: Seed;
  /** Only where there is a disk: memory has nothing of the kind. */
  readonly disk?: true;
  /** Only with the addon: `node:fs` has no call for it. */
  readonly addon?: true;
  readonly options?: Omit<WorkspaceOptions, "root" | "backend">;
  readonly steps: readonly Step[];
  readonly after?: (world: World) => void;
}

/** Runs every row in every way there is. Whatever it does, the outside stays as it was and its content unknown. */
export function runRows(rows: readonly Row[]): void {
  describe.each(ARMS)("$name", (arm) => {
    const here = rows.filter(
      (row) => (arm.disk || row.disk !== true) && (arm.resolver !== "node" || row.addon !== true),
    );
    test.each(here.map((row) => [row.title, row] as const))("%s", async (_, row) => {
      const at = await world(arm, row.seed, row.options);
      const before = [at.tree("../out"), at.tree("../ws-evil")];
      for (const [tool, args, expected] of row.steps) {
        const result = await at.ws.call(tool, filled(args, at));
        check(result, expected, at, `${tool} ${JSON.stringify(args).slice(0, 200)}`);
        expect(JSON.stringify(result), tool).not.toContain("SECRET");
      }
      row.after?.(at);
      expect([at.tree("../out"), at.tree("../ws-evil")]).toEqual(before);
      expect(at.tree(".")).not.toContain(".filewright-");
    });
  });
}

function check(result: ToolResult, expected: Expected, at: World, what: string): void {
  const got = result.ok ? "OK" : result.error.code;
  if (typeof expected === "function") expected(result, at);
  else if (typeof expected === "string") {
    if (expected !== "ANY") expect(got, `${what}: ${result.text.slice(0, 300)}`).toBe(expected);
  } else expect(expected, `${what}: ${result.text.slice(0, 300)}`).toContain(got);
}

function filled(value: unknown, at: World): Record<string, unknown> {
  const text = JSON.stringify(value, (_, one: unknown) =>
    typeof one === "string" ? withRoots(one, at.root, at.outside) : one,
  );
  return JSON.parse(text) as Record<string, unknown>;
}

/** Every tool that takes a path, on one path. A list of files is never refused as a whole. */
export function everyTool(path: string, expected: Expected): readonly Step[] {
  return [
    ["read_file", { path }, expected],
    ["read_many_files", { paths: [path] }, "ANY"],
    ["write_file", { path, content: "PWN" }, expected],
    ["write_file", { path, content: "PWN", append: true }, expected],
    ["edit_file", { path, old_text: "SECRE", new_text: "PWN" }, expected],
    ["apply_patch", { path, patch: "@@ -1 +1 @@\n-x\n+PWN\n" }, expected],
    ["diff", { a: path, b: "f" }, expected],
    ["diff", { a: "f", b: path }, expected],
    ["list_directory", { path }, expected],
    ["glob", { pattern: "**", path }, expected],
    ["grep", { pattern: "SECRE[T]", path }, expected],
    ["stat", { path }, expected],
    ["copy", { source: path, destination: "copied" }, expected],
    ["copy", { source: "f", destination: path, overwrite: true }, expected],
    ["move", { source: path, destination: "moved" }, expected],
    ["move", { source: "f", destination: path, overwrite: true }, expected],
    ["delete", { path, recursive: true }, expected],
    ["mkdir", { path: `${path}/made` }, expected],
  ];
}
