/**
 * The disk by real paths: no name of a path may be a link, and one that has become a link is refused. The policy
 * (`../confined`) resolves every path before it comes here.
 */
import * as fs from "node:fs";
import type { FsBackend, FsStat, WriteOptions } from "../backend.ts";
import { backendError } from "../failure.ts";
import { provideAbilities } from "../abilities.ts";
import { resolveLinks } from "../fallback/links.ts";
import { lockPath } from "../local/lock.node.ts";
import { defaultStateDir } from "../state-directory.node.ts";
import { childOf, parentOf } from "../paths.ts";
import { decodeText, encodeText } from "../text.ts";
import { deleteEntry, makeLink, removeWhole, setModeOf, sweepPath } from "./change.node.ts";
import { listDirectory, makeDirectory, makeParents, orRemove, targetOf } from "./directories.node.ts";
import { osError, pathChanged, systemErrorName } from "./errors.node.ts";
import { fsStatOf } from "./facts.node.ts";
import { HOST_PATHS } from "./host-path.node.ts";
import { writeBlock } from "./in-place.node.ts";
import type { NodeOptions } from "./node-options.ts";
import { atEntry, realPathOf } from "./pinned.node.ts";
import { hashOfPath, readVersion } from "./read.node.ts";
import { newAsideName } from "./temp.node.ts";
import { copyRegularFile, moveEntry } from "./transfer.node.ts";
import { writeFile } from "./write.node.ts";

/** Returns the disk by real paths. */
export function exactDisk(options: Pick<NodeOptions, "stateDir" | "durability">): FsBackend {
  const flushing = options.durability ?? "atomic";

  const writeBytes = async (path: string, content: Uint8Array, given: WriteOptions = {}) => {
    const { createDirs, hash: _, ...rest } = given;
    const write = {
      ...rest,
      content: (fd: number) => writeAll(fd, content),
      durability: given.durability ?? flushing,
    };
    return orRemove(createDirs === true ? await makeParents(path) : [], () => writeFile(path, write));
  };
  const readBytes = async (path: string): Promise<Uint8Array> => {
    const found = await readVersion(path);
    return (found as NonNullable<typeof found>).bytes;
  };

  const disk = Object.freeze<FsBackend>({
    exists: (path) => atEntry(path, (entry) => entry.facts() !== undefined).catch(() => false),
    stat: async (path) => {
      const stat = await entryFacts(path);
      if (stat.type === "symlink") throw pathChanged(path);
      return stat;
    },
    lstat: entryFacts,
    readText: async (path, { encoding } = {}) => decodeText(await readBytes(path), encoding, path),
    readBytes,
    read: readVersion,
    hash: hashOfPath,
    writeText: async (path, content, { encoding, ...how } = {}) =>
      writeBytes(path, encodeText(content, encoding, path), how),
    writeBytes,
    delete: (path, how = {}) => deleteEntry(path, { durability: flushing, ...how }),
    mkdir: (path, how = {}) => makeDirectory(path, { durability: flushing, ...how }),
    listDir: listDirectory,
    iterFiles: walkedByPolicy,
    glob: walkedByPolicy,
    rename: (from, to, how = {}) => moveEntry(from, to, { durability: flushing, ...how }),
    copyFile: (from, to, how = {}) => copyRegularFile(from, to, { durability: flushing, ...how }),
    readLink: (path) =>
      atEntry(path, (entry) => {
        try {
          return targetOf(entry);
        } catch (error) {
          if (systemErrorName(error) !== "EINVAL") throw error;
          throw backendError("INVALID_ARGUMENT", path, "not a symbolic link");
        }
      }),
    symlink: makeLink,
    realpath,
    chmod: setModeOf,
    removeTree: (path, how = {}) => removeWhole(path, { durability: flushing, ...how }),
    asidePath: (path) => childOf(parentOf(path), newAsideName()),
    sweep: sweepPath,
    lock: (path, how) => lockPath(options.stateDir ?? defaultStateDir(), path, path, how),
  });
  provideAbilities(disk, { paths: HOST_PATHS, refusesLinks: true });
  return disk;
}

/** Returns the facts about the entry at a real path, a link not followed. */
function entryFacts(path: string): Promise<FsStat> {
  return atEntry(path, (entry) => {
    const facts = entry.facts();
    if (facts === undefined) throw backendError("NOT_FOUND", path);
    return fsStatOf(facts, path, facts.isSymbolicLink() ? targetOf(entry) : undefined);
  });
}

function walkedByPolicy(): never {
  throw backendError("INTERNAL", "/", "trees are walked by the policy");
}

/** Returns a path with every link resolved. Missing names at its end are kept. */
async function realpath(path: string): Promise<string> {
  // Windows has no such directory.
  if (path === "/") return path;
  try {
    return realPathOf(path);
  } catch (error) {
    const code = systemErrorName(error);
    if (code !== "ENOENT" && code !== "ENOTDIR" && code !== "ELOOP" && code !== "ENAMETOOLONG")
      throw osError(error, path);
  }
  const look = async (at: string) => {
    try {
      return await atEntry(at, (entry) => {
        const facts = entry.facts();
        if (facts === undefined) return null;
        if (facts.isSymbolicLink()) return { type: "symlink" as const, target: targetOf(entry) };
        return { type: facts.isDirectory() ? ("dir" as const) : ("file" as const) };
      });
    } catch (error) {
      if ((error as { readonly code?: unknown }).code === "NOT_FOUND") return null;
      throw error;
    }
  };
  return resolveLinks(path, { follow: true, keepMissingDirectory: true, look });
}

/** The size in bytes up to which a content is written without waiting. */
const MAX_SYNC_BYTES = 256 * 1024;

function writeAll(fd: number, content: Uint8Array): void | Promise<void> {
  if (content.length > MAX_SYNC_BYTES) return writeLater(fd, content);
  writeBlock(fd, content, 0);
}

async function writeLater(fd: number, content: Uint8Array): Promise<void> {
  for (let done = 0; done < content.length; ) {
    const from = done;
    done += await new Promise<number>((resolve, reject) => {
      fs.write(fd, content, from, Math.min(1 << 20, content.length - from), from, (error, count) =>
        error === null ? resolve(count) : reject(error),
      );
    });
  }
}
