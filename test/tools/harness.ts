/** Workspaces over every kind of storage, seeded alike: what tools do must not depend on where bytes are kept. */
import { mkdir, mkdtemp, readFile, readlink, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { MemoryBackend, openWorkspace, type Workspace, type WorkspaceOptions } from "../../js/index.node.ts";
import { memoryStorage, type Op } from "../../js/storage/index.ts";
import { afterThisTest } from "../support/cleanups.ts";

/** Paths relative to the workspace: content, `null` for a directory, `{ link }` for a symbolic link. */
export type Seed = Readonly<Record<string, string | Uint8Array | null | { readonly link: string }>>;

/** A seeded workspace, and access to its files without the tools. */
export interface Fixture {
  readonly ws: Workspace;
  /** The root, absolute. */
  readonly root: string;
  /** A sibling directory of the root, outside of it. */
  readonly outside: string;
  /** The bytes of a file as text; undefined where there is none. */
  text(path: string): Promise<string | undefined>;
  bytes(path: string): Promise<Uint8Array | undefined>;
  /** Where a link points; undefined where there is none. */
  target(path: string): Promise<string | undefined>;
  /** Writes behind the workspace's back. */
  foreign(path: string, content: string | Uint8Array): Promise<void>;
}

/** Kinds of storage. */
export type Kind = "memory" | "local" | "storage";
export const KINDS: readonly Kind[] = ["memory", "local", "storage"];

/** Opens a workspace on a kind of storage. A seed path that begins with `../out/` lies outside. */
export async function place(
  kind: Kind,
  seed: Seed = {},
  options: Omit<WorkspaceOptions, "root" | "backend"> = {},
): Promise<Fixture> {
  // What was read before is the matter of the tests of the guard.
  const given = { guard: "off" as const, ...options };
  if (kind === "storage") return inStorage(seed, given);
  return kind === "memory" ? inMemory(seed, given) : onDisk(seed, given);
}

/** A storage in memory: every call is one read and one commit, and the journal is the history of the storage. */
async function inStorage(seed: Seed, options: Omit<WorkspaceOptions, "root" | "backend">): Promise<Fixture> {
  const [root, outside] = ["/base/ws", "/base/out"];
  const at = (path: string): string =>
    path.startsWith("../out/") ? `${outside}/${path.slice(7)}` : join(root, path);
  const storage = memoryStorage();
  const ops = Object.entries(seed).map(([path, value]): Op => {
    if (value === null) return { op: "mkdir", path: at(path) };
    if (typeof value === "object" && "link" in value)
      return {
        op: "symlink",
        path: at(path),
        target: value.link.replace("$O", outside).replace("$W", root),
      };
    return { op: "put", path: at(path), body: toBytes(value) };
  });
  await storage.commit([{ op: "mkdir", path: root }, { op: "mkdir", path: outside }, ...ops]);
  const ws = await openWorkspace({ ...options, root, storage });
  afterThisTest(() => ws.close());
  const found = async (path: string) => {
    const [one] = (await storage.readMany([at(path)])).results;
    return one instanceof Error ? undefined : (one ?? undefined);
  };
  const bytes = async (path: string): Promise<Uint8Array | undefined> => (await found(path))?.body;
  return {
    ws,
    root,
    outside,
    bytes,
    text: async (path) => toText(await bytes(path)),
    target: async (path) => (await found(path))?.entry.target,
    foreign: async (path, content) => {
      await storage.commit([{ op: "put", path: at(path), body: toBytes(content) }]);
    },
  };
}

async function inMemory(seed: Seed, options: Omit<WorkspaceOptions, "root" | "backend">): Promise<Fixture> {
  const [root, outside] = ["/base/ws", "/base/out"];
  const at = (path: string): string =>
    path.startsWith("../out/") ? `${outside}/${path.slice(7)}` : `${root}/${path}`;
  const backend = new MemoryBackend({ [root]: { type: "dir" }, [outside]: { type: "dir" } });
  for (const [path, value] of Object.entries(seed)) {
    if (value === null) await backend.mkdir(at(path));
    else if (typeof value === "object" && "link" in value) {
      await backend.mkdir(dirname(at(path)));
      await backend.symlink(value.link.replace("$O", outside).replace("$W", root), at(path));
    } else await backend.writeBytes(at(path), toBytes(value), { createDirs: true });
  }
  const ws = await openWorkspace({ ...options, root, backend });
  afterThisTest(() => ws.close());
  const bytes = async (path: string): Promise<Uint8Array | undefined> =>
    (await backend.exists(at(path))) ? await backend.readBytes(at(path)) : undefined;
  return {
    ws,
    root,
    outside,
    bytes,
    text: async (path) => toText(await bytes(path)),
    target: async (path) => backend.readLink(at(path)).catch(() => undefined),
    foreign: async (path, content) => {
      await backend.writeBytes(at(path), toBytes(content));
    },
  };
}

/** A seeded directory on the disk, with a sibling directory and one for private state. */
export async function temporary(seed: Seed = {}): Promise<{
  readonly base: string;
  readonly root: string;
  readonly outside: string;
  readonly stateDir: string;
}> {
  const base = await realpath(await mkdtemp(join(tmpdir(), "filewright-test-")));
  const [root, outside, stateDir] = [join(base, "ws"), join(base, "out"), join(base, "state")];
  // A workspace that the test has left open may still put a record away in it.
  afterThisTest(() => rm(base, { recursive: true, force: true, maxRetries: 5 }));
  for (const directory of [root, outside, stateDir]) await mkdir(directory);
  const at = (path: string): string => join(root, path);
  for (const [path, value] of Object.entries(seed)) {
    if (value === null) {
      await mkdir(at(path), { recursive: true });
      continue;
    }
    await mkdir(dirname(at(path)), { recursive: true });
    if (typeof value === "object" && "link" in value) {
      await symlink(value.link.replace("$O", outside).replace("$W", root), at(path));
    } else await writeFile(at(path), toBytes(value));
  }
  return { base, root, outside, stateDir };
}

async function onDisk(seed: Seed, options: Omit<WorkspaceOptions, "root" | "backend">): Promise<Fixture> {
  const { root, outside, stateDir } = await temporary(seed);
  const at = (path: string): string => join(root, path);
  const ws = await openWorkspace({ ...options, root, stateDir });
  afterThisTest(() => ws.close());
  const bytes = async (path: string): Promise<Uint8Array | undefined> =>
    readFile(at(path)).then(
      (content) => new Uint8Array(content),
      () => undefined,
    );
  return {
    ws,
    root,
    outside,
    bytes,
    text: async (path) => toText(await bytes(path)),
    target: async (path) => readlink(at(path)).catch(() => undefined),
    foreign: (path, content) => writeFile(at(path), content),
  };
}

function toBytes(content: string | Uint8Array): Uint8Array {
  return typeof content === "string" ? new TextEncoder().encode(content) : content;
}

function toText(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
