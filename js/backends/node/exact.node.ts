/**
 * The disk by real paths: no name of a path may be a link, and one that has become a link is refused. The policy
 * (`../confined`) resolves every path before it comes here.
 */
import * as fs from "node:fs";
import type { FsStat, ReadOptions, VersionedBytes, WriteOptions } from "../backend.ts";
import { backendError } from "../failure.ts";
import { provideShortcuts } from "../abilities.ts";
import { assembledFiles } from "../complete.ts";
import { resolveLinks } from "../fallback/links.ts";
import type { FileAbilities, Files } from "../files.ts";
import { lockPath } from "../local/lock.node.ts";
import { defaultStateDir } from "../state-directory.node.ts";
import type { SandboxPolicy } from "../policy.ts";
import { decodeText, encodeText } from "../text.ts";
import { deleteEntry, makeLink, removeWhole, setModeOf, sweepPath } from "./change.node.ts";
import { listDirectory, makeDirectory, makeParents, orRemove, targetOf } from "./directories.node.ts";
import { osError, pathChanged, systemErrorName } from "./errors.node.ts";
import { fsStatOf } from "./facts.node.ts";
import { HOST_PATHS } from "./host-path.node.ts";
import { writeBlock } from "./in-place.node.ts";
import type { NodeOptions } from "./node-options.ts";
import { OtherNames } from "./other-names.node.ts";
import { atEntry, realPathOf } from "./pinned.node.ts";
import { hashOfPath, readVersion } from "./read.node.ts";
import { copyRegularFile, moveEntry } from "./transfer.node.ts";
import { writeFile } from "./write.node.ts";

/** How the methods of a disk work. */
export const DISK_ABILITIES: FileAbilities = Object.freeze({
  conditions: true,
  ranges: true,
  links: true,
  modes: true,
  moves: true,
  asides: true,
  locks: true,
});

/** The disk by real paths, and the names of its files. */
interface ExactDisk {
  readonly disk: Files;
  readonly names: OtherNames;
}

/** Returns the disk by real paths. It gives out no content of a file that the policy hides under another name. */
export function exactDisk(
  options: Pick<NodeOptions, "stateDir" | "durability">,
  policy: SandboxPolicy,
): ExactDisk {
  const durability = options.durability ?? "atomic";

  const read = async (path: string, how?: ReadOptions): Promise<VersionedBytes | null> => {
    const found = await readVersion(path, how).catch(async (error: unknown) => {
      await names.check(path);
      throw error;
    });
    await names.check(path, found?.stat);
    return found;
  };
  const readBytes = async (path: string): Promise<Uint8Array> => {
    const found = await read(path);
    return (found as NonNullable<typeof found>).bytes;
  };
  const writeBytes = async (path: string, content: Uint8Array, given: WriteOptions = {}) => {
    const { createDirs, hash: _, ...rest } = given;
    const made = createDirs === true ? await makeParents(path) : [];
    const how = { ...rest, durability: rest.durability ?? durability };
    return orRemove(made, () => writeFile(path, { ...how, content: (fd) => writeAll(fd, content) }));
  };

  const methods: Partial<Files> = {
    exists: (path) => atEntry(path, (entry) => entry.facts() !== undefined).catch(() => false),
    stat: async (path) => {
      const stat = await entryFacts(path);
      if (stat.type === "symlink") throw pathChanged(path);
      return stat;
    },
    lstat: entryFacts,
    readText: async (path, { encoding } = {}) => decodeText(await readBytes(path), encoding, path),
    readBytes,
    read,
    hash: async (path, how) => {
      await names.check(path);
      return hashOfPath(path, how);
    },
    writeText: async (path, content, { encoding, ...how } = {}) =>
      writeBytes(path, encodeText(content, encoding, path), how),
    writeBytes,
    delete: (path, how) => deleteEntry(path, { durability, ...how }),
    mkdir: (path, how) => makeDirectory(path, { durability, ...how }),
    listDir: listDirectory,
    iterFiles: walkedByPolicy,
    glob: walkedByPolicy,
    rename: async (from, to, how) => {
      await names.checkMove(from, to);
      return moveEntry(from, to, { durability, ...how });
    },
    copyFile: async (from, to, how) => {
      await names.check(from);
      return copyRegularFile(from, to, { durability, ...how });
    },
    readLink,
    symlink: makeLink,
    realpath,
    chmod: setModeOf,
    removeTree: (path, how) => removeWhole(path, { durability, ...how }),
    sweep: sweepPath,
    lock: (path, how) => lockPath(options.stateDir ?? defaultStateDir(), path, path, how),
  };
  const disk = assembledFiles(methods, DISK_ABILITIES);
  const names = new OtherNames(disk, policy);
  const checkNames = (path: string): Promise<void> => names.check(path);
  provideShortcuts(disk, { paths: HOST_PATHS, refusesLinks: true, checkNames });
  return { disk, names };
}

function readLink(path: string): Promise<string> {
  return atEntry(path, (entry) => {
    try {
      return targetOf(entry);
    } catch (error) {
      if (systemErrorName(error) !== "EINVAL") throw error;
      throw backendError("INVALID_ARGUMENT", path, "not a symbolic link");
    }
  });
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
