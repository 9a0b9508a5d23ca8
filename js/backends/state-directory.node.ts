/**
 * Finds the directory of private files (locks, history, keys) and words its errors.
 *
 * Locks exclude only processes with the same state directory. So the choice depends on nothing but the
 * environment, the user and the permissions on the disk: all processes of one user with the same environment
 * choose the same directory. A directory that is full, or that fails for a moment, is therefore not passed
 * over: processes that began earlier use it. A process that has found a place keeps it while its environment stays
 * the same.
 */
import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { constants, tmpdir } from "node:os";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { type Code, type ErrorInit, type FilewrightError, fromEngine, makeError } from "../engine/errors.ts";
import { nodePermissionError } from "../engine/node-permission.ts";
import { escapeControls } from "../engine/escape.ts";
import { homeDirectory } from "./home.node.ts";
import {
  isDescriptorError,
  NO_DESCRIPTOR_HINT,
  reasonOfSystemError,
  systemErrorName,
} from "./node/errors.node.ts";
import { makePrivateDirectory } from "./private-directory.node.ts";
import { describePassedOver, type PassedDirectory, type StateDirectory } from "./state-directory.ts";

/** A place where the state directory can be. */
interface Candidate {
  readonly path: string;
  /** Why it is not even tried. */
  readonly unusable?: string;
  /** True when other users can write in the directory that contains it, so that one of them could have made it. */
  readonly shared?: true;
  /** The directory that an environment variable names and that contains it; absent for one that the host names. */
  readonly within?: string;
}

/** The errors that last until somebody changes permissions or mounts: the next process meets them, too. */
const LASTING_ERRORS: ReadonlySet<string> = new Set([
  ...["EACCES", "EPERM", "EROFS", "ENOENT", "ENOTDIR", "EEXIST", "ELOOP", "ENAMETOOLONG", "EINVAL"],
  "ENOTSUP",
]);

/** A place that was chosen, and those that were passed over for it. */
interface Choice {
  readonly candidate: Candidate;
  readonly passedOver: readonly PassedDirectory[];
}

const choiceByEnvironment = new Map<string, Choice>();

/**
 * Returns the first place that works, or whose failure may pass, and why the better ones fail. If all fail for
 * good, returns the first that could be tried.
 */
function chooseCandidate(): Choice {
  const candidates = candidatesOfEnvironment();
  const key = JSON.stringify(candidates);
  const known = choiceByEnvironment.get(key);
  if (known !== undefined) return known;
  const passedOver: PassedDirectory[] = [];
  for (const candidate of candidates) {
    const found = problemOf(candidate);
    if (found === undefined || !found.lasts) {
      const choice = Object.freeze({ candidate, passedOver: Object.freeze(passedOver) });
      choiceByEnvironment.set(key, choice);
      return choice;
    }
    passedOver.push({ path: candidate.path, reason: found.reason });
  }
  // Nothing can be written anywhere. That is not remembered, so that the next call tries again.
  const first = candidates.findIndex(({ unusable }) => unusable === undefined);
  return {
    candidate: candidates[first] as Candidate,
    passedOver: Object.freeze(passedOver.filter((_, at) => at !== first)),
  };
}

/** Returns the path of the default state directory. */
export function defaultStateDir(): string {
  return chooseCandidate().candidate.path;
}

/**
 * Returns the paths of all directories that can be the default one for this user. Tokens, keys, grants and sockets are
 * in the default one whichever a workspace uses, and a process with another environment has another default.
 */
export function defaultStateDirs(): readonly string[] {
  return candidatesOfEnvironment().flatMap(({ path, unusable }) => (unusable === undefined ? [path] : []));
}

/**
 * Returns the state directory that a host names, or the default one. It is created if needed, and tried.
 * @throws FilewrightError that names the directory, when the host named one that fails for good
 */
export function openStateDirectory(given: string | undefined): StateDirectory {
  const { path, passedOver, found } = tryStateDirectory(given);
  if (found === undefined) return Object.freeze({ path, passedOver });
  // While a disk is full, files can still be read, and space can be freed.
  if (given !== undefined && found.lasts) throw unwritableStateDirectory(path, found);
  return Object.freeze({ path, passedOver, problem: found.reason });
}

/**
 * Checks that the state directory can be written, or fails for a reason that may pass, such as a full disk.
 * @throws FilewrightError that names the directory, and the other places that were tried
 */
export function assertWritableStateDirectory(given: string | undefined): void {
  const { path, passedOver, found } = tryStateDirectory(given);
  if (found?.lasts !== true) return;
  const tried = passedOver.length === 0 ? "" : ` (also tried: ${describePassedOver(passedOver)})`;
  // Read-only, none is needed, also where there is no history; one that is named is still opened.
  const canRefuseChanges = given === undefined;
  throw unwritableStateDirectory(path, { ...found, reason: `${found.reason}${tried}`, canRefuseChanges });
}

function tryStateDirectory(given: string | undefined): {
  readonly path: string;
  readonly passedOver: readonly PassedDirectory[];
  readonly found: Problem | undefined;
} {
  const { candidate, passedOver } =
    given === undefined ? chooseCandidate() : { candidate: { path: resolve(given) }, passedOver: [] };
  return { path: candidate.path, passedOver, found: problemOf(candidate) };
}

/** Returns the places, the best first. They depend on the environment and the user alone. */
function candidatesOfEnvironment(): readonly Candidate[] {
  const { XDG_STATE_HOME: state, XDG_RUNTIME_DIR: runtime } = process.env;
  const home = homeDirectory();
  const uid = process.getuid?.();
  return [
    ...(state === undefined || state === "" ? [] : [candidateBelow("XDG_STATE_HOME", state)]),
    home === undefined
      ? { path: "HOME", unusable: "it is not set" }
      : candidateBelow("HOME", home, ".local", "state"),
    ...(runtime === undefined || runtime === ""
      ? []
      : [{ ...candidateBelow("XDG_RUNTIME_DIR", runtime), shared: true as const }]),
    { path: join(tmpdir(), uid === undefined ? "filewright" : `filewright-${uid}`), shared: true },
  ];
}

/** Returns the state directory below the directory that an environment variable names. */
function candidateBelow(variable: string, directory: string, ...names: readonly string[]): Candidate {
  if (!isAbsolute(directory)) return { path: variable, unusable: "it is not an absolute path" };
  if (directory === "/") return { path: variable, unusable: "it is the root of the file system" };
  return { path: join(directory, ...names, "filewright"), within: directory };
}

/** Why a place cannot be used. */
interface Problem {
  readonly reason: string;
  /** True when the next process meets it, too. */
  readonly lasts: boolean;
  /** The remedy; undefined where the error says it. */
  readonly remedy?: string;
  readonly error?: unknown;
}

/**
 * Creates the directory if needed and writes a file in it, which is removed; undefined when that succeeds and no
 * other user can change the entries of the directory.
 */
function problemOf(candidate: Candidate): Problem | undefined {
  const { path, unusable, shared, within } = candidate;
  if (unusable !== undefined) return { reason: unusable, lasts: true };
  try {
    if (shared !== true) makePrivateDirectory(path);
    const distrusted = shared === true ? distrustReason(path) : foreignAccessReason(path, within);
    if (distrusted !== undefined)
      return {
        reason: distrusted,
        lasts: true,
        remedy:
          shared === true
            ? "make it a directory of yours with mode 700"
            : "make it yours and run chmod go-w on it",
      };
    const file = join(path, `.probe-${process.pid}-${Math.random().toString(36).slice(2)}`);
    const descriptor = openSync(file, "wx", 0o600);
    try {
      writeSync(descriptor, "x");
    } finally {
      closeSync(descriptor);
      unlinkSync(file);
    }
    return undefined;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    return { reason: reasonOf(error), lasts: LASTING_ERRORS.has(code), error };
  }
}

/**
 * Creates the directory if it is missing. Returns why it must not be used: another user made it, could have put
 * files into it, or could replace it.
 */
function distrustReason(path: string): string | undefined {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const uid = process.getuid?.();
  if (uid === undefined) return undefined; // On this platform permissions are not in the mode.
  const own = lstatSync(path);
  if (!own.isDirectory()) return "it is not a directory";
  if (own.uid !== uid) return "it belongs to another user";
  if ((own.mode & 0o077) !== 0) return "other users can use it";
  const parent = lstatSync(dirname(path));
  return isSafeParent(parent, uid) ? undefined : "other users can replace it";
}

/**
 * Returns why other users can change the entries of a directory, or replace it; undefined if they cannot.
 *
 * `within` is the directory that an environment variable names. Its owner can replace everything in it, so what is
 * below it may belong to that owner, to this user or to root, and to nobody else: in `HOME=/tmp` anybody could have
 * made `.local`. A process of root may use any directory that the host names.
 */
function foreignAccessReason(path: string, within: string | undefined): string | undefined {
  const uid = process.getuid?.();
  if (uid === undefined) return undefined; // On this platform permissions are not in the mode.
  const facts = statSync(path);
  if ((facts.mode & 0o022) !== 0) return "other users can write in it (chmod go-w)";
  if (within === undefined) return facts.uid === uid || uid === 0 ? undefined : "it belongs to another user";
  const trusted = [uid, 0, ...ownersOf(within)];
  for (let at = path; at !== dirname(at) && at !== within; at = dirname(at)) {
    if (ownersOf(at).every((owner) => trusted.includes(owner))) continue;
    return at === path
      ? "it belongs to another user"
      : `'${basename(at)}' in its path belongs to another user`;
  }
  return undefined;
}

/** Returns the owners of an entry and of what it links to; nothing where a runtime's permissions forbid to look. */
function ownersOf(path: string): readonly number[] {
  try {
    return [lstatSync(path).uid, statSync(path).uid];
  } catch {
    return [];
  }
}

/** Returns true when only this user, and root, can rename the entries of a directory that belong to this user. */
function isSafeParent(parent: Stats, uid: number): boolean {
  const isSticky = (parent.mode & 0o1000) !== 0;
  return (parent.uid === uid || parent.uid === 0) && ((parent.mode & 0o022) === 0 || isSticky);
}

/**
 * Returns the error for a failure in the state directory. It names that directory and its remedy: the caller's
 * file is not the cause, and nothing that the caller does to it would help.
 */
export function stateDirectoryError(path: string, thrown: unknown): FilewrightError {
  if (hasNoDescriptor(thrown)) return noDescriptorError(thrown);
  if (codeOf(thrown) !== "NOT_FOUND")
    return unwritableStateDirectory(path, { reason: reasonOf(thrown), error: thrown });
  const message = `The state directory '${escapeControls(path)}' was removed while this process used it.`;
  const hint = "restart the process, which creates it again";
  return makeError("IO_ERROR", message, { ...factsOf(path, thrown), hint });
}

/** Returns true for an error of a process, or of a system, that has as many files open as it may. */
function hasNoDescriptor(thrown: unknown): boolean {
  const name = systemErrorName(thrown);
  if (name !== undefined) return isDescriptorError(name);
  const number = fromEngine(thrown).details?.["errno"];
  return number === constants.errno.EMFILE || number === constants.errno.ENFILE;
}

/** Returns the error of a change for whose locks and records no more files can be opened. */
function noDescriptorError(cause: unknown): FilewrightError {
  const message = "No more files can be opened: a change holds one lock for each path that it writes.";
  return makeError("IO_ERROR", message, { complete: true, cause, hint: NO_DESCRIPTOR_HINT });
}

/** The remedy for an error in this directory. The locks refuse one in which others may write as INVALID_ARGUMENT. */
const REMEDY_BY_CODE: Partial<Readonly<Record<Code, string>>> = {
  NO_SPACE: "free space there",
  INVALID_ARGUMENT: "make it yours, without write access for others (chmod go-w)",
};

/** Returns the error for a state directory in which nothing can be written, or that others can change. */
function unwritableStateDirectory(
  path: string,
  {
    reason,
    error,
    remedy,
    canRefuseChanges,
  }: Pick<Problem, "reason" | "error" | "remedy"> & {
    readonly canRefuseChanges?: boolean;
  },
): FilewrightError {
  const code = error === undefined ? "PERMISSION_DENIED" : codeOf(error);
  const verb = error === undefined && remedy !== undefined ? "used" : "written";
  const message = `The state directory '${escapeControls(path)}' cannot be ${verb}: ${reason}.`;
  const first = remedy ?? REMEDY_BY_CODE[code] ?? "make it writable";
  const another = "name another with --state-dir (stateDir) or XDG_STATE_HOME";
  const hint =
    canRefuseChanges === true
      ? `${first}, ${another}, or refuse changes with --read-only (readOnly)`
      : `${first}, or ${another}`;
  const known = code === "NO_SPACE" || code === "PERMISSION_DENIED" ? code : "IO_ERROR";
  return makeError(known, message, { ...factsOf(path, error), hint });
}

function factsOf(path: string, cause: unknown): ErrorInit {
  return { complete: true, path, details: { state_directory: path }, cause };
}

/** Runs work in the state directory. Its errors name that directory. */
export function inStateDirectory<T>(path: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw stateDirectoryError(path, error);
  }
}

function codeOf(thrown: unknown): Code {
  const errno = systemErrorName(thrown);
  if (errno === undefined) return fromEngine(thrown).code;
  if (errno === "EACCES" || errno === "EPERM") return "PERMISSION_DENIED";
  if (errno === "ENOENT") return "NOT_FOUND";
  return errno === "ENOSPC" || errno === "EDQUOT" ? "NO_SPACE" : "IO_ERROR";
}

function reasonOf(thrown: unknown): string {
  const errno = systemErrorName(thrown);
  return errno === undefined
    ? (nodePermissionError(thrown) ?? fromEngine(thrown)).message
    : reasonOfSystemError(errno);
}
