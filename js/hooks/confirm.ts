/**
 * Asking somebody before a change: what they are shown, and what their answer
 * means. No lock is held meanwhile.
 *
 * What cannot be asked is refused: nobody to confirm, a confirmer that throws, an
 * outcome that is not in the list.
 */
import type { MaybePromise } from "../backends/backend.ts";
import { FilewrightError } from "../engine/errors.ts";
import {
  anyText,
  choice,
  dateOption,
  flag,
  type Options,
  options,
  reader,
  required,
} from "../schema/option.ts";
import type { ConfirmedChange } from "./question.ts";

export type { ConfirmedChange } from "./question.ts";

/** What a reviewer decides. */
export type Outcome =
  /** This call. */
  | "proceed_once"
  /** This tool below these roots, until the workspace is closed. */
  | "proceed_always"
  /** This tool everywhere, until the workspace is closed. */
  | "proceed_always_tool"
  /** Every tool, until the workspace is closed. */
  | "proceed_always_server"
  /** With `payload.newContent` instead; asked again unless `payload.final`. */
  | "modify_with_editor"
  | "cancel";

/** What comes with an outcome. */
export interface ConfirmPayload {
  /** The content to write instead, with `modify_with_editor`. */
  readonly newContent?: string;
  /** With `modify_with_editor`: write it without asking again. */
  readonly final?: boolean;
  /** When an outcome that lasts ends; default: when the workspace is closed. */
  readonly expires?: Date;
  /** Who decided. */
  readonly by?: string;
  /** Why not, for the model. */
  readonly reason?: string;
  /** The `digest` of the question that was shown; another one than the question's refuses. */
  readonly digest?: string;
}

/** A reviewer's answer. */
export interface ConfirmReply {
  /** What was decided: for this call, for longer, with a change, or `cancel`. */
  readonly outcome: Outcome;
  /** What goes with the decision, such as the content of `modify_with_editor`. */
  readonly payload?: ConfirmPayload | undefined;
}

/** What a reviewer may answer. An answer that does not fit denies. */
export const CONFIRM_REPLY: Options<ConfirmReply> = options(
  "ConfirmReply",
  {
    outcome: required(
      choice(
        "proceed_once",
        "proceed_always",
        "proceed_always_tool",
        "proceed_always_server",
        "modify_with_editor",
        "cancel",
      ),
    ),
    payload: options<ConfirmPayload>("ConfirmPayload", {
      newContent: anyText(),
      final: flag(),
      expires: dateOption,
      by: anyText(),
      reason: anyText(),
      digest: anyText(),
    }),
  },
  {
    // A content that somebody wrote must not be passed over for the planned one.
    test: ({ outcome, payload }) =>
      payload?.newContent !== undefined && outcome !== "modify_with_editor" && outcome !== "cancel"
        ? "has a payload.newContent without the outcome modify_with_editor"
        : undefined,
  },
);

const readReply = reader(CONFIRM_REPLY);

/** How much a change can destroy. */
export type Risk = "low" | "medium" | "high";

/** What one outcome would allow, in words that are exactly what it does. */
export interface Scope {
  /** The answer that means this scope. */
  readonly outcome: Outcome;
  /** The scope in words, for a button. */
  readonly label: string;
}

/** What a reviewer is shown. Contents are text; `originalContent` is null for a new file. */
export interface Confirmation {
  /** `edit`: the content of a file; `exec`: a tool that is not ours; `info`: anything else. */
  readonly type: "edit" | "exec" | "info";
  /** The change in a few words. */
  readonly title: string;
  /** The canonical name of the tool. */
  readonly tool: string;
  /** Who calls, where that is known. */
  readonly agent?: string;
  /** The name of the file concerned. */
  readonly fileName: string;
  /** The change as a unified diff. */
  readonly fileDiff: string;
  /** The content before. */
  readonly originalContent: string | null;
  /** Null where no content is written, or none that is text. */
  readonly newContent: string | null;
  /** The absolute real path of the (first) file concerned. */
  readonly path: string;
  /** The absolute real paths of everything that the call names. */
  readonly paths: readonly string[];
  /** How much the change can destroy. */
  readonly risk: Risk;
  /** `sha256:` of the bytes that will be written; of several files, of their hashes, one a line. */
  readonly hash?: string;
  /** The arguments, where that is all there is to see. */
  readonly args?: Readonly<Record<string, unknown>>;
  /** The outcomes to choose from. */
  readonly scopes: readonly Scope[];
  /** The call, as the history names it; absent for tools that are not ours and for reading ones. */
  readonly callId?: string;
  /** Every path that the change makes, replaces, moves or removes. */
  readonly changes: readonly ConfirmedChange[];
  /**
   * `sha256:` of everything that an answer rests upon: tool, arguments, paths and where
   * they lead, the versions of what is there, the new bytes. Another digest is another question.
   */
  readonly digest: string;
  /**
   * Whether the question holds the whole change. One that does not can only be refused:
   * any other outcome is APPROVAL_DENIED.
   */
  readonly complete: boolean;
  /** Why it does not hold the whole change, in a few words. */
  readonly incomplete?: string;
  /** The new content in base64, where it is not text. */
  readonly newContentBase64?: string;
  /** The reviewer changed the content before. */
  readonly isModifying?: boolean;
  /** Fires when the call was cancelled: the question may be taken back. */
  readonly signal?: AbortSignal;
  /** An alternative to the returned promise, for user interfaces that call back. */
  onConfirm(outcome: Outcome, payload?: ConfirmPayload): void;
}

/** Asks somebody. May answer by its return value or through `onConfirm`. */
export type Confirm = (details: Confirmation) => MaybePromise<ConfirmReply | undefined>;

/** Puts the question. @throws FilewrightError APPROVAL_DENIED, CANCELLED */
export async function askConfirm(
  confirm: Confirm,
  details: Omit<Confirmation, "onConfirm" | "signal">,
  signal: AbortSignal | undefined,
): Promise<ConfirmReply> {
  let onAbort: (() => void) | undefined;
  try {
    const given = await new Promise<ConfirmReply>((resolve, reject) => {
      onAbort = () => reject(new FilewrightError("CANCELLED", "cancelled while waiting for an approval"));
      signal?.addEventListener("abort", onAbort, { once: true });
      const onConfirm = (outcome: Outcome, payload?: ConfirmPayload): void => resolve({ outcome, payload });
      const shown = { ...details, ...(signal === undefined ? {} : { signal }), onConfirm };
      Promise.resolve(confirm(shown)).then((answer) => {
        if (answer !== undefined && answer !== null) resolve(answer);
      }, reject);
    });
    const reply = readReply(given);
    if (reply === undefined) throw denied("The reviewer's answer is not understood.");
    const answered = reply.payload?.digest;
    if (answered !== undefined && answered !== details.digest)
      throw denied("The reviewer's answer is for another question.");
    if (details.complete === false && reply.outcome !== "cancel") throw denied(incompleteMessage(details));
    return reply;
  } catch (error) {
    if (error instanceof FilewrightError && (error.code === "CANCELLED" || error.code === "APPROVAL_DENIED"))
      throw error;
    throw denied("Asking for an approval failed.", error);
  } finally {
    if (onAbort !== undefined) signal?.removeEventListener("abort", onAbort);
  }
}

function incompleteMessage({ incomplete = "it is too large" }: Pick<Confirmation, "incomplete">): string {
  return `The question cannot show all of the change (${incomplete}), so no answer can allow it; split the change into smaller ones, or have a rule allow it.`;
}

/** The refusal of a reviewer or of a rule. */
export function denied(message: string, cause?: unknown): FilewrightError {
  return new FilewrightError("APPROVAL_DENIED", `${message} Nothing was written.`, { complete: true, cause });
}

/** The refusal of a reviewer, with the reason they gave. */
export function refusedBy({ payload }: ConfirmReply): FilewrightError {
  const reason = payload?.reason?.trim().slice(0, 100);
  return denied(
    reason === undefined || reason === ""
      ? "The reviewer refused the call."
      : `The reviewer refused the call: ${reason}${/[.?!]$/u.test(reason) ? "" : "."}`,
  );
}
