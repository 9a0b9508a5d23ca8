/** Attacks by size that take seconds to set up. */
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { ARMS, world } from "./world.ts";

const ENTRY = resolve(import.meta.dirname, "../../dist/index.node.js");
const [arm] = ARMS;
/** FILEWRIGHT_ATTACK_ENTRIES asks for more, up to the million. */
const ENTRIES = Number(process.env.FILEWRIGHT_ATTACK_ENTRIES ?? 50_000);

test("64 one line of 200 MB is cut, and answers stay small", async () => {
  const at = await world(arm as (typeof ARMS)[number]);
  fs.writeFileSync(at.at("line"), "x".repeat(200_000_000));
  for (const [tool, args] of [
    ["read_file", { path: "line" }],
    ["grep", { pattern: "x", path: "line" }],
    ["stat", { path: "line" }],
  ] as const) {
    expect(JSON.stringify(await at.ws.call(tool, args)).length, tool).toBeLessThan(100_000);
  }
});

test("65 a directory of very many entries comes in pages", async () => {
  const at = await world(arm as (typeof ARMS)[number]);
  fs.mkdirSync(at.at("many"));
  for (let n = 0; n < ENTRIES; n += 1) fs.writeFileSync(at.at(`many/${n}`), "");
  const page = await at.ws.call("list_directory", { path: "many", limit: 100 });
  expect(page).toMatchObject({ ok: true, data: { total: ENTRIES, truncated: true } });
  expect(JSON.stringify(page).length).toBeLessThan(50_000);
  expect(await at.ws.call("glob", { pattern: "**/7", path: "many" })).toMatchObject({
    ok: true,
    data: { total: 1 },
  });
});

test("71 with few descriptors calls end, in success or in words, and none is lost", async () => {
  const at = await world(arm as (typeof ARMS)[number]);
  for (let n = 0; n < 200; n += 1) at.put(`t/d${n % 10}/f${n}`, "needle\n");
  const script = `
    for (const room of ["engine/index.node", "backends/index.node", "readers/index", "tools/index"])
      await import(${JSON.stringify(resolve(ENTRY, ".."))} + "/" + room + ".js");
    const { openWorkspace } = await import(${JSON.stringify(ENTRY)});
    const { readdirSync } = await import("node:fs");
    const ws = await openWorkspace({ root: ${JSON.stringify(at.root)}, stateDir: ${JSON.stringify(at.at("../state2"))} });
    const open = () => readdirSync("/proc/self/fd").length;
    const round = () => Promise.all(Array.from({ length: 100 }, (_, n) => n % 10 === 0
      ? ws.call("grep", { pattern: "needle" })
      : ws.call("read_file", { path: "t/d" + (n % 10) + "/f" + n })));
    await round();
    const before = open();
    const codes = new Set();
    for (let n = 0; n < 5; n++) for (const result of await round()) codes.add(result.ok ? "OK" : result.error.code);
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
