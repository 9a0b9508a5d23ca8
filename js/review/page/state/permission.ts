/** Finds out whether the login of the page has the permission for an action, and the reason why it has not. */
import type { PageState } from "./store.ts";

/**
 * Returns why this person cannot do now what needs a permission; undefined if it is possible. `answer`: answer questions
 * and keep calls. `manage`: also change the policy, the files and the history.
 */
export function whyNotPermitted(
  { connection, role }: Pick<PageState, "connection" | "role">,
  needed: "answer" | "manage",
): string | undefined {
  if (connection !== "live") return "There is no connection to the server.";
  return role === needed || role === "manage" ? undefined : `This login may only ${role}.`;
}
