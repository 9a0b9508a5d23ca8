/**
 * Claims of the documents about what the product does: each row of their tables is tried, and each figure is compared with
 * the limit in the code. A claim without a trial here fails, too.
 */
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  MemoryBackend,
  openWorkspace,
  toolsFor,
  type Workspace,
  type WorkspaceOptions,
} from "../../js/index.node.ts";
import { makeRecordLog, MemoryJournal } from "../../js/log/index.ts";
import { type GuardLevel, PRESET_NAMES, type PresetName } from "../../js/presets/index.ts";
import { COMMAND, connect, scratch } from "../mcp/harness.ts";
import { afterThisTest } from "../support/cleanups.ts";
import { runInProcess } from "../support/in-process.ts";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** Returns the rows of the tables below a heading, each as its cells. */
function rowsBelow(page: string, heading: string): readonly (readonly string[])[] {
  const [, section = ""] = page.split(`${heading}\n`);
  const end = section.search(/^#/mu);
  return (end === -1 ? section : section.slice(0, end))
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

async function open(options: Partial<WorkspaceOptions> = {}): Promise<Workspace> {
  const binary = new Uint8Array([0, 1, 2, 3]);
  const backend = new MemoryBackend({ "/w/f": "one\ntwo\nthree\n", "/w/g": "other\n", "/w/b": binary });
  const ws = await openWorkspace({ backend, root: "/w", ...options } as WorkspaceOptions);
  afterThisTest(() => ws.close());
  return ws;
}

/** Returns the level of the guard by what a write over an unread file leads to. */
function levelOf({ ok, text }: { readonly ok: boolean; readonly text: string }): GuardLevel {
  if (!ok) return "refuse";
  return text.includes("without having been read before") ? "warn" : "off";
}

const WRITE = { path: "f", content: "mine\n" };
const changing = rowsBelow(read("docs/changing.md"), "## Read before write");

describe("the defaults of the guard", () => {
  const [levels = [], defaults = []] = changing;
  const claimed = new Map(
    levels.slice(1).flatMap((level, at) => {
      const names = [...(defaults[at + 1] ?? "").matchAll(/`([\w-]+)`|the (command line)/gu)];
      return names.map(
        ([, preset, other]) => [preset ?? (other as string), level.replaceAll("`", "")] as const,
      );
    }),
  );

  test("are told of every preset, of a server and of the command line", () => {
    expect([...claimed.keys()].sort()).toEqual([...PRESET_NAMES, "lean", "command line"].sort());
  });

  test.each([...PRESET_NAMES])("preset %s", async (preset: PresetName) => {
    const ws = await open({ preset, permissions: { mode: "prompt", ask: () => "yes" } });
    const write = toolsFor(ws, "canonical").find(({ name }) => name === "write_file");
    const result = await write?.execute({ path: "/w/f", content: "mine\n" });
    expect(levelOf(result as NonNullable<typeof result>)).toBe(claimed.get(preset));
  });

  test("a server without options", async () => {
    await using at = await scratch();
    await writeFile(join(at.dir, "f"), "one\n");
    await using server = await connect([COMMAND, "mcp", at.dir]);
    const { text, isError } = await server.call("write_file", WRITE);
    expect(levelOf({ text, ok: isError !== true })).toBe(claimed.get("lean"));
  });

  test("the command line", async () => {
    const dir = await mkdtemp(join(tmpdir(), "filewright-claims-"));
    afterThisTest(() => rm(dir, { recursive: true }));
    await writeFile(join(dir, "f"), "one\n");
    const { out, err, status } = await runInProcess(["write", "f", "--content", "mine"], {
      cwd: dir,
      env: { ...process.env, XDG_STATE_HOME: join(dir, "state") },
    });
    expect(levelOf({ text: `${out}${err}`, ok: status === 0 })).toBe(claimed.get("command line"));
  });
});

type Step = readonly [tool: string, args: object];
/** The trial of each row about what an agent has to know: what is refused, what is enough, and the change. */
const TRIALS: Readonly<
  Record<string, { readonly history?: false; readonly enough: readonly Step[]; readonly change: Step }[]>
> = {
  "an edit or a patch of lines": [
    {
      enough: [["read_file", { path: "f", start_line: 2, max_lines: 1 }]],
      change: ["edit_file", { path: "f", old_text: "two", new_text: "2" }],
    },
  ],
  "a write, copy or move over a file": [
    { enough: [["read_file", { path: "f" }]], change: ["write_file", WRITE] },
    {
      enough: [["read_file", { path: "f", max_lines: 1 }]],
      change: ["write_file", { ...WRITE, whole_file: true }],
    },
    {
      enough: [["read_file", { path: "f" }]],
      change: ["copy", { source: "g", destination: "f", overwrite: true }],
    },
    {
      enough: [["read_file", { path: "f" }]],
      change: ["move", { source: "g", destination: "f", overwrite: true }],
    },
  ],
  "a deletion, with a history (the default)": [{ enough: [], change: ["delete", { path: "f" }] }],
  "a deletion with `history: false`, and a deletion by a patch": [
    ["read_file", { path: "f" }],
    ["stat", { path: "f" }],
    ["list_directory", {}],
    ["glob", { pattern: "*" }],
    ["find_files", { query: "f" }],
  ].flatMap((enough) => [
    { history: false, enough: [enough as unknown as Step], change: ["delete", { path: "f" }] },
    {
      enough: [enough as unknown as Step],
      change: ["apply_patch", { patch: "*** Begin Patch\n*** Delete File: f\n*** End Patch\n" }],
    },
  ]),
  "any change of a file that is not text": [
    { enough: [["read_file", { path: "b" }]], change: ["write_file", { path: "b", content: "x" }] },
  ],
};

describe("what an agent has to know before a change", () => {
  const claims = changing.slice(4).map(([change = ""]) => change);

  test("has a trial for each row", () => {
    expect(claims).toEqual(Object.keys(TRIALS));
  });

  const cases = Object.entries(TRIALS).flatMap(([claim, trials]) =>
    trials.map((trial) => ({ claim, ...trial, by: JSON.stringify(trial.enough) })),
  );
  test.each(cases)("$claim: $by", async ({ history = true, enough, change: [tool, args] }) => {
    const options: Partial<WorkspaceOptions> = { guard: "refuse", history };
    const isKnown = enough.length === 0 || "whole_file" in args;
    const without = await (await open(options)).call(tool, args);
    if (!isKnown) expect(without.error?.details).toMatchObject({ reason: "not_read" });
    const ws = await open(options);
    for (const [name, given] of enough) await ws.call(name, given);
    const made = await ws.call(tool, args);
    expect(made.ok, made.text).toBe(true);
  });
});

test("what a person can revert is what the history keeps", () => {
  const { largestUndo } = makeRecordLog({
    store: new MemoryJournal(),
    cwd: "/",
    storage: "memory",
    keep: true,
    durable: false,
  } as never);
  for (const page of ["docs/mcp.md"]) {
    const text = read(page);
    expect(text).toContain(largestUndo?.words);
    expect(text).not.toMatch(/revert any change/u);
  }
});

describe("what differs from the filesystem server", () => {
  const rows = rowsBelow(read("docs/guides/migrating.md"), "## From the MCP filesystem server");
  const claim = (call: string): string => rows.find(([first]) => first === call)?.[2] ?? "";

  test("a write over a file that was not read", async () => {
    expect(claim("`write_file` over a file that was not read")).toMatch(
      /^refused until the agent has read it; with `--preset mcp` replaced, with a warning$/u,
    );
    await using at = await scratch();
    await writeFile(join(at.dir, "f"), "one\n");
    await using server = await connect([COMMAND, "mcp", at.dir]);
    expect((await server.call("write_file", WRITE)).text).toContain("was not read yet");
    await server.call("read_file", { path: "f" });
    expect((await server.call("write_file", WRITE)).isError).not.toBe(true);
    await writeFile(join(at.dir, "g"), "one\n");
    await using theirs = await connect([COMMAND, "mcp", "--preset", "mcp", at.dir]);
    const { text } = await theirs.call("write_file", { path: "g", content: "two\n" });
    expect(text).toContain("without having been read before");
  });

  test("a deletion of a file that was not read", async () => {
    expect(claim("`delete` of a file that was not read")).toBe("deleted; `undo` brings it back");
    await using at = await scratch();
    await writeFile(join(at.dir, "b.bin"), new Uint8Array([0, 1, 2]));
    await using server = await connect([COMMAND, "mcp", at.dir]);
    expect((await server.call("delete", { path: "b.bin" })).isError).not.toBe(true);
    expect((await server.call("undo", {})).isError).not.toBe(true);
    expect(readFileSync(join(at.dir, "b.bin"))).toEqual(Buffer.from([0, 1, 2]));
  });
});

describe("sizes of the packages", () => {
  const limitIn = (path: string, name: string): number =>
    Number(new RegExp(`${name} = ([\\d_]+);`, "u").exec(read(path))?.[1]?.replaceAll("_", ""));
  const packed = limitIn("scripts/release/pack.mjs", "MAX_MAIN_PACKED_BYTES") / 1e6;
  const addon = limitIn("scripts/release/inspect-addon.mjs", "MAX_PACKED_BYTES") / 1e6;

  test.each(["docs/guides/deployment.md", "CHANGELOG.md"])(
    "%s names the limits that packing asserts",
    (page) => {
      const [, told] = /package(?: `filewright`)? has at most ([\d.]+) MB packed/u.exec(read(page)) ?? [];
      expect(Number(told)).toBe(packed);
    },
  );

  test("the guide names the limit of an addon", () => {
    const [, told] =
      /each platform, at most ([\d.]+) MB packed/u.exec(read("docs/guides/deployment.md")) ?? [];
    expect(Number(told)).toBe(addon);
  });
});
