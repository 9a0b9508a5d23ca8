/**
 * The question about the operations of a batch that need an approval: what it shows, and what a reply makes of each of
 * them. Each approver is asked once about all of his operations, and again after a revision that he wants to see or that
 * changes what other operations do.
 */
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { type ConfirmedChange, type ConfirmedPart, partsProblem } from "../../hooks/changed-files.ts";
import { type Confirm, type ConfirmReply, denied, refusedBy } from "../../hooks/confirm.ts";
import { digestOfParts } from "../../hooks/question.ts";
import { rootsContaining } from "../../pipeline/command.ts";
import type { Revision, ShownChanges } from "../../pipeline/parts.ts";
import { allowedByAnswer } from "../../pipeline/permit.ts";
import {
  type ChangeQuestion,
  changingOutcomes,
  type Choice,
  choiceOf,
  NO_CHOICE,
  type OpenQuestion,
  putQuestion,
} from "../../pipeline/review.ts";
import type { Session } from "../../pipeline/session.ts";
import type { StaleFunctions } from "../../pipeline/stale.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { encodeUtf8 } from "../../tools/lib/text.ts";
import type { BaseVersion } from "../../tools/change/change.ts";
import type { Call } from "../../tools/lib/tool.ts";
import type { ApprovedChange, PlannedChange } from "../change.ts";
import { joinChanges } from "./joined-changes.ts";

/** An operation that needs an approval. */
export interface AskedOperation {
  readonly planned: PlannedChange;
  readonly approver: Confirm;
  /** The question about this operation alone, as it was planned. Its outline is compared when the operation is made. */
  readonly question: ChangeQuestion;
  /** The question with the revisions of the reviewer, which is shown. */
  readonly shown: ChangeQuestion;
  /** The versions of those of its entries that no earlier operation changes. */
  readonly ownVersions: readonly BaseVersion[];
  readonly review: Review;
}

/** The batch that is asked about. */
interface BatchInQuestion {
  readonly session: Session;
  readonly call: Call;
  readonly stale: StaleFunctions;
}

/** The decision about an operation: how it may be made, or why it is left out. */
export type Decision = ApprovedChange | { readonly leftOut: FilewrightError };

/** The next step after a reply: the next question; another trial with the revisions; or one without, for a reviewer who looks again. */
export type AfterReply = "next" | "revised" | { readonly looksAgainAt: string };

const LEFT_OUT = "The reviewer left this operation out of the batch.";

/** The replies of a reviewer about one operation so far. They outlive the trials of the batch. */
export class Review {
  readonly #revisions: Revision[] = [];
  readonly #notes: string[] = [];
  #parts: Choice["parts"];
  #reply: ConfirmReply | undefined;
  #refusal: FilewrightError | undefined;
  /** The outline of the operation that the last reply was about. */
  #outline: string | undefined;
  #isDecided = false;
  /** The digest of a question that the next one replaces; undefined for none. */
  readonly replaces: string | undefined;

  constructor(replaces: string | undefined) {
    this.replaces = replaces;
  }

  get revisions(): readonly Revision[] {
    return this.#revisions;
  }

  /** The error of an operation that is left out; undefined for one that is made. */
  get refusal(): FilewrightError | undefined {
    return this.#refusal;
  }

  /** Returns true when the last reply decided about the operation as it is planned now. */
  hasDecided({ outline }: ChangeQuestion): boolean {
    return this.#isDecided && this.#outline === outline;
  }

  /** Takes a choice over; undefined refuses the operation. */
  take(choice: Choice | undefined, reply: ConfirmReply, { outline }: ChangeQuestion): void {
    this.#reply = reply;
    this.#outline = outline;
    this.#isDecided = choice?.asksAgain !== true;
    if (choice === undefined) {
      this.#refusal = new FilewrightError("APPROVAL_DENIED", LEFT_OUT, { complete: true });
      return;
    }
    const { revision, note, parts } = choice;
    if (note !== undefined) this.#notes.push(note);
    this.#parts = parts ?? this.#parts;
    if (revision !== undefined) this.#revisions.push(revision);
  }

  /** Returns how the operation may be made. */
  approved({ planned, question, shown }: AskedOperation): ApprovedChange {
    const { outcome, payload = {} } = this.#reply as ConfirmReply;
    const { hash } = shown.details;
    const approval = { outcome, ...withoutUndefined({ hash, by: payload.by, parts: this.#parts }) };
    const note = this.#notes.length === 0 ? undefined : this.#notes.join("\n");
    const { base, places } = question;
    const reviewed = { plan: planned.plan, revisions: this.#revisions, note, base, places, approval };
    return { ...planned, reviewed, isUnreviewed: false, allowedBy: [allowedByAnswer(approval)] };
  }
}

/** Returns the operations that are asked about in one question: those of one approver, and one that writes binary content alone. */
export function questionsOf(all: readonly AskedOperation[]): readonly (readonly AskedOperation[])[] {
  const groups = new Map<unknown, AskedOperation[]>();
  for (const one of all) {
    // A question shows the bytes of one file at most.
    const key = one.shown.details.newContentBase64 === undefined ? one.approver : one;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()];
}

/** Asks once about operations of one approver. @throws FilewrightError APPROVAL_DENIED, CANCELLED */
export async function askAboutOperations(
  { session, call, stale }: BatchInQuestion,
  asked: readonly AskedOperation[],
): Promise<AfterReply> {
  const [first] = asked as readonly [AskedOperation];
  const isModifying = asked.some(({ review }) => review.revisions.length > 0);
  const { replaces } = first.review;
  const { isSelectable, ...joined } = joinChanges(asked.map(shownBy));
  const details = detailsOf(asked, joined.changes);
  const changing = isSelectable ? changingOf(asked, joined) : [];
  const open = { details, asked: lastingFor(asked), changing, call, stale, replaces, isModifying };
  const reply = withPaths(joined.changes, await putQuestion(session, open, first.approver));
  if (reply.outcome === "look_again") return { looksAgainAt: details.digest };
  assertChoiceFits(joined.changes, reply);
  const choices = asked.map((one) => choiceAbout(one, replyAbout(one, reply, asked, joined.changes)));
  if (choices.every((choice) => choice === undefined)) throw refusedBy(reply);
  for (const [index, { review, question }] of asked.entries()) review.take(choices[index], reply, question);
  return choices.every((choice) => choice !== undefined && isAsShown(choice)) ? "next" : "revised";
}

function isAsShown({ revision, asksAgain }: Choice): boolean {
  return revision === undefined && !asksAgain;
}

/** Returns the changes that are shown of an operation. */
function shownBy({ shown: { details, planned } }: AskedOperation): ShownChanges {
  return { changes: details.changes, planned };
}

/** Returns how a reviewer may change operations. A text can be written only where its tool takes one. */
function changingOf(asked: readonly AskedOperation[], joined: ShownChanges): OpenQuestion["changing"] {
  const revisable = asked.filter(({ question }) => question.isRevisable);
  const changes = revisable.flatMap(({ shown }) => shown.details.changes);
  const hasText = revisable.some(({ shown }) => shown.details.newContent !== null);
  if (asked.length === 1 && revisable.length === 0) return [];
  return changingOutcomes({ changes, planned: joined.planned }, hasText);
}

/** Returns a reply of which every content names its file: one without a path is that of the first that has a text. */
function withPaths(changes: readonly ConfirmedChange[], reply: ConfirmReply): ConfirmReply {
  const { newContent, ...payload } = reply.payload ?? {};
  if (newContent === undefined || payload.contents !== undefined) return reply;
  const first = changes.find(({ after }) => after !== null);
  if (first === undefined) return reply;
  return { ...reply, payload: { ...payload, contents: [{ path: first.path, content: newContent }] } };
}

/** @throws FilewrightError APPROVAL_DENIED for a part or a content that does not fit what the question showed */
function assertChoiceFits(
  changes: readonly ConfirmedChange[],
  { outcome, payload = {} }: ConfirmReply,
): void {
  const { parts, contents } = payload;
  const problem = parts === undefined ? undefined : partsProblem(changes, parts);
  if (problem !== undefined) throw denied(`The reviewer's choice cannot be used: ${problem}.`);
  if (outcome !== "modify_with_editor") return;
  if (contents === undefined || contents.length === 0)
    throw denied("The reviewer's change of the content cannot be used.");
  const paths = new Set(changes.map(({ path }) => path));
  if (contents.some(({ path }) => !paths.has(path)))
    throw denied("The reviewer's content is for a file that the call does not write.");
}

/**
 * Returns a reply as it is about one operation. What several operations make of one path is accepted in all of them or in
 * none, and a content of the reviewer is written by the last of them. What is not shown, because it is made and removed
 * again, is accepted.
 */
function replyAbout(
  one: AskedOperation,
  reply: ConfirmReply,
  asked: readonly AskedOperation[],
  joined: readonly ConfirmedChange[],
): ConfirmReply {
  const changers = (path: string): readonly AskedOperation[] =>
    asked.filter(({ shown }) => shown.details.changes.some((change) => change.path === path));
  const { parts, contents, ...payload } = reply.payload ?? {};
  const isShown = new Set(joined.map(({ path }) => path));
  const partsOfOperation = one.shown.details.changes.flatMap(({ path, hunks }): readonly ConfirmedPart[] => {
    const part = parts?.find((some) => some.path === path);
    const isWhole = !isShown.has(path) || (part !== undefined && part.hunks.length > 0);
    if (changers(path).length > 1 || !isShown.has(path))
      return isWhole ? [{ path, hunks: [...hunks.keys()] }] : [];
    return part === undefined ? [] : [part];
  });
  const written = contents?.filter(({ path }) => changers(path).at(-1) === one);
  const given = { parts: parts && partsOfOperation, contents: written };
  return { ...reply, payload: { ...payload, ...withoutUndefined(given) } };
}

/** Returns what a reply about an operation makes of it; undefined when it accepts nothing of it. */
function choiceAbout(one: AskedOperation, reply: ConfirmReply): Choice | undefined {
  const { outcome, payload = {} } = reply;
  const { parts, contents, final } = payload;
  if (outcome === "proceed_parts" && !parts?.some(({ hunks, lines = [] }) => hunks.length + lines.length > 0))
    return undefined;
  if (outcome === "modify_with_editor" && contents?.length === 0)
    return { ...NO_CHOICE, asksAgain: final !== true };
  const choice = choiceOf(shownBy(one), reply);
  // What can only be made as one is left out where a part of it is not accepted.
  const isRefused = choice?.revision !== undefined && !one.question.isRevisable;
  return isRefused ? undefined : choice;
}

/** Returns what a lasting answer may cover; undefined for operations of several tools. */
function lastingFor(asked: readonly AskedOperation[]): OpenQuestion["asked"] {
  const tools = new Set(asked.map(({ planned }) => planned.change.tool.name));
  const [tool] = tools;
  if (tool === undefined || tools.size > 1) return undefined;
  return { tool, roots: rootsContaining(asked.flatMap(({ planned }) => planned.change.call.locations)) };
}

/** The longest title of a question about several operations, in code points. */
const MAX_TITLE_CHARS = 300;
const RISKS = ["low", "medium", "high"] as const;

/** Returns what a question shows: of one operation its own, of several all of them together. */
function detailsOf(
  asked: readonly AskedOperation[],
  changes: readonly ConfirmedChange[],
): ChangeQuestion["details"] {
  const all = asked.map(({ shown }) => shown.details);
  const first = all[0] as ChangeQuestion["details"];
  const digest = digestOf(asked);
  if (all.length === 1) return { ...first, digest };
  const hashes = all.map((one) => one.hash);
  const hash = hashes.includes(undefined) ? undefined : engine().sha256(encodeUtf8(hashes.join("\n")));
  const { hash: _, ...rest } = first;
  return {
    ...rest,
    digest,
    type: all.some(({ type }) => type === "edit") ? "edit" : "info",
    title: cutTitle(`${all.length} operations: ${all.map(({ title }) => title).join("; ")}`),
    tool: new Set(all.map(({ tool }) => tool)).size === 1 ? first.tool : "batch",
    fileDiff: all.map(({ fileDiff }) => fileDiff).join(""),
    originalContent: null,
    newContent: null,
    paths: [...new Set(all.flatMap(({ paths }) => paths))],
    risk: RISKS.findLast((risk) => all.some((one) => one.risk === risk)) ?? "low",
    ...withoutUndefined({ hash }),
    changes,
    complete: all.every(({ complete }) => complete),
    ...withoutUndefined({ incomplete: all.find(({ complete }) => !complete)?.incomplete }),
  };
}

function cutTitle(title: string): string {
  const points = [...title];
  return points.length <= MAX_TITLE_CHARS ? title : `${points.slice(0, MAX_TITLE_CHARS - 1).join("")}…`;
}

/** Returns the digest of all that an answer depends on: the operations as they are shown, and what is there now. */
function digestOf(asked: readonly AskedOperation[]): string {
  const parts = asked.map(({ question, shown, ownVersions }) => [
    question.outline,
    shown.outline,
    ownVersions.map(({ path, version }) => [path, version]),
  ]);
  return digestOfParts(["filewright batch 1", ...parts]);
}
