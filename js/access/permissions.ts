/**
 * Asking for directories: a path may be used when its directory was granted, or
 * when somebody grants it now.
 *
 * Two directories are looked at: the one the path names and the one it really
 * lies in, so that a link neither lends nor borrows rights. Whatever is not a
 * plain yes denies: another answer, an error, nobody to ask. A refusal is not
 * remembered. Only the policy's own refusals come before a question.
 */
import type { FsBackend, MaybePromise } from "../backends/backend.ts";
import { entryPathVia, lstatOrNull, realpathVia } from "../backends/fallback.ts";
import { escapeControls } from "../engine/escape.ts";
import { isWithin, parentOf } from "../backends/paths.ts";
import type { Intent } from "../backends/policy.ts";
import { FilewrightError, makeError } from "../engine/errors.ts";
import {
  anyText,
  callback,
  choice,
  dateOption,
  either,
  flag,
  gateOf,
  instance,
  type Options,
  options,
  reader,
  required,
  text,
} from "../schema/option.ts";
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

/** What a question is about, for those who show more than its text. */
export interface GrantQuestion {
  /** Absolute. */
  readonly dir: string;
  /** What the call needs. A plain yes grants both reading and writing. */
  readonly access: GrantAccess;
  readonly tool: string;
  /** Who calls, where that is known. */
  readonly agent?: string;
  /** As the caller wrote it. */
  readonly path: string;
  /** Fires when no call waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** An answer that says more than yes. */
export interface GrantReply {
  /** `yes` in any case grants; everything else denies. */
  readonly answer: string;
  /** Default `write`. */
  readonly access?: GrantAccess | undefined;
  /** When the grant ends. Default: never. */
  readonly expires?: Date | undefined;
  /** False: until the workspace is closed, and not written down. Default true. */
  readonly remember?: boolean | undefined;
  /** Who answered. */
  readonly by?: string | undefined;
}

/** An answer about a directory. One that does not fit denies. */
export const GRANT_REPLY: Options<GrantReply> = options("GrantReply", {
  answer: required(anyText()),
  access: choice("read", "write"),
  expires: dateOption,
  remember: flag(),
  by: anyText(),
});

const readReply = reader(either(anyText(), GRANT_REPLY));

/** Puts a question to somebody. */
export type AskGrant = (
  question: string,
  options: readonly string[],
  about: GrantQuestion,
) => MaybePromise<string | GrantReply>;

/** What happens to grants. */
export type GrantEvent =
  | {
      readonly type: "grant_asked";
      readonly dir: string;
      readonly access: GrantAccess;
      readonly tool: string;
    }
  | { readonly type: "grant_given"; readonly dir: string; readonly access: GrantAccess }
  /** `error`: asking, or keeping the answer, failed. */
  | { readonly type: "grant_denied"; readonly dir: string; readonly tool: string; readonly error?: unknown }
  | { readonly type: "grant_revoked"; readonly dir: string };

/** How permissions are made. */
export interface PermissionSetup {
  /** `prompt`: directories must be granted. `off`: they need not be. */
  readonly mode: "off" | "prompt";
  /** Where grants are kept. */
  readonly store: GrantStore;
  /** The file of the store, where it has one: absolute and real. */
  readonly file?: string | undefined;
  /** Asks somebody for a grant. Without it what is not granted is refused. */
  readonly ask?: AskGrant | undefined;
  /** Milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
  /** Must not throw. */
  readonly onEvent?: ((event: GrantEvent) => void) | undefined;
}

/** A store of grants: anything with the methods. */
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
  ask: callback(),
  now: callback(),
  onEvent: callback(),
});

const gate = gateOf("makePermissions", PERMISSION_SETUP);
const gateGrant = gateOf("grants.add", NEW_GRANT_OPTIONS);

/** One path of a call. */
export interface Wanted {
  readonly at: Location;
  readonly intent: Intent;
  /** The entry itself is meant: a link is not followed. */
  readonly entry: boolean;
  readonly tool: string;
  readonly agent?: string | undefined;
  /** What {@link Permissions.begin} gave when the call began. */
  readonly began: number;
  /** Whether the content at a real path is a secret: it is asked for by itself. */
  readonly secret?: ((real: string) => boolean) | undefined;
  /** Lets these secrets be read, and no others any more; undefined: in the storage that is asked about. */
  readonly grantSecrets?: ((paths: readonly string[]) => void) | undefined;
}

/** Who may use which directories. */
export interface Permissions {
  /** Marks the beginning of a call: a question answered after it was answered for that call too. */
  begin(): number;
  /**
   * Lets a path pass, asking where it must.
   * @throws FilewrightError GRANT_DENIED, PROTECTED_PATH, CANCELLED, and what the policy says
   */
  admit(fs: FsBackend, wanted: Wanted, signal: AbortSignal | undefined): Promise<void>;
  /** The grants in force. */
  list(): Promise<readonly Grant[]>;
  /** Grants a directory without a question. */
  add(grant: Omit<Grant, "granted_at">): Promise<void>;
  /** Takes a directory's grants back, at once. False where it had none. */
  revoke(dir: string): Promise<boolean>;
}

/** A question that is being asked. */
interface Pending {
  readonly dir: string;
  readonly answer: Promise<boolean>;
  /** How many calls wait for it. */
  waiting: number;
  /** Nobody waits any more. */
  abandon(): void;
}

/** Makes permissions over a store. @throws FilewrightError INVALID_ARGUMENT naming the option */
export function makePermissions(setup: PermissionSetup): Permissions {
  const { mode, store, file, ask, now = Date.now, onEvent = () => undefined } = gate(setup);
  const session = memoryGrants();
  const pending = new Set<Pending>();
  /** When a directory was last refused, on a clock that ticks with calls and refusals. */
  const refusals = new Map<string, number>();
  let clock = 0;
  const home = file === undefined ? undefined : parentOf(file);

  const all = async (): Promise<readonly Grant[]> => [...(await store.list()), ...(await session.list())];

  const put = async (
    wanted: Wanted,
    dir: string,
    signal: AbortSignal,
    what = "Allow filesystem access to",
  ): Promise<boolean> => {
    if (ask === undefined) return false;
    onEvent({ type: "grant_asked", dir, access: wanted.intent, tool: wanted.tool });
    const { intent: access, tool, agent } = wanted;
    const who = agent === undefined ? {} : { agent };
    const about = { dir, access, tool, ...who, path: wanted.at.typed, signal };
    const given = await ask(`${what} ${escapeControls(dir)}?`, ["yes", "no"], about);
    if (signal.aborted) return false; // An answer to a question that was taken back.
    const understood = readReply(given);
    const reply = typeof understood === "string" ? { answer: understood } : understood;
    if (reply === undefined || reply.answer.trim().toLowerCase() !== "yes") return false;
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

  /** Joins the question that is being asked about a directory, or puts it. */
  const question = (wanted: Wanted, dir: string, what?: string): Pending => {
    for (const one of pending) if (what === undefined ? isWithin(dir, one.dir) : dir === one.dir) return one;
    const stop = new AbortController();
    const one: Pending = {
      dir,
      waiting: 0,
      abandon: () => {
        pending.delete(one);
        stop.abort();
      },
      // Whatever goes wrong in asking is a no.
      answer: put(wanted, dir, stop.signal, what)
        .then(
          (yes) => (yes ? undefined : {}),
          (error: unknown) => ({ error }),
        )
        .then((no) => {
          if (no === undefined) return true;
          remember(refusals, dir, ++clock);
          onEvent({ type: "grant_denied", dir, tool: wanted.tool, ...no });
          return false;
        })
        .finally(() => pending.delete(one)),
    };
    pending.add(one);
    return one;
  };

  const admitDirectory = async (
    wanted: Wanted,
    dir: string,
    signal: AbortSignal | undefined,
  ): Promise<void> => {
    for (;;) {
      if (dir === home) throw refused(wanted);
      if (covers(await all(), dir, wanted.intent, now())) return;
      if ((refusals.get(dir) ?? 0) > wanted.began) throw refused(wanted);
      const one = question(wanted, dir);
      const yes = await answerTo(one, signal);
      // The directory above was asked about for somebody else: its answer may do for this one.
      if (one.dir !== dir) continue;
      if (yes && covers(await all(), dir, wanted.intent, now())) return;
      throw refused(wanted);
    }
  };

  /** A secret is granted by its own path: a directory's grant is none for what is kept in it. */
  const admitSecret = async (
    fs: FsBackend,
    wanted: Wanted,
    signal: AbortSignal | undefined,
  ): Promise<void> => {
    const { at, entry, intent, secret } = wanted;
    if (secret === undefined || fs.grantSecrets === undefined || (entry && intent === "write")) return;
    const real = await realOf(fs, at.path, entry).catch(() => undefined);
    if (real === undefined || !secret(real) || (await lstatOrNull(fs, real))?.isFile !== true) return;
    const granted = async (): Promise<readonly string[]> =>
      (await all()).filter((grant) => isInForce(grant, now()) && secret(grant.dir)).map(({ dir }) => dir);
    if (!(await granted()).includes(real)) {
      if ((refusals.get(real) ?? 0) > wanted.began) throw refused(wanted);
      if (!(await answerTo(question(wanted, real, "Allow the secret to be read:"), signal)))
        throw refused(wanted);
    }
    const grant = wanted.grantSecrets ?? ((paths: readonly string[]) => fs.grantSecrets?.(paths));
    grant(await granted());
  };

  return Object.freeze({
    begin: () => ++clock,
    async admit(fs: FsBackend, wanted: Wanted, signal: AbortSignal | undefined): Promise<void> {
      const { at, entry, intent } = wanted;
      if (home !== undefined && entry && intent === "write") {
        // Whatever would take the file's directory away, or put another in its place.
        const real = await realOf(fs, at.path, true);
        if (isWithin(home, real)) {
          throw makeError("PROTECTED_PATH", "", { path: at.path, details: { reason: "grants" } });
        }
      }
      if (mode === "off") return;
      try {
        for (const dir of await directoriesOf(fs, at.path, entry)) await admitDirectory(wanted, dir, signal);
        await admitSecret(fs, wanted, signal);
      } catch (error) {
        if (error instanceof FilewrightError && !(error.code === "INVALID_ARGUMENT")) throw error;
        throw refused(wanted, error); // The store cannot be read, or not be trusted any more.
      }
    },
    list: async () => (await all()).filter((grant) => isInForce(grant, now())),
    add: async (grant: Omit<Grant, "granted_at">) => {
      await store.add({ ...gateGrant(grant), granted_at: new Date(now()).toISOString() });
      onEvent({ type: "grant_given", dir: grant.dir, access: grant.access });
    },
    revoke: async (dir: string) => {
      const forgotten = await session.remove(dir);
      const removed = (await store.remove(dir)) || forgotten;
      if (removed) onEvent({ type: "grant_revoked", dir });
      return removed;
    },
  });
}

/** Keeps the last refusals only: they matter to calls that run at the same time. */
function remember(refusals: Map<string, number>, dir: string, at: number): void {
  refusals.delete(dir);
  refusals.set(dir, at);
  const oldest = refusals.keys().next();
  if (refusals.size > MAX_REFUSALS && oldest.done !== true) refusals.delete(oldest.value);
}

const MAX_REFUSALS = 1000;

/** Waits for an answer no longer than the call lasts. */
async function answerTo(one: Pending, signal: AbortSignal | undefined): Promise<boolean> {
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

function refused({ at }: Wanted, cause?: unknown): FilewrightError {
  return new FilewrightError("GRANT_DENIED", "", { path: at.path, cause });
}

/** The directory that a path names, and the one that it really lies in. */
async function directoriesOf(fs: FsBackend, path: string, entry: boolean): Promise<ReadonlySet<string>> {
  for (let at = path; ; at = parentOf(at)) {
    try {
      const real = await realOf(fs, at, entry && at === path);
      return (await isDirectory(fs, at, entry && at === path))
        ? new Set([at, real])
        : new Set([parentOf(at), parentOf(real)]);
    } catch (error) {
      // A way that cannot be gone to its end: the directory before the obstacle counts.
      if (at === "/" || !(error instanceof FilewrightError) || !OBSTACLES.has(error.code)) throw error;
    }
  }
}

const OBSTACLES: ReadonlySet<string> = new Set([
  "NOT_FOUND",
  "NOT_DIRECTORY",
  "LOOP",
  "PERMISSION_DENIED",
  "NAME_TOO_LONG",
]);

function realOf(fs: FsBackend, path: string, entry: boolean): Promise<string> {
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
