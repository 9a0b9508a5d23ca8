/**
 * A storage that finds names as a Windows disk does: in any letter case, without dots and spaces at the end, without
 * a stream, and by the short name that Windows generates. So a spelling that a check lets through reaches the file.
 */
import { assembledFiles } from "../../../js/backends/complete.ts";
import type { Files } from "../../../js/backends/files.ts";
import type { Able } from "../../../js/backends/abilities.ts";
import { MemoryBackend } from "../../../js/index.node.ts";
import { childOf } from "../../../js/backends/paths.ts";

/** Returns the short name that Windows generates first for a name. */
function shortName(name: string): string {
  const dot = name.lastIndexOf(".");
  const [base, end] = dot > 0 ? [name.slice(0, dot), name.slice(dot + 1)] : [name, ""];
  const plain = (text: string, most: number) =>
    text
      .replaceAll(/[. ]/gu, "")
      .slice(0, most)
      .replaceAll(/[+,;=[\]]/gu, "_")
      .toUpperCase();
  return `${plain(base, 6)}~1${end === "" ? "" : `.${plain(end, 3)}`}`;
}

/** Returns the name that Windows looks up for a name. */
function lookedUpName(name: string): string {
  if (/^[A-Z]:$/u.test(name)) return name;
  return (name.split(":")[0] as string).replace(/[. ]+$/u, "") || name;
}

type Seed = ConstructorParameters<typeof MemoryBackend>[0];

/** A storage, and the one beneath it, which shows what is really there. */
interface Volume {
  readonly disk: MemoryBackend;
  readonly volume: Files & Able;
}

/** Returns a volume that finds names as Windows does. */
export function windowsVolume(seed: Seed): Volume {
  return volumeOf(seed, lookedUpName, (stored, wanted) => shortName(stored).toLowerCase() === wanted);
}

/** Returns a volume that keeps the letter case of names and finds them in any, as macOS does. */
export function caseFoldingVolume(seed: Seed): Volume {
  return volumeOf(
    seed,
    (name) => name,
    () => false,
  );
}

function volumeOf(
  seed: Seed,
  lookedUp: (name: string) => string,
  isOtherName: (stored: string, wanted: string) => boolean,
): Volume {
  const disk = new MemoryBackend(seed);
  const stored = async (path: string): Promise<string> => {
    let at = "/";
    for (const name of path.split("/").filter((one) => one !== "")) {
      const wanted = lookedUp(name).toLowerCase();
      const entries = await Promise.resolve(disk.listDir(at)).catch(() => []);
      const found = entries.find(
        (entry) => entry.name.toLowerCase() === wanted || isOtherName(entry.name, wanted),
      );
      at = childOf(at, found?.name ?? lookedUp(name));
    }
    return at;
  };
  const one =
    <
      K extends
        | "stat"
        | "lstat"
        | "readBytes"
        | "readText"
        | "writeBytes"
        | "writeText"
        | "delete"
        | "mkdir"
        | "listDir"
        | "read"
        | "readLink"
        | "chmod"
        | "removeTree",
    >(
      method: K,
    ) =>
    async (path: string, ...rest: unknown[]) =>
      (disk[method] as (...args: unknown[]) => unknown)(await stored(path), ...rest);
  const volume = {
    exists: async (path: string) => disk.exists(await stored(path)),
    iterFiles: (root: string) => disk.iterFiles(root),
    glob: (pattern: string, how?: { root?: string }) => disk.glob(pattern, how),
    realpath: async (path: string) => disk.realpath(await stored(path)),
    rename: async (from: string, to: string, how?: object) =>
      disk.rename(await stored(from), await stored(to), how),
    copyFile: async (from: string, to: string, how?: object) =>
      disk.copyFile(await stored(from), await stored(to), how),
    symlink: async (target: string, path: string) => disk.symlink(target, await stored(path)),
  } as Partial<Record<keyof Files, unknown>>;
  for (const method of [
    "stat",
    "lstat",
    "readBytes",
    "readText",
    "writeBytes",
    "writeText",
    "delete",
    "mkdir",
    "listDir",
    "read",
    "readLink",
    "chmod",
    "removeTree",
  ] as const)
    volume[method] = one(method);
  return { disk, volume: assembledFiles(volume as Partial<Files>, disk.abilities) };
}
