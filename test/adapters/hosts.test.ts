/** Hosts that bring tools of their own: our calls under their names, their errors and their paths. */
import { describe, expect, test } from "vitest";
import { toDeepAgentsBackend, toDeepAgentsSandbox } from "../../js/adapters/deepagents.ts";
import { type MastraErrors, toMastraFilesystem } from "../../js/adapters/mastra.ts";
import { MemoryBackend, openWorkspace, type Workspace, type WorkspaceOptions } from "../../js/index.node.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const BYTES = new Uint8Array([0, 1, 2, 255]);

function open(options: Partial<WorkspaceOptions> = {}): Promise<Workspace> {
  const backend = new MemoryBackend({
    "/w/a.txt": "one\ntwo\nthree\n",
    "/w/d/b.ts": "two\n",
    "/w/empty": "",
    "/w/data.bin": BYTES,
    "/w/dot.png": new Uint8Array(Buffer.from(PNG, "base64")),
    "/secret": "secret\n",
  });
  return openWorkspace({ backend, root: "/w", ...options } as WorkspaceOptions);
}

describe("deepagents", () => {
  test("reads pages, images as bytes, and tells failures as values", async () => {
    const backend = toDeepAgentsBackend(await open());
    expect(await backend.read("/a.txt", 1, 1)).toEqual({
      content: "two",
      mimeType: "text/plain",
      startLine: 2,
      endLine: 2,
      totalLines: 3,
      nextOffset: 2,
    });
    expect(await backend.read("/a.txt")).toMatchObject({ content: "one\ntwo\nthree", totalLines: 3 });
    expect(await backend.read("/empty")).toMatchObject({ content: "[empty file: empty]" });
    expect(await backend.read("/a.txt", 9)).toMatchObject({
      content: expect.stringContaining("past the end"),
    });
    expect(await backend.read("/dot.png")).toEqual({
      content: new Uint8Array(Buffer.from(PNG, "base64")),
      mimeType: "image/png",
    });
    for (const path of ["/none", "/../secret", "/d"]) {
      const { error, content } = await backend.read(path);
      expect([error?.startsWith("Error:"), content]).toEqual([false, undefined]);
    }
    const raw = await backend.readRaw("/a.txt");
    expect(raw.data).toMatchObject({ content: "one\ntwo\nthree\n", mimeType: "text/plain" });
    expect(Date.parse(raw.data?.modified_at ?? "")).toBeGreaterThan(0);
    expect((await backend.readRaw("/dot.png")).data?.mimeType).toBe("image/png");
    expect(await backend.readRaw("/none")).toEqual({ error: expect.stringContaining("none") });
  });

  test("lists and searches under paths that begin with /", async () => {
    const backend = toDeepAgentsBackend(await open());
    const { files = [] } = await backend.ls("/");
    expect(files[0]).toMatchObject({ path: "/d/", is_dir: true, modified_at: expect.any(String) });
    expect(files.find(({ path }) => path === "/data.bin")).toMatchObject({ is_dir: false, size: 4 });
    expect(await backend.ls("/none")).toEqual({ error: expect.any(String) });
    expect(await backend.grep("two")).toEqual({
      matches: [
        { path: "/a.txt", line: 2, text: "two" },
        { path: "/d/b.ts", line: 1, text: "two" },
      ],
    });
    expect(await backend.grep("two", "/d", "*.ts", 5)).toMatchObject({ matches: [{ path: "/d/b.ts" }] });
    expect(await backend.grep("e", null, null, 1)).toMatchObject({ matches: [{}], truncated: true });
    expect(await backend.grep("t.o")).toEqual({ matches: [] });
    expect(await backend.grep("two", "/none")).toEqual({ error: expect.any(String) });
    expect(await backend.glob("/**/*.ts")).toEqual({ files: [{ path: "/d/b.ts", is_dir: false }] });
    expect(await backend.glob("*", "/none")).toEqual({ error: expect.any(String) });
  });

  test("changes files by our calls", async () => {
    const ws = await open();
    const backend = toDeepAgentsBackend(ws, { agent: "ada" });
    expect(await backend.write("/n/m.txt", "x x\n")).toEqual({ path: "/n/m.txt", filesUpdate: null });
    expect(await backend.edit("/n/m.txt", "x", "y")).toEqual({ error: expect.stringContaining("2 times") });
    expect(await backend.edit("/n/m.txt", "x", "y", true)).toMatchObject({ occurrences: 2 });
    expect(await ws.fs.readText("/w/n/m.txt")).toBe("y y\n");
    expect(await backend.delete("/n")).toMatchObject({ path: "/n" });
    expect(await ws.fs.exists("/w/n")).toBe(false);
    expect(new Set((await ws.history()).map(({ agent }) => agent))).toEqual(new Set(["ada"]));
  });

  test("transfers bytes, and tells what went wrong in its own words", async () => {
    const backend = toDeepAgentsBackend(await open());
    expect(
      await backend.uploadFiles([
        ["/up.bin", BYTES],
        ["/../up", BYTES],
        ["/d", BYTES],
        ["/a.txt/up", BYTES],
      ]),
    ).toEqual([
      { path: "/up.bin", error: null },
      { path: "/../up", error: "permission_denied" },
      { path: "/d", error: "is_directory" },
      { path: "/a.txt/up", error: "invalid_path" },
    ]);
    expect(await backend.downloadFiles(["/up.bin", "/none", "/../secret"])).toEqual([
      { path: "/up.bin", content: BYTES, error: null },
      { path: "/none", content: null, error: "file_not_found" },
      { path: "/../secret", content: null, error: "permission_denied" },
    ]);
  });

  test("runs no command where the workspace runs none, and stops when told", async () => {
    const ws = await open();
    const sandbox = toDeepAgentsSandbox(ws);
    expect(await sandbox.execute("id")).toEqual({
      output: expect.stringMatching(/^Error: /),
      exitCode: null,
      truncated: false,
    });
    for (const signal of [AbortSignal.abort(), () => AbortSignal.abort()]) {
      expect(await toDeepAgentsBackend(ws, { signal }).read("/a.txt")).toHaveProperty("error");
    }
    const unsignalled = toDeepAgentsBackend(ws, { signal: () => undefined });
    expect(await unsignalled.read("/a.txt")).toHaveProperty("content");
  });
});

describe("Mastra", () => {
  class PathError extends Error {
    constructor(path: string) {
      super(path);
      this.name = new.target.name;
    }
  }
  class FileNotFoundError extends PathError {}
  class DirectoryNotFoundError extends PathError {}
  class FileExistsError extends PathError {}
  class IsDirectoryError extends PathError {}
  class NotDirectoryError extends PathError {}
  class DirectoryNotEmptyError extends PathError {}
  const errors: MastraErrors = {
    FileNotFoundError,
    DirectoryNotFoundError,
    FileExistsError,
    IsDirectoryError,
    NotDirectoryError,
    DirectoryNotEmptyError,
  };

  test("reads and tells what there is", async () => {
    const fs = toMastraFilesystem(await open(), errors);
    expect(await fs.readFile("/a.txt", { encoding: "utf8" })).toBe("one\ntwo\nthree\n");
    expect(await fs.readFile("/data.bin")).toEqual(Buffer.from(BYTES));
    expect(await fs.stat("/a.txt")).toMatchObject({ name: "a.txt", path: "/a.txt", type: "file", size: 14 });
    expect(await fs.stat("/d")).toMatchObject({ type: "directory", size: 0 });
    expect([await fs.exists("/d"), await fs.exists("/none")]).toEqual([true, false]);
    const names = async (path: string, options?: object): Promise<unknown> =>
      (await fs.readdir(path, options)).map(({ name }) => name);
    expect(await names("/")).toEqual(["d", "a.txt", "data.bin", "dot.png", "empty"]);
    expect(await names("/", { extension: ".txt" })).toEqual(["d", "a.txt"]);
    expect(await names("/", { recursive: true, extension: [".ts"] })).toEqual(["d", "d/b.ts"]);
    expect(await names("/d", { recursive: true, maxDepth: 1 })).toEqual(["b.ts"]);
    expect([fs.readOnly, fs.status]).toEqual([false, "ready"]);
    expect(fs.getInstructions()).toContain("/");
    expect(toMastraFilesystem(await open({ access: { readOnly: true } }), errors).readOnly).toBe(true);
  });

  test("links are told as such", async () => {
    const ws = await open();
    await ws.fs.symlink?.("a.txt", "/w/link");
    const entries = await toMastraFilesystem(ws, errors).readdir("/");
    expect(entries.find(({ name }) => name === "link")).toMatchObject({
      isSymlink: true,
      symlinkTarget: "a.txt",
    });
  });

  test("changes, with its options", async () => {
    const ws = await open();
    const fs = toMastraFilesystem(ws, errors);
    await fs.writeFile("/n/m.txt", "one\n", { recursive: true });
    await fs.appendFile("/n/m.txt", "two\n");
    await fs.writeFile("/n/m.bin", BYTES);
    await fs.copyFile("/n/m.txt", "/n/c.txt");
    await fs.moveFile("/n/c.txt", "/n/moved.txt", { overwrite: false });
    await fs.mkdir("/x/y", { recursive: true });
    expect(await ws.fs.readText("/w/n/moved.txt")).toBe("one\ntwo\n");
    expect(await ws.fs.readBytes("/w/n/m.bin")).toEqual(BYTES);
    await fs.deleteFile("/n/m.bin");
    await fs.deleteFile("/n/m.bin", { force: true });
    await fs.rmdir("/n", { recursive: true });
    await fs.rmdir("/n", { recursive: true, force: true });
    await fs.rmdir("/x/y");
    expect([await fs.exists("/n"), await fs.exists("/x"), await fs.exists("/x/y")]).toEqual([
      false,
      true,
      false,
    ]);
  });

  test("a file that another has changed is not written over", async () => {
    const ws = await open();
    const fs = toMastraFilesystem(ws, errors);
    const { modifiedAt } = await fs.stat("/a.txt");
    await fs.writeFile("/a.txt", "mine\n", { expectedMtime: modifiedAt });
    await ws.fs.writeText("/w/a.txt", "theirs\n");
    const late = fs.writeFile("/a.txt", "late\n", { expectedMtime: new Date(1) });
    await expect(late).rejects.toMatchObject({ name: "StaleFileError", code: "ESTALE" });
    await fs.writeFile("/new", "new\n", { expectedMtime: modifiedAt });
    expect([await ws.fs.readText("/w/a.txt"), await ws.fs.readText("/w/new")]).toEqual(["theirs\n", "new\n"]);
  });

  test("what is refused is one of its errors, with our words", async () => {
    const fs = toMastraFilesystem(await open(), errors);
    const refused: readonly (readonly [string, () => Promise<unknown>])[] = [
      ["FileNotFoundError", () => fs.readFile("/none")],
      ["FileNotFoundError", () => fs.stat("/none")],
      ["FileNotFoundError", () => fs.deleteFile("/none")],
      ["DirectoryNotFoundError", () => fs.readdir("/none")],
      ["DirectoryNotFoundError", () => fs.rmdir("/none")],
      ["FileExistsError", () => fs.writeFile("/a.txt", "", { overwrite: false })],
      ["FileExistsError", () => fs.copyFile("/a.txt", "/empty", { overwrite: false })],
      ["IsDirectoryError", () => fs.deleteFile("/d")],
      ["NotDirectoryError", () => fs.rmdir("/a.txt")],
      ["NotDirectoryError", () => fs.readdir("/a.txt")],
      ["DirectoryNotEmptyError", () => fs.rmdir("/d")],
      ["ToolFailure", () => fs.readFile("/../secret")],
      ["ToolFailure", () => fs.writeFile("/../secret", "", { expectedMtime: new Date() })],
    ];
    for (const [name, refusal] of refused) {
      const error = await refusal().then(
        () => undefined,
        (thrown: unknown) => thrown as Error,
      );
      expect(error?.name, `${name}: ${error?.message}`).toBe(name);
      expect(error?.message).not.toMatch(/^Error: /);
    }
  });
});
