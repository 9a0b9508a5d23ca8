/** memfs and ZenFS as drivers, as docs/guides/backends.md shows: the whole contract of storages, and a workspace. */
import { FilewrightError, openWorkspace } from "filewright";
import { type Driver, type DriverEntry, filesOf } from "filewright/storage";
import { storageContract } from "filewright/testing";
import { createFsFromVolume, Volume } from "memfs";
import { fs as zenfs, InMemory, mount, resolveMountConfig, umount } from "@zenfs/core";
import { ok } from "./scene.js";

interface Stats {
  isDirectory(): boolean;
  readonly mtimeMs: number;
  readonly size: number;
  readonly mode: number;
}

/** The methods of `fs.promises` that the driver uses. */
interface Fs {
  stat(path: string): Promise<Stats>;
  readdir(path: string): Promise<readonly string[]>;
  readFile(path: string): Promise<Uint8Array>;
  writeFile(path: string, body: Uint8Array): Promise<void>;
  mkdir(path: string, options: { readonly recursive: true }): Promise<unknown>;
  chmod(path: string, mode: number): Promise<void>;
  rmdir(path: string): Promise<void>;
  unlink(path: string): Promise<void>;
}

function fsDriver(fs: Fs): Driver {
  // A clock of milliseconds does not tell two writes apart.
  const writes = new Map<string, number>();
  const wrote = (path: string) => writes.set(path, (writes.get(path) ?? 0) + 1);
  const absent = (error: { readonly code?: unknown }): null => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw error;
  };
  const stat = async (path: string): Promise<DriverEntry | null> => {
    // ZenFS takes it for a separator.
    if (path.includes("\\")) throw new FilewrightError("INVALID_ARGUMENT", "no backslash here", { path });
    const stats = await fs.stat(path).catch(absent);
    if (stats === null || stats.isDirectory()) return stats && { type: "dir", path };
    const { mtimeMs: mtime, size, mode } = stats;
    const version = `${writes.get(path) ?? 0} ${mtime} ${size}`;
    return { type: "file", path, version, size, mtime, mode: mode & 0o777 };
  };
  return {
    stat,
    async list(directory) {
      const names = (await fs.readdir(directory).catch(absent)) ?? [];
      const prefix = directory === "/" ? "/" : `${directory}/`;
      const found = await Promise.all(names.map((name) => stat(prefix + name)));
      return found.filter((entry) => entry !== null);
    },
    read: (path) => fs.readFile(path),
    async write(path, body, { mode }) {
      await fs.mkdir(path.slice(0, path.lastIndexOf("/")) || "/", { recursive: true });
      await fs.writeFile(path, body);
      if (mode !== undefined) await fs.chmod(path, mode);
      wrote(path);
      return (await stat(path)) as DriverEntry;
    },
    async remove(path, ifVersion) {
      await (ifVersion === undefined ? fs.rmdir(path) : fs.unlink(path));
      wrote(path);
    },
  };
}

/** The driver refuses a backslash, which is in one of the names. */
const EXCEPT: readonly string[] = [
  "commit: names of any characters are those that are read and listed, each another one",
];

const HOSTS: Readonly<Record<string, () => Promise<Fs>>> = {
  memfs: async () => createFsFromVolume(new Volume()).promises as unknown as Fs,
  zenfs: async () => {
    umount("/");
    mount("/", await resolveMountConfig({ backend: InMemory }));
    return zenfs.promises as unknown as Fs;
  },
};

let failed = 0;
for (const [name, make] of Object.entries(HOSTS)) {
  const cases: { name: string; run: () => Promise<void> }[] = [];
  storageContract(
    async () => {
      const fs = await make();
      await fs.mkdir("/contract", { recursive: true });
      return { storage: filesOf(fsDriver(fs), { root: "/contract" }) };
    },
    { test: (title, run) => cases.push({ name: title, run }), except: EXCEPT },
  );
  for (const one of cases) {
    try {
      await one.run();
    } catch (error) {
      failed += 1;
      console.error(`not ok ${name}: ${one.name}: ${String(error)}`);
    }
  }
  console.log(`ok contract of ${name}: ${cases.length} cases`);

  const fs = await make();
  await fs.mkdir("/tree", { recursive: true });
  await fs.writeFile("/secret", new TextEncoder().encode("what is outside"));
  const answers = [false, true];
  const ws = await openWorkspace({
    storage: filesOf(fsDriver(fs)),
    root: "/tree",
    confirm: ({ tool }) => ({
      outcome: tool !== "delete" || answers.shift() === true ? "proceed_once" : "cancel",
    }),
  });
  const around = await ws.call("read_file", { path: "src\\..\\..\\secret" });
  ok("outside", !around.ok && !around.text.includes("what is outside"), around);
  await ws.writeFile({ path: "src/a.ts", content: "const retries = 3;\n" });
  ok("list", (await ws.listDirectory({})).entries.length === 1);
  ok("read", (await ws.readFile({ path: "src/a.ts" })).total_lines === 1);
  const wrong = await ws.call("edit_file", { path: "src/a.ts", edits: [{ old_text: "no", new_text: "x" }] });
  ok("refused edit", !wrong.ok);
  await ws.editFile({ path: "src/a.ts", edits: [{ old_text: "= 3", new_text: "= 5" }] });
  ok("corrected edit", (await ws.grep({ pattern: "= 5" })).total_matches === 1);
  ok("denial", !(await ws.call("delete", { path: "src/a.ts" })).ok && (await ws.fs.exists("/tree/src/a.ts")));
  ok(
    "approval",
    (await ws.call("delete", { path: "src/a.ts" })).ok && !(await ws.fs.exists("/tree/src/a.ts")),
  );
  const cancelled = await ws.call("read_file", { path: "src/a.ts" }, { signal: AbortSignal.abort() });
  ok("cancel", cancelled.error?.code === "CANCELLED");
  await ws.close();
}
if (failed > 0) process.exit(1);
console.log("done");
process.exit(0);
