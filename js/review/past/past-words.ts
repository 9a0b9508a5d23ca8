/** Words and facts about calls of the history that the page and the terminal share. */
import type { AllowedBy } from "../../backends/transaction/step.ts";

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
