/** The contract suite itself: a backend that breaks a rule must fail a case. */
import type { Files } from "../../js/backends/files.ts";
import { describe, expect, it } from "vitest";
import { type FsBackend, MemoryBackend } from "../../js/index.node.ts";
import { backendContract } from "../../js/testing/index.ts";
import { minimalBackend } from "./minimal.ts";

type Overrides = Partial<Record<keyof Files, unknown>>;

/** Runs the whole suite over a backend; gives the names of the failed cases. */
async function failuresOf(make: () => Files): Promise<string[]> {
  const runs: [string, () => Promise<void>][] = [];
  backendContract(() => ({ backend: make(), root: "/ws" }), { test: (name, run) => runs.push([name, run]) });
  const failed: string[] = [];
  for (const [name, run] of runs) await run().catch(() => failed.push(name));
  return failed;
}

/** A memory backend with some of its methods exchanged. */
function breaking(change: (memory: MemoryBackend) => Overrides): () => Files {
  return () => {
    const memory = new MemoryBackend({ "/ws": { type: "dir" } });
    const broken = change(memory);
    return new Proxy(memory, {
      get: (target, name) => {
        if (name in broken) return broken[name as keyof Files];
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  };
}

const sabotage: readonly (readonly [string, (memory: MemoryBackend) => Overrides, RegExp])[] = [
  ["a missing method", () => ({ mkdir: undefined }), /eleven methods/],
  ["exists that throws", (m) => ({ exists: async (p: string) => Boolean(await m.stat(p)) }), /^reads/],
  ["facts that can be changed", (m) => ({ stat: async (p: string) => ({ ...(await m.stat(p)) }) }), /^facts/],
  [
    "plain errors",
    (m) => ({ readText: (p: string) => m.readText(p).catch(() => Promise.reject(new Error("ENOENT"))) }),
    /^reads/,
  ],
  [
    "a lost mark",
    (m) => ({ readText: async (p: string) => (await m.readText(p)).replace(/^\ufeff/, "") }),
    /^content/,
  ],
  [
    "writes that make directories unasked",
    (m) => ({
      writeText: (p: string, t: string, o: object) => m.writeText(p, t, { ...o, createDirs: true }),
    }),
    /^changes: each/,
  ],
  ["delete that is recursive", (m) => ({ delete: (p: string) => m.removeTree(p) }), /^changes: each/],
  ["mkdir that hides errors", (m) => ({ mkdir: (p: string) => m.mkdir(p) }), /^changes: each/],
  [
    "a listing in any order",
    (m) => ({ listDir: async (p: string) => [...(await m.listDir(p))].reverse() }),
    /^listDir/,
  ],
  [
    "a walk in any order",
    (m) => ({ iterFiles: (p: string) => [...m.iterFiles(p)].reverse() }),
    /^listDir and iterFiles/,
  ],
  [
    "conditions that are ignored",
    (m) => ({ writeText: (p: string, t: string) => m.writeText(p, t) }),
    /^conditions: versions change/,
  ],
  [
    "a version that never changes",
    (m) => ({ read: async (p: string) => ({ ...(await m.read(p)), version: "1" }) }),
    /^conditions: versions change/,
  ],
  [
    "links that are not followed",
    (m) => ({ readText: (p: string) => m.lstat(p).then((s) => s.target ?? m.readText(p)) }),
    /^links/,
  ],
  [
    "rename that replaces",
    (m) => ({ rename: (a: string, b: string) => m.rename(a, b, { overwrite: true }) }),
    /^trees: what cannot/,
  ],
  [
    "a copy without its mode",
    (m) => ({ copyFile: async (a: string, b: string) => m.writeBytes(b, await m.readBytes(a)) }),
    /^modes/,
  ],
];

describe("the contract finds", () => {
  it.each(sabotage)("%s", async (_, change, expected) => {
    const failed = await failuresOf(breaking(change));
    expect(
      failed.some((name) => expected.test(name)),
      failed.join("\n"),
    ).toBe(true);
  });

  it("a missing method of a backend of a host", async () => {
    const runs: (() => Promise<void>)[] = [];
    const { glob: _, ...rest } = minimalBackend({ "/ws": { type: "dir" } });
    backendContract(() => ({ backend: rest as FsBackend, root: "/ws" }), {
      test: (_, run) => runs.push(run),
    });
    await expect(runs[0]?.()).rejects.toThrow("isFsBackend() must be true");
  });

  it("an ability that was promised and is missing, and a name that is no case", async () => {
    const memory = { backend: breaking(() => ({ abilities: { locks: false } }))(), root: "/ws" };
    const runs: (() => Promise<void>)[] = [];
    backendContract(() => memory, { test: (_, run) => runs.push(run), requires: ["locks"] });
    await expect(runs[0]?.()).rejects.toThrow("missing abilities");
    expect(() => backendContract(() => memory, { test: () => {}, except: ["no such case"] })).toThrow(
      "no cases",
    );
  });
});
