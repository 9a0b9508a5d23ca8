/**
 * The questions about directories. Calls that need the same answer share one question. Any answer other than a plain
 * yes denies: another value, an error, no approver. Refusals are not stored.
 */
import { keepLast } from "../schema/keep-last.ts";
import type { MaybePromise } from "../backends/backend.ts";
import { isWithin } from "../backends/paths.ts";
import type { SandboxPolicy } from "../backends/policy.ts";
import { displayPath } from "../backends/windows-paths.ts";
import { escapeControls } from "../engine/escape.ts";
import { FilewrightError } from "../engine/errors.ts";
import {
  anyText,
  choice,
  dateOption,
  either,
  flag,
  type Options,
  options,
  optionReader,
  required,
} from "../schema/option.ts";
import { answerFault, ANSWERERS } from "../schema/answer-fault.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import type { PathRequest } from "./grant-paths.ts";
import type { Grant, GrantAccess } from "./grants.ts";

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

/** What the questions of a workspace need besides the answers. */
export interface QuestionSetup {
  /** Asks the user for a grant. Without it every question is refused. */
  readonly ask: AskGrant | undefined;
  /** The form of the paths, in which a question shows them. */
  readonly paths: SandboxPolicy["paths"];
  readonly now: () => number;
  readonly onEvent: (event: GrantEvent) => void;
  /** Stores a grant; with `remember` false it lasts until the workspace is closed. */
  store(grant: Grant, remember: boolean): Promise<void>;
}

/** A question about a directory that nobody has answered yet. */
interface PendingQuestion {
  readonly dir: string;
  /** Resolves to true when the directory was granted. */
  readonly answer: Promise<boolean>;
  /** The number of calls that wait for the answer. */
  waiting: number;
  /** Withdraws the question, because no call waits for its answer any more. */
  readonly stop: AbortController;
}

/** The answer to a question: the directory that was asked about, and whether it was granted. */
interface GrantAnswer {
  readonly dir: string;
  readonly yes: boolean;
}

/** The questions of a workspace, and its last refusals. */
export class GrantQuestions {
  readonly #setup: QuestionSetup;
  readonly #pending = new Set<PendingQuestion>();
  /** For each directory, when it was last refused: a value of the clock, which counts calls and refusals. */
  readonly #refusals = new Map<string, number>();
  #clock = 0;

  constructor(setup: QuestionSetup) {
    this.#setup = setup;
  }

  /** Returns the number of a call that begins. A refusal with a later number applies to that call too. */
  begin(): number {
    return ++this.#clock;
  }

  /** Returns true when a path was refused since a call began. */
  wasRefused(path: string, began: number): boolean {
    return (this.#refusals.get(path) ?? 0) > began;
  }

  /** Notes a refusal for the calls that run at the same time, and tells the host. `failure` has the error of asking. */
  refuse({ tool }: PathRequest, dir: string, failure: { readonly error?: unknown } = {}): void {
    keepLast(this.#refusals, dir, ++this.#clock, MAX_KEPT_REFUSALS);
    this.#setup.onEvent({ type: "grant_denied", dir, tool, ...failure });
  }

  /**
   * Asks about a directory, and waits for the answer. A pending question about a directory above it is waited for
   * instead. @throws FilewrightError CANCELLED
   */
  async ask(wanted: PathRequest, dir: string, signal: AbortSignal | undefined): Promise<GrantAnswer> {
    const above = [...this.#pending].find((one) => isWithin(dir, one.dir));
    const question = above ?? this.#put(wanted, dir, "Allow filesystem access to");
    return { dir: question.dir, yes: await this.#waitFor(question, signal) };
  }

  /** Asks about a secret, and waits for the answer. @throws FilewrightError CANCELLED */
  async askSecret(wanted: PathRequest, path: string, signal: AbortSignal | undefined): Promise<boolean> {
    const same = [...this.#pending].find((one) => one.dir === path);
    return this.#waitFor(same ?? this.#put(wanted, path, "Allow the secret to be read:"), signal);
  }

  #put(wanted: PathRequest, dir: string, what: string): PendingQuestion {
    const stop = new AbortController();
    const answer = this.#answerTo(wanted, dir, what, stop.signal).finally(() => this.#pending.delete(one));
    const one: PendingQuestion = { dir, waiting: 0, stop, answer };
    this.#pending.add(one);
    return one;
  }

  /** Returns true for a plain yes. Any failure while asking denies. */
  async #answerTo(wanted: PathRequest, dir: string, what: string, signal: AbortSignal): Promise<boolean> {
    try {
      if (await this.#isGiven(wanted, dir, what, signal)) return true;
      this.refuse(wanted, dir);
    } catch (error) {
      this.refuse(wanted, dir, { error });
    }
    return false;
  }

  async #isGiven(wanted: PathRequest, dir: string, what: string, signal: AbortSignal): Promise<boolean> {
    const { ask, paths, now, onEvent, store } = this.#setup;
    if (ask === undefined) return false;
    const { intent: access, tool, agent, at } = wanted;
    onEvent({ type: "grant_asked", dir, access, tool });
    const about = withoutUndefined({ dir, access, tool, agent, path: at.typed, signal });
    const given = await ask(`${what} ${escapeControls(displayPath(dir, paths))}?`, ["yes", "no"], about);
    if (signal.aborted) return false; // An answer to a withdrawn question.
    const reply = approvingReply(given);
    if (reply === undefined) return false;
    const grant: Grant = withoutUndefined({
      dir,
      access: reply.access ?? "write",
      granted_at: new Date(now()).toISOString(),
      expires: reply.expires?.toISOString(),
      by: reply.by,
    });
    await store(grant, reply.remember !== false);
    onEvent({ type: "grant_given", dir, access: grant.access });
    return true;
  }

  /** Waits for the answer to a question, but not after the call is cancelled. */
  async #waitFor(one: PendingQuestion, signal: AbortSignal | undefined): Promise<boolean> {
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
      if (one.waiting === 0 && signal?.aborted === true) this.#withdraw(one);
    }
  }

  #withdraw(one: PendingQuestion): void {
    this.#pending.delete(one);
    one.stop.abort();
  }
}

/** The number of refusals that are kept: they matter only to calls that run at the same time. */
const MAX_KEPT_REFUSALS = 1000;
