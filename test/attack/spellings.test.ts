/**
 * A name can be typed with its bytes escaped. A policy in TypeScript compares text, so every method of a disk without
 * the native addon, and of storage over any disk, has to treat such a spelling as the name that it means.
 */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  LocalBackend,
  NodeBackend,
  OverlayBackend,
  openWorkspace,
  SandboxedBackend,
  SandboxPolicy,
} from "../../js/index.node.ts";

const SPELLED = "cl\\xC3\\xA9.txt";
const CONTENT = "content that is denied\n";

let root: string;
let backend: NodeBackend;

beforeEach(() => {
  root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-spelling-")));
  fs.writeFileSync(join(root, "clé.txt"), CONTENT);
  fs.writeFileSync(join(root, "open.txt"), "open\n");
  const policy = SandboxPolicy.workspaceOnly(root, { deny: ["clé.txt"] });
  backend = new NodeBackend({ stateDir: join(root, ".state"), policy });
});
afterEach(() => {
  backend.close();
  fs.rmSync(root, { recursive: true, force: true });
});

const METHODS: readonly (readonly [string, (path: string, open: string) => Promise<unknown>])[] = [
  ["stat", (path) => backend.stat(path)],
  ["lstat", (path) => backend.lstat(path)],
  ["readText", (path) => backend.readText(path)],
  ["readBytes", (path) => backend.readBytes(path)],
  ["read", (path) => backend.read(path)],
  ["readLines", (path) => backend.readLines(path)],
  ["hash", (path) => backend.hash(path)],
  ["writeText", (path) => backend.writeText(path, "x")],
  ["writeBytes", (path) => backend.writeBytes(path, new Uint8Array([120]))],
  ["delete", (path) => backend.delete(path)],
  ["removeTree", (path) => backend.removeTree(path)],
  ["mkdir", (path) => backend.mkdir(path)],
  ["listDir", (path) => backend.listDir(path)],
  ["rename from", (path, open) => backend.rename(path, `${open}-2`)],
  ["rename onto", (path, open) => backend.rename(open, path, { overwrite: true })],
  ["copyFile from", (path, open) => backend.copyFile(path, `${open}-2`)],
  ["copyFile onto", (path, open) => backend.copyFile(open, path, { overwrite: true })],
  ["copyTree from", (path, open) => backend.copyTree(path, `${open}-2`)],
  ["symlink at", (path, open) => backend.symlink(open, path)],
  ["chmod", (path) => backend.chmod(path, 0o600)],
];

describe.skipIf(process.platform === "win32")("a denied name in another spelling", () => {
  it.each(METHODS)("%s", async (_name, call) => {
    const before = fs.statSync(join(root, "clé.txt"));
    await expect(call(join(root, SPELLED), join(root, "open.txt"))).rejects.toMatchObject({
      code: "OUTSIDE_ALLOWED",
    });
    expect(fs.readFileSync(join(root, "clé.txt"), "utf8")).toBe(CONTENT);
    expect(fs.statSync(join(root, "clé.txt")).mode).toBe(before.mode);
    expect(fs.readdirSync(root).sort()).toEqual(["clé.txt", "open.txt"]);
  });

  it("exists, glob and a link to it", async () => {
    expect(await backend.exists(join(root, SPELLED))).toBe(false);
    expect(await backend.glob("**/*.txt", { root })).toEqual([join(root, "open.txt")]);
    await backend.symlink(SPELLED, join(root, "link")).catch(() => undefined);
    await expect(backend.readText(join(root, "link"))).rejects.toThrow();
  });

  it("an allowed name is the same file in both spellings", async () => {
    fs.writeFileSync(join(root, "né.txt"), "one\n");
    expect(await backend.realpath(join(root, "n\\xC3\\xA9.txt"))).toBe(join(root, "né.txt"));
    await backend.writeText(join(root, "n\\xC3\\xA9.txt"), "two\n");
    expect(fs.readFileSync(join(root, "né.txt"), "utf8")).toBe("two\n");
  });

  it("a workspace's tools neither read, move nor overwrite it", async () => {
    const free = new NodeBackend({ stateDir: join(root, ".state") });
    const ws = await openWorkspace({ root, backend: free, access: { deny: ["clé.txt"] } });
    const calls: readonly (readonly [string, object])[] = [
      ["read_file", { path: SPELLED }],
      ["move", { from: SPELLED, to: "out.txt" }],
      ["copy", { from: SPELLED, to: "out.txt" }],
      ["move", { from: "open.txt", to: SPELLED, overwrite: true }],
      ["write_file", { path: SPELLED, content: "x" }],
      ["delete", { path: SPELLED }],
    ];
    for (const [tool, args] of calls) expect(await ws.call(tool, args)).toMatchObject({ ok: false });
    await ws.close();
    expect(fs.readFileSync(join(root, "clé.txt"), "utf8")).toBe(CONTENT);
    expect(fs.existsSync(join(root, "out.txt"))).toBe(false);
  });

  it.each([
    ["with the addon", () => new LocalBackend()],
    ["without it", () => new NodeBackend()],
  ])("an overlay over a disk %s does not show it", async (_name, disk) => {
    const policy = SandboxPolicy.workspaceOnly(root, { deny: ["clé.txt"] });
    const over = new SandboxedBackend(new OverlayBackend(disk()), policy);
    const spelled = join(root, SPELLED);
    await expect(async () => over.readText(spelled)).rejects.toMatchObject({ code: "OUTSIDE_ALLOWED" });
    await expect(async () => over.rename?.(spelled, join(root, "out.txt"))).rejects.toMatchObject({
      code: "OUTSIDE_ALLOWED",
    });
    await Promise.resolve(over.symlink?.(SPELLED, join(root, "link"))).catch(() => undefined);
    await expect(async () => over.readText(join(root, "link"))).rejects.toThrow();
  });
});
