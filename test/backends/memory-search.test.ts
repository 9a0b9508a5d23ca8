/** Searches of backends that know their files by what was kept of earlier ones: always the answers of a scan. */
import { contentsOf } from "../../js/backends/abilities.ts";
import type { Files } from "../../js/backends/files.ts";
import type { ContentProvider } from "../../js/backends/search/held.ts";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { moveEntry } from "../../js/backends/fallback/fallback-tree.ts";
import { engine, setEngine } from "../../js/engine/current.ts";
import {
  MemoryBackend,
  OverlayBackend,
  openWorkspace,
  SandboxedBackend,
  SandboxPolicy,
  type SearchQuery,
} from "../../js/index.node.ts";
import { type MemoryStorage, memoryStorage, toBackend } from "../../js/storage/index.node.ts";
import { describeParity, engines } from "../parity/engines.ts";
import { isNight } from "../support/share.ts";

/** Both ways, which must say the same; how many matches there are, and how it was known. */
async function both(backend: Files, query: SearchQuery): Promise<readonly [number, string]> {
  const { fresh, ...kept } = await backend.grep("/r", query);
  const { fresh: _, ...scanned } = await backend.grep("/r", { ...query, index: "off" });
  expect(kept).toEqual(scanned);
  return [kept.totalMatches, fresh];
}

/** A number of files, of which every tenth has `needle` and its number. */
function seed(files: number): Record<string, string> {
  const entries = Array.from({ length: files }, (_, i) => [
    `/r/src/${i % 7}/f${i}.ts`,
    `export const value${i} = ${i};\n${i % 10 === 0 ? `needle${i}` : "hay"}\n`,
  ]);
  return { "/r/.gitignore": "*.log\n", "/r/a.log": "needle0\n", ...Object.fromEntries(entries) };
}

const DIRECTORIES = ["", "d/", "d/e/", ".g/", "out/"];
const NAMES = ["a.ts", "b.ts", "c.log", ".gitignore", ".ignore"];
const path = fc
  .tuple(fc.constantFrom(...DIRECTORIES), fc.constantFrom(...NAMES))
  .map((parts) => `/r/${parts.join("")}`);
const content = fc.oneof(
  fc.constantFrom("needle\n", "nee\ndle\n", "out/\n", "*.log\n", "\ufeffneedle\n", "NEEDLE é needle", ""),
  fc.constantFrom("needle\0", `${"x\n".repeat(40_000)}needle\0needle`, `${"hay\n".repeat(9000)}needle`),
  fc.string({ maxLength: 30 }),
);
const change = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant("write" as const), path, content) },
  fc.tuple(fc.constant("delete" as const), path, path),
  fc.tuple(fc.constant("move" as const), path, path),
  fc.tuple(fc.constant("copy" as const), path, path),
  fc.tuple(
    fc.constant("moveTree" as const),
    fc.constantFrom("/r/d", "/r/out"),
    fc.constantFrom("/r/n", "/r/d"),
  ),
  fc.tuple(fc.constant("link" as const), path, path),
  fc.tuple(fc.constant("snapshot" as const), path, path),
  fc.tuple(fc.constant("restore" as const), path, path),
);
const query = fc
  .record(
    {
      pattern: fc.constantFrom("needle", "nee", "NEEDLE", "n.*e", "^$", "dle\\b", "e\\nd", "\\d"),
      case: fc.constantFrom("sensitive" as const, "insensitive" as const),
      multiline: fc.boolean(),
      glob: fc.constantFrom("*.ts", "d/**"),
      hidden: fc.boolean(),
      respectIgnore: fc.boolean(),
      output: fc.constantFrom("content" as const, "files" as const, "count" as const),
      maxResults: fc.constantFrom(1, 3),
      maxFileBytes: fc.constantFrom(20, 1000),
    },
    { requiredKeys: ["pattern"] },
  )
  .map((one) => (one.pattern.includes("\\n") ? { ...one, multiline: true } : one));

type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

async function apply(
  memory: MemoryBackend,
  [what, from, to]: Change,
  kept: { snapshot?: object },
): Promise<void> {
  try {
    if (what === "write") await memory.writeText(from, to, { createDirs: true });
    else if (what === "delete") await memory.delete(from);
    else if (what === "move" || what === "moveTree") await memory.rename(from, to, { overwrite: true });
    else if (what === "copy") await memory.copyFile(from, to, { overwrite: true });
    else if (what === "link") await memory.symlink(from, to);
    else if (what === "snapshot") kept.snapshot = memory.snapshot();
    else if (kept.snapshot !== undefined)
      memory.restore(kept.snapshot as ReturnType<MemoryBackend["snapshot"]>);
  } catch {
    // What cannot be done changes nothing, and is as good.
  }
}

async function applyOver(backend: Files, [what, from, to]: Change): Promise<void> {
  try {
    if (what === "write") await backend.writeText(from, to, { createDirs: true });
    else if (what === "delete") await backend.delete(from);
    else if (what === "move" || what === "moveTree") await moveEntry(backend, from, to, { overwrite: true });
    else if (what === "copy") await backend.copyFile?.(from, to, { overwrite: true });
    else if (what === "link") await backend.symlink?.(from, to);
    else if (what === "restore" && backend instanceof OverlayBackend) await backend.discard();
  } catch {
    // What cannot be done changes nothing, and is as good.
  }
}

async function filledStorage(files: Readonly<Record<string, string>>): Promise<MemoryStorage> {
  const storage = memoryStorage();
  await storage.commit(
    Object.entries(files).map(([path, text]) => ({ op: "put", path, body: new TextEncoder().encode(text) })),
  );
  return storage;
}

/** A backend over a storage in memory with some files. `seen` receives the paths whose contents it reads. */
async function storageWith(files: Readonly<Record<string, string>>, seen?: string[][]): Promise<Files> {
  const storage = await filledStorage(files);
  const { readMany } = storage;
  storage.readMany = (paths, options) => {
    if (options?.bodies !== false) seen?.push([...paths]);
    return readMany.call(storage, paths, options);
  };
  return toBackend(storage);
}

/** A private key, which makes a file a secret by its content. It begins and ends as files of OpenSSH do. */
const PRIVATE_KEY = [
  "-----BEGIN OPENSSH PRIVATE KEY-----",
  "needle".repeat(11),
  "-----END OPENSSH PRIVATE KEY-----",
  "",
].join("\n");

describeParity("searches of memory", () => {
  const before = engine();
  afterAll(() => setEngine(before));

  describe.each(["native", "wasm"] as const)("on %s", (name) => {
    const use = () => setEngine(engines?.[name] as ReturnType<typeof engine>);

    it("are those of a scan, whatever changes in between", async () => {
      use();
      const confine = (inner: Files) =>
        new SandboxedBackend(inner, SandboxPolicy.allowList({ cwd: "/r", read: ["/r"], write: ["/r"] }));
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(fc.array(change, { maxLength: 4 }), query), { minLength: 1, maxLength: 12 }),
          fc.constantFrom("memory", "confined", "overlay", "storage", "confinedStorage"),
          async (steps, over) => {
            const start = { "/r/a.ts": "needle\n", "/r/d/b.ts": "hay\n" };
            const memory = new MemoryBackend(start);
            const overlay = new OverlayBackend(memory);
            const storage = await storageWith(start);
            const confined = { confined: confine(memory), confinedStorage: confine(storage) };
            const backend: Files = { memory, overlay, storage, ...confined }[over];
            const kept = {};
            for (const [changes, asked] of steps) {
              for (const [at, one] of changes.entries()) {
                // Of an overlay, what lies below changes as well.
                if (over === "storage" || over === "confinedStorage") await applyOver(storage, one);
                else if (over === "overlay" && at % 2 === 0) await applyOver(overlay, one);
                else await apply(memory, one, kept);
              }
              // Several times: later searches use the cache of the first.
              for (let i = 0; i < 3; i++) await both(backend, asked);
            }
          },
        ),
        { numRuns: isNight ? 50 : 20, seed: 2026 },
      );
    });

    it("see each change at once, and read only what can match", async () => {
      use();
      const memory = new MemoryBackend(seed(300));
      const asked: SearchQuery = { pattern: "needle" };
      expect([await both(memory, asked), await both(memory, asked), await both(memory, asked)]).toEqual([
        [30, "scan"],
        [30, "watch"],
        [30, "watch"],
      ]);
      await memory.writeText("/r/src/1/f1.ts", "needle\n");
      expect(await both(memory, asked)).toEqual([31, "watch"]);
      await memory.writeText("/r/.gitignore", "src/1/\n*.log\n");
      expect((await both(memory, asked))[0]).toBeLessThan(31);
      await memory.delete("/r/.gitignore");
      expect(await both(memory, asked)).toEqual([32, "scan"]);
      await memory.rename("/r/src/1", "/moved");
      expect((await both(memory, asked))[0]).toBeLessThan(32);
    });

    it("go on where something was cut off", async () => {
      use();
      const memory = new MemoryBackend(seed(120));
      const lines: string[] = [];
      let cursor: string | undefined;
      do {
        const page = { pattern: "needle", maxResults: 5, cursor };
        for (let i = 0; i < 3; i++) await both(memory, page);
        const found = await memory.grep("/r", page);
        lines.push(...found.matches.map(({ text }) => text));
        cursor = found.nextCursor;
      } while (cursor !== undefined);
      expect(new Set(lines).size).toBe(12);
    });
  });

  it("look again only at the directory that has a new file, or one fewer", async () => {
    let matched = 0;
    const counting: typeof before = {
      ...before,
      glob(...asked) {
        const globs = before.glob(...asked);
        const matches: typeof globs.matches = (...path) => {
          matched++;
          return globs.matches(...path);
        };
        return { ...globs, matches };
      },
    };
    setEngine(counting);
    const memory = new MemoryBackend(seed(700));
    const after = async (change: () => unknown): Promise<number> => {
      await change();
      matched = 0;
      await memory.grep("/r", { pattern: "needle" });
      return matched;
    };
    const whole = await after(() => undefined);
    expect(whole).toBeGreaterThan(700);
    for (const change of [
      () => memory.writeText("/r/src/3/new.ts", "needle"),
      () => memory.rename("/r/src/3/new.ts", "/r/src/3/other.ts"),
      () => memory.delete("/r/src/3/other.ts"),
    ]) {
      expect(await after(change)).toBeLessThan(whole / 5);
    }
    expect(await after(() => memory.writeText("/r/.gitignore", "*.md\n"))).toBeGreaterThan(700);
    setEngine(before);
    expect((await both(memory, { pattern: "needle" }))[0]).toBe(71);
  });

  it("of an overlay are those of what lies below and of its changes", async () => {
    setEngine(before);
    const overlay = new OverlayBackend(new MemoryBackend(seed(50)));
    const asked = { pattern: "needle" };
    expect([await both(overlay, asked), await both(overlay, asked)]).toEqual([
      [5, "scan"],
      [5, "watch"],
    ]);
    await overlay.writeText("/r/src/1/f1.ts", "needle\n");
    await overlay.delete("/r/src/0/f0.ts");
    await overlay.writeText("/r/new.ts", "needle\nneedle\n");
    expect([await both(overlay, asked), await both(overlay, asked)]).toEqual([
      [7, "scan"],
      [7, "watch"],
    ]);
    await overlay.discard();
    expect((await both(overlay, asked))[0]).toBe(5);
  });

  it("find a secret only while it is granted", async () => {
    setEngine(before);
    const memory = new MemoryBackend({ "/r/.env": "needle\n", "/r/a.ts": "needle\n" });
    const policy = SandboxPolicy.allowList({ cwd: "/r", read: ["/r"], write: ["/r"] });
    const confined = new SandboxedBackend(memory, { ...policy, secrets: "grant" });
    const counted = async () => (await both(confined, { pattern: "needle" }))[0];
    expect([await counted(), await counted(), await counted()]).toEqual([1, 1, 1]);
    confined.grantSecrets?.(["/r/.env"]);
    expect([await counted(), await counted()]).toEqual([2, 2]);
    confined.grantSecrets?.([]);
    expect(await counted()).toBe(1);
  });

  it.each(["memory", "storage"] as const)("judge each content of %s that a file gets", async (kind) => {
    setEngine(before);
    const files = { "/r/a.ts": "needle\n", "/r/b.ts": "needle\n" };
    const inner = kind === "memory" ? new MemoryBackend(files) : await storageWith(files);
    const policy = SandboxPolicy.allowList({ cwd: "/r", read: ["/r"], write: ["/r"] });
    const confined = new SandboxedBackend(inner, { ...policy, secrets: "grant" });
    const found = async (pattern: string): Promise<readonly number[]> => {
      const { totalMatches, unreadable } = await confined.grep("/r", { pattern });
      return [totalMatches, unreadable];
    };
    for (let i = 0; i < 3; i++) expect(await found("needle")).toEqual([2, 0]);
    await inner.writeBytes("/r/a.ts", new TextEncoder().encode(PRIVATE_KEY));
    // The counts are the same whether the secret has a match, so they say nothing about its content.
    for (let i = 0; i < 3; i++) {
      expect(await found("needle")).toEqual([1, 1]);
      expect(await found("nowhere")).toEqual([0, 1]);
    }
    // A search without a policy indexes the content; the one with it still reads and refuses it.
    for (let i = 0; i < 3; i++) await inner.grep("/r", { pattern: "needle" });
    expect(await found("nowhere")).toEqual([0, 1]);
    await inner.writeText("/r/a.ts", "needle\n");
    expect(await found("needle")).toEqual([2, 0]);
  });

  it("of a storage read only what can match, once, and after a change only what changed", async () => {
    setEngine(before);
    const seen: string[][] = [];
    const backend = await storageWith(seed(300), seen);
    const read = async (pattern: string): Promise<number> => {
      seen.length = 0;
      await both(backend, { pattern });
      return seen.flat().length;
    };
    expect(await read("needle")).toBeGreaterThanOrEqual(300);
    await read("needle");
    expect(await read("needle10")).toBe(0);
    await backend.writeText("/r/src/1/f1.ts", "needle10 again\n");
    expect((await both(backend, { pattern: "needle10" }))[0]).toBe(3);
    expect(await read("needle10")).toBe(0);
  });

  it("of a small directory leave the index of the rest, which is cleared once most of it is gone", async () => {
    const backend = new MemoryBackend(seed(5000));
    const { signs } = contentsOf(backend) as ContentProvider;
    const grep = (root: string) => backend.grep(root, { pattern: "needle3", regex: false });
    const times = async (count: number, root: string) => {
      for (let done = 0; done < count; done++) await grep(root);
    };
    await times(3, "/r");
    await backend.writeText("/r/small/f.ts", "needle3\n", { createDirs: true });
    await times(3, "/r/small");
    expect(signs.generation).toBe(0);
    await backend.removeTree("/r/src");
    await times(3, "/r");
    for (let round = 0; round < 5; round++) {
      for (let at = 0; at < 4000; at++) await backend.writeText(`/r/small/g${at}.ts`, `${round} ${at}\n`);
      await times(3, "/r");
    }
    expect(signs.generation).toBeGreaterThan(0);
  });

  it("of a fork see what the fork changed, and those of its parent do not", async () => {
    setEngine(before);
    const ws = await openWorkspace({ storage: await filledStorage(seed(60)), root: "/r" });
    const count = async (one: typeof ws): Promise<number> => {
      const found = await one.grep({ pattern: "needle" });
      return "total_matches" in found ? found.total_matches : -1;
    };
    for (let i = 0; i < 3; i++) expect(await count(ws)).toBe(6);
    const fork = await ws.fork("try");
    expect(await count(fork)).toBe(6);
    await fork.writeFile({ path: "src/1/f1.ts", content: "needle\n" });
    expect([await count(fork), await count(ws), await count(fork)]).toEqual([7, 6, 7]);
    await ws.writeFile({ path: "src/2/f2.ts", content: "needle\nneedle\n" });
    expect([await count(fork), await count(ws), await count(fork)]).toEqual([7, 8, 7]);
    await fork.close();
    await ws.close();
  });

  it("read through methods that replace the backend's own", async () => {
    setEngine(before);
    class Shouting extends MemoryBackend {
      override async readBytes(): Promise<Uint8Array> {
        return new TextEncoder().encode("NEEDLE\n");
      }
    }
    const shouting = new Shouting({ "/r/a.ts": "needle\n" });
    expect(await both(shouting, { pattern: "NEEDLE" })).toEqual([1, "scan"]);
    expect(await both(shouting, { pattern: "NEEDLE" })).toEqual([1, "scan"]);
  });

  it("of a workspace count what they passed over", async () => {
    setEngine(before);
    const memory = new MemoryBackend({ ...seed(50), "/r/bin": "\0needle" });
    const ws = await openWorkspace({ backend: memory, root: "/r" });
    const results = [];
    for (let i = 0; i < 4; i++) results.push((await ws.grep({ pattern: "needle20" })) as object);
    const plain = results.map((result) => ({ ...result, fresh: "" }));
    expect(plain[3]).toEqual(plain[0]);
    expect(results[3]).toMatchObject({
      fresh: "watch",
      files_searched: 51,
      skipped_binary: 1,
      total_matches: 1,
    });
    await ws.close();
  });
});
