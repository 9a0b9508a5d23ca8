/** Paths of a Windows disk, over a storage that finds names as Windows does: on every system. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openWorkspace, type Workspace, type WorkspaceOptions } from "../../../js/index.node.ts";
import { provideShortcuts } from "../../../js/backends/abilities.ts";
import {
  innerWindowsPath,
  displayPath,
  windowsHostPath,
  windowsLinkTarget,
} from "../../../js/backends/windows-paths.ts";
import { windowsVolume } from "./windows-volume.ts";

/** A place with all its spellings, as `crates/core/tests/windows_spellings.rs` records them. */
interface SpelledPlace {
  readonly place: string;
  readonly kinds: readonly ("denied" | "protected" | "asks" | "secret")[];
  readonly judged: readonly string[];
  readonly refused: readonly string[];
}

const PLACES: readonly SpelledPlace[] = readFileSync(
  new URL("../../../crates/core/tests/windows_spellings.jsonl", import.meta.url),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as SpelledPlace);

const DENY = ["vault", "notes.private", "src/keys/**"];
const CONTENT = "the content of the place";

async function open(seed: Record<string, string>, more: Partial<WorkspaceOptions> = {}) {
  const { disk, volume } = windowsVolume(seed);
  provideShortcuts(volume, { paths: "windows" });
  const ws = await openWorkspace({
    backend: volume,
    root: "C:\\repo",
    access: { deny: DENY },
    history: false,
    ...more,
  } as WorkspaceOptions);
  return { disk, ws };
}

const everything = async (disk: { iterFiles(root: string): AsyncIterable<string> | Iterable<string> }) => {
  const paths: string[] = [];
  for await (const path of disk.iterFiles("/")) paths.push(path);
  return paths.sort();
};

const tell = (ws: Workspace, tool: string, args: object) => ws.call(tool, args as never);

describe("no spelling of a restricted place gets through a workspace", () => {
  it.each(PLACES)("$place", async ({ place, kinds, judged, refused }) => {
    const path = `/C:/repo/${place}`;
    const { disk, ws } = await open({ [path]: CONTENT, "/C:/repo/ordinary.ts": "x\n" });
    const before = await everything(disk);
    const isHidden = kinds.includes("denied") || kinds.includes("secret");
    const isFixed = kinds.includes("denied") || kinds.includes("protected");
    for (const typed of [...judged, ...refused]) {
      const read = await tell(ws, "read_file", { path: typed });
      expect(isHidden && read.ok, typed).toBe(false);
      expect(isHidden && JSON.stringify(read).includes(CONTENT), typed).toBe(false);
      if (refused.includes(typed)) expect(read.ok, typed).toBe(false);
      if (!isFixed) continue;
      const written = await tell(ws, "write_file", { path: typed, content: "forged", overwrite: true });
      const moved = await tell(ws, "move", { source: typed, destination: "moved.txt" });
      const put = await tell(ws, "move", { source: "ordinary.ts", destination: typed, overwrite: true });
      const gone = await tell(ws, "delete", { path: typed });
      expect([written.ok, moved.ok, put.ok, gone.ok], typed).toEqual([false, false, false, false]);
    }
    expect(await everything(disk)).toEqual(before);
    expect(await disk.readText(path)).toBe(CONTENT);
    await ws.close();
  });

  it("they are at least 300", () => {
    expect(PLACES.flatMap(({ judged, refused }) => [...judged, ...refused]).length).toBeGreaterThanOrEqual(
      300,
    );
  });

  it("without the rules of Windows some get through this storage", async () => {
    const { volume } = windowsVolume({ "/repo/.env": CONTENT, "/repo/vault/a.txt": CONTENT });
    const ws = await openWorkspace({ backend: volume, root: "/repo", access: { deny: DENY } });
    for (const path of ["ENV~1", "VAULT/a.txt"])
      expect((await ws.call("read_file", { path })).ok, path).toBe(true);
    await ws.close();
  });
});

describe("a workspace on a Windows disk", () => {
  const SEED = {
    "/C:/repo/src/a.ts": "one\n",
    "/C:/repo/b.ts": "two\n",
    "/C:/lib/c.ts": "three\n",
    "/C:/out/d.ts": "four\n",
  };
  const roots = { root: undefined, roots: ["C:\\repo", { path: "c:/lib", access: "read" as const }] };

  it.each([
    "src\\a.ts",
    "src/a.ts",
    ".\\SRC/A.ts",
    "C:\\repo\\src\\a.ts",
    "c:/REPO/src/a.ts",
    "/C:/repo/src/a.ts",
    "..\\repo\\src\\a.ts",
  ])("reads and changes %s", async (path) => {
    const { disk, ws } = await open(SEED);
    expect(await ws.call("read_file", { path })).toMatchObject({ ok: true });
    expect(await ws.call("write_file", { path, content: "new\n", overwrite: true })).toMatchObject({
      ok: true,
    });
    expect(await disk.readText("/C:/repo/src/a.ts")).toBe("new\n");
    expect(await everything(disk)).toEqual(Object.keys(SEED).sort());
    await ws.close();
  });

  it("makes a file where a backslash separates, and none with a backslash in its name", async () => {
    const { disk, ws } = await open(SEED);
    const made = await ws.call("write_file", { path: "src\\new\\n.ts", content: "x\n" });
    expect(made).toMatchObject({ ok: true, data: { path: "src/new/n.ts" } });
    expect(await disk.readText("/C:/repo/src/new/n.ts")).toBe("x\n");
    await ws.close();
  });

  it("shows absolute paths with their drive, and takes them back", async () => {
    const { ws } = await open(SEED, roots);
    const info = await ws.call("access_info", {});
    expect(info.data).toMatchObject({
      cwd: "C:\\repo",
      read_roots: ["C:\\repo", "C:\\lib"],
      write_roots: ["C:\\repo"],
    });
    const read = await ws.call("stat", { path: "C:/lib/c.ts" });
    expect(read.data).toMatchObject({ path: "C:\\lib\\c.ts" });
    const again = await ws.call("read_file", { path: "C:\\lib\\c.ts" });
    expect(again).toMatchObject({ ok: true });
    await ws.close();
  });

  it("keeps to its roots", async () => {
    const { ws } = await open(SEED, roots);
    for (const path of [
      "C:\\out\\d.ts",
      "..\\out\\d.ts",
      "/C:/out/d.ts",
      "D:\\x",
      "C:\\",
      "/",
      "\\out\\d.ts",
      "\\\\?\\C:\\out\\d.ts",
    ])
      expect(await ws.call("read_file", { path }), path).toMatchObject({
        ok: false,
        error: { code: "OUTSIDE_ALLOWED" },
      });
    expect(
      await ws.call("write_file", { path: "C:\\lib\\c.ts", content: "", overwrite: true }),
    ).toMatchObject({ ok: false });
    await ws.close();
  });

  it("judges what a link leads to under its stored name", async () => {
    const { disk, ws } = await open({ ...SEED, "/C:/repo/.env": CONTENT, "/C:/repo/vault/a.txt": CONTENT });
    await disk.symlink("ENV~1", "/C:/repo/short");
    await disk.symlink("/C:/repo/VAULT", "/C:/repo/upper");
    await disk.symlink(".env::$DATA", "/C:/repo/stream");
    for (const path of ["short", "upper/a.txt", "stream"]) {
      const read = await ws.call("read_file", { path });
      expect(read.ok, path).toBe(false);
      expect(JSON.stringify(read), path).not.toContain(CONTENT);
    }
    await ws.close();
  });

  it("rules of calls ignore letter case, too", async () => {
    const { ws } = await open(SEED, { rules: [{ path: "SRC/**", decision: "deny" }] });
    expect((await ws.call("read_file", { path: "src\\a.ts" })).ok).toBe(false);
    expect((await ws.call("read_file", { path: "b.ts" })).ok).toBe(true);
    expect(JSON.stringify(await ws.call("grep", { pattern: "one" }))).not.toContain("src/a.ts:1");
    await ws.close();
  });

  it("searches past entries whose names no call can send", async () => {
    const { ws } = await open({ ...SEED, "/C:/repo/aux.txt": "one\n", "/C:/repo/src/odd~1": "one\n" });
    const found = await ws.call("grep", { pattern: "one" });
    expect(found).toMatchObject({ ok: true });
    expect(found.text).toContain("src/a.ts");
    await ws.close();
  });

  it("tells how to write a path that it refuses", async () => {
    const { ws } = await open(SEED);
    for (const [path, remedy] of [
      ["\\\\server\\share\\x", "a drive of this machine"],
      ["C:b.ts", "absolute path"],
      ["\\repo\\b.ts", "'b.ts'"],
      ["b.ts ", "a listing shows"],
      ["file:///C:/repo/b.ts", "send the path"],
    ] as const)
      expect((await ws.call("read_file", { path })).text, path).toContain(remedy);
    await ws.close();
  });

  it.each(["\\\\server\\share", "//server/share", "\\\\?\\C:\\repo"])(
    "does not open the root %s",
    async (root) => {
      await expect(open(SEED, { root })).rejects.toMatchObject({
        code: "OUTSIDE_ALLOWED",
        hint: expect.stringContaining("drive"),
      });
    },
  );

  it("opens a root that is a URL, and one with a short name", async () => {
    const { ws } = await open(SEED, { root: new URL("file:///C:/repo") });
    expect((await ws.call("read_file", { path: "b.ts" })).ok).toBe(true);
    const short = await open({ "/C:/runneradmin/repo/b.ts": "two\n" }, { root: "C:\\RUNNER~1\\repo" });
    expect((await short.ws.call("read_file", { path: "C:\\runner~1\\repo\\b.ts" })).ok).toBe(true);
    expect((await short.ws.call("access_info", {})).data).toMatchObject({ cwd: "C:\\runneradmin\\repo" });
  });
});

describe("the conversions", () => {
  it.each([
    ["/C:/repo/a.ts", "C:\\repo\\a.ts"],
    ["/C:", "C:\\"],
    ["/D:/", "D:\\"],
  ])("%s is %s for Windows", (inner, host) => {
    expect(windowsHostPath(inner)).toBe(host);
    expect(displayPath(inner, "windows")).toBe(host);
    expect(displayPath(inner, undefined)).toBe(inner);
    expect(innerWindowsPath(host)).toBe(inner.replace(/\/$/u, ""));
  });

  it.each(["/", "/repo", "C:\\repo", "/c:/repo", "/C:/a\\b", "/C:/a:b", "/C:x", "", "//server/x"])(
    "%s has no drive",
    (path) => {
      expect(() => windowsHostPath(path)).toThrow(expect.objectContaining({ code: "OUTSIDE_ALLOWED" }));
      expect(displayPath(path, "windows")).toBe(path);
    },
  );

  it.each([
    ["..\\lib", "../lib"],
    ["c:\\lib\\", "/C:/lib"],
    ["\\\\?\\C:\\lib", "/C:/lib"],
    ["\\??\\C:\\lib", "/C:/lib"],
    ["\\lib", "/lib"],
    ["\\\\server\\share", "//server/share"],
    ["\\\\?\\UNC\\server\\share", "//?/UNC/server/share"],
  ])("the link target %s is %s inside", (host, inner) => expect(innerWindowsPath(host)).toBe(inner));

  it("a new link gets the target that Windows takes", () => {
    expect(windowsLinkTarget("../lib/a")).toBe("..\\lib\\a");
    expect(windowsLinkTarget("/C:/lib")).toBe("C:\\lib");
  });
});
