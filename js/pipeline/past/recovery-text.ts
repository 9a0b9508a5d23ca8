/** Describes the recovery of interrupted changes in one line for people. */
import type { Recovery } from "../../journal/index.ts";
import { escapeControls } from "../../engine/escape.ts";

/** The maximum number of paths that the line names. */
const MAX_NAMED_PATHS = 5;

/**
 * Returns one line without its end; undefined when there is nothing to report. Records that are not
 * authentic are omitted, because they remain and every command would repeat them.
 */
export function describeRecovery({ rolledBack, damaged, conflicts }: Recovery): string | undefined {
  const parts: string[] = [];
  if (rolledBack > 0) parts.push(`rolled back ${countPhrase(rolledBack, "interrupted change")}`);
  if (damaged > 0)
    parts.push(
      `${countPhrase(damaged, "journal record")} damaged: rolled back as far as readable, kept in journal/damaged`,
    );
  if (conflicts.length > 0) {
    const named = conflicts.slice(0, MAX_NAMED_PATHS).map(escapeControls).join(", ");
    const more = conflicts.length - MAX_NAMED_PATHS;
    parts.push(`left as changed by others: ${named}${more > 0 ? ` and ${more} more` : ""}`);
  }
  return parts.length === 0 ? undefined : parts.join("; ");
}

function countPhrase(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? "" : "s"}`;
}
