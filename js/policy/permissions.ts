/**
 * Permissions for directories: a path may be used when its directory was granted, or when a person
 * grants it now.
 *
 * Two directories need the grant: the one the path names and its real one, so that a link does not
 * extend rights. Any answer other than a plain yes denies: another value, an error, no approver.
 * Refusals are not stored. Nobody is asked about a path that the policy refuses. This file finds out what
 * is granted, and asks; `decide.ts` decides by it.
 */
import type { FsBackend, MaybePromise } from "../backends/backend.ts";
import { otherNamesOf } from "../backends/fallback/other-names.ts";
import { entryPathVia, lstatOrNull, realpathVia } from "../backends/fallback/fallback.ts";
import { engine } from "../engine/current.ts";
import { escapeControls } from "../engine/escape.ts";
import { isWithin, parentOf } from "../backends/paths.ts";
import type { SandboxPolicy } from "../backends/policy.ts";
import { displayPath, isAbsolutePath, withInnerDrive } from "../backends/windows-paths.ts";
import type { Intent } from "../backends/policy.ts";
import { FilewrightError, makeError } from "../engine/errors.ts";
import {
  anyText,
  callback,
  choice,
  dateOption,
  either,
  flag,
  optionChecker,
  instance,
  type Options,
  options,
  optionReader,
  required,
  text,
} from "../schema/option.ts";
import { answerFault, ANSWERERS } from "../schema/answer-fault.ts";
import { decide, type DecisionSource, type GrantFact, grantsSource } from "./decide.ts";
import {
  covers,
  type Grant,
  type GrantAccess,
  type GrantStore,
  isInForce,
  memoryGrants,
  NEW_GRANT_OPTIONS,
} from "./grants.ts";
import type { Location } from "./location.ts";

/** The data of a question about a directory, for user interfaces. */
export interface GrantQuestion {
  /** The absolute path of the directory. */
  readonly dir: string;
  /** The access that the call needs. A plain `yes` grants both reading and writing. */
  readonly access: GrantAccess;
  readonly tool: string;
  /** The caller, when known. */
  readonly agent?: string;
  /** The path of the call, as the caller wrote it. */
  readonly path: string;
  /** Fires when no call waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** A detailed answer about a directory. */
export interface GrantReply {
  /** `yes` in any case grants; everything else denies. */
  readonly answer: string;
  /** The granted access. Default `write`. */
  readonly access?: GrantAccess | undefined;
  /** When the grant ends. Default: never. */
  readonly expires?: Date | undefined;
  /** False: the grant lasts until the workspace is closed and is not stored. Default true. */
  readonly remember?: boolean | undefined;
  /** The person who answered. */
  readonly by?: string | undefined;
}

/** The valid answers about a directory. An invalid one denies. */
export const GRANT_REPLY: Options<GrantReply> = options("GrantReply", {
  answer: required(anyText()),
  access: choice("read", "write"),
  expires: dateOption,
  remember: flag(),
  by: anyText(),
});

const readGrantReply = optionReader(either(anyText(), GRANT_REPLY));

/** Returns the answer of a person who allows the directory; undefined for every other answer. */
function approvingReply(given: unknown): GrantReply | undefined {
  const understood = readGrantReply(given);
  if (understood === undefined) answerFault(ANSWERERS.ask, given);
  const reply = typeof understood === "string" ? { answer: understood } : understood;
  return reply?.answer.trim().toLowerCase() === "yes" ? reply : undefined;
}

/** Asks a person about a directory. */
export type AskGrant = (
  question: string,
  options: readonly string[],
  about: GrantQuestion,
) => MaybePromise<string | GrantReply>;

/** An event about grants. */
export type GrantEvent =
  | {
      readonly type: "grant_asked";
      readonly dir: string;
      readonly access: GrantAccess;
      readonly tool: string;
    }
  | { readonly type: "grant_given"; readonly dir: string; readonly access: GrantAccess }
  /** `error`: asking, or storing the answer, failed. */
  | { readonly type: "grant_denied"; readonly dir: string; readonly tool: string; readonly error?: unknown }
  | { readonly type: "grant_revoked"; readonly dir: string };

/** The settings of the permissions of a workspace. */
export interface PermissionSetup {
  /** `prompt`: directories must be granted. `off`: no grants are needed. */
  readonly mode: "off" | "prompt";
  /** The store of the grants. */
  readonly store: GrantStore;
  /** The absolute real path of the file of the store, if it has one. Its directory cannot be granted. */
  readonly file?: string | undefined;
  /** The form of the paths, in which a question shows them: `windows` for those of a Windows disk. */
  readonly paths?: SandboxPolicy["paths"];
  /** Asks the user for a grant. Without it, paths without a grant are refused. */
  readonly ask?: AskGrant | undefined;
  /** Returns the current time in milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Receives the events of grants. Must not throw. */
  readonly onEvent?: ((event: GrantEvent) => void) | undefined;
}

/** The description of a store of grants: any object with these methods. */
export const GRANT_STORE: Options<GrantStore> = instance<GrantStore>("GrantStore", "a store of grants", {
  list: required(callback()),
  add: required(callback()),
  remove: required(callback()),
});

/** The options of {@link makePermissions}. */
export const PERMISSION_SETUP: Options<PermissionSetup> = options("PermissionSetup", {
  mode: required(choice("off", "prompt")),
  store: required(GRANT_STORE),
  file: text(),
  paths: choice("windows"),
  ask: callback(),
  now: callback(),
  onEvent: callback(),
});

const checkSetup = optionChecker("makePermissions", PERMISSION_SETUP);
const checkNewGrant = optionChecker("grants.add", NEW_GRANT_OPTIONS);

/** One path of a call for which a grant may be needed. */
export interface PathRequest {
  readonly at: Location;
  readonly intent: Intent;
  /** True when the call is about the entry itself, so that a link is not followed. */
  readonly entry: boolean;
  readonly tool: string;
  readonly agent?: string | undefined;
  /** The value that {@link Permissions.begin} returned when the call began. */
  readonly began: number;
  /** Returns true when the content at a real path is a secret, which needs its own grant. */
  readonly secret?: ((real: string) => boolean) | undefined;
  /** Allows reading exactly these secrets, by their real paths. Default: the storage that is asked about does it. */
  readonly grantSecrets?: ((paths: readonly string[]) => void) | undefined;
  /** The sources that decide about the call. Default: only the grants. */
  readonly sources?: readonly DecisionSource[] | undefined;
}

/** The grants of a workspace. */
export interface Permissions {
  /** The source that decides by these grants. */
  readonly source: DecisionSource;
  /** Returns the number of a call that begins. A refusal with a later number applies to that call too. */
  begin(): number;
  /**
   * Checks a path, and asks for a grant where needed.
   * @throws FilewrightError GRANT_DENIED, PROTECTED_PATH, CANCELLED, and the policy's errors
   */
  admit(fs: FsBackend, wanted: PathRequest, signal: AbortSignal | undefined): Promise<void>;
  /** Returns the directories and the secret that {@link Permissions.admit} would look at, and asks nobody. */
  facts(fs: FsBackend, wanted: PathRequest): Promise<readonly GrantFact[]>;
  /** Returns the grants in force. */
  list(): Promise<readonly Grant[]>;
  /** Grants a directory without a question. */
  add(grant: Omit<Grant, "granted_at">): Promise<void>;
  /** Revokes a directory's grants immediately. Returns false if it had none. */
  revoke(dir: string): Promise<boolean>;
}

/** A question about a directory that nobody has answered yet. Calls that need the same answer share it. */
interface PendingQuestion {
  readonly dir: string;
  /** Resolves to true when the directory was granted. */
  readonly answer: Promise<boolean>;
  /** The number of calls that wait for the answer. */
  waiting: number;
  /** Withdraws the question, because no call waits for its answer any more. */
  abandon(): void;
}

/** Creates permissions over a store. @throws FilewrightError INVALID_ARGUMENT naming the option */
export function makePermissions(setup: PermissionSetup): Permissions {
  const { mode, store, file, paths, ask, now = Date.now, onEvent = () => undefined } = checkSetup(setup);
  const session = memoryGrants();
  const source = grantsSource(ask !== undefined, mode === "prompt");
  const pending = new Set<PendingQuestion>();
  /** For each directory, when it was last refused: a value of `clock`, which counts calls and refusals. */
  const refusals = new Map<string, number>();
  let clock = 0;
  const home = file === undefined ? undefined : parentOf(file);

  const all = async (): Promise<readonly Grant[]> => [...(await store.list()), ...(await session.list())];

  const noteRefusal = ({ tool }: PathRequest, dir: string, failure: { readonly error?: unknown }): void => {
    rememberRefusal(refusals, dir, ++clock);
    onEvent({ type: "grant_denied", dir, tool, ...failure });
  };

  const put = async (
    wanted: PathRequest,
    dir: string,
    signal: AbortSignal,
    what = "Allow filesystem access to",
  ): Promise<boolean> => {
    if (ask === undefined) return false;
    onEvent({ type: "grant_asked", dir, access: wanted.intent, tool: wanted.tool });
    const { intent: access, tool, agent } = wanted;
    const who = agent === undefined ? {} : { agent };
    const about = { dir, access, tool, ...who, path: wanted.at.typed, signal };
    const given = await ask(`${what} ${escapeControls(displayPath(dir, paths))}?`, ["yes", "no"], about);
    if (signal.aborted) return false; // An answer to a withdrawn question.
    const reply = approvingReply(given);
    if (reply === undefined) return false;
    const grant: Grant = {
      dir,
      access: reply.access ?? "write",
      granted_at: new Date(now()).toISOString(),
      ...(reply.expires === undefined ? {} : { expires: reply.expires.toISOString() }),
      ...(reply.by === undefined ? {} : { by: reply.by }),
    };
    await (reply.remember === false ? session : store).add(grant);
    onEvent({ type: "grant_given", dir, access: grant.access });
    return true;
  };

  /** Returns the pending question that covers a directory, or asks a new one. */
  const question = (wanted: PathRequest, dir: string, what?: string): PendingQuestion => {
    for (const one of pending) if (what === undefined ? isWithin(dir, one.dir) : dir === one.dir) return one;
    const stop = new AbortController();
    const one: PendingQuestion = {
      dir,
      waiting: 0,
      abandon: () => {
        pending.delete(one);
        stop.abort();
      },
      // Any failure while asking denies.
      answer: put(wanted, dir, stop.signal, what)
        .then(
          (yes) => (yes ? undefined : {}),
          (error: unknown) => ({ error }),
        )
        .then((no) => {
          if (no === undefined) return true;
          noteRefusal(wanted, dir, no);
          return false;
        })
        .finally(() => pending.delete(one)),
    };
    pending.add(one);
    return one;
  };

  /** Decides about one directory or secret. Returns true when somebody must be asked. @throws GRANT_DENIED */
  const mustAsk = (wanted: PathRequest, grant: GrantFact): boolean => {
    const { tool, sources = [source] } = wanted;
    const call = { tool, args: {}, places: [[grant.path]], effects: [], grant };
    const { decision } = decide(sources, call, { step: "grants" });
    if (decision === "ask") return true;
    if (decision === "allow" && grant.state === "granted") return false;
    if (grant.state === "open") noteRefusal(wanted, grant.path, {});
    throw grantDeniedError(wanted);
  };

  const stateOf = ({ began }: PathRequest, path: string, given: boolean): GrantFact["state"] => {
    if (path === home) return "never";
    if (given) return "granted";
    return (refusals.get(path) ?? 0) > began ? "refused" : "open";
  };

  const admitDirectory = async (
    wanted: PathRequest,
    dir: string,
    signal: AbortSignal | undefined,
  ): Promise<void> => {
    const isGranted = async (): Promise<boolean> => covers(await all(), dir, wanted.intent, now());
    for (;;) {
      const given = await isGranted();
      // Nothing is waited for between this look and the question, so calls at the same time share one.
      if (!mustAsk(wanted, { path: dir, state: stateOf(wanted, dir, given) })) return;
      const one = question(wanted, dir);
      const yes = await waitForAnswer(one, signal);
      // Another call asked about the directory above: its answer may cover this one.
      if (one.dir !== dir) continue;
      // An answer that grants less than the call needs refuses it.
      mustAsk(wanted, { path: dir, state: yes && (await isGranted()) ? "granted" : "refused" });
      return;
    }
  };

  /** Returns the real path of the secret whose content a call reads; undefined if it reads none. */
  const secretOf = async (
    fs: FsBackend,
    { at, entry, intent, secret }: PathRequest,
  ): Promise<string | undefined> => {
    if (secret === undefined || fs.grantSecrets === undefined || (entry && intent === "write"))
      return undefined;
    const real = await realPathOf(fs, at.path, entry).catch(() => undefined);
    return real === undefined ? undefined : secretNameOf(fs, real, secret);
  };

  const grantedSecrets = async ({ secret }: PathRequest): Promise<readonly string[]> =>
    (await all())
      .filter((grant) => isInForce(grant, now()) && secret?.(grant.dir) === true)
      .map(({ dir }) => dir);

  /** A secret needs a grant of its own path: a grant of its directory does not cover it. */
  const admitSecret = async (
    fs: FsBackend,
    wanted: PathRequest,
    signal: AbortSignal | undefined,
  ): Promise<void> => {
    const real = await secretOf(fs, wanted);
    if (real === undefined) return;
    const granted = (): Promise<readonly string[]> => grantedSecrets(wanted);
    const given = (await granted()).includes(real);
    if (mustAsk(wanted, { path: real, state: stateOf(wanted, real, given) })) {
      const yes = await waitForAnswer(question(wanted, real, "Allow the secret to be read:"), signal);
      mustAsk(wanted, { path: real, state: yes ? "granted" : "refused" });
    }
    const grant = wanted.grantSecrets ?? ((paths: readonly string[]) => fs.grantSecrets?.(paths));
    grant(await granted());
  };

  return Object.freeze({
    source,
    begin: () => ++clock,
    async admit(fs: FsBackend, wanted: PathRequest, signal: AbortSignal | undefined): Promise<void> {
      const { at, entry, intent } = wanted;
      if (home !== undefined && entry && intent === "write") {
        // Operations that would remove the file's directory, or replace it.
        const real = await realPathOf(fs, at.path, true);
        if (isWithin(home, real)) {
          throw makeError("PROTECTED_PATH", "", { path: at.path, details: { reason: "grants" } });
        }
      }
      if (mode === "off") return;
      try {
        for (const dir of await namedAndRealDirectories(fs, at.path, entry))
          await admitDirectory(wanted, dir, signal);
        await admitSecret(fs, wanted, signal);
      } catch (error) {
        if (error instanceof FilewrightError && !(error.code === "INVALID_ARGUMENT")) throw error;
        throw grantDeniedError(wanted, error); // The store is unreadable, or no longer trusted.
      }
    },
    async facts(fs: FsBackend, wanted: PathRequest) {
      if (mode === "off") return [];
      const facts: GrantFact[] = [];
      for (const dir of await namedAndRealDirectories(fs, wanted.at.path, wanted.entry)) {
        const given = covers(await all(), dir, wanted.intent, now());
        facts.push({ path: dir, state: stateOf(wanted, dir, given) });
      }
      const real = await secretOf(fs, wanted);
      if (real === undefined) return facts;
      const given = (await grantedSecrets(wanted)).includes(real);
      return [...facts, { path: real, state: stateOf(wanted, real, given) }];
    },
    list: async () => (await all()).filter((grant) => isInForce(grant, now())),
    add: async (grant: Omit<Grant, "granted_at">) => {
      const isRecord = typeof grant === "object" && grant !== null;
      const added = checkNewGrant(isRecord ? { ...grant, dir: innerDirectory(grant.dir, paths) } : grant);
      await store.add({ ...added, granted_at: new Date(now()).toISOString() });
      onEvent({ type: "grant_given", dir: added.dir, access: added.access });
    },
    revoke: async (given: string) => {
      const dir = innerDirectory(given);
      const forgotten = await session.remove(dir);
      const removed = (await store.remove(dir)) || forgotten;
      if (removed) onEvent({ type: "grant_revoked", dir });
      return removed;
    },
  });
}

/** Returns the directory of a grant in the form in which grants are stored, also for one as Windows writes it. */
function innerDirectory(dir: string, paths?: SandboxPolicy["paths"]): string {
  if (typeof dir !== "string") return dir;
  const isChecked = paths === "windows" && isAbsolutePath(dir, paths);
  return isChecked ? engine().windows.root(dir, "/C:") : withInnerDrive(dir);
}

/**
 * Records a refusal. Only the last {@link MAX_KEPT_REFUSALS} are kept, because they matter only to calls that run
 * at the same time.
 */
function rememberRefusal(refusals: Map<string, number>, dir: string, at: number): void {
  refusals.delete(dir);
  refusals.set(dir, at);
  const oldest = refusals.keys().next();
  if (refusals.size > MAX_KEPT_REFUSALS && oldest.done !== true) refusals.delete(oldest.value);
}

const MAX_KEPT_REFUSALS = 1000;

/** Waits for the answer to a question, but not after the call is cancelled. */
async function waitForAnswer(one: PendingQuestion, signal: AbortSignal | undefined): Promise<boolean> {
  one.waiting += 1;
  let onAbort: (() => void) | undefined;
  try {
    if (signal === undefined) return await one.answer;
    return await Promise.race([
      one.answer,
      new Promise<never>((_, reject) => {
        onAbort = () => reject(new FilewrightError("CANCELLED", "cancelled while asking for a directory"));
        signal.addEventListener("abort", onAbort, { once: true });
        if (signal.aborted) onAbort();
      }),
    ]);
  } finally {
    if (onAbort !== undefined) signal?.removeEventListener("abort", onAbort);
    one.waiting -= 1;
    if (one.waiting === 0 && signal?.aborted === true) one.abandon();
  }
}

/** Returns the name of a file by which it is a secret and is granted: this one, or another; undefined if it is none. */
async function secretNameOf(
  fs: FsBackend,
  real: string,
  secret: (real: string) => boolean,
): Promise<string | undefined> {
  const name = secret(real) ? real : (await otherNamesOf(fs, real)).find(secret);
  if (name === undefined) return undefined;
  return (await lstatOrNull(fs, real))?.isFile === true ? name : undefined;
}

function grantDeniedError({ at }: PathRequest, cause?: unknown): FilewrightError {
  return new FilewrightError("GRANT_DENIED", "", { path: at.path, cause });
}

/**
 * Returns the directory that a path names and its real directory. For a path that does not exist, those of the
 * nearest parent that exists.
 */
async function namedAndRealDirectories(
  fs: FsBackend,
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

function realPathOf(fs: FsBackend, path: string, entry: boolean): Promise<string> {
  return entry ? entryPathVia(fs, path) : realpathVia(fs, path);
}

async function isDirectory(fs: FsBackend, path: string, entry: boolean): Promise<boolean> {
  try {
    return (await (entry && fs.lstat !== undefined ? fs.lstat(path) : fs.stat(path))).isDir;
  } catch (error) {
    if (error instanceof FilewrightError) return false; // Missing, or writable only: its parent counts.
    throw error;
  }
}
