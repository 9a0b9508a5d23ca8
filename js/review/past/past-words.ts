/** Words and facts about calls of the history that the page and the terminal share. */
import type { AllowedBy } from "../../backends/transaction/step.ts";
import { PARTIAL_UNDO_TOOL } from "../../journal/reviewed.ts";

/** The tools that take back other calls. */
const WAYS_BACK: ReadonlySet<string> = new Set(["undo", PARTIAL_UNDO_TOOL, "rewind"]);

/** Returns true for a call that takes back others. */
export function isWayBack({ tool }: { readonly tool: string }): boolean {
  return WAYS_BACK.has(tool);
}

/** Returns what allowed a call, as the words after "Allowed by". */
export function allowedByInWords({ kind, by, approval }: AllowedBy): string {
  switch (kind) {
    case "answer":
      return by ?? "an answer without a name";
    case "approval":
      return `the approval “${approval?.covers ?? ""}”${by === undefined ? "" : ` of ${by}`}`;
    case "rule":
      return "a rule";
    case "review":
      return "nobody; to be reviewed afterwards";
  }
}
