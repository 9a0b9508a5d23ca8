/** The workspaces over which the tests of forks run, and short forms of calls. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import {
  type FsBackend,
  MemoryBackend,
  openWorkspace,
  type Workspace,
  type WorkspaceOptions,
} from "../../../js/index.node.ts";
import { filesOf, memoryStorage } from "../../../js/storage/index.ts";

/** A workspace under test. */
interface ForkSubject {
  readonly ws: Workspace;
  dispose(): Promise<void>;
}

/** Opens a new workspace with these options in addition to its files and root. */
export type OpenSubject = (options?: Partial<WorkspaceOptions>) => Promise<ForkSubject>;

const encoder = new TextEncoder();

/** A directory of the disk, with state of its own. */
export const openDisk: OpenSubject = async (options = {}) => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-forks-")));
  const root = join(base, "repo");
  const { mkdir } = await import("node:fs/promises");
  await mkdir(root);
  const ws = await openWorkspace({ root, stateDir: join(base, "state"), ...options });
  return {
    ws,
    async dispose() {
      await ws.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
};

/** Files in memory behind the interface of a backend. */
export const openMemory: OpenSubject = async (options = {}) => {
  const ws = await openWorkspace({ backend: new MemoryBackend(), root: "/repo", ...options });
  return { ws, dispose: () => ws.close() };
};

/** A storage in memory, which makes forks itself. */
export const openMemoryStorage: OpenSubject = async (options = {}) => {
  const storage = memoryStorage();
  const ws = await openWorkspace({ storage, root: "/repo", ...options });
  return { ws, dispose: () => ws.close() };
};

/** A storage without forks of its own. */
export const openPlainStorage: OpenSubject = async (options = {}) => {
  const storage = filesOf(new MemoryBackend());
  const ws = await openWorkspace({ storage, root: "/repo", ...options });
  return { ws, dispose: () => ws.close() };
};

/** Writes texts below the working directory of a workspace, as a foreign writer does. */
export async function write(
  ws: Workspace,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const bytes = typeof content === "string" ? encoder.encode(content) : content;
    await ws.fs.writeBytes(absolute(ws, path), bytes, { createDirs: true });
  }
}

/** Returns the absolute path of one below the working directory. */
export function absolute(ws: Workspace, path: string): string {
  return `${cwdOf(ws)}/${path}`;
}

const roots = new WeakMap<FsBackend, string>();

/** Remembers the working directory of a workspace, and of its forks. */
export function rootedAt(ws: Workspace, root: string): void {
  roots.set(ws.fs, root);
}

function cwdOf(ws: Workspace): string {
  const root = roots.get(ws.fs);
  if (root === undefined) throw new Error("rootedAt was not called");
  return root;
}

/** Returns everything below the working directory: texts, `->` targets of links, `/` for directories. */
export async function treeOf(ws: Workspace, modes = false): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const walk = async (directory: string): Promise<void> => {
    for (const entry of await ws.fs.listDir(directory)) {
      const path = entry.path.slice(cwdOf(ws).length + 1);
      if (entry.type === "symlink") found[path] = `-> ${await ws.fs.readLink?.(entry.path)}`;
      else if (entry.isDir) {
        found[path] = "/";
        await walk(entry.path);
      } else {
        const text = Buffer.from(await ws.fs.readBytes(entry.path)).toString("latin1");
        const mode = modes ? ` ${(((await ws.fs.stat(entry.path)).mode ?? 0) & 0o777).toString(8)}` : "";
        found[path] = text + mode;
      }
    }
  };
  await walk(cwdOf(ws));
  return found;
}

/** Runs a call that has to succeed. */
export async function ok(ws: Workspace, tool: string, args: object): Promise<string> {
  const result = await ws.call(tool as "stat", args as never);
  expect([tool, result.ok ? "" : result.text]).toEqual([tool, ""]);
  return result.text;
}
