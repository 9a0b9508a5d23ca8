/**
 * Summaries of the questions of an approval queue: what lists and events say of a question. Contents are left out,
 * because an event goes to every watcher and a change may be large.
 */
import { HUNK_NUMBERS } from "../../diff/parse.ts";
import type { GrantAccess } from "../../policy/index.ts";
import { type ChangeDetails, changeDetails, type ChangeSummary } from "../changed-files.ts";
import type { Confirmation, Risk, Scope } from "../confirm.ts";
import type { PlainDetails } from "../notebook.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";

/** A waiting question. Plain data. */
export type PendingApproval = {
  readonly id: string;
  /** When it was asked, in ISO 8601. */
  readonly asked_at: string;
} & (({ readonly kind: "change"; readonly details: PlainDetails } & QuestionState) | DirectoryQuestion);

/** How a question about a change stands. */
interface QuestionState {
  /** True when what it shows has changed since it was asked. */
  readonly stale?: true;
  /** Why the change cannot be planned again on the present content; absent where it can. */
  readonly conflict?: string;
  /** The id of the question that this one replaces, after the answer `look_again`. */
  readonly replaces?: string;
}

/** A question about the grant of a directory. */
interface DirectoryQuestion {
  readonly kind: "directory";
  readonly question: string;
  readonly dir: string;
  readonly access: GrantAccess;
  readonly tool: string;
}

/** A waiting question without its contents. Plain data. */
export type ApprovalSummary = {
  readonly id: string;
  /** When it was asked, in ISO 8601. */
  readonly asked_at: string;
} & (
  | ({
      readonly kind: "change";
      readonly type: Confirmation["type"];
      readonly title: string;
      readonly tool: string;
      readonly risk: Risk;
      /** The digest that an answer must repeat. */
      readonly digest: string;
      readonly complete: boolean;
      /** The absolute real path of the (first) changed file. */
      readonly path: string;
      /** The first paths of the change, in its order; their contents are served by their numbers. */
      readonly changes: readonly ChangeSummary[];
      /** The number of all paths of the change. */
      readonly change_count: number;
      /** The lines that the diff adds and removes; absent without a diff. */
      readonly lines?: { readonly added: number; readonly removed: number };
      readonly scopes: readonly Scope[];
    } & QuestionState &
      Pick<Confirmation, "agent" | "hash" | "callId" | "isModifying">)
  | DirectoryQuestion
);

/** The number of paths that a summary names. */
const MAX_SUMMARY_CHANGES = 50;

/** Returns the summary of a question. */
export function summaryOf(question: PendingApproval): ApprovalSummary {
  if (question.kind === "directory") return question;
  const { id, asked_at, kind, details, stale, conflict, replaces } = question;
  const { type, title, tool, risk, digest, complete, path, changes, scopes, fileDiff } = details;
  const { agent, hash, callId, isModifying } = details;
  return Object.freeze(
    withoutUndefined({
      id,
      asked_at,
      kind,
      type,
      title,
      tool,
      risk,
      digest,
      complete,
      path,
      changes: changes.slice(0, MAX_SUMMARY_CHANGES).map((change) => ({ ...change })),
      change_count: changes.length,
      lines: fileDiff === "" ? undefined : changedLinesOf(fileDiff),
      scopes,
      stale,
      conflict,
      replaces,
      agent,
      hash,
      callId,
      isModifying,
    }),
  );
}

/** Counts the added and removed lines of a unified diff. Only lines inside hunks count. */
function changedLinesOf(diff: string): { readonly added: number; readonly removed: number } {
  const counts = { added: 0, removed: 0 };
  /** The lines of both sides that the hunk still has. */
  let left = 0;
  for (const line of diff.split("\n")) {
    if (left <= 0) left = sidesOfHunk(line);
    else left -= countLine(line, counts);
  }
  return counts;
}

/** Returns the number of lines of both sides of a hunk with this header; 0 for another line. */
function sidesOfHunk(line: string): number {
  const header = HUNK_NUMBERS.exec(line);
  return header === null ? 0 : Number(header[2] ?? "1") + Number(header[4] ?? "1");
}

/** Counts a line of a hunk, and returns the number of sides that have it. */
function countLine(line: string, counts: { added: number; removed: number }): 0 | 1 | 2 {
  if (line.startsWith("\\")) return 0;
  if (line.startsWith("+")) counts.added += 1;
  else if (line.startsWith("-")) counts.removed += 1;
  else return 2;
  return 1;
}

/** The content of one path of a question. */
export interface ChangeContents {
  /** The change, with its contents and hunks. */
  readonly change: ChangeDetails;
  /** A text that differs when the contents differ. */
  readonly tag: string;
}

/** Returns the contents of the path with this number; undefined where the question has no such path. */
export function changeContentsOf(question: PendingApproval, index: number): ChangeContents | undefined {
  if (question.kind === "directory") return undefined;
  const { changes, digest } = question.details;
  const change = changes[index];
  return change && { change: changeDetails(change), tag: change.hash ?? `${digest}/${index}` };
}
