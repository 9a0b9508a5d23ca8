/** Ranked search over files of files: a wrapper never shows by the search of its inner files what it hides itself. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { contentsOf, provideShortcuts, shortcutsOf } from "../../js/backends/abilities.ts";
import { confineFiles } from "../../js/backends/confined/confine.ts";
import { hidePaths } from "../../js/backends/confined/hiding.ts";
import type { Files } from "../../js/backends/files.ts";
import { ContentTerms } from "../../js/backends/search/held.ts";
import { searchCode } from "../../js/backends/search/search-code.ts";
import { memoryStorage, type Op } from "../../js/storage/index.ts";
import { forkOverlay } from "../../js/backends/overlay/overlay.ts";
import type { CodeSearchResult } from "../../js/engine/search-types.ts";
import {
  LocalBackend,
  MemoryBackend,
  MountBackend,
  openWorkspace,
  OverlayBackend,
  SandboxedBackend,
  SandboxPolicy,
} from "../../js/index.node.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-search-code-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const query = { query: "close session", limit: 100 };
const define = (name: string): string =>
  `export function ${name}() {\n  closeSession("session closed");\n}\n`;
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const pathsOf = ({ blocks }: CodeSearchResult): readonly string[] => blocks.map(({ path }) => path).sort();
const open = { hides: () => false, mayShowBelow: () => true };
/** The same files without shortcuts, so that they are walked. */
const walked = (files: Files): Files => hidePaths(files, open);

let made = 0;
async function disk(): Promise<string> {
  const root = join(base, `${made++}`);
  const seed = { "a.ts": "a", "open/b.ts": "b", "shut/c.ts": "c", "../out/d.ts": "d", ".git/e.ts": "e" };
  for (const [path, name] of Object.entries(seed)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), define(name));
  }
  await writeFile(join(root, ".env"), "SESSION=close session\n");
  await symlink(join(base, "out"), join(root, "link")).catch(() => {});
  return root;
}

describe("a shortcut that shows everything", () => {
  const leak: CodeSearchResult = {
    blocks: [{ root: 0, path: "leaked", first: 1, last: 1, hash: "000000", lines: [] }],
    filesSearched: 1,
    skippedLarge: 0,
    firstLarge: "",
    largeRoot: 0,
    unreadable: 0,
    complete: true,
  };
  const inner = (): MemoryBackend => {
    const files = new MemoryBackend({ "/ws/a.ts": define("a"), "/ws/shut/c.ts": define("c") });
    provideShortcuts(files, { searchCode: async () => leak });
    return files;
  };
  const policy = SandboxPolicy.workspaceOnly("/ws", { deny: ["shut/**"] });
  const shut = { hides: (forms: readonly string[]) => forms.some((one) => one.startsWith("/ws/shut")) };

  it("is used for the files themselves", async () => {
    expect(await searchCode(inner(), ["/ws"], query)).toBe(leak);
  });

  it.each<[string, (files: MemoryBackend) => Files, readonly string[]]>([
    ["a policy", (files) => confineFiles(files, policy), ["a.ts"]],
    ["a sandbox", (files) => new SandboxedBackend(files, policy), ["a.ts"]],
    ["rules", (files) => hidePaths(files, { ...shut, mayShowBelow: () => false }), ["a.ts"]],
    ["an overlay", (files) => new OverlayBackend(files), ["a.ts", "shut/c.ts"]],
    ["a fork", (files) => forkOverlay(files).overlay, ["a.ts", "shut/c.ts"]],
    [
      "mounts",
      (files) => new MountBackend({ "/ws": { backend: files, root: "/ws" } }),
      ["a.ts", "shut/c.ts"],
    ],
  ])("is not passed on by %s", async (_, wrap, shown) => {
    expect(pathsOf(await searchCode(wrap(inner()), ["/ws"], query))).toEqual(shown);
  });
});

describe("the disk", () => {
  const policies = {
    "a directory": (root: string) => SandboxPolicy.workspaceOnly(root),
    "denied globs": (root: string) => SandboxPolicy.workspaceOnly(root, { deny: ["shut/**"] }),
    "hidden secrets": (root: string) => SandboxPolicy.workspaceOnly(root, { secrets: "grant" }),
  };
  it.each(Object.entries(policies))(
    "ranks under a policy of %s what a walk shows",
    async (name, policyOf) => {
      const root = await disk();
      const files = new SandboxedBackend(new LocalBackend(), policyOf(root));
      const own = await shortcutsOf(files).searchCode([root], query);
      expect(own).toEqual(await searchCode(walked(files), [root], query));
      const shown = pathsOf(own as CodeSearchResult);
      expect(shown).toContain("a.ts");
      expect(shown.filter((path) => /^link|out|\.git/u.test(path))).toEqual([]);
      expect(shown.includes("shut/c.ts")).toBe(name !== "denied globs");
      if (name === "hidden secrets") expect(shown).not.toContain(".env");
      await files.close();
    },
  );

  it("uses the index of a home directory that the host has asked for", async () => {
    const root = await disk();
    const home = process.env["HOME"];
    const files = new LocalBackend();
    const memory = async () => (await files.indexStatus(root))?.memoryBytes ?? 0;
    try {
      process.env["HOME"] = root;
      await searchCode(files, [root], query);
      expect(await files.indexStatus(root)).toBeUndefined();
      await files.warm(root);
      const before = await memory();
      await searchCode(files, [root], query);
      // What was counted is kept with the index.
      expect(await memory()).toBeGreaterThan(before);
    } finally {
      process.env["HOME"] = home;
      files.close();
    }
  });

  it("refuses a directory outside the policy by either way", async () => {
    const root = await disk();
    const files = new SandboxedBackend(new LocalBackend(), SandboxPolicy.workspaceOnly(root));
    for (const one of [files, walked(files)])
      for (const path of [join(base, "out"), join(root, "link"), base])
        await expect(searchCode(one, [path], query)).rejects.toMatchObject({ code: "OUTSIDE_ALLOWED" });
    await files.close();
  });

  it("leaves the search to the methods of a host that has its own", async () => {
    const root = await disk();
    class Hiding extends LocalBackend {
      override async listDir(path: string): ReturnType<LocalBackend["listDir"]> {
        return (await super.listDir(path)).filter(({ name }) => name !== "shut");
      }
    }
    const files = new Hiding();
    expect(pathsOf(await searchCode(files, [root], query))).not.toContain("shut/c.ts");
    expect(pathsOf(await searchCode(new LocalBackend(), [root], query))).toContain("shut/c.ts");
    files.close();
  });

  it("is seen through an overlay with its changes, and through mounts in their directory", async () => {
    const root = await disk();
    const policy = SandboxPolicy.workspaceOnly(root, { deny: ["shut/**"] });
    const overlay = new OverlayBackend(new LocalBackend());
    await overlay.delete(join(root, "a.ts"));
    await overlay.writeText(join(root, "open/b.ts"), "export const nothing = 1;\n");
    await overlay.writeText(join(root, "open/new.ts"), define("made"));
    await overlay.writeText(join(root, "shut/new.ts"), define("hidden"));
    const code = async (files: Files, at: string) =>
      pathsOf(await searchCode(files, [at], query)).filter((path) => path.endsWith(".ts"));
    expect(await code(new SandboxedBackend(overlay, policy), root)).toEqual(["open/new.ts"]);
    const mounted = new MountBackend({ "/w": { backend: new LocalBackend(), root } });
    const sandboxed = new SandboxedBackend(
      mounted,
      SandboxPolicy.workspaceOnly("/w", { deny: ["shut/**", "a.ts"] }),
    );
    expect(await code(mounted, "/w")).toEqual(["a.ts", "open/b.ts", "shut/c.ts"]);
    expect(await code(sandboxed, "/w")).toEqual(["open/b.ts"]);
    await rm(join(root, "open"), { recursive: true });
    expect(await code(sandboxed, "/w")).toEqual([]);
  });
});

it("a content that a ranked search no longer finds is forgotten, one that it finds is kept", () => {
  const terms = new ContentTerms();
  const mebibyte = (): Uint8Array => new Uint8Array(1 << 20);
  const [kept, rewritten] = [mebibyte(), mebibyte()];
  const as = (key: string, bytes: Uint8Array) => ({ key, path: key, bytes });
  for (let round = 0; round < 200; round++) {
    const { numbers } = terms.begin();
    if (numbers.get(kept, "kept") === undefined) {
      expect(round).toBe(0);
      numbers.count(kept, as("kept", kept));
    }
    const removed = round === 0 ? rewritten : mebibyte();
    numbers.count(removed, as(`removed ${round}`, removed));
  }
  const { numbers } = terms.begin();
  expect(numbers.get(kept, "kept")).toBe(-1);
  expect(numbers.get(rewritten, "removed 0")).toBeUndefined();
});

it("files with one relative path in two directories are both counted once", async () => {
  const files = new MemoryBackend({ "/a/f.ts": define("inA"), "/b/f.ts": define("inB") });
  const counted = async (): Promise<number> => {
    await searchCode(files, ["/a", "/b"], query);
    return contentsOf(files)?.signs.terms.begin().contents.bytes() as number;
  };
  const first = await counted();
  expect(first).toBeGreaterThan(0);
  expect(await counted()).toBe(first);
});

it("a storage is read once: a later query reads what it shows", async () => {
  const storage = memoryStorage();
  const at = (n: number) => `/ws/f${n}.ts`;
  const ops = Array.from(
    { length: 40 },
    (_, n): Op => ({ op: "put", path: at(n), body: utf8(define(`f${n}`)) }),
  );
  await storage.commit([{ op: "mkdir", path: "/ws" }, ...ops]);
  const read: string[] = [];
  const counting = new Proxy(storage, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      if (name !== "readMany") return member.bind(target);
      return (paths: readonly string[], ...rest: readonly unknown[]) => {
        read.push(...paths);
        return Reflect.apply(member, target, [paths, ...rest]);
      };
    },
  });
  await using ws = await openWorkspace({ root: "/ws", storage: counting });
  const ask = async (query: string) => {
    read.length = 0;
    const { blocks } = await ws.searchCode({ query, limit: 1 });
    return { path: blocks[0]?.path, files: new Set(read.filter((path) => path.endsWith(".ts"))).size };
  };
  expect((await ask("f7")).path).toBe("f7.ts");
  expect(await ask("f8")).toMatchObject({ path: "f8.ts" });
  const { files } = await ask("f9");
  expect(files).toBeLessThanOrEqual(1);
  // A changed file is counted again.
  await storage.commit([{ op: "put", path: at(3), body: utf8(define("zebra")) }]);
  expect((await ask("zebra")).path).toBe("f3.ts");
  expect((await ask("f3")).path).toBe("f3.ts");
});
