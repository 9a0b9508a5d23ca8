/**
 * Asks a reviewer before a change: the question's data and the meaning of the answer. No lock is
 * held meanwhile.
 *
 * A failed question is a refusal: without an approver, when it throws, or for an unknown outcome.
 */
import type { MaybePromise } from "../backends/backend.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { AskGrant } from "../policy/index.ts";
import { answerFault, ANSWERERS } from "../schema/answer-fault.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import {
  anyText,
  choice,
  dateOption,
  flag,
  integer,
  list,
  type Options,
  options,
  optionReader,
  required,
} from "../schema/option.ts";
import {
  acceptsEverything,
  type ConfirmedChange,
  type ConfirmedLines,
  type ConfirmedPart,
} from "./changed-files.ts";
import { APPROVAL_SCOPE, type ApprovalScope, type ScopeEnd } from "./scope/scope.ts";

/** A reviewer's decision. */
export type Outcome =
  /** Approves this call only. */
  | "proceed_once"
  /** Approves every call of this tool below these roots, until the workspace is closed. */
  | "proceed_always"
  /** Approves every call of this tool, until the workspace is closed. */
  | "proceed_always_tool"
  /** Approves every call of every tool, until the workspace is closed. */
  | "proceed_always_server"
  /** Approves only the hunks in `payload.parts`. `payload.digest` must be that of the question. */
  | "proceed_parts"
  /**
   * Approves `payload.newContent` or `payload.contents` in place of planned contents. Asked again unless
   * `payload.final` is true.
   */
  | "modify_with_editor"
  /** Plans the change again on the present content, and asks about the result. For a question that became stale. */
  | "look_again"
  | "cancel";

/** The content of one file that a reviewer has written. */
export interface ConfirmedContent {
  /** The `path` of the change in the question. */
  readonly path: string;
  /** The text to write. */
  readonly content: string;
}

/** Further data of an answer. */
export interface ConfirmPayload {
  /** The content to write instead, with `modify_with_editor`: that of the first changed file. */
  readonly newContent?: string;
  /** The contents to write instead, with `modify_with_editor`. Other files are written as planned. */
  readonly contents?: readonly ConfirmedContent[];
  /** The accepted parts, with `proceed_parts`. */
  readonly parts?: readonly ConfirmedPart[];
  /**
   * True to write the text of `modify_with_editor` without asking again. False to ask again after `proceed_parts`,
   * about what was accepted.
   */
  readonly final?: boolean;
  /**
   * Which later calls an outcome `proceed_always…` covers, in place of what the outcome says. A scope that is wider
   * than that of the outcome is a refusal.
   */
  readonly scope?: ApprovalScope;
  /** When the approval of later calls ends. Default: when the workspace is closed. */
  readonly expires?: Date;
  /** The person who decided. */
  readonly by?: string;
  /** The reason of a refusal, for the model. */
  readonly reason?: string;
  /** The `digest` of the answered question; an answer with another digest is a refusal. */
  readonly digest?: string;
}

/** A reviewer's answer. */
export interface ConfirmReply {
  /** The decision: for this call, for longer, with a change, or `cancel`. */
  readonly outcome: Outcome;
  /** The details of the decision, such as the content of `modify_with_editor`. */
  readonly payload?: ConfirmPayload | undefined;
}

/** One part of a change that a person chooses. */
export const CONFIRMED_PART: Options<ConfirmedPart> = options<ConfirmedPart>("ConfirmedPart", {
  path: required(anyText()),
  hunks: required(list(integer(0))),
  lines: list(
    options<ConfirmedLines>("ConfirmedLines", {
      hunk: required(integer(0)),
      rows: required(list(integer(0), { minItems: 1 })),
    }),
  ),
});

/** The valid answers of a reviewer. An invalid answer denies. */
export const CONFIRM_REPLY: Options<ConfirmReply> = options(
  "ConfirmReply",
  {
    outcome: required(
      choice(
        "proceed_once",
        "proceed_always",
        "proceed_always_tool",
        "proceed_always_server",
        "proceed_parts",
        "modify_with_editor",
        "look_again",
        "cancel",
      ),
    ),
    payload: options<ConfirmPayload>("ConfirmPayload", {
      newContent: anyText(),
      contents: list(
        options<ConfirmedContent>("ConfirmedContent", {
          path: required(anyText()),
          content: required(anyText()),
        }),
      ),
      parts: list(CONFIRMED_PART),
      final: flag(),
      scope: APPROVAL_SCOPE,
      expires: dateOption,
      by: anyText(),
      reason: anyText(),
      digest: anyText(),
    }),
  },
  {
    test({ outcome, payload = {} }) {
      const { newContent, contents, parts, digest, scope } = payload;
      // What the reviewer wrote or chose must not be ignored in favour of the planned content.
      if (outcome !== "modify_with_editor" && outcome !== "cancel") {
        if (newContent !== undefined)
          return "has a payload.newContent without the outcome modify_with_editor";
        if (contents !== undefined) return "has payload.contents without the outcome modify_with_editor";
      }
      if (outcome !== "proceed_parts" && outcome !== "cancel" && parts !== undefined)
        return "has payload.parts without the outcome proceed_parts";
      if (newContent !== undefined && contents !== undefined)
        return "has both payload.newContent and payload.contents";
      if (scope !== undefined && !outcome.startsWith("proceed_always"))
        return "has a payload.scope without an outcome that lasts";
      if (outcome !== "proceed_parts") return undefined;
      if (parts === undefined) return "has the outcome proceed_parts without payload.parts";
      // The indexes mean nothing without the question that they belong to.
      return digest === undefined ? "has the outcome proceed_parts without payload.digest" : undefined;
    },
  },
);

const readConfirmReply = optionReader(CONFIRM_REPLY);

/** The damage a change can cause. */
export type Risk = "low" | "medium" | "high";

/** The scope of one outcome, described exactly. */
export interface Scope {
  /** The outcome with this scope. */
  readonly outcome: Outcome;
  /** The description of the scope, for a button. */
  readonly label: string;
  /** The calls that the outcome covers, where it lasts. An answer may name a narrower scope. */
  readonly scope?: ApprovalScope;
  /** The ends that a narrower scope may name, where the outcome lasts. */
  readonly ends?: readonly ScopeEnd[];
  /** When a scope with the end `session` ends, in words, such as `until this workspace is closed`. */
  readonly sessionEnd?: string;
}

/** The question for a reviewer. Contents are text; `originalContent` is null for a new file. */
export interface Confirmation {
  /** `edit`: the content of a file; `exec`: a tool of another package; `info`: any other change. */
  readonly type: "edit" | "exec" | "info";
  /** The change in a few words. */
  readonly title: string;
  /** The canonical name of the tool. */
  readonly tool: string;
  /** The caller, when known. */
  readonly agent?: string;
  /** The name of the file concerned. */
  readonly fileName: string;
  /** The change as a unified diff. */
  readonly fileDiff: string;
  /** The content before the change. */
  readonly originalContent: string | null;
  /** The content after the change; null when no text is written. */
  readonly newContent: string | null;
  /** The absolute real path of the (first) changed file. */
  readonly path: string;
  /** The absolute real paths that the call names. */
  readonly paths: readonly string[];
  /** The damage the change can cause. */
  readonly risk: Risk;
  /** `sha256:` of the bytes to be written; of several files, of their hashes, one a line. */
  readonly hash?: string;
  /** The arguments, when no diff exists. */
  readonly args?: Readonly<Record<string, unknown>>;
  /** The outcomes to choose from. */
  readonly scopes: readonly Scope[];
  /** The id of the call in the history; absent for other packages' tools and for reading ones. */
  readonly callId?: string;
  /** Names the turn of the call. Questions of one turn have the same; absent for other packages' tools. */
  readonly turn?: string;
  /** Every path that the change creates, replaces, moves or removes. */
  readonly changes: readonly ConfirmedChange[];
  /**
   * `sha256:` of everything that an answer depends on: tool, arguments, paths and their targets,
   * the current versions, the new bytes. Another digest is another question.
   */
  readonly digest: string;
  /**
   * True when the question contains the whole change. An incomplete question can only be refused:
   * any other outcome is APPROVAL_DENIED.
   */
  readonly complete: boolean;
  /** The reason why the question is incomplete, in a few words. */
  readonly incomplete?: string;
  /** The new content in base64, when it is not text. */
  readonly newContentBase64?: string;
  /** True when the reviewer has already changed the content. */
  readonly isModifying?: boolean;
  /** True when the caller follows the progress of the call, so that it waits for as long as the person takes. */
  readonly hasProgress?: true;
  /** The `digest` of the question that this one replaces, because the reviewer looked again. */
  readonly replaces?: string;
  /** The number of people who have to allow this, when `quorum` asks several. */
  readonly needed?: number;
  /** Returns true when what is shown has changed, so that an approval of it would fail with CONFLICT. */
  isStale?(): Promise<boolean>;
  /**
   * Once `isStale` has answered true: why the change cannot be planned again on the present content, such as that the
   * caller has not read it; undefined when `look_again` leads to another question. It is found out again with each
   * later look, because the caller may read the file meanwhile.
   */
  conflict?(): string | undefined;
  /**
   * Calls `listener` when what is shown has changed, and after that when `conflict` has. Returns a function that ends
   * this.
   */
  onStale?(listener: () => void): () => void;
  /** Fires when the call was cancelled: the question is obsolete. */
  readonly signal?: AbortSignal;
  /** An alternative to the returned promise, for user interfaces that call back. */
  onConfirm(outcome: Outcome, payload?: ConfirmPayload): void;
}

/**
 * Asks a reviewer, who answers by the return value or through `onConfirm`. A call is APPROVAL_DENIED after 100 questions
 * that were answered by `look_again`, or by a change of the content that is shown again.
 */
export type Confirm = (details: Confirmation) => MaybePromise<ConfirmReply | undefined>;

/** Asks a reviewer and returns the answer. @throws FilewrightError APPROVAL_DENIED, CANCELLED */
export async function askConfirm(
  confirm: Confirm,
  details: Omit<Confirmation, "onConfirm" | "signal">,
  signal: AbortSignal | undefined,
): Promise<ConfirmReply> {
  try {
    return usableReply(await answerOf(confirm, details, signal), details);
  } catch (error) {
    if (error instanceof FilewrightError && (error.code === "CANCELLED" || error.code === "APPROVAL_DENIED"))
      throw error;
    throw denied("Asking for an approval failed.", error);
  }
}

/** Returns what a reviewer answers, by the return value or through `onConfirm`. @throws FilewrightError CANCELLED */
async function answerOf(
  confirm: Confirm,
  details: Omit<Confirmation, "onConfirm" | "signal">,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  let onAbort: (() => void) | undefined;
  try {
    return await new Promise<unknown>((resolve, reject) => {
      onAbort = () => reject(new FilewrightError("CANCELLED", "cancelled while waiting for an approval"));
      signal?.addEventListener("abort", onAbort, { once: true });
      const onConfirm = (outcome: Outcome, payload?: ConfirmPayload): void => resolve({ outcome, payload });
      const shown = { ...details, ...withoutUndefined({ signal }), onConfirm };
      Promise.resolve(confirm(shown)).then((answer) => {
        if (answer !== undefined && answer !== null) resolve(answer);
      }, reject);
    });
  } finally {
    if (onAbort !== undefined) signal?.removeEventListener("abort", onAbort);
  }
}

/** Returns the reply of an answer that fits its question. @throws FilewrightError APPROVAL_DENIED for any other */
function usableReply(given: unknown, details: Omit<Confirmation, "onConfirm" | "signal">): ConfirmReply {
  const reply = readConfirmReply(given);
  if (reply === undefined)
    throw denied("The reviewer's answer is not understood.", undefined, {
      ...answerFault(ANSWERERS.confirm, given),
    });
  const { outcome, payload = {} } = reply;
  if (payload.digest !== undefined && payload.digest !== details.digest)
    throw denied("The reviewer's answer is for another question.");
  if (details.complete === false && outcome !== "cancel" && outcome !== "look_again")
    throw denied(incompleteQuestionMessage(details));
  const isChanging = outcome === "proceed_parts" || outcome === "modify_with_editor";
  if (isChanging && !details.scopes.some((scope) => scope.outcome === outcome))
    throw denied("The reviewer's change of the content cannot be used.");
  if (outcome !== "proceed_parts" || !acceptsEverything(details.changes, payload.parts ?? [])) return reply;
  const { parts: _, ...rest } = payload;
  return { outcome: "proceed_once", payload: rest };
}

/** Returns true for an answer that approves the call as it was shown. */
export function approvesCall({ outcome }: ConfirmReply): boolean {
  return outcome === "proceed_once" || outcome.startsWith("proceed_always");
}

/** Returns the message about a question that cannot show the whole change, so that no answer can approve it. */
function incompleteQuestionMessage({
  incomplete = "it is too large",
}: Pick<Confirmation, "incomplete">): string {
  return `The question cannot show all of the change (${incomplete}), so no answer can allow it; split the change into smaller ones, or have a rule allow it.`;
}

/** Returns the error of a call that a reviewer or a rule refused. `message` says who and why. */
export function denied(
  message: string,
  cause?: unknown,
  details?: Readonly<Record<string, unknown>>,
): FilewrightError {
  return new FilewrightError("APPROVAL_DENIED", `${message} Nothing was written.`, {
    complete: true,
    cause,
    details,
  });
}

/** The answer by which a reviewer refused a call. */
interface RefusingAnswer {
  readonly outcome: Outcome;
  readonly by?: string;
}

/** The error of a call that a reviewer refused. Its answer is private, because a model must not learn who answered. */
class RefusedCall extends FilewrightError {
  readonly #answer: RefusingAnswer;

  constructor(message: string, answer: RefusingAnswer) {
    super("APPROVAL_DENIED", `${message} Nothing was written.`, { complete: true });
    this.#answer = answer;
  }

  static answerOf(error: unknown): RefusingAnswer | undefined {
    return error instanceof RefusedCall ? error.#answer : undefined;
  }
}

/** Returns the error of a call that a reviewer refused, with at most 100 characters of the reason. */
export function refusedBy({ outcome, payload }: ConfirmReply): FilewrightError {
  const reason = payload?.reason?.trim().slice(0, 100);
  const message =
    reason === undefined || reason === ""
      ? "The reviewer refused the call."
      : `The reviewer refused the call: ${reason}${/[.?!]$/u.test(reason) ? "" : "."}`;
  return new RefusedCall(message, withoutUndefined({ outcome, by: payload?.by }));
}

/** Returns the answer by which a reviewer refused a call with this error; undefined for another error. */
export function answerOfRefusal(
  error: unknown,
): { readonly outcome: Outcome; readonly by?: string } | undefined {
  return RefusedCall.answerOf(error);
}

/**
 * Answers both kinds of questions.
 *
 * @example
 * const { confirm, ask } = terminalApprover();
 * const ws = await openWorkspace({ root: ".", confirm, permissions: { mode: "prompt", ask } });
 */
export interface Approver {
  /** Answers questions about changes. */
  readonly confirm: Confirm;
  /** Answers questions about directories. */
  readonly ask: AskGrant;
}
