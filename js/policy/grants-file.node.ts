/**
 * A file of grants that several processes share and people may read.
 *
 * A change reads, merges and replaces the file under a lock between processes, so that no change is lost. Every
 * query checks whether the file has changed, so that a grant which another process revoked ends here too. A file
 * that is invalid, or that other users could have written, is refused and left unchanged.
 */
import { mkdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { openDisk } from "../backends/disk.node.ts";
import { defaultStateDir } from "../backends/state-directory.node.ts";
import { escapeControls } from "../engine/escape.ts";
import { FilewrightError } from "../engine/errors.ts";
import { optionChecker, integer, type Options, options as described, text } from "../schema/option.ts";
import {
  formatGrants,
  givenGrant,
  type Grant,
  type GrantsText,
  type GrantStore,
  parseGrants,
  withGrant,
} from "./grants.ts";
import { readTrustedText, stampOfFile } from "./trusted-file.node.ts";

/** Options of a grants file. */
export interface GrantsFileOptions {
  /** The directory of the lock between processes; default: the user's state directory. */
  readonly stateDir?: string | undefined;
  /** The longest wait for the lock that another process holds, in milliseconds. Default 5000. */
  readonly lockTimeoutMs?: number | undefined;
}

/** The options of {@link openGrantsFile}. */
export const GRANTS_FILE_OPTIONS: Options<GrantsFileOptions> = described("GrantsFileOptions", {
  stateDir: text(),
  lockTimeoutMs: integer(0),
});

const checkOptions = optionChecker("openGrantsFile", GRANTS_FILE_OPTIONS);
const checkPath = optionChecker("openGrantsFile", text());

/** Grants in a file. */
export interface GrantsFile extends GrantStore {
  /** The absolute path of the file, with the links of its directory resolved. */
  readonly file: string;
  list(): readonly Grant[];
  add(grant: Grant): Promise<void>;
  remove(dir: string): Promise<boolean>;
}

/** The number of attempts to write the file. A program that does not take the lock can make one fail. */
const MAX_WRITE_ATTEMPTS = 20;
/** The maximum size of the file, in bytes. A larger file is refused. */
const MAX_GRANTS_FILE_BYTES = 16 * 1024 * 1024;
const EMPTY_GRANTS_TEXT: GrantsText = Object.freeze({ grants: Object.freeze([]), rest: Object.freeze({}) });

/** Returns the path of the grants file that the command line uses by default, in the state directory of the user. */
export function defaultGrantsFile(): string {
  return join(defaultStateDir(), "grants.json");
}

/**
 * Opens a grants file; a missing one is created with the first grant.
 *
 * @example
 * const grants = await openGrantsFile("/home/me/.local/state/filewright/grants.json");
 * await grants.remove("/home/me/project");
 *
 * @throws FilewrightError INVALID_ARGUMENT for a file that is invalid, is a link, belongs to
 * another user or is writable by others, and for invalid options
 */
export async function openGrantsFile(path: string, options: GrantsFileOptions = {}): Promise<GrantsFile> {
  const { stateDir, lockTimeoutMs = 5000 } = checkOptions(options);
  const disk = openDisk({ stateDir, durability: "durable" });
  const named = resolve(checkPath(path));
  const file = join(await disk.realpath(dirname(named)), basename(named));
  let seen: { readonly stamp: string; readonly text: GrantsText } | undefined;

  const read = (): GrantsText => {
    const stamp = stampOfFile(file);
    if (stamp === "") seen = { stamp, text: EMPTY_GRANTS_TEXT };
    else if (seen?.stamp !== stamp) seen = readTrustedFile(file);
    return seen.text;
  };

  const change = async (next: (grants: readonly Grant[]) => readonly Grant[]): Promise<boolean> => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const lock = await disk.lock(file, { timeoutMs: lockTimeoutMs, resolved: true });
    try {
      for (let tries = 1; ; tries++) {
        // Reads the version first: content read after it can only be newer, which makes the write fail.
        const before = await disk.stat(file).catch(() => null);
        seen = undefined;
        const { grants, rest } = read();
        const changed = next(grants);
        if (changed.length === grants.length && changed.every((grant, at) => grant === grants[at]))
          return false;
        const content = formatGrants({ grants: changed, rest });
        const condition = before?.version === undefined ? { ifAbsent: true } : { ifVersion: before.version };
        try {
          await disk.writeText(file, content, { ...condition, mode: 0o600, durability: "durable" });
          seen = undefined;
          return true;
        } catch (error) {
          if (tries === MAX_WRITE_ATTEMPTS || !isWriteConflict(error)) throw error;
        }
      }
    } finally {
      lock.release();
    }
  };

  read();
  return Object.freeze({
    file,
    list: () => read().grants,
    async add(grant: Grant): Promise<void> {
      const given = givenGrant(grant);
      await change((grants) => withGrant(grants, given, Date.now()));
    },
    remove: (dir: string) => change((grants) => grants.filter((grant) => grant.dir !== dir)),
  });
}

/** Returns true when another program wrote the file first, so that the change is tried again. */
function isWriteConflict(error: unknown): boolean {
  return error instanceof FilewrightError && (error.code === "CONFLICT" || error.code === "ALREADY_EXISTS");
}

/** Reads the grants of the file. @throws FilewrightError INVALID_ARGUMENT for a file that is not trusted */
function readTrustedFile(file: string): { readonly stamp: string; readonly text: GrantsText } {
  const { stamp, text } = readTrustedText(file, MAX_GRANTS_FILE_BYTES, (why, cause) =>
    untrustedFileError(file, why, cause),
  );
  try {
    return { stamp, text: parseGrants(text) };
  } catch (error) {
    if (!(error instanceof FilewrightError)) throw error;
    throw untrustedFileError(file, error.message, error);
  }
}

function untrustedFileError(file: string, why: string, cause?: unknown): FilewrightError {
  return new FilewrightError(
    "INVALID_ARGUMENT",
    `The grants file ${escapeControls(file)} is refused and left as it is: ${why}.`,
    { complete: true, path: file, details: { option: "permissions.grantsFile" }, cause },
  );
}
