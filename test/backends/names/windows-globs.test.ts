/** Globs with backslashes, brackets and braces over a Windows disk: each is understood rightly or refused. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { GRANTS_COMMAND } from "../../../js/cli/commands/grants.ts";
import { literalWindowsGlob } from "../../../js/backends/windows-globs.ts";
import { provideShortcuts } from "../../../js/backends/abilities.ts";
import { innerWindowsPath, withPathsOf } from "../../../js/backends/windows-paths.ts";
import {
  headlessApprover,
  MemoryBackend,
  openWorkspace,
  SandboxPolicy,
  type WorkspaceOptions,
} from "../../../js/index.node.ts";
import { windowsVolume } from "./windows-volume.ts";
import { SHELL } from "../../support/in-process.ts";

const SEED = {
  "/C:/repo/src/a.ts": "one\n",
  "/C:/repo/app/[slug]/b.ts": "content of slug\n",
  "/C:/repo/app/s/b.ts": "content of s\n",
  "/C:/repo/app{x/b.ts": "content of a brace\n",
  "/C:/lib/c.ts": "content of lib\n",
  "/D:/b/d.ts": "content of D\n",
};

async function open(more: Partial<WorkspaceOptions> = {}, seed: Record<string, string> = SEED) {
  const { volume } = windowsVolume(seed);
  provideShortcuts(volume, { paths: "windows" });
  const roots = ["C:\\repo", "C:\\lib", "D:\\b"];
  return openWorkspace({ backend: volume, roots, history: false, ...more } as WorkspaceOptions);
}

/** The kinds of lists that take globs of a host. */
const LISTS: readonly (readonly [string, (glob: string) => Partial<WorkspaceOptions>])[] = [
  ["a deny list", (glob) => ({ access: { deny: [glob] } })],
  ["a rule", (glob) => ({ rules: [{ path: glob, decision: "deny" }] })],
];

/** The globs that are understood, with the files that each matches. */
const UNDERSTOOD: readonly (readonly [string, readonly string[]])[] = [
  ["app/\\[slug]", ["app/[slug]/b.ts"]],
  ["app/\\[slug\\]", ["app/[slug]/b.ts"]],
  ["C:\\repo\\app/\\[slug\\]\\**", ["app/[slug]/b.ts"]],
  ["\\[slug\\]", ["app/[slug]/b.ts"]],
  // A class in a deny list covers the name as written, too.
  ["app/[slug]", ["app/[slug]/b.ts", "app/s/b.ts"]],
  ["C:\\repo\\app/[[]slug]\\**", ["app/[slug]/b.ts"]],
  ["app\\*\\b.ts", ["app/[slug]/b.ts", "app/s/b.ts"]],
  ["app/{s,\\[slug\\]}", ["app/[slug]/b.ts", "app/s/b.ts"]],
  ["{C:\\lib,D:\\b}", ["C:\\lib\\c.ts", "D:\\b\\d.ts"]],
  ["{C:/lib,d:/b}", ["C:\\lib\\c.ts", "D:\\b\\d.ts"]],
  ["{/C:/lib,src}", ["C:\\lib\\c.ts", "src/a.ts"]],
  ["{C,D}:\\{lib,b}", ["C:\\lib\\c.ts", "D:\\b\\d.ts"]],
  ["[CD]:\\{lib,b}", ["C:\\lib\\c.ts", "D:\\b\\d.ts"]],
  ["*:\\b", ["D:\\b\\d.ts"]],
  ["C:\\{lib,repo\\src}\\**", ["C:\\lib\\c.ts", "src/a.ts"]],
];

/** The globs that are refused, with what the error says. */
const REFUSED: readonly (readonly [string, string])[] = [
  ["app\\[slug]", "ambiguous"],
  ["C:\\repo\\[secret]\\**", "ambiguous"],
  ["C:\\repo\\[[]slug]\\**", "ambiguous"],
  ["C:\\repo\\\\[slug]", "ambiguous"],
  ["app\\{s,x\\}", "ambiguous"],
  ["app\\!x", "ambiguous"],
  ["app\\]", "ambiguous"],
  ["{C:\\repo\\[slug],D:\\b}", "ambiguous"],
  ["\\repo\\src", "names no drive"],
  ["/repo/src", "names no drive"],
  ["{/repo/src,src}", "names no drive"],
  ["/{repo,lib}/src", "names no drive"],
  ["\\\\server\\share", "network"],
  ["C:src", "colon"],
  ["src\\C:\\repo", "colon"],
  ["src\\a.ts:stream", "colon"],
];

const FILES = ["src/a.ts", "app/[slug]/b.ts", "app/s/b.ts", "C:\\lib\\c.ts", "D:\\b\\d.ts"];

describe.each(LISTS)("%s", (_, optionsOf) => {
  it.each(UNDERSTOOD)("%s covers exactly what it means", async (glob, denied) => {
    const ws = await open(optionsOf(glob));
    const refused: string[] = [];
    for (const path of FILES) if (!(await ws.call("read_file", { path })).ok) refused.push(path);
    expect(refused.sort()).toEqual([...denied].sort());
    await ws.close();
  });

  it.each(REFUSED)("%s is refused at opening", async (glob, why) => {
    await expect(open(optionsOf(glob))).rejects.toMatchObject({
      code: "INVALID_GLOB",
      message: expect.stringContaining(why),
    });
  });
});

describe("the remedy", () => {
  it("is in the error", async () => {
    await expect(open({ access: { deny: ["app\\[slug]"] } })).rejects.toThrow('as in "app/[slug]"');
  });
});

describe("an agent", () => {
  it.each(REFUSED)("cannot be made with %s", async (glob) => {
    const ws = await open();
    await expect(ws.agent("reader", { access: { deny: [glob] } })).rejects.toMatchObject({
      code: "INVALID_GLOB",
    });
    await ws.close();
  });

  it("is denied what the workspace is denied, also a name with one bracket", async () => {
    const ws = await open({ access: { deny: ["app[{]x"] } });
    const agent = await ws.agent("reader", { access: { deny: ["{C:\\lib,D:\\b}"] } });
    for (const path of ["app{x/b.ts", "C:\\lib\\c.ts", "D:\\b\\d.ts"])
      expect((await agent.call("read_file", { path })).ok, path).toBe(false);
    expect((await agent.call("read_file", { path: "src/a.ts" })).ok).toBe(true);
    await ws.close();
  });
});

describe("the glob of one path", () => {
  it.each(["C:\\repo\\app{x\\b.ts", "C:\\repo\\app\\[slug]\\b.ts", "C:\\repo\\a}{,]!\\{[x\\y}.ts"])(
    "denies %s, and nothing else",
    async (path) => {
      const inner = innerWindowsPath(path);
      const deny = [literalWindowsGlob(path) as string];
      for (const options of [{ access: { deny } }, { rules: [{ path: deny[0], decision: "deny" }] }]) {
        const ws = await open(options as Partial<WorkspaceOptions>, { ...SEED, [inner]: "x\n" });
        expect((await ws.call("read_file", { path })).ok).toBe(false);
        for (const other of FILES.filter((one) => !inner.endsWith(one)))
          expect((await ws.call("read_file", { path: other })).ok, other).toBe(true);
        await ws.close();
      }
    },
  );
});

it("a path of the network has no glob, because nothing of it is reached", () => {
  expect(literalWindowsGlob("\\\\server\\share\\a.json")).toBeUndefined();
});

describe("a policy of the host", () => {
  it("keeps its globs when it is intersected twice", () => {
    const { volume } = windowsVolume(SEED);
    provideShortcuts(volume, { paths: "windows" });
    const one = SandboxPolicy.workspaceOnly("C:\\repo\\app{x", { deny: ["*.pem"] });
    const windows = withPathsOf(volume, SandboxPolicy.workspaceOnly("C:\\repo"));
    const both = SandboxPolicy.intersect(windows, one);
    expect(both.deny).toContain("/C:/repo/app\\{x/**/*.pem");
    expect(SandboxPolicy.intersect(both, windows).deny).toEqual(both.deny);
  });
});

describe("a place", () => {
  it.each(["app/s", "C:/repo/app/s", "/C:/repo/app/s", "c:/Repo/{app,src}/s"])(
    "%s is secret",
    async (place) => {
      const ws = await open({ access: { places: { secret: [place] } } });
      expect((await ws.call("read_file", { path: "app/s/b.ts" })).ok).toBe(false);
      expect((await ws.call("read_file", { path: "src/a.ts" })).ok).toBe(true);
      await ws.close();
    },
  );

  it.each([
    ["app\\s", "separate names with /"],
    ["C:\\repo\\app", "separate names with /"],
    ["/repo/app", "names no drive"],
    ["C:app", "colon"],
    ["{C:/repo,D:/b}", "colon"],
  ])("%s is refused", async (place, why) => {
    await expect(open({ access: { places: { refuse: [place] } } })).rejects.toThrow(why);
  });
});

describe("a search", () => {
  it.each([
    ["glob", { pattern: "app\\[slug]\\*.ts" }],
    ["grep", { pattern: "one", glob: "app\\[slug]\\**" }],
    ["grep", { pattern: "one", exclude: ["app\\[slug]\\**"] }],
    ["glob", { pattern: "**/*.ts", exclude: ["app\\[slug]"] }],
    ["read_many_files", { paths: ["app\\[slug]\\*.ts"] }],
    ["list_directory", { path: ".", ignore: ["app\\[slug]"] }],
  ])("%s %o is refused", async (tool, args) => {
    const ws = await open();
    const found = await ws.call(tool as "glob", args as never);
    expect(found.text).toContain("is ambiguous");
    await ws.close();
  });

  it.each([
    ["glob", { pattern: "{C:\\lib,D:\\b}\\*.ts" }, ["C:\\lib\\c.ts", "D:\\b\\d.ts"]],
    ["read_many_files", { paths: ["{C:\\lib,D:\\b}\\*.ts"] }, ["content of lib", "content of D"]],
    ["glob", { pattern: "app/\\[slug\\]\\*.ts" }, ["app/[slug]/b.ts"]],
    ["glob", { pattern: "app/*/*.ts", exclude: ["app\\s"] }, ["app/[slug]/b.ts"]],
    ["list_directory", { path: ".", depth: 3, ignore: ["app\\s"] }, ["[slug]"]],
  ])("%s %o is understood", async (tool, args, expected) => {
    const ws = await open();
    const found = await ws.call(tool as "glob", args as never);
    for (const one of expected) expect(found.text).toContain(one);
    expect(found.text).not.toMatch(/app\/s\/|^\s*s\//mu);
    await ws.close();
  });
});

describe("a bracket inside a name, written as its refusal advises", () => {
  it.each([
    ["glob", { pattern: "x[[]y\\*.ts" }],
    ["glob", { pattern: "C:\\repo\\x[[]y\\*.ts" }],
    ["glob", { pattern: "*/b.ts", exclude: ["z[[]y"] }],
    ["read_many_files", { paths: ["x[[]y\\*.ts"] }],
    ["read_many_files", { paths: ["*/b.ts"], exclude: ["z[[]y\\**"] }],
  ])("%s %o finds it", async (tool, args) => {
    const seed = { "/C:/repo/x[y/b.ts": "x\n", "/C:/repo/z[y/b.ts": "z\n" };
    const ws = await open({ roots: ["C:\\repo"] }, seed);
    const found = await ws.call(tool as "glob", args as never);
    expect(found.text).toContain("x[y/b.ts");
    expect(found.text).not.toContain("z[y");
    await ws.close();
  });
});

describe("an approver without a person", () => {
  it.each(["**\\*.pem", "src\\keys", "{C:\\a,D:\\b}", "{C:/a,D:/b}", "C:\\repo\\[slug]"])(
    "refuses the path %s",
    (path) => {
      expect(() => headlessApprover({ rules: [{ path, decision: "deny" }] })).toThrow(/separate|must begin/u);
    },
  );

  it("takes braces below a drive", async () => {
    const approver = headlessApprover({
      rules: [{ path: "C:\\repo/{a,b\\c}", decision: "deny" }, { decision: "allow" }],
    });
    const outcome = async (path: string) =>
      (await approver.confirm?.({ tool: "write_file", path, paths: [path] } as never))?.outcome;
    expect(await outcome("/C:/repo/B/c/x")).toBe("cancel");
    expect(await outcome("/C:/repo/b/x")).toBe("proceed_once");
  });
});

describe("a grant", () => {
  it("is asked for and listed as Windows writes the directory", async () => {
    const ask = vi.fn((_question: string) => "yes");
    const ws = await open({ permissions: { mode: "prompt", ask } });
    expect((await ws.call("read_file", { path: "C:\\lib\\c.ts" })).ok).toBe(true);
    expect(ask.mock.calls.map(([question]) => question)).toEqual(["Allow filesystem access to C:\\lib?"]);
    const [listed] = await ws.grants.list();
    expect(listed?.dir).toBe("C:\\lib");
    const agent = await ws.agent("reader", { permissions: { ask } });
    await agent.call("read_file", { path: "D:\\b\\d.ts" });
    expect(ask.mock.lastCall?.[0]).toBe("Allow filesystem access to D:\\b?");
    expect(await ws.grants.revoke("C:\\lib")).toBe(true);
    await ws.close();
  });

  it.each(["/repo", "C:\\repo\\*", "C:\\repo\\a.", "lib"])("cannot be given for %s", async (dir) => {
    const ws = await open({ permissions: { mode: "prompt" } });
    await expect(ws.grants.add({ dir, access: "read" })).rejects.toThrow();
    await ws.close();
  });
});

describe("braces that hold absolute paths, on a disk with POSIX paths", () => {
  it("deny each of them", async () => {
    const backend = new MemoryBackend({ "/repo/a/x": "1", "/repo/b/c": "2", "/repo/c/d": "3" });
    const ws = await openWorkspace({
      backend,
      root: "/repo",
      history: false,
      access: { deny: ["{/repo/a,b}"] },
    });
    const ok = async (path: string) => (await ws.call("read_file", { path })).ok;
    expect([await ok("a/x"), await ok("b/c"), await ok("c/d")]).toEqual([false, false, true]);
    await ws.close();
  });
});

describe("commands", () => {
  it("name the systems for which directories can be added", async () => {
    await expect(open({ commands: { read: ["C:\\tools"] } })).rejects.toThrow(
      "it is for the sandboxes of Linux and macOS",
    );
  });
});

describe("the command grants on Windows", () => {
  it("lists and takes back directories as Windows writes them", async () => {
    const file = join(await mkdtemp(join(tmpdir(), "filewright-grants-")), "grants.json");
    const grant = { dir: "/C:/lib", access: "read", granted_at: "2026-01-01T00:00:00.000Z" };
    await writeFile(file, JSON.stringify({ version: 1, grants: [grant] }), { mode: 0o600 });
    const { platform } = process;
    Object.defineProperty(process, "platform", { value: "win32" });
    try {
      const report = (...positionals: string[]) =>
        GRANTS_COMMAND.report!(
          undefined as never,
          { positionals, values: { "grants-file": file } } as never,
          SHELL,
        );
      expect((await report("list")).text).toMatch(/^C:\\lib {2}read, since/u);
      expect((await report("revoke", "/C:/lib")).text).toBe("Took back C:\\lib");
    } finally {
      Object.defineProperty(process, "platform", { value: platform });
      await rm(dirname(file), { recursive: true });
    }
  });
});
