/**
 * Finds an entry that a search left out, so that a note can name it with the reason. A search itself only counts such
 * entries. The look is bounded: it finds secrets by their names wherever they are, and anything else near the start.
 */
import type { IgnoreSource } from "../../backends/walk/ignore-files.ts";
import type { FsEntry, FsStat, ListOptions } from "../../backends/backend.ts";
import { placeRows } from "../../backends/confined/places.ts";
import { isWithin, relativeTo } from "../../backends/paths.ts";
import { fileFilterOf } from "../../backends/search/search.ts";
import { SearchWalk } from "../../backends/search/search-walk.ts";
import { type FilewrightError, fromEngine } from "../../engine/errors.ts";
import type { SearchQuery } from "../../engine/search-types.ts";
import { skipReasonOf } from "./skip-reason.ts";
import { BYTES_PER_MIB } from "./limits.ts";
import { plural } from "../../engine/escape.ts";
import type { Call } from "./tool.ts";
import { findPaths } from "./walks.ts";

/** An entry that was left out, as data shows its path, and why. */
export interface LeftOutEntry {
  readonly path: string;
  readonly reason: string;
  /** True for a file that is left out because it holds a secret. */
  readonly isSecret?: boolean;
}

/** The files that a search covered. */
export type CoveredQuery = Pick<
  SearchQuery,
  "glob" | "exclude" | "fileTypes" | "hidden" | "respectIgnore" | "ignoreFiles"
>;

/** Which entries of a search are looked for. */
export interface WantedEntry {
  /** True for files too; false for directories alone. */
  readonly files: boolean;
  /** The size in bytes above which a file was not searched. Undefined to look for entries that cannot be read. */
  readonly above?: number | undefined;
}

/** The maximum number of paths with the name of a secret that are tried. */
const MAX_SECRET_NAMES = 16;
/** The maximum number of entries, and of directories, that a walk looks at. */
const [MAX_ENTRIES, MAX_DIRECTORIES] = [256, 256];

/** Returns the first entry below the roots that a search left out; undefined when a short look finds none. */
export async function findLeftOut(
  call: Call,
  roots: readonly string[],
  query: CoveredQuery,
  wanted: WantedEntry,
): Promise<LeftOutEntry | undefined> {
  for (const root of roots) {
    try {
      const named =
        wanted.files && wanted.above === undefined ? await namedSecret(call, root, query) : undefined;
      const found = named ?? (await nearEntry(call, root, query, wanted));
      if (found !== undefined) return found;
    } catch (thrown) {
      const error = fromEngine(thrown);
      if (error.code === "CANCELLED") throw error;
    }
  }
  return undefined;
}

/** Returns the first searched file that has the name of a secret and cannot be read. */
async function namedSecret(call: Call, root: string, query: CoveredQuery): Promise<LeftOutEntry | undefined> {
  const { hidden, respectIgnore } = query;
  const { matches } = fileFilterOf({ ...query, pattern: "" });
  const limit = MAX_SECRET_NAMES;
  const pattern = secretGlobs();
  const found = await findPaths(call, root, { pattern, caseSensitive: false, hidden, respectIgnore, limit });
  for (const path of found.paths) {
    const refused = matches(relativeTo(path, root) ?? "")
      ? await refusalOf(call, { path, type: "file" })
      : undefined;
    if (refused !== undefined) return refused;
  }
  return undefined;
}

/** Returns globs for every place at any depth that is a secret by its name. */
function secretGlobs(): readonly string[] {
  const secret = placeRows().filter(({ decision, pattern }) => decision === "secret" && pattern[0] !== "/");
  return secret.flatMap(({ pattern }) =>
    pattern.endsWith("/**") ? [`**/${pattern}`] : [`**/${pattern}`, `**/${pattern}/**`],
  );
}

/** Returns the first entry of a short walk that was left out. */
async function nearEntry(
  call: Call,
  root: string,
  query: CoveredQuery,
  { files, above }: WantedEntry,
): Promise<LeftOutEntry | undefined> {
  const tree = new WatchedTree(call, root);
  const { globs, matches } = fileFilterOf({ ...query, pattern: "" });
  const walk = new SearchWalk(tree, root, {
    query: { ...query, signal: call.signal },
    globs,
    wants: (path, { type }) => type !== "file" || (files && matches(path)),
    from: "",
    facts: above !== undefined,
  });
  let looked = 0;
  for await (const { entry } of walk.entries()) {
    if (looked++ >= MAX_ENTRIES || tree.lists > MAX_DIRECTORIES) return undefined;
    const found =
      above === undefined ? (tree.closed ?? (await refusalOf(call, entry))) : largeEntry(call, entry, above);
    if (found !== undefined) return found;
  }
  return above === undefined ? tree.closed : undefined;
}

/** The storage for a walk. It keeps the first directory that cannot be listed. */
class WatchedTree implements IgnoreSource {
  /** The number of directories that were listed. */
  lists = 0;
  closed: LeftOutEntry | undefined;
  readonly #call: Call;
  readonly #root: string;

  constructor(call: Call, root: string) {
    this.#call = call;
    this.#root = root;
  }

  async listDir(path: string, options?: ListOptions): Promise<readonly FsEntry[]> {
    this.lists++;
    try {
      return await this.#call.fs.listDir(path, options);
    } catch (error) {
      // Directories above the root are listed for their ignore files.
      if (isWithin(path, this.#root)) this.closed ??= entryOf(this.#call, path, fromEngine(error));
      throw error;
    }
  }

  readBytes(path: string): Promise<Uint8Array> {
    return this.#call.fs.readBytes(path);
  }
  stat(path: string): Promise<FsStat> {
    return this.#call.fs.stat(path);
  }
  lstat(path: string): Promise<FsStat> {
    return this.#call.fs.lstat(path);
  }
  realpath(path: string): Promise<string> {
    return this.#call.fs.realpath(path);
  }
  gitExclude(directory: string): Promise<Uint8Array | undefined> {
    return this.#call.fs.gitExclude(directory);
  }
}

/** Returns a file that is larger than a limit in bytes; undefined when it is not. */
function largeEntry(call: Call, { path, size = 0 }: FsEntry, limit: number): LeftOutEntry | undefined {
  if (size <= limit) return undefined;
  const mib = limit / BYTES_PER_MIB;
  const shown = Number.isInteger(mib) ? `${mib} MiB` : plural(limit, "byte");
  return { path: call.reader.display(path), reason: `over ${shown}` };
}

/** Returns a file with the reason why it cannot be read; undefined when it can, or is gone. */
async function refusalOf(
  call: Call,
  { path, type }: Pick<FsEntry, "path" | "type">,
): Promise<LeftOutEntry | undefined> {
  if (type !== "file") return undefined;
  try {
    if (!call.fs.abilities.ranges) await call.fs.readBytes(path);
    else await call.fs.read(path, { range: { start: 0, end: 1 } });
    return undefined;
  } catch (thrown) {
    return entryOf(call, path, fromEngine(thrown));
  }
}

function entryOf(call: Call, path: string, error: FilewrightError): LeftOutEntry | undefined {
  if (error.code === "CANCELLED") throw error;
  // An entry that has vanished was not left out.
  if (error.code === "NOT_FOUND" || error.code === "NOT_DIRECTORY") return undefined;
  const isSecret = error.details?.["reason"] === "secret";
  return { path: call.reader.display(path), reason: skipReasonOf(error), isSecret };
}
