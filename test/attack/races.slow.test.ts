/**
 * Races: another process exchanges names as fast as the kernel can, while every
 * tool goes through them. Each attack is first made on a naive control, which
 * resolves the path, checks it, and then opens it by name; a control that never
 * escapes has met no race, and the test fails.
 *
 * A round here is one whole call of one tool. What the engine does for each tool is
 * attacked in 20,000 rounds by `crates/fs/tests/race_tools.rs`; what is above it opens
 * nothing, and meets hundreds: as many as FILEWRIGHT_ATTACK_ROUNDS says (default 20,000)
 * and FILEWRIGHT_ATTACK_MS milliseconds allow (default 500 for each tool).
 */
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { COMMAND, connect } from "../mcp/harness.ts";
import { attacker, exchanging } from "./attacker.ts";
import { ARMS, type World, world } from "./world.ts";

const ROUNDS = Number(process.env.FILEWRIGHT_ATTACK_ROUNDS ?? 20_000);
const MOST_MS = Number(process.env.FILEWRIGHT_ATTACK_MS ?? 500);
/** Calls under way at once: enough to keep the pool's threads busy. */
const AT_ONCE = 16;

/** In memory where it can be: what a disk takes its time for is no part of a race. */
const BASE = fs.existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

type Call = readonly [tool: string, args: (round: number) => Record<string, unknown>];

/** Every tool, through the name that is being exchanged. */
const CALLS: readonly (readonly [title: string, ...calls: Call[]])[] = [
  ["43 read", ["read_file", () => ({ path: "d/s" })]],
  ["43 read many", ["read_many_files", () => ({ paths: ["d/s"] })]],
  ["43 compare", ["diff", () => ({ a: "d/s", b: "f" })]],
  ["44 write new", ["write_file", (n) => ({ path: `d/new${n % 40}`, content: "PWN" })]],
  [
    "45 overwrite",
    ["write_file", () => ({ path: "d/s", content: "fine" })],
    ["write_file", () => ({ path: "d/s", content: "", append: true })],
  ],
  ["45 edit", ["edit_file", () => ({ path: "d/s", old_text: "fin", new_text: "fin!" })]],
  ["45 patch", ["apply_patch", () => ({ path: "d/s", patch: "@@ -1 +1 @@\n-fine\n+fine\n+\n" })]],
  [
    "45 batch",
    ["batch", () => ({ operations: [{ tool: "write_file", args: { path: "d/s", content: "fine" } }] })],
    ["batch", (n) => ({ operations: [{ tool: "mkdir", args: { path: `d/b${n % 40}` } }] })],
  ],
  [
    "46 mkdir",
    ["mkdir", (n) => ({ path: `d/m${n % 40}/a/b` })],
    ["write_file", (n) => ({ path: `d/k${n % 40}/a/f`, content: "PWN" })],
  ],
  [
    "47 recursive delete",
    ["delete", () => ({ path: "d/dir", recursive: true })],
    ["delete", () => ({ path: "d/s" })],
    ["mkdir", () => ({ path: "d/dir/a" })],
    ["write_file", () => ({ path: "d/s", content: "fine" })],
  ],
  [
    "48 move and copy",
    ["move", (n) => ({ source: "d/s", destination: `got${n % 40}`, overwrite: true })],
    ["copy", (n) => ({ source: "d/s", destination: `had${n % 40}`, overwrite: true })],
    ["copy", (n) => ({ source: "tree", destination: `d/t${n % 40}`, overwrite: true })],
    ["move", (n) => ({ source: `had${(n + 3) % 40}`, destination: "d/s", overwrite: true })],
  ],
  ["49 list", ["list_directory", () => ({ path: "d" })]],
  ["49 stat", ["stat", () => ({ path: "d/s", hash: true })]],
  ["49 glob", ["glob", () => ({ pattern: "**", path: "d" })]],
  ["49 find", ["find_files", () => ({ query: "secr", path: "d" })]],
  [
    "49 grep",
    ["grep", () => ({ pattern: "SECRE[T]", path: "d" })],
    ["grep", () => ({ pattern: "SECRE[T]", path: "d/s" })],
  ],
];

const naiveRead = (root: string, path: string): string | undefined => {
  try {
    return fs.realpathSync(path).startsWith(`${root}/`) ? fs.readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
};
const naiveWrite = (root: string, path: string): void => {
  try {
    if (fs.realpathSync(join(path, "..")).startsWith(`${root}/`)) fs.writeFileSync(path, "PWN");
  } catch {}
};

/** A directory with what the outside has, exchanged with a link to the outside. */
async function arena(arm: (typeof ARMS)[number], more: Parameters<typeof world>[2] = {}): Promise<World> {
  const at = await world(
    arm,
    { "../out/SECRET-name": "", "d/s": "fine", "d/dir/x": "fine", evil: { link: "../out" }, "tree/g": "g" },
    { history: false, ...more },
    BASE,
  );
  return at;
}

/** Whether the naive tool leaves the root while the names are exchanged. */
async function controlEscapes(at: World): Promise<boolean> {
  const planted = join(at.outside, "control");
  const [escaped] = await exchanging(at.at("d"), at.at("evil"), async () => {
    const until = performance.now() + 20_000;
    let [read, wrote] = [false, false];
    while (performance.now() < until && !(read && wrote)) {
      for (let n = 0; n < 200; n += 1) {
        read ||= naiveRead(at.root, at.at("d/s"))?.includes("SECRET") === true;
        if (!wrote) naiveWrite(at.root, at.at("d/control"));
      }
      wrote ||= fs.existsSync(planted);
    }
    return read && wrote;
  });
  fs.rmSync(planted, { force: true });
  return escaped;
}

const disks = ARMS.filter((arm) => arm.disk);

/** The names as they were: what calls have taken away is put back between the tools. */
function restore(at: World, after = "the control"): void {
  const links = ["d", "evil"].filter((name) => fs.lstatSync(at.at(name)).isSymbolicLink());
  expect(links, `${after} has replaced the link or the directory:\n${at.tree(".")}`).toHaveLength(1);
  for (const name of ["d", "evil"]) {
    if (!fs.lstatSync(at.at(name)).isDirectory()) continue;
    fs.rmSync(at.at(name), { recursive: true, force: true });
    at.put(`${name}/s`, "fine");
    at.put(`${name}/dir/x`, "fine");
  }
}

/** Makes one call; tells whether it went through, and all that it was told. */
type Caller = (tool: string, args: Record<string, unknown>) => Promise<{ ok: boolean; told: string }>;

const direct =
  ({ ws }: World): Caller =>
  async (tool, args) => {
    const result = await ws.call(tool, args);
    return { ok: result.ok, told: JSON.stringify(result) };
  };

async function rounds(
  caller: Caller,
  calls: readonly Call[],
  count: number,
): Promise<{ done: number; ok: number }> {
  const started = performance.now();
  let [done, ok] = [0, 0];
  // What takes several looks at the names goes through seldom, but must once: else nothing was attacked.
  const goesOn = (): boolean => performance.now() < started + (ok > 0 ? MOST_MS : 60_000 + MOST_MS);
  const turn = async (): Promise<void> => {
    while (done < count && goesOn()) {
      const round = done++;
      const [tool, args] = calls[round % calls.length] as Call;
      const answer = await caller(tool, args(round));
      if (answer.ok) ok += 1;
      expect(answer.told, tool).not.toContain("SECRET");
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, turn));
  return { done, ok };
}

describe.skipIf(process.platform !== "linux").each(disks)("under attack on $name", (arm) => {
  test("every tool stays inside, and the naive control does not", {
    timeout: 20 * MOST_MS + 240_000,
  }, async () => {
    const at = await arena(arm);
    const before = at.tree("../out");
    expect(await controlEscapes(at), "the control never escaped: nothing is proved").toBe(true);
    restore(at);
    expect(at.tree("../out")).toBe(before);
    const told: string[] = [];
    for (const [title, ...calls] of CALLS) {
      const [{ done, ok }, swaps] = await exchanging(at.at("d"), at.at("evil"), () =>
        rounds(direct(at), calls, ROUNDS * calls.length),
      );
      told.push(`${title}: ${done} calls, ${ok} through, ${swaps.done} swaps`);
      expect(at.tree("../out"), title).toBe(before);
      expect(ok, `${title}: nothing ever went through`).toBeGreaterThan(0);
      expect(swaps.done, title).toBeGreaterThan(done / 100);
      restore(at, title);
    }
    expect(at.tree(".")).not.toContain("SECRET");
    console.log(`${arm.name}: 0 escapes\n  ${told.join("\n  ")}`);
  });

  test("what is taken back is put nowhere else", { timeout: 4 * MOST_MS + 180_000 }, async () => {
    const at = await arena(arm, { history: true });
    const before = at.tree("../out");
    const undo: Caller = async (tool, args) => {
      const { ok, meta } = await at.ws.call(tool, args);
      if (!ok || meta.call_id === undefined) return { ok: false, told: "" };
      return at.ws.undo(meta.call_id).then(
        (undone) => ({ ok: true, told: JSON.stringify(undone) }),
        (error: unknown) => ({ ok: false, told: String(error) }),
      );
    };
    const [{ ok }] = await exchanging(at.at("d"), at.at("evil"), () =>
      rounds(
        undo,
        [
          ["mkdir", (n) => ({ path: `d/w${n % 40}` })],
          ["write_file", (n) => ({ path: `d/u${n % 40}`, content: "PWN" })],
          ["delete", () => ({ path: "d/dir", recursive: true })],
          ["copy", (n) => ({ source: "tree", destination: `d/v${n % 40}`, overwrite: true })],
        ],
        ROUNDS,
      ),
    );
    expect(ok).toBeGreaterThan(0);
    expect(at.tree("../out")).toBe(before);
  });

  test("51 52 a file that becomes a link or a pipe neither leads out nor blocks", {
    timeout: 4 * MOST_MS + 60_000,
  }, async () => {
    const at = await world(arm, { g: "fine\n", l: { link: "../out/s" } }, { history: false });
    execFileSync("mkfifo", [at.at("p")]);
    const before = at.tree("../out");
    const calls: Call[] = [
      ["read_file", () => ({ path: "g" })],
      ["grep", () => ({ pattern: "fine", path: "g" })],
      ["write_file", () => ({ path: "g", content: "", append: true })],
      ["edit_file", () => ({ path: "g", old_text: "fine", new_text: "fine\n" })],
      ["stat", () => ({ path: "g", hash: true })],
      ["copy", (n) => ({ source: "g", destination: `c${n % 10}`, overwrite: true })],
    ];
    for (const other of ["l", "p"]) {
      const [{ ok }] = await exchanging(at.at("g"), at.at(other), () =>
        rounds(direct(at), calls, ROUNDS / 4),
      );
      expect(ok).toBeGreaterThan(0);
      expect(at.tree("../out")).toBe(before);
    }
  });
});

/** The server's tools, through the name that is being exchanged. */
const SERVED: readonly Call[] = [
  ["read_text_file", () => ({ path: "d/s" })],
  ["read_multiple_files", () => ({ paths: ["d/s", "f"] })],
  ["list_directory_with_sizes", () => ({ path: "d" })],
  ["directory_tree", () => ({ path: "." })],
  ["search_files", () => ({ path: "d", pattern: "**" })],
  ["get_file_info", () => ({ path: "d/s" })],
  ["write_file", (n) => ({ path: n % 2 === 0 ? "d/s" : `d/new${n % 40}`, content: "fine" })],
  ["edit_file", () => ({ path: "d/s", edits: [{ oldText: "fin", newText: "fin!" }] })],
  ["create_directory", (n) => ({ path: `d/m${n % 40}/a` })],
  [
    "move_file",
    (n) => (n % 2 === 0 ? { source: "f", destination: "d/f" } : { source: "d/f", destination: "f" }),
  ],
];

test.skipIf(process.platform !== "linux")(
  "the server stays inside too",
  { timeout: 20 * MOST_MS + 240_000 },
  async () => {
    const at = await arena(disks[0] as (typeof ARMS)[number]);
    const before = at.tree("../out");
    expect(await controlEscapes(at), "the control never escaped: nothing is proved").toBe(true);
    restore(at);
    await using server = await connect([COMMAND, "mcp", at.root]);
    const served: Caller = async (tool, args) => {
      const answer = await server.call(tool, args);
      return { ok: !answer.isError, told: JSON.stringify(answer) };
    };
    for (const call of SERVED) {
      const [title] = call;
      const [{ done, ok }, swaps] = await exchanging(at.at("d"), at.at("evil"), () =>
        rounds(served, [call], ROUNDS),
      );
      console.log(`the server, ${title}: ${done} calls, ${ok} through, ${swaps.done} swaps`);
      expect(at.tree("../out"), title).toBe(before);
      expect(ok, `${title}: nothing ever went through`).toBeGreaterThan(0);
      expect(swaps.done, title).toBeGreaterThan(done / 100);
      restore(at, title);
    }
    expect(at.tree(".")).not.toContain("SECRET");
  },
);

test.skipIf(process.platform === "linux")("races are run on Linux", () => {
  expect(attacker).toBeTypeOf("function");
});
