/** What hosts and callers write about a Windows disk: rules, globs, grants, presets, agents, mounts. On every system. */
import { describe, expect, it } from "vitest";
import { provideShortcuts } from "../../../js/backends/abilities.ts";
import { withPathsOf } from "../../../js/backends/windows-paths.ts";
import {
  headlessApprover,
  MemoryBackend,
  MountBackend,
  openWorkspace,
  SandboxedBackend,
  SandboxPolicy,
  type WorkspaceOptions,
} from "../../../js/index.node.ts";
import { caseFoldingVolume, windowsVolume } from "./windows-volume.ts";

const SEED = {
  "/C:/repo/src/a.ts": "one\n",
  "/C:/repo/src/[id]/b.ts": "two\n",
  "/C:/repo/vault/key.txt": "content of the vault\n",
  "/C:/lib/c.ts": "three\n",
};

function windowsDisk(seed: Record<string, string> = SEED) {
  const made = windowsVolume(seed);
  provideShortcuts(made.volume, { paths: "windows" });
  return made;
}

async function open(more: Partial<WorkspaceOptions> = {}) {
  const { disk, volume } = windowsDisk();
  const options = { backend: volume, root: "C:\\repo", history: false, ...more } as WorkspaceOptions;
  return { disk, ws: await openWorkspace(options) };
}

describe("a denied place is denied, however its glob is written", () => {
  it.each([
    "C:\\repo\\vault",
    "c:/REPO/vault",
    "C:\\Repo\\**\\*.txt",
    "vault\\**",
    ".\\vault",
    "/C:/repo/vault",
  ])("%s", async (glob) => {
    const { ws } = await open({ access: { deny: [glob] } });
    const read = await ws.call("read_file", { path: "vault\\key.txt" });
    expect(read).toMatchObject({ ok: false, error: { code: "OUTSIDE_ALLOWED" } });
    expect((await ws.call("grep", { pattern: "vault" })).text).not.toContain("content");
    expect((await ws.call("read_file", { path: "src\\a.ts" })).ok).toBe(true);
    await ws.close();
  });

  it.each(["C:\\repo\\vault\\**", "c:/Repo/vault", "vault\\*.txt", "{D:\\x,C:\\repo\\vault}"])(
    "by a rule of calls: %s",
    async (path) => {
      const { ws } = await open({ rules: [{ path, decision: "deny" }] });
      expect((await ws.call("read_file", { path: "vault/key.txt" })).ok).toBe(false);
      expect((await ws.call("read_file", { path: "src/a.ts" })).ok).toBe(true);
      await ws.close();
    },
  );

  it("a backslash before a bracket escapes it", async () => {
    const { ws } = await open({ access: { deny: ["src/\\[id\\]"] } });
    expect((await ws.call("read_file", { path: "src/[id]/b.ts" })).ok).toBe(false);
    await ws.close();
  });

  it("of two policies, of which one knows the disk", async () => {
    const { volume } = windowsDisk();
    const first = withPathsOf(volume, SandboxPolicy.workspaceOnly("C:\\repo"));
    const second = SandboxPolicy.workspaceOnly("c:/repo/", {
      cwd: "C:\\repo\\src",
      deny: ["C:\\repo\\vault"],
    });
    for (const both of [SandboxPolicy.intersect(first, second), SandboxPolicy.intersect(second, first)]) {
      expect(both).toMatchObject({ read: ["/C:/repo"], paths: "windows", deny: ["/C:/repo/vault"] });
      const confined = new SandboxedBackend(volume, both);
      await expect(confined.readText("C:\\repo\\VAULT\\key.txt")).rejects.toMatchObject({
        code: "OUTSIDE_ALLOWED",
      });
      expect(await confined.readText("C:\\repo\\src\\a.ts")).toBe("one\n");
    }
  });
});

describe("a search", () => {
  it.each([
    ["glob", { pattern: "src\\*.ts" }, "src/a.ts"],
    ["glob", { pattern: "c:\\REPO\\src\\**\\*.ts" }, "src/[id]/b.ts\nsrc/a.ts"],
    ["glob", { pattern: "**/*.ts", exclude: ["src/\\[id\\]\\**"] }, "src/a.ts"],
    ["grep", { pattern: "one|two", glob: "src\\*.ts" }, "src/a.ts:1:one"],
    ["read_many_files", { paths: ["src\\*.ts"] }, "one"],
    ["read_many_files", { paths: ["C:\\repo\\src\\*.ts"] }, "one"],
  ])("%s %o takes backslashes", async (tool, args, expected) => {
    const { ws } = await open();
    const found = await ws.call(tool as "glob", args as never);
    expect(found.text).toContain(expected);
    expect(found.text).not.toContain("two");
    await ws.close();
  });
});

describe("a preset that demands absolute paths", () => {
  it("takes those of Windows", async () => {
    const { ws } = await open({ preset: "gemini" });
    for (const path of ["C:\\repo\\src\\a.ts", "c:/repo/src/a.ts"])
      expect(await ws.call("read_file", { absolute_path: path }), path).toMatchObject({ ok: true });
    expect((await ws.call("read_file", { absolute_path: "src\\a.ts" })).text).toContain(
      "must be an absolute path",
    );
    await ws.close();
    const other = await openWorkspace({ backend: new MemoryBackend(), root: "/repo", preset: "gemini" });
    expect((await other.call("read_file", { absolute_path: "C:\\a.ts" })).text).toContain(
      "must be an absolute path",
    );
    await other.close();
  });
});

describe("an agent", () => {
  it("is limited to directories as Windows writes them", async () => {
    const { ws } = await open({ root: undefined, roots: ["C:\\repo", "C:\\lib"] } as never);
    const access = { read: ["C:\\repo\\src", "..\\lib"], write: [], deny: ["src/\\[id]"] };
    const agent = await ws.agent("reader", { access });
    for (const [path, ok] of [
      ["C:\\repo\\src\\a.ts", true],
      ["C:\\lib\\c.ts", true],
      ["vault\\key.txt", false],
      ["src/[id]/b.ts", false],
    ] as const)
      expect((await agent.call("read_file", { path })).ok, path).toBe(ok);
    await ws.close();
  });
});

describe("an approver without a person", () => {
  const about = {
    access: "read",
    tool: "read_file",
    path: "",
    signal: new AbortController().signal,
  } as const;
  const approver = () =>
    headlessApprover({
      grant: ["C:\\Repo\\", "/srv"],
      rules: [
        { path: "c:\\repo\\Vault", decision: "deny" },
        { path: "C:/repo/**", decision: "allow" },
        { path: "/srv/**", decision: "allow" },
      ],
    });

  it.each([
    ["/C:/repo", "yes"],
    ["/C:/REPO/src", "yes"],
    ["/C:/repository", "no"],
    ["/D:/repo", "no"],
    ["/srv/a", "yes"],
    ["/SRV", "no"],
  ])("answers a question for %s by %s", async (dir, answer) => {
    expect(await approver().ask("", ["yes", "no"], { ...about, dir } as never)).toBe(answer);
  });

  it.each([
    ["/C:/repo/src/a.ts", "proceed_once"],
    ["/C:/REPO/SRC/a.ts", "proceed_once"],
    ["/C:/repo/vault/key.txt", "cancel"],
    ["/D:/repo/a.ts", "cancel"],
    ["/srv/a", "proceed_once"],
    ["/SRV/a", "cancel"],
  ])("answers a change of %s by %s", async (path, outcome) => {
    expect(await approver().confirm({ tool: "write_file", path, paths: [path] } as never)).toMatchObject({
      outcome,
    });
  });

  it.each(["C:repo", "repo", "\\repo"])("cannot grant %s", (dir) => {
    expect(() => headlessApprover({ grant: [dir] })).toThrow("must be an absolute path");
  });
});

describe("a grant", () => {
  it("is given and taken back for a directory as Windows writes it", async () => {
    const { ws } = await open({
      root: undefined,
      roots: ["C:\\repo", "C:\\lib"],
      permissions: { mode: "prompt" },
    } as never);
    const read = async () => (await ws.call("read_file", { path: "C:\\lib\\c.ts" })).ok;
    expect(await read()).toBe(false);
    await ws.grants.add({ dir: "C:\\lib", access: "read" });
    expect(await read()).toBe(true);
    expect(await ws.grants.revoke("c:/lib/")).toBe(true);
    expect(await read()).toBe(false);
    await ws.close();
  });
});

describe("mounts of a Windows disk", () => {
  const SPELLINGS = ["ENV~1", ".env.", ".env ", ".env::$DATA", ".ENV", "src\\..\\.env", "VAULT/key.txt"];
  it.each(["C:\\repo", "/C:/repo"])(
    "no spelling of a denied name gets through, mounted from %s",
    async (root) => {
      const { volume, disk } = windowsDisk({ ...SEED, "/C:/repo/.env": "secret\n" });
      const tree = new MountBackend({ "/work": { backend: volume, root }, "/mem": new MemoryBackend() });
      const confined = new SandboxedBackend(
        tree,
        SandboxPolicy.workspaceOnly("/work", { deny: [".env", "vault"] }),
      );
      for (const name of SPELLINGS) {
        await expect(confined.readText(`/work/${name}`), name).rejects.toThrow();
        await expect(confined.writeText(`/work/${name}`, "forged"), name).rejects.toThrow();
      }
      expect(await confined.readText("/work/SRC/A.ts")).toBe("one\n");
      await confined.writeText("/work/new.txt", "x");
      expect(await disk.readText("/C:/repo/new.txt")).toBe("x");
      expect((await confined.listDir("/work")).map(({ name }) => name)).toEqual(["src", "new.txt"]);
      expect(await disk.readText("/C:/repo/.env")).toBe("secret\n");
    },
  );

  it("the drives of a whole disk are its first directories", async () => {
    const { volume } = windowsDisk();
    const tree = new MountBackend({ "/disk": volume });
    expect(await tree.readText("/disk/C:/lib/c.ts")).toBe("three\n");
    expect((await tree.listDir("/disk")).map(({ name }) => name)).toEqual(["C:"]);
    await expect(tree.readText("/disk/C:/lib/c.ts.")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("a disk that folds letter case folds it in the tree, too", async () => {
    const { volume } = caseFoldingVolume({ "/repo/Private.txt": "denied\n" });
    provideShortcuts(volume, { paths: () => true });
    const confined = new SandboxedBackend(
      new MountBackend({ "/work": { backend: volume, root: "/repo" } }),
      SandboxPolicy.workspaceOnly("/work", { deny: ["Private.txt"] }),
    );
    await expect(confined.readText("/work/private.TXT")).rejects.toMatchObject({ code: "OUTSIDE_ALLOWED" });
  });
});
