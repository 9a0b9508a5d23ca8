/** The preset `tinyagent` where storage fails, changes meanwhile, or shares its process. */
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import {
  FilewrightError,
  type FsBackend,
  MemoryBackend,
  openWorkspace,
  type ToolResult,
} from "../../js/index.node.ts";
import { place } from "../tools/harness.ts";
import { ENTRY, node } from "./node.ts";

const preset = "tinyagent";

test("an error of the storage names the operation that failed", async () => {
  const inner = new MemoryBackend({ "/w/a": "1" });
  const names = ["exists", "stat", "readText", "mkdir", "listDir", "iterFiles", "glob", "delete"] as const;
  const broken = (): never => {
    throw new FilewrightError("IO_ERROR", "the disk is on fire");
  };
  const backend = {
    ...Object.fromEntries(
      names.map((name) => [name, (inner[name] as (...args: never[]) => unknown).bind(inner)]),
    ),
    readBytes: broken,
    writeBytes: broken,
    writeText: broken,
  } as unknown as FsBackend;
  await using ws = await openWorkspace({ backend, root: "/w", preset });
  const told = async (tool: string, args: object): Promise<string> => {
    const result: ToolResult = await ws.call(tool, args);
    expect(result.error?.code).toBe("IO_ERROR");
    return result.text;
  };
  expect(await told("read_file", { file_path: "a" })).toMatch(/^Error: File read error: a\b.*on fire/su);
  expect(await told("write_file", { file_path: "n", content: "" })).toMatch(/^Error: File write error: n\b/u);
  const update = { file_path: "a", old_content: "1", new_content: "2" };
  expect(await told("update_file", update)).toMatch(/^Error: File update error: a\b/u);
});

test("a reader during a write sees the whole old content or the whole new", async () => {
  const { ws, root } = await place("local", { a: "0".repeat(300_000) }, { preset });
  const seen = new Set<string>();
  let writing = true;
  const reader = (async () => {
    while (writing) {
      const content = await readFile(`${root}/a`, "latin1");
      expect(content).toBe((content[0] as string).repeat(300_000));
      seen.add(content[0] as string);
    }
  })();
  for (let at = 1; at <= 40; at++) {
    await ws.call("write_file", { file_path: "a", content: String(at % 10).repeat(300_000) });
  }
  writing = false;
  await reader;
  expect(seen.size).toBeGreaterThan(1);
});

test("the host is left as it was: no global, no changed prototype", async () => {
  const said = await node(
    `const kinds = [Object, Array, Function, Promise, String, Map, Uint8Array, Error];
    const look = () => JSON.stringify([
      Object.getOwnPropertyNames(globalThis),
      kinds.map(({ prototype }) => Object.getOwnPropertyNames(prototype)),
      process.eventNames(),
    ]);
    const before = look();
    const { openWorkspace, MemoryBackend } = await import(${JSON.stringify(ENTRY)});
    const ws = await openWorkspace({ backend: new MemoryBackend({ "/w/a": "1" }), root: "/w" });
    await ws.readFile({ path: "a" });
    console.log(look() === before);`,
    [],
  );
  expect(said).toBe("true");
});
