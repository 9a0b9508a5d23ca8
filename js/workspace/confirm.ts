/**
 * Asking somebody before a change: who is asked, what they are shown, and what
 * their answer means. No lock is held meanwhile.
 *
 * What cannot be asked is refused: a rule that says `ask` without anybody to
 * confirm, a confirmer that throws, an outcome that is not in the list.
 */
import type { Location } from "../access/index.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { Decision } from "./rules.ts";

/** What a reviewer decides. */
export type Outcome =
  /** This call. */
  | "proceed_once"
  /** This tool below this root, until the workspace is closed. */
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
  readonly newContent?: string;
  readonly final?: boolean;
}

/** A reviewer's answer. */
export interface ConfirmReply {
  readonly outcome: Outcome;
  readonly payload?: ConfirmPayload | undefined;
}

/** What a reviewer is shown. Contents are text; `originalContent` is null for a new file. */
export interface Confirmation {
  readonly type: "edit" | "info";
  readonly title: string;
  readonly tool: string;
  readonly fileName: string;
  readonly fileDiff: string;
  readonly originalContent: string | null;
  readonly newContent: string | null;
  /** The absolute real path of the (first) file concerned. */
  readonly path: string;
  readonly isModifying?: boolean;
  /** An alternative to the returned promise, for user interfaces that call back. */
  onConfirm(outcome: Outcome, payload?: ConfirmPayload): void;
}

/** Asks somebody. May answer by its return value or through `onConfirm`. */
export type Confirm = (details: Confirmation) => Promise<ConfirmReply | undefined> | ConfirmReply | undefined;

/** What this session was told to stop asking about. */
export interface Approvals {
  covers(tool: string, root: string): boolean;
  remember(outcome: Outcome, tool: string, root: string): void;
}

/** Makes an empty memory of approvals. */
export function makeApprovals(): Approvals {
  let everything = false;
  const tools = new Set<string>();
  const places = new Set<string>();
  const place = (tool: string, root: string): string => `${tool}\0${root}`;
  return {
    covers: (tool, root) => everything || tools.has(tool) || places.has(place(tool, root)),
    remember(outcome, tool, root) {
      if (outcome === "proceed_always_server") everything = true;
      if (outcome === "proceed_always_tool") tools.add(tool);
      if (outcome === "proceed_always") places.add(place(tool, root));
    },
  };
}

/** Whether somebody must be asked. @throws FilewrightError APPROVAL_DENIED where nobody can be */
export function mustAsk(
  ruled: Decision | undefined,
  byDefault: "allow" | "ask",
  confirm: Confirm | undefined,
  approvals: Approvals,
  tool: string,
  locations: readonly Location[],
): boolean {
  const decision = ruled ?? byDefault;
  if (decision === "allow") return false;
  const root = locations[0]?.root ?? "/";
  if (approvals.covers(tool, root)) return false;
  if (confirm === undefined) throw denied(`${tool} needs an approval here, and there is nobody to ask.`);
  return true;
}

/** Puts the question. @throws FilewrightError APPROVAL_DENIED, CANCELLED */
export async function ask(
  confirm: Confirm,
  details: Omit<Confirmation, "onConfirm">,
  signal: AbortSignal | undefined,
): Promise<ConfirmReply> {
  let onAbort: (() => void) | undefined;
  try {
    const reply = await new Promise<ConfirmReply>((resolve, reject) => {
      onAbort = () => reject(new FilewrightError("CANCELLED", "cancelled while waiting for an approval"));
      signal?.addEventListener("abort", onAbort, { once: true });
      const onConfirm = (outcome: Outcome, payload?: ConfirmPayload): void => resolve({ outcome, payload });
      Promise.resolve(confirm({ ...details, onConfirm })).then((answer) => {
        if (answer !== undefined && answer !== null) resolve(answer);
      }, reject);
    });
    if (OUTCOMES.has(reply.outcome)) return reply;
    throw denied("The reviewer's answer is not understood.");
  } catch (error) {
    if (error instanceof FilewrightError && (error.code === "CANCELLED" || error.code === "APPROVAL_DENIED"))
      throw error;
    throw denied("Asking for an approval failed.", error);
  } finally {
    if (onAbort !== undefined) signal?.removeEventListener("abort", onAbort);
  }
}

const OUTCOMES: ReadonlySet<string> = new Set<Outcome>([
  "proceed_once",
  "proceed_always",
  "proceed_always_tool",
  "proceed_always_server",
  "modify_with_editor",
  "cancel",
]);

/** The refusal of a reviewer or of a rule. */
export function denied(message: string, cause?: unknown): FilewrightError {
  return new FilewrightError("APPROVAL_DENIED", `${message} Nothing was written.`, { complete: true, cause });
}
