/** Tools over exchangeable storage: what the table of the preset `fluent` does not show. */
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import {
  FilewrightError,
  type FsBackend,
  type FsEntry,
  type FsStat,
  LocalBackend,
  MemoryBackend,
  MountBackend,
  openWorkspace,
  OverlayBackend,
  SandboxedBackend,
  SandboxPolicy,
  SandboxViolation,
} from "../../js/index.node.ts";
import { KINDS, place } from "../tools/harness.ts";
import { below, bytesOf, ELEVEN, STORAGES, stored } from "./storage.ts";

/** A backend that notes which method was called with which path, and hands it on. */
function noting(inner: FsBackend): { readonly backend: FsBackend; readonly calls: string[] } {
  const calls: string[] = [];
  const backend = Object.fromEntries(
    ELEVEN.map((name) => [
      name,
      (...args: readonly unknown[]) => {
        calls.push(`${name} ${String(name === "glob" ? (args[1] as { root?: string })?.root : args[0])}`);
        return (inner[name] as (...all: readonly unknown[]) => unknown)(...args);
      },
    ]),
  );
  return { backend: backend as unknown as FsBackend, calls };
}

/** An agent's work through the six tools, in the words of the preset. */
const WORK: readonly (readonly [tool: string, args: Readonly<Record<string, unknown>>])[] = [
  ["write_file", { path: "src/b.ts", content: "let b = 1;\n" }],
  ["read_file", { path: "src/b.ts" }],
  ["edit_file", { path: "src/b.ts", old_string: "1", new_string: "2" }],
  ["list_dir", { path: "." }],
  ["glob_search", { pattern: "**/*.ts" }],
  ["grep_search", { pattern: "let" }],
  ["read_file", { path: "gone" }],
  ["read_file", { path: "/etc/passwd" }],
];
const DONE = [
  "Successfully wrote src/b.ts",
  "1\tlet b = 1;",
  "Successfully edited src/b.ts",
  "d src\nf a.txt",
  "src/a.ts\nsrc/b.ts",
  "src/a.ts:1: let a = 0;\nsrc/b.ts:1: let b = 2;",
];
const FILES = { "a.txt": "text\n", "src/a.ts": "let a = 0;\n" };

describe("tools over a backend", () => {
  test.each(STORAGES)("the same list and texts over %s", async (kind) => {
    const { backend, root } = await stored(kind, FILES);
    await using ws = await openWorkspace({ backend, root, preset: "fluent" });
    const texts: string[] = [];
    for (const [tool, args] of WORK) texts.push((await ws.call(tool, args)).text);
    expect(texts.slice(0, 6)).toEqual(DONE);
    expect(texts[6]).toMatch(/^Error: .*gone/u);
    expect(texts[7]).toBe("Error: path '/etc/passwd' is outside the allowed workspace.");
    await using other = await openWorkspace({ backend: new MemoryBackend(), root: "/x", preset: "fluent" });
    const told = (tools: typeof ws.tools) => tools.map((tool) => JSON.parse(JSON.stringify(tool)));
    expect(told(ws.tools)).toEqual(told(other.tools));
  });

  test("everything goes through the eleven methods, and through nothing else", async () => {
    const { backend, calls } = noting(new MemoryBackend(below("/w", FILES)));
    await using ws = await openWorkspace({ backend, root: "/w", preset: "fluent" });
    for (const [at, [tool, args]] of WORK.slice(0, 6).entries()) {
      calls.length = 0;
      expect((await ws.call(tool, args)).text).toBe(DONE[at]);
      expect(calls.length, tool).toBeGreaterThan(0);
    }
    const tools = new URL("../../js/tools/", import.meta.url);
    for (const file of await readdir(tools, { recursive: true })) {
      if (!file.endsWith(".ts")) continue;
      expect(await readFile(new URL(file, tools), "utf8"), file).not.toMatch(/from "node:/u);
    }
  });

  test("the storage is given resolved paths, is not told of a policy, and sees no refused call", async () => {
    const { backend, calls } = noting(new MemoryBackend({ "/w/d/a": "1", "/o/s": "s" }));
    const sandboxed = new SandboxedBackend(backend, SandboxPolicy.readOnly("/w", { cwd: "/w/d" }));
    expect(await sandboxed.readText("/w/d/../d/./a")).toBe("1");
    expect(calls).toContain("readText /w/d/a");
    calls.length = 0;
    const refused = (run: () => unknown, code: string) =>
      expect((async () => run())()).rejects.toMatchObject({ code });
    await refused(() => sandboxed.readText("/w/../o/s"), "OUTSIDE_ALLOWED");
    await refused(() => sandboxed.writeText("/w/d/a", "2"), "READ_ONLY");
    await refused(() => sandboxed.delete("/w/d/a"), "READ_ONLY");
    expect(calls.filter((call) => !/^(?:exists|stat) \/w/u.test(call))).toEqual([]);
  });

  test.each(STORAGES)("%s alone knows no bounds; the decorator sets them", async (kind) => {
    const { backend, root } = await stored(kind, { "in/a": "in", "out/s": "secret" });
    const sandboxed = new SandboxedBackend(backend, SandboxPolicy.workspaceOnly(`${root}/in`));
    expect(await backend.readText(`${root}/out/s`)).toBe("secret");
    expect(await sandboxed.readText(`${root}/in/a`)).toBe("in");
    expect(await sandboxed.exists(`${root}/out/s`)).toBe(false);
    for (const run of [
      () => sandboxed.readText(`${root}/out/s`),
      () => sandboxed.writeText(`${root}/in/../out/s`, "taken"),
      () => sandboxed.listDir(`${root}/out`),
    ]) {
      const error = await (async (): Promise<unknown> => run())().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(SandboxViolation);
      expect(error).toMatchObject({ name: "SandboxViolation", code: "OUTSIDE_ALLOWED" });
    }
    expect(await backend.readText(`${root}/out/s`)).toBe("secret");
  });

  test("an escape is a permission error with a code", async () => {
    const sandboxed = new SandboxedBackend(new MemoryBackend(), SandboxPolicy.workspaceOnly("/w"));
    const error = await Promise.resolve()
      .then(() => sandboxed.readText("/etc/passwd"))
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SandboxViolation);
    expect(error).toBeInstanceOf(FilewrightError);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ code: "OUTSIDE_ALLOWED", errno: "EACCES" });
  });
});

test("a backend answers with promises or at once", async () => {
  const files = new Map([["/w/a", "one\n"]]);
  const isDir = (path: string): boolean => path === "/" || path === "/w";
  const stat = (path: string): FsStat => {
    const content = files.get(path);
    if (content === undefined && !isDir(path))
      throw new FilewrightError("NOT_FOUND", "nothing is there", { path });
    const kind = { isDir: content === undefined, isFile: content !== undefined };
    return { path, type: kind.isFile ? "file" : "dir", size: content?.length ?? 0, mtime: 0, ...kind };
  };
  const entries = (): FsEntry[] =>
    [...files.keys()].map((path) => ({ ...stat(path), name: path.slice("/w/".length) }));
  const backend: FsBackend = {
    exists: (path) => files.has(path) || isDir(path),
    stat,
    readText: (path) => files.get(path) ?? "",
    readBytes: (path) => bytesOf(files.get(path) ?? ""),
    writeText: (path, content) => {
      files.set(path, content);
      return {};
    },
    writeBytes: (path, content) => {
      files.set(path, new TextDecoder().decode(content));
      return {};
    },
    delete: (path) => void files.delete(path),
    mkdir: () => undefined,
    listDir: () => entries(),
    iterFiles: () => files.keys(),
    glob: () => [...files.keys()],
  };
  const ws = await openWorkspace({ backend, root: "/w", guard: "off" });
  expect((await ws.call("edit_file", { path: "a", old_text: "one", new_text: "two" })).ok).toBe(true);
  expect(await ws.fs.readText("/w/a")).toBe("two\n");
  await ws.close();
});

describe("memory", () => {
  test("is made from texts and bytes, with the directories implied", async () => {
    const backend = new MemoryBackend({ "/p/q/a.txt": "text", "/p/b.bin": Uint8Array.of(0, 255) });
    expect(await backend.readText("/p/q/a.txt")).toBe("text");
    expect(await backend.readBytes("/p/b.bin")).toEqual(Uint8Array.of(0, 255));
    expect((await backend.stat("/p/q")).isDir).toBe(true);
  });

  test("is POSIX wherever it runs: slashes, letter case, dots", async () => {
    const backend = new MemoryBackend({ "/d/a": "lower", "/d/A": "upper", "/d/b\\c": "one name" });
    expect(await backend.readText("/d/x/../A")).toBe("upper");
    expect(await backend.readText("//d/./a")).toBe("lower");
    expect((await backend.listDir("/d")).map(({ name }) => name)).toEqual(["A", "a", "b\\c"]);
  });

  test("instances share nothing, and the disk is not touched", async () => {
    const [one, other] = [new MemoryBackend({ "/w/a": "1" }), new MemoryBackend({ "/w/a": "1" })];
    await using ws = await openWorkspace({ backend: one, root: "/w" });
    await ws.writeFile({ path: "a", content: "2" });
    await ws.writeFile({ path: "n", content: "new" });
    expect([await other.readText("/w/a"), await other.exists("/w/n")]).toEqual(["1", false]);
  });

  test("sandboxed, with every door to the disk shut", async () => {
    const dist = new URL("../../dist/", import.meta.url);
    const manifest = new URL("../../package.json", import.meta.url);
    const script = `
      import { writeFileSync } from "node:fs";
      import { MemoryBackend, openWorkspace, SandboxedBackend, SandboxPolicy } from ${JSON.stringify(new URL("cli/library.js", dist).href)};
      let refused = false;
      try { writeFileSync("/tmp/filewright-never", ""); } catch { refused = true; }
      const inner = new MemoryBackend({ "/tmp/scratch/a": "one" });
      const backend = new SandboxedBackend(inner, SandboxPolicy.workspaceOnly("/tmp/scratch"));
      const ws = await openWorkspace({ backend, root: "/tmp/scratch" });
      await ws.editFile({ path: "a", old_text: "one", new_text: "two" });
      await ws.writeFile({ path: "d/b", content: "two" });
      const { total_matches } = await ws.grep({ pattern: "two" });
      console.log(JSON.stringify([refused, total_matches]));`;
    const flags = [
      "--experimental-permission",
      "--allow-addons",
      `--allow-fs-read=${dist.pathname}*`,
      `--allow-fs-read=${manifest.pathname}`,
    ];
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...flags,
      "--input-type=module",
      "-e",
      script,
    ]);
    expect(JSON.parse(stdout)).toEqual([true, 2]);
  });

  test("the same calls give the same bytes, times and order, by a clock of one's own", async () => {
    const run = async (): Promise<string> => {
      let now = 1_700_000_000_000;
      const backend = new MemoryBackend({}, { now: () => (now += 1000) });
      const ws = await openWorkspace({ backend, root: "/w" });
      for (const path of ["z", "a/b", "é", "m"]) await ws.writeFile({ path, content: `${path}\n` });
      const found = await ws.grep({ pattern: "." });
      const listed = await ws.listDirectory({ depth: 3 });
      return JSON.stringify([found.matches, listed.entries, backend]);
    };
    const first = await run();
    expect(first).toContain("2023-11-14T");
    expect(await run()).toBe(first);
  });

  test("a tool is tested with nothing but a map", async () => {
    await using ws = await openWorkspace({ backend: new MemoryBackend({ "/w/a": "x = 1\n" }), root: "/w" });
    expect((await ws.call("grep", { pattern: "x" })).text).toBe("a:1:x = 1");
  });
});

describe("policies", () => {
  test.each(KINDS)("a root alone is a sandbox on %s", async (kind) => {
    const { ws, outside } = await place(kind, { a: "1", "../out/s": "secret" });
    expect((await ws.readFile({ path: "a" })).content).toBe("1");
    expect((await ws.call("read_file", { path: `${outside}/s` })).error?.code).toBe("OUTSIDE_ALLOWED");
    expect(await ws.fs.exists(`${outside}/s`)).toBe(false);
    if (kind === "local") expect(ws.capabilities().confinement).toBe("native");
    expect(SandboxPolicy.workspaceOnly("/project")).toMatchObject({
      read: ["/project"],
      write: ["/project"],
    });
  });

  test("workspace-only, read-only and an allow-list, each by what it lets be read and written", async () => {
    const files = { "/w/a": "1", "/w/docs/b": "2", "/elsewhere/c": "3" };
    const policies = {
      workspaceOnly: SandboxPolicy.workspaceOnly("/w"),
      readOnly: SandboxPolicy.readOnly("/w"),
      allowList: SandboxPolicy.allowList({ cwd: "/w", read: ["/w", "/elsewhere"], write: ["docs"] }),
    };
    const may = async (policy: SandboxPolicy) => {
      const backend = new SandboxedBackend(new MemoryBackend(files), policy);
      const works = async (run: () => unknown): Promise<boolean> => {
        try {
          await run();
          return true;
        } catch {
          return false;
        }
      };
      return {
        read: await Promise.all(Object.keys(files).map((path) => works(() => backend.readText(path)))),
        write: await Promise.all(Object.keys(files).map((path) => works(() => backend.writeText(path, "x")))),
      };
    };
    expect(await may(policies.workspaceOnly)).toEqual({
      read: [true, true, false],
      write: [true, true, false],
    });
    expect(await may(policies.readOnly)).toEqual({ read: [true, true, false], write: [false, false, false] });
    expect(await may(policies.allowList)).toEqual({ read: [true, true, true], write: [false, true, false] });
  });

  test.each(["memory", "local"] as const)(
    "a policy bounds the text of answers on %s, and no option widens it",
    async (kind) => {
      const line = `${"x".repeat(99)}\n`;
      const { root } = await place(kind, { a: line.repeat(1900) });
      const backend =
        kind === "memory" ? new MemoryBackend({ [`${root}/a`]: line.repeat(1900) }) : new LocalBackend();
      const policy = SandboxPolicy.workspaceOnly(root, { maxOutputBytes: 5_000 });
      const bounded = new SandboxedBackend(backend, policy);
      /** The last line, which says what is missing, comes on top of the bound. */
      const lastLine = 500;
      const sizes = async (storage: FsBackend, limits: object) => {
        await using ws = await openWorkspace({ backend: storage, root, limits, preset: "fluent" });
        const { text } = await ws.call("grep_search", { pattern: "x", max_results: 100_000 });
        return new TextEncoder().encode(text).length;
      };
      for (const layer of [bounded, new OverlayBackend(bounded), new MountBackend({ "/": bounded })])
        expect(await sizes(layer, { outputBytes: 1_000_000 })).toBeLessThanOrEqual(5_000 + lastLine);
      const plain = await sizes(backend, {});
      expect(plain).toBeLessThanOrEqual(100_000 + lastLine);
      expect(plain).toBeGreaterThan(95_000);
    },
  );

  test.each(KINDS)("neither a rule nor a grant nor a yes widens the sandbox on %s", async (kind) => {
    const { ws, outside, text } = await place(
      kind,
      { a: "1", "../out/s": "secret" },
      {
        rules: [{ tool: "*", decision: "allow" }],
        permissions: { mode: "prompt", ask: () => "yes" },
        confirm: () => ({ outcome: "proceed_always_server" }),
      },
    );
    await ws.grants.add({ dir: outside, access: "write" });
    expect((await ws.call("read_file", { path: "a" })).ok).toBe(true);
    for (const [tool, args] of [
      ["read_file", {}],
      ["write_file", { content: "taken" }],
      ["delete", {}],
    ] as const) {
      expect((await ws.call(tool, { path: `${outside}/s`, ...args })).error?.code, tool).toBe(
        "OUTSIDE_ALLOWED",
      );
    }
    expect(await text("../out/s")).toBe("secret");
  });
});
