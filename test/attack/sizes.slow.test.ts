/** Attacks by size that take seconds to set up. */
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { openWorkspace, type Workspace } from "../../js/index.node.ts";
import { BASE } from "./race.ts";
import { type Arm, ARMS, diskOf, type World, world } from "./world.ts";

const ENTRY = resolve(import.meta.dirname, "../../dist/cli/library.js");
/** Without the addon a file is read as a whole, as over any other storage. */
const disks = ARMS.filter((arm) => arm.disk && arm.resolver !== "node");

/** The same files by every way: what is large is made once. */
async function each(at: World, run: (ws: Workspace, arm: Arm) => Promise<void>): Promise<void> {
  for (const arm of disks) {
    const stateDir = at.at("../state");
    const backend = diskOf(arm, stateDir);
    const ws = await openWorkspace({ root: at.root, stateDir, backend });
    try {
      await run(ws, arm);
    } finally {
      await ws.close();
    }
  }
}

interface Listing {
  readonly entries: readonly { readonly name: string }[];
  readonly next_cursor?: string;
}

/** FILEWRIGHT_ATTACK_ENTRIES asks for more, up to the million. */
const ENTRIES = Number(process.env.FILEWRIGHT_ATTACK_ENTRIES ?? 50_000);

test("one line of 200 MB is cut, and answers stay small", async () => {
  const at = await world(disks[0]!, {}, {}, BASE);
  fs.writeFileSync(at.at("line"), "x".repeat(200_000_000));
  await each(at, async (ws, { name }) => {
    for (const [tool, args] of [
      ["read_file", { path: "line" }],
      ["grep", { pattern: "x", path: "line" }],
      ["stat", { path: "line" }],
    ] as const) {
      expect(JSON.stringify(await ws.call(tool, args)).length, `${tool}, ${name}`).toBeLessThan(100_000);
    }
  });
});

test("a directory of very many entries comes in pages", async () => {
  const at = await world(disks[0]!, {}, {}, BASE);
  fs.mkdirSync(at.at("many"));
  for (let n = 0; n < ENTRIES; n += 1) fs.writeFileSync(at.at(`many/${n}`), "");
  await each(at, async (ws, { name }) => {
    const page = await ws.call("list_directory", { path: "many", limit: 100 });
    expect(page, name).toMatchObject({ ok: true, data: { total: ENTRIES, truncated: true } });
    expect(JSON.stringify(page).length, name).toBeLessThan(50_000);
    // Every page is followed: each entry comes once.
    const names: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const args = { path: "many", limit: 20_000, ...(cursor === undefined ? {} : { cursor }) };
      const { data } = (await ws.call("list_directory", args)) as { readonly data: Listing };
      names.push(...data.entries.map((entry) => entry.name));
      cursor = data.next_cursor;
      if (cursor === undefined) break;
    }
    expect(new Set(names).size, name).toBe(ENTRIES);
    expect(names, name).toHaveLength(ENTRIES);
    const found = await ws.call("glob", { pattern: "**/7", path: "many" });
    expect(found, name).toMatchObject({ ok: true, data: { total: 1 } });
  });
});

test("with few descriptors calls end, in success or in words, and none is lost", async () => {
  const at = await world(disks[0]!);
  for (let n = 0; n < 200; n += 1) at.put(`t/d${n % 10}/f${n}`, "needle\n");
  const script = `
    const { LocalBackend, openWorkspace } = await import(${JSON.stringify(ENTRY)});
    const { readdirSync, readlinkSync } = await import("node:fs");
    const arms = await Promise.all(${JSON.stringify(disks)}.map(({ resolver, kernel }) => openWorkspace({
      root: ${JSON.stringify(at.root)},
      stateDir: ${JSON.stringify(at.at("../state2"))},
      backend: new LocalBackend({ stateDir: ${JSON.stringify(at.at("../state2"))}, resolver, kernel }),
    })));
    // A search that took long has an index made, which gets events of changes through one descriptor for as
    // long as it lives: not what is counted here.
    const kind = (fd) => { try { return readlinkSync("/proc/self/fd/" + fd); } catch { return ""; } };
    const open = () => readdirSync("/proc/self/fd").filter((fd) => kind(fd) !== "anon_inode:inotify").length;
    const round = () => Promise.all(Array.from({ length: 100 }, (_, n) => n % 10 === 0
      ? arms[n / 10 % arms.length].call("grep", { pattern: "needle" })
      : arms[n % arms.length].call("read_file", { path: "t/d" + (n % 10) + "/f" + n })));
    await round();
    const before = open();
    const codes = new Set();
    for (let n = 0; n < 5; n++) for (const result of await round()) codes.add(result.ok ? "OK" : result.error.code);
    // What is being made in the background has directories open, but not for long.
    for (let n = 0; n < 100 && open() - before > 2; n++) await new Promise((done) => setTimeout(done, 100));
    console.log(JSON.stringify([[...codes], open() - before]));`;
  const said = execFileSync("sh", [
    "-c",
    'ulimit -n 64; exec "$0" --input-type=module -e "$1"',
    process.execPath,
    script,
  ]);
  const [codes, leaked] = JSON.parse(said.toString()) as [string[], number];
  expect(codes).toContain("OK");
  expect(codes.filter((code) => !["OK", "IO_ERROR"].includes(code))).toEqual([]);
  expect(leaked).toBeLessThanOrEqual(2);
});
