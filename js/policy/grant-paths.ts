/** The facts about a path for which a grant may be needed: its directories, and the secret whose content is read. */
import type { Files } from "../backends/files.ts";
import { entryPath, lstatOrNull, otherNamesOf } from "../backends/fallback/fallback.ts";
import { parentOf } from "../backends/paths.ts";
import type { Intent } from "../backends/policy.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { DecisionSource } from "./decide.ts";
import type { Location } from "./location.ts";

/** One path of a call for which a grant may be needed. */
export interface PathRequest {
  readonly at: Location;
  readonly intent: Intent;
  /** True when the call is about the entry itself, so that a link is not followed. */
  readonly entry: boolean;
  readonly tool: string;
  readonly agent?: string | undefined;
  /** The number that the permissions gave the call when it began. */
  readonly began: number;
  /** Returns true when the content at a real path is a secret, which needs its own grant. */
  readonly secret?: ((real: string) => boolean) | undefined;
  /** Allows reading exactly these secrets, by their real paths. Default: the storage that is asked about does it. */
  readonly grantSecrets?: ((paths: readonly string[]) => void) | undefined;
  /** The sources that decide about the call. Default: only the grants. */
  readonly sources?: readonly DecisionSource[] | undefined;
}

/** Returns the real path of the secret whose content a call reads; undefined if it reads none. */
export async function secretOf(
  fs: Files,
  { at, entry, intent, secret }: PathRequest,
): Promise<string | undefined> {
  if (secret === undefined || (entry && intent === "write")) return undefined;
  const real = await realPathOf(fs, at.path, entry).catch(() => undefined);
  return real === undefined ? undefined : secretNameOf(fs, real, secret);
}

/** Returns the name of a file by which it is a secret and is granted: this one, or another; undefined if it is none. */
async function secretNameOf(
  fs: Files,
  real: string,
  secret: (real: string) => boolean,
): Promise<string | undefined> {
  const name = secret(real) ? real : (await otherNamesOf(fs, real)).find(secret);
  if (name === undefined) return undefined;
  return (await lstatOrNull(fs, real))?.isFile === true ? name : undefined;
}

/**
 * Returns the directory that a path names and its real directory. For a path that does not exist, those of the
 * nearest parent that exists.
 */
export async function namedAndRealDirectories(
  fs: Files,
  path: string,
  entry: boolean,
): Promise<ReadonlySet<string>> {
  for (let at = path; ; at = parentOf(at)) {
    try {
      const real = await realPathOf(fs, at, entry && at === path);
      return (await isDirectory(fs, at, entry && at === path))
        ? new Set([at, real])
        : new Set([parentOf(at), parentOf(real)]);
    } catch (error) {
      // When a path cannot be resolved, the last directory that exists counts.
      if (at === "/" || !(error instanceof FilewrightError) || !UNRESOLVABLE_CODES.has(error.code))
        throw error;
    }
  }
}

const UNRESOLVABLE_CODES: ReadonlySet<string> = new Set([
  "NOT_FOUND",
  "NOT_DIRECTORY",
  "LOOP",
  "PERMISSION_DENIED",
  "NAME_TOO_LONG",
]);

/** Returns the real path of a file, or of the entry itself. */
export function realPathOf(fs: Files, path: string, entry: boolean): Promise<string> {
  return entry ? entryPath(fs, path) : fs.realpath(path);
}

async function isDirectory(fs: Files, path: string, entry: boolean): Promise<boolean> {
  try {
    return (await (entry ? fs.lstat(path) : fs.stat(path))).isDir;
  } catch (error) {
    if (error instanceof FilewrightError) return false; // Missing, or writable only: its parent counts.
    throw error;
  }
}
