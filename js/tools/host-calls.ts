/**
 * The changing calls that a host makes and that are no tools for models: what records, approvals and people know of
 * them. `js/workspace` has how they work.
 */
import type { ChangingTool } from "./lib/tool.ts";

/** A changing call of a host, as far as a tool describes one. */
type HostTool = Pick<ChangingTool<never, unknown>, "kind" | "name" | "traits">;

/** Takes back every later call. */
export const REWIND: HostTool = {
  kind: "change",
  name: "rewind",
  traits: ["writesSeveral", "takesBackCalls", "alsoDeletes", "alsoMoves"],
};

/** Brings the changes of a fork into its workspace. */
export const MERGE: HostTool = {
  kind: "change",
  name: "merge",
  traits: ["writesSeveral", "alsoDeletes"],
};

/** Takes back some hunks of a call, which therefore stays unreviewed. */
export const UNDO_HUNKS: HostTool = { kind: "change", name: "undo_hunks", traits: ["takesBackPart"] };
