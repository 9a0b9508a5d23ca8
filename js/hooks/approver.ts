/**
 * Somebody who can be asked both kinds of question: about a change, and about a
 * directory. What the terminal, a notebook, a web page and explicit rules have in
 * common.
 */
import type { AskGrant } from "../access/index.ts";
import type { Confirm } from "./confirm.ts";

/**
 * Somebody to ask.
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
