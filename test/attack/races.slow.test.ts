/**
 * Races against a workspace: another process exchanges names as fast as the kernel
 * can, while every tool goes through them. Each attack is first made on a naive
 * control, which resolves the path, checks it, and then opens it by name.
 */
import { execFileSync } from "node:child_process";
import process from "node:process";
import { describe, expect, test } from "vitest";
import {
  arena,
  BASE,
  type Call,
  type Caller,
  controlEscapes,
  direct,
  RACE_MS,
  race,
  restore,
  told,
} from "./race.ts";
import { isNight } from "../support/share.ts";
import { ARMS, world } from "./world.ts";

/** Every tool, through the name that is being exchanged. */
const CALLS: readonly (readonly [title: string, ...calls: Call[]])[] = [
  ["read", ["read_file", () => ({ path: "d/s" })]],
  ["read many", ["read_many_files", () => ({ paths: ["d/s"] })]],
  ["compare", ["diff", () => ({ a: "d/s", b: "f" })]],
  ["write new", ["write_file", (n) => ({ path: `d/new${n % 40}`, content: "PWN" })]],
  [
    "overwrite",
    ["write_file", () => ({ path: "d/s", content: "fine" })],
    ["write_file", () => ({ path: "d/s", content: "", append: true })],
  ],
  ["edit", ["edit_file", () => ({ path: "d/s", old_text: "fin", new_text: "fin!" })]],
  ["patch", ["apply_patch", () => ({ path: "d/s", patch: "@@ -1 +1 @@\n-fine\n+fine\n+\n" })]],
  [
    "batch",
    ["batch", () => ({ operations: [{ tool: "write_file", args: { path: "d/s", content: "fine" } }] })],
    ["batch", (n) => ({ operations: [{ tool: "mkdir", args: { path: `d/b${n % 40}` } }] })],
  ],
  [
    "mkdir",
    ["mkdir", (n) => ({ path: `d/m${n % 40}/a/b` })],
    ["write_file", (n) => ({ path: `d/k${n % 40}/a/f`, content: "PWN" })],
  ],
  [
    "recursive delete",
    ["delete", () => ({ path: "d/dir", recursive: true })],
    ["delete", () => ({ path: "d/s" })],
    ["mkdir", () => ({ path: "d/dir/a" })],
    ["write_file", () => ({ path: "d/s", content: "fine" })],
  ],
  [
    "move and copy",
    ["copy", () => ({ source: "d/s", destination: "got", overwrite: true })],
    ["copy", () => ({ source: "tree", destination: "d/t", overwrite: true })],
    ["copy", () => ({ source: "f", destination: "d/s", overwrite: true })],
    ["move", () => ({ source: "d/s", destination: "gone", overwrite: true })],
    ["move", () => ({ source: "gone", destination: "d/s", overwrite: true })],
  ],
  ["list", ["list_directory", () => ({ path: "d" })]],
  ["stat", ["stat", () => ({ path: "d/s", hash: true })]],
  ["glob", ["glob", () => ({ pattern: "**", path: "d" })]],
  ["find", ["find_files", () => ({ query: "secr", path: "d" })]],
  [
    "grep",
    ["grep", () => ({ pattern: "SECRE[T]", path: "d" })],
    ["grep", () => ({ pattern: "SECRE[T]", path: "d/s" })],
  ],
];

test.skipIf(process.platform !== "linux")("no tool that takes a path is left out", async () => {
  const at = await arena(ARMS[0]!, { knows: "names" });
  const attacked = new Set(CALLS.flatMap(([, ...calls]) => calls.map(([tool]) => tool)));
  // search_code opens files by the walk of grep, which is raced.
  expect([...attacked, "access_info", "search_code"].sort()).toEqual(
    at.ws.tools.map(({ name }) => name).sort(),
  );
});

/**
 * The disk without the addon is raced method by method in `races-node.slow.test.ts`: a call of a tool is many of
 * them, seldom gets through while all names move, and takes minutes here. FILEWRIGHT_ATTACK_NODE=1 asks for that.
 */
const disks = ARMS.filter(
  (arm) => arm.disk && (arm.resolver !== "node" || process.env.FILEWRIGHT_ATTACK_NODE !== undefined),
);

/** By day all of them together have the rounds of one. */
const raced = disks.map((arm) => ({ ...arm, ways: isNight ? 1 : disks.length }));

describe.skipIf(process.platform !== "linux").each(raced)("under attack on $name", (arm) => {
  test("every tool stays inside, and the naive control does not", {
    timeout: RACE_MS,
  }, async () => {
    const at = await arena(arm);
    await controlEscapes(at);
    const lines: string[] = [];
    for (const [title, ...calls] of CALLS) {
      lines.push(told(title, await race(at, ["d", "evil"], direct(at), calls, title)));
      restore(at, title);
    }
    expect(at.tree(".")).not.toContain("SECRET");
    console.log(`${arm.name}: 0 escapes\n  ${lines.join("\n  ")}`);
  });

  test("what is taken back is put nowhere else", { timeout: RACE_MS }, async () => {
    const at = await arena(arm, { history: true });
    const undo: Caller = async (tool, args) => {
      // Something to delete: what could not be taken back is gone for good.
      if (tool === "delete") await at.ws.call("copy", { source: "tree", destination: args["path"] });
      const { ok, meta } = await at.ws.call(tool, args);
      if (!ok || meta.call_id === undefined) return { ok: false, told: "" };
      return at.ws.undo(meta.call_id).then(
        (undone) => ({ ok: true, told: JSON.stringify(undone) }),
        (error: unknown) => ({ ok: false, told: String(error) }),
      );
    };
    const calls: Call[] = [
      ["mkdir", (n) => ({ path: `d/w${n}` })],
      ["write_file", (n) => ({ path: `d/u${n % 40}`, content: "PWN" })],
      ["delete", (n) => ({ path: `d/x${n}`, recursive: true })],
      ["copy", (n) => ({ source: "tree", destination: `d/v${n % 40}`, overwrite: true })],
    ];
    console.log(told(`undo on ${arm.name}`, await race(at, ["d", "evil"], undo, calls, "undo")));
  });

  test("a directory that is moved out is never climbed from", { timeout: RACE_MS }, async () => {
    // Climbing by `..` from y/z when y has been moved out would find out/s.
    const seed = { "x/y/z": null, "x/s": "fine", "x/up": { link: "y/z/../../s" }, "../out/moved/z": null };
    const at = await world(arm, seed, { history: false }, BASE);
    const calls: Call[] = [
      ["read_file", () => ({ path: "x/up" })],
      ["write_file", () => ({ path: "x/up", content: "fine" })],
      ["stat", () => ({ path: "x/up", hash: true })],
    ];
    // The two directories are alike, so that a look at them tells nothing of which is where.
    console.log(
      told(
        `moved out on ${arm.name}`,
        await race(at, ["x/y", "../out/moved"], direct(at), calls, "moved out"),
      ),
    );
    expect(at.text("x/s")).toBe("fine");
  });

  test.each([
    ["a link", "l"],
    ["a pipe", "p"],
  ])("%s in the place of a file neither leads out nor blocks", { timeout: RACE_MS }, async (title, other) => {
    const at = await world(arm, { g: "fine\n", l: { link: "../out/s" } }, { history: false }, BASE);
    execFileSync("mkfifo", [at.at("p")]);
    const calls: Call[] = [
      ["read_file", () => ({ path: "g" })],
      ["grep", () => ({ pattern: "fine", path: "g" })],
      ["write_file", () => ({ path: "g", content: "", append: true })],
      ["edit_file", () => ({ path: "g", old_text: "fine", new_text: "fine\n" })],
      ["stat", () => ({ path: "g", hash: true })],
      ["copy", (n) => ({ source: "g", destination: `c${n % 10}`, overwrite: true })],
    ];
    console.log(told(`${title} on ${arm.name}`, await race(at, ["g", other], direct(at), calls, title)));
  });
});
