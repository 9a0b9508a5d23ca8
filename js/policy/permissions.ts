/**
 * Permissions for directories: a path may be used when its directory was granted, or when a person
 * grants it now.
 *
 * Two directories need the grant: the one the path names and its real one, so that a link does not
 * extend rights. Nobody is asked about a path that the policy refuses. This file finds out what
 * is granted; `grant-questions.ts` asks, and `decide.ts` decides.
 */
import type { Files } from "../backends/files.ts";
import { engine } from "../engine/current.ts";
import { isWithin, parentOf } from "../backends/paths.ts";
import type { SandboxPolicy } from "../backends/policy.ts";
import { isAbsolutePath, withInnerDrive } from "../backends/windows-paths.ts";
import { FilewrightError, makeError } from "../engine/errors.ts";
import { memoryRecords } from "../records/memory.ts";
import { KEPT_RECORDS, type KeptRecords } from "../records/records.ts";
import { callback, choice, optionChecker, type Options, options, required, text } from "../schema/option.ts";
import { decide, type DecisionSource, type GrantFact, grantsSource } from "./decide.ts";
import { namedAndRealDirectories, type PathRequest, realPathOf, secretOf } from "./grant-paths.ts";
import { type AskGrant, type GrantEvent, GrantQuestions } from "./grant-questions.ts";
import { covers, type Grant, type Grants, grantsIn, isInForce, NEW_GRANT_OPTIONS } from "./grants.ts";

/** The settings of the permissions of a workspace. */
export interface PermissionSetup {
  /** `prompt`: directories must be granted. `off`: no grants are needed. */
  readonly mode: "off" | "prompt";
  /** The records in which grants are kept. */
  readonly records: KeptRecords;
  /** The kind of these records. Default `grants`. */
  readonly kind?: string | undefined;
  /** The absolute real path of the file of the records, if they have one. Its directory cannot be granted. */
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

/** The options of {@link makePermissions}. */
export const PERMISSION_SETUP: Options<PermissionSetup> = options("PermissionSetup", {
  mode: required(choice("off", "prompt")),
  records: required(KEPT_RECORDS),
  kind: text(),
  file: text(),
  paths: choice("windows"),
  ask: callback(),
  now: callback(),
  onEvent: callback(),
});

const checkSetup = optionChecker("makePermissions", PERMISSION_SETUP);
const checkNewGrant = optionChecker("grants.add", NEW_GRANT_OPTIONS);

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
  admit(fs: Files, wanted: PathRequest, signal: AbortSignal | undefined): Promise<void>;
  /** Returns the directories and the secret that {@link Permissions.admit} would look at, and asks nobody. */
  facts(fs: Files, wanted: PathRequest): Promise<readonly GrantFact[]>;
  /** Returns the grants in force. */
  list(): Promise<readonly Grant[]>;
  /** Grants a directory without a question. */
  add(grant: Omit<Grant, "granted_at">): Promise<void>;
  /** Revokes a directory's grants immediately. Returns false if it had none. */
  revoke(dir: string): Promise<boolean>;
}

/** Creates permissions over records. @throws FilewrightError INVALID_ARGUMENT naming the option */
export function makePermissions(setup: PermissionSetup): Permissions {
  const { mode, records, kind, file, paths, ask, ...given } = checkSetup(setup);
  const { now = Date.now, onEvent = () => undefined } = given;
  const grants = new KnownGrants(
    grantsIn({ records, kind, now }),
    grantsIn({ records: memoryRecords(now), now }),
    now,
  );
  const source = grantsSource(ask !== undefined, mode === "prompt");
  const questions = new GrantQuestions({
    ask,
    paths,
    now,
    onEvent,
    store: (grant, remember) => (remember ? grants.kept : grants.session).add(grant),
  });
  const home = file === undefined ? undefined : parentOf(file);
  const admission = new Admission(grants, questions, { source, home });
  return Object.freeze({
    source,
    begin: () => questions.begin(),
    async admit(fs: Files, wanted: PathRequest, signal: AbortSignal | undefined): Promise<void> {
      if (home !== undefined) await assertKeepsHome(fs, wanted, home);
      if (mode === "off") return;
      try {
        await admission.admit(fs, wanted, signal);
      } catch (error) {
        if (error instanceof FilewrightError && !(error.code === "INVALID_ARGUMENT")) throw error;
        throw grantDeniedError(wanted, error); // The records are unreadable, or no longer trusted.
      }
    },
    facts: async (fs: Files, wanted: PathRequest) => (mode === "off" ? [] : admission.facts(fs, wanted)),
    list: () => grants.inForce(),
    add: async (grant: Omit<Grant, "granted_at">) => {
      const isRecord = typeof grant === "object" && grant !== null;
      const added = checkNewGrant(isRecord ? { ...grant, dir: innerDirectory(grant.dir, paths) } : grant);
      await grants.kept.add({ ...added, granted_at: new Date(now()).toISOString() });
      onEvent({ type: "grant_given", dir: added.dir, access: added.access });
    },
    revoke: async (dir: string) => {
      const revoked = innerDirectory(dir);
      const removed = await grants.remove(revoked);
      if (removed) onEvent({ type: "grant_revoked", dir: revoked });
      return removed;
    },
  });
}

/** The grants of a workspace: those that are kept, and those that end with it. */
class KnownGrants {
  readonly kept: Grants;
  readonly session: Grants;
  readonly now: () => number;

  constructor(kept: Grants, session: Grants, now: () => number) {
    this.kept = kept;
    this.session = session;
    this.now = now;
  }

  async all(): Promise<readonly Grant[]> {
    return [...(await this.kept.list()), ...(await this.session.list())];
  }

  async inForce(): Promise<readonly Grant[]> {
    const now = this.now();
    return (await this.all()).filter((grant) => isInForce(grant, now));
  }

  async cover(dir: string, { intent }: PathRequest): Promise<boolean> {
    return covers(await this.all(), dir, intent, this.now());
  }

  /** Returns the secrets that were granted. */
  async secrets({ secret }: PathRequest): Promise<readonly string[]> {
    return (await this.inForce()).filter(({ dir }) => secret?.(dir) === true).map(({ dir }) => dir);
  }

  async remove(dir: string): Promise<boolean> {
    const forgotten = await this.session.remove(dir);
    return (await this.kept.remove(dir)) || forgotten;
  }
}

/** Finds out whether the directories and the secret of a path are granted, and asks where they are not. */
class Admission {
  readonly #grants: KnownGrants;
  readonly #questions: GrantQuestions;
  readonly #source: DecisionSource;
  /** The directory of the file of grants, which is never granted. */
  readonly #home: string | undefined;

  constructor(
    grants: KnownGrants,
    questions: GrantQuestions,
    { source, home }: { readonly source: DecisionSource; readonly home: string | undefined },
  ) {
    this.#grants = grants;
    this.#questions = questions;
    this.#source = source;
    this.#home = home;
  }

  /** Checks a path, and asks for a grant where needed. @throws FilewrightError GRANT_DENIED, CANCELLED */
  async admit(fs: Files, wanted: PathRequest, signal: AbortSignal | undefined): Promise<void> {
    for (const dir of await namedAndRealDirectories(fs, wanted.at.path, wanted.entry))
      await this.#admitDirectory(wanted, dir, signal);
    await this.#admitSecret(fs, wanted, signal);
  }

  /** Returns what `admit` would look at, and asks nobody. */
  async facts(fs: Files, wanted: PathRequest): Promise<readonly GrantFact[]> {
    const facts: GrantFact[] = [];
    for (const path of await namedAndRealDirectories(fs, wanted.at.path, wanted.entry))
      facts.push({ path, state: this.#stateOf(wanted, path, await this.#grants.cover(path, wanted)) });
    const real = await secretOf(fs, wanted);
    if (real === undefined) return facts;
    const isGranted = (await this.#grants.secrets(wanted)).includes(real);
    return [...facts, { path: real, state: this.#stateOf(wanted, real, isGranted) }];
  }

  async #admitDirectory(wanted: PathRequest, dir: string, signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      const isGranted = await this.#grants.cover(dir, wanted);
      // Nothing is waited for between this look and the question, so calls at the same time share one.
      if (!this.#mustAsk(wanted, { path: dir, state: this.#stateOf(wanted, dir, isGranted) })) return;
      const answer = await this.#questions.ask(wanted, dir, signal);
      // Another call asked about the directory above: its answer may cover this one.
      if (answer.dir !== dir) continue;
      // An answer that grants less than the call needs refuses it.
      const isEnough = answer.yes && (await this.#grants.cover(dir, wanted));
      this.#mustAsk(wanted, { path: dir, state: isEnough ? "granted" : "refused" });
      return;
    }
  }

  /** A secret needs a grant of its own path: a grant of its directory does not cover it. */
  async #admitSecret(fs: Files, wanted: PathRequest, signal: AbortSignal | undefined): Promise<void> {
    const real = await secretOf(fs, wanted);
    if (real === undefined) return;
    const isGranted = (await this.#grants.secrets(wanted)).includes(real);
    if (this.#mustAsk(wanted, { path: real, state: this.#stateOf(wanted, real, isGranted) })) {
      const yes = await this.#questions.askSecret(wanted, real, signal);
      this.#mustAsk(wanted, { path: real, state: yes ? "granted" : "refused" });
    }
    const allow = wanted.grantSecrets ?? ((paths: readonly string[]) => fs.grantSecrets(paths));
    allow(await this.#grants.secrets(wanted));
  }

  #stateOf({ began }: PathRequest, path: string, isGranted: boolean): GrantFact["state"] {
    if (path === this.#home) return "never";
    if (isGranted) return "granted";
    return this.#questions.wasRefused(path, began) ? "refused" : "open";
  }

  /** Decides about one directory or secret. Returns true when somebody must be asked. @throws GRANT_DENIED */
  #mustAsk(wanted: PathRequest, grant: GrantFact): boolean {
    const { tool, sources = [this.#source] } = wanted;
    const call = { tool, args: {}, places: [[grant.path]], effects: [], grant };
    const { decision } = decide(sources, call, { step: "grants" });
    if (decision === "ask") return true;
    if (decision === "allow" && grant.state === "granted") return false;
    if (grant.state === "open") this.#questions.refuse(wanted, grant.path);
    throw grantDeniedError(wanted);
  }
}

/** Refuses an operation that would remove or replace the directory of the file of grants. */
async function assertKeepsHome(fs: Files, { at, entry, intent }: PathRequest, home: string): Promise<void> {
  if (!entry || intent !== "write") return;
  const real = await realPathOf(fs, at.path, true);
  if (isWithin(home, real))
    throw makeError("PROTECTED_PATH", "", { path: at.path, details: { reason: "grants" } });
}

/** Returns the directory of a grant in the form in which grants are stored, also for one as Windows writes it. */
function innerDirectory(dir: string, paths?: SandboxPolicy["paths"]): string {
  if (typeof dir !== "string") return dir;
  const isChecked = paths === "windows" && isAbsolutePath(dir, paths);
  return isChecked ? engine().windows.root(dir, "/C:") : withInnerDrive(dir);
}

function grantDeniedError({ at }: PathRequest, cause?: unknown): FilewrightError {
  return new FilewrightError("GRANT_DENIED", "", { path: at.path, cause });
}
