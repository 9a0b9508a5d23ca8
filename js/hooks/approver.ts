/**
 * The interface of approvers, which answer two kinds of questions: about a change, and about a
 * directory. Terminal, notebook, web page and explicit rules implement it.
 */
import type { AskGrant } from "../policy/index.ts";
import type { Confirm } from "./confirm.ts";

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
