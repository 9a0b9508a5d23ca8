/**
 * Grants in a file that several processes share and people may read.
 *
 * Every change is read-merge-replace under the lock between processes, so two
 * processes lose nothing; every question looks whether the file changed, so a
 * grant that another process revoked is gone here too. A file that cannot be
 * understood, or that others could have written, is refused and left as it is.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  type Stats,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import process from "node:process";
import { LocalBackend } from "../backends/local.node.ts";
import { defaultStateDir } from "../backends/lock.node.ts";
import { escapeControls } from "../engine/escape.ts";
import { FilewrightError } from "../engine/errors.ts";
import { gateOf, integer, type Options, options as described, text } from "../schema/option.ts";
import {
  formatGrants,
  givenGrant,
  type Grant,
  type GrantsText,
  type GrantStore,
  parseGrants,
  withGrant,
} from "./grants.ts";

/** How a grants file is kept. */
export interface GrantsFileOptions {
  /** Where the lock between processes is kept; default: the user's state directory. */
  readonly stateDir?: string | undefined;
  /** The longest wait for another process, in milliseconds. Default 5000. */
  readonly lockTimeoutMs?: number | undefined;
}

/** The options of {@link openGrantsFile}. */
export const GRANTS_FILE_OPTIONS: Options<GrantsFileOptions> = described("GrantsFileOptions", {
  stateDir: text(),
  lockTimeoutMs: integer(0),
});

const gate = gateOf("openGrantsFile", GRANTS_FILE_OPTIONS);
const gatePath = gateOf("openGrantsFile", text());

/** Grants in a file. */
export interface GrantsFile extends GrantStore {
  /** Absolute, the links of its directory resolved. */
  readonly file: string;
  list(): readonly Grant[];
  add(grant: Grant): Promise<void>;
  remove(dir: string): Promise<boolean>;
}

/** How often a change is made again because somebody without the lock was faster. */
const MAX_TRIES = 20;
/** A larger file is no list of directories. */
const MAX_BYTES = 16 * 1024 * 1024;
const EMPTY: GrantsText = Object.freeze({ grants: Object.freeze([]), rest: Object.freeze({}) });

/** Where the command line keeps grants: in the user's state directory. */
export function defaultGrantsFile(): string {
  return join(defaultStateDir(), "grants.json");
}

/**
 * Opens a grants file; one that is missing is made with the first grant.
 *
 * @example
 * const grants = await openGrantsFile("/home/me/.local/state/filewright/grants.json");
 * await grants.remove("/home/me/project");
 *
 * @throws FilewrightError INVALID_ARGUMENT for a file that cannot be understood, is a
 * link, belongs to somebody else or may be written by others, and for options that make no sense
 */
export async function openGrantsFile(path: string, options: GrantsFileOptions = {}): Promise<GrantsFile> {
  const { stateDir, lockTimeoutMs = 5000 } = gate(options);
  const disk = new LocalBackend({ stateDir, durability: "durable" });
  const named = resolve(gatePath(path));
  const file = join(await disk.realpath(dirname(named)), basename(named));
  let seen: { readonly stamp: string; readonly text: GrantsText } | undefined;

  const read = (): GrantsText => {
    const facts = lstatSync(file, { throwIfNoEntry: false });
    if (facts === undefined) seen = { stamp: "", text: EMPTY };
    else if (seen?.stamp !== stampOf(facts)) seen = load(file);
    return seen.text;
  };

  const change = async (next: (grants: readonly Grant[]) => readonly Grant[]): Promise<boolean> => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const lock = await disk.lock(file, { timeoutMs: lockTimeoutMs, resolved: true });
    try {
      for (let tries = 1; ; tries++) {
        // The version first: what is read after it can only be newer, which the write then refuses.
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
          if (tries === MAX_TRIES || !isRace(error)) throw error;
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

function isRace(error: unknown): boolean {
  return error instanceof FilewrightError && (error.code === "CONFLICT" || error.code === "ALREADY_EXISTS");
}

/** Reads what was opened, and judges that very file. @throws FilewrightError INVALID_ARGUMENT */
function load(file: string): { readonly stamp: string; readonly text: GrantsText } {
  let descriptor: number;
  try {
    descriptor = openSync(
      file,
      constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
    );
  } catch (error) {
    const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    throw distrusted(file, isLink ? "it is a symbolic link" : "it cannot be opened", error);
  }
  try {
    const facts = fstatSync(descriptor);
    const why = whyNot(facts);
    if (why !== undefined) throw distrusted(file, why);
    return { stamp: stampOf(facts), text: parseGrants(readFileSync(descriptor, "utf8")) };
  } catch (error) {
    if (error instanceof FilewrightError && error.complete) throw error;
    throw distrusted(file, error instanceof FilewrightError ? error.message : "it cannot be read", error);
  } finally {
    closeSync(descriptor);
  }
}

/** Why a file cannot be trusted: others could have written it. */
function whyNot(facts: Stats): string | undefined {
  if (!facts.isFile()) return "it is not a regular file";
  if (facts.size > MAX_BYTES) return `it is larger than ${MAX_BYTES} bytes`;
  if (process.getuid === undefined) return undefined; // Rights are not in the mode there.
  if (facts.uid !== process.getuid() && facts.uid !== 0) return "it belongs to another user";
  return (facts.mode & 0o022) !== 0 ? "others may write it (chmod 600 mends that)" : undefined;
}

/** What changes whenever the file does. */
function stampOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}`;
}

function distrusted(file: string, why: string, cause?: unknown): FilewrightError {
  return new FilewrightError(
    "INVALID_ARGUMENT",
    `The grants file ${escapeControls(file)} is refused and left as it is: ${why}.`,
    { complete: true, path: file, details: { option: "permissions.grantsFile" }, cause },
  );
}
