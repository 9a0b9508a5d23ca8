/** Workspaces whose files another actor changes behind their back, on the disk and in memory alike. */
import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { MemoryBackend, openWorkspace, type Workspace, type WorkspaceOptions } from "../../js/index.node.ts";
import { afterThisTest } from "../support/cleanups.ts";

/** Paths relative to the root: content, null for a directory, `{ link }` for a symbolic link. */
export type Files = Readonly<Record<string, string | null | { readonly link: string }>>;

/** Another program. Paths are relative to the root. */
export interface Actor {
  write(path: string, content: string): Promise<void>;
  mkdir(path: string): Promise<void>;
  link(path: string, target: string): Promise<void>;
  move(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Everything below the root: what each path holds, sorted by path. */
  tree(): Promise<Readonly<Record<string, string>>>;
}

/** Where the files are kept. */
export type Storage = "disk" | "memory";

/** A workspace and the other program. */
export interface Shared {
  readonly ws: Workspace;
  readonly actor: Actor;
  readonly root: string;
  readonly stateDir: string;
}

/** A directory with files, and one for private state; both are removed after the test. */
export async function directory(files: Files): Promise<{ root: string; stateDir: string; actor: Actor }> {
  const base = await realpath(await mkdtemp(join(tmpdir(), "filewright-approvals-")));
  afterThisTest(() => rm(base, { recursive: true, force: true }));
  const [root, stateDir] = [join(base, "ws"), join(base, "state")];
  await Promise.all([mkdir(root), mkdir(stateDir, { mode: 0o700 })]);
  const actor = onDisk(root);
  await seed(actor, files);
  return { root, stateDir, actor };
}

/** Opens a workspace over some files. */
export async function shared(
  storage: Storage,
  files: Files,
  options: (actor: Actor) => Omit<WorkspaceOptions, "root" | "backend" | "stateDir">,
): Promise<Shared> {
  if (storage === "disk") {
    const { root, stateDir, actor } = await directory(files);
    const ws = await openWorkspace({ ...options(actor), root, stateDir });
    afterThisTest(() => ws.close());
    return { ws, actor, root, stateDir };
  }
  const backend = new MemoryBackend({ "/w": { type: "dir" } });
  const actor = inMemory(backend);
  await seed(actor, files);
  const ws = await openWorkspace({ ...options(actor), root: "/w", backend });
  afterThisTest(() => ws.close());
  return { ws, actor, root: "/w", stateDir: "" };
}

async function seed(actor: Actor, files: Files): Promise<void> {
  for (const [path, value] of Object.entries(files)) {
    if (value === null) await actor.mkdir(path);
    else if (typeof value === "string") await actor.write(path, value);
    else await actor.link(path, value.link);
  }
}

function onDisk(root: string): Actor {
  const at = (path: string): string => join(root, path);
  return {
    async write(path, content) {
      await mkdir(dirname(at(path)), { recursive: true });
      await writeFile(at(path), content);
    },
    mkdir: async (path) => void (await mkdir(at(path), { recursive: true })),
    link: (path, target) => symlink(target, at(path)),
    move: (from, to) => rename(at(from), at(to)),
    remove: (path) => rm(at(path), { recursive: true }),
    async tree() {
      const found: Record<string, string> = {};
      const names = (await readdir(root, { recursive: true })).sort();
      for (const name of names) {
        const stat = await lstat(at(name));
        found[name] = stat.isSymbolicLink()
          ? `-> ${await readlink(at(name))}`
          : stat.isDirectory()
            ? "directory"
            : await readFile(at(name), "utf8");
      }
      return found;
    },
  };
}

/** The other program on a backend in memory below `/w`. */
export function inMemory(backend: MemoryBackend): Actor {
  const at = (path: string): string => `/w/${path}`;
  return {
    write: async (path, content) => void (await backend.writeText(at(path), content, { createDirs: true })),
    mkdir: async (path) => void (await backend.mkdir(at(path), { parents: true, existOk: true })),
    link: async (path, target) => void (await backend.symlink(target, at(path))),
    move: async (from, to) => void (await backend.rename(at(from), at(to))),
    async remove(path) {
      if ((await backend.lstat(at(path))).isDir) await backend.removeTree(at(path));
      else await backend.delete(at(path));
    },
    async tree() {
      const found: Record<string, string> = {};
      const walk = async (directory: string, prefix: string): Promise<void> => {
        for (const { name, path, type } of await backend.listDir(directory)) {
          const shown = `${prefix}${name}`;
          if (type === "dir") {
            found[shown] = "directory";
            await walk(path, `${shown}/`);
          } else if (type === "symlink") found[shown] = `-> ${await backend.readLink(path)}`;
          else found[shown] = await backend.readText(path);
        }
      };
      await walk("/w", "");
      return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
    },
  };
}
