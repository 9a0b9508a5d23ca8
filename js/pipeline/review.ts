/**
 * Requests the approval of a planned change, and compares the approved state with the current one
 * right before the change is made.
 *
 * An approval covers the real paths, the versions of the existing entries and the new content. If
 * one of them differs when the change is made, the call fails with CONFLICT: what was approved is
 * not planned again. Before that, only a reviewer who looks again has it planned again.
 */
import type { Files } from "../backends/files.ts";
import type { Location } from "../policy/index.ts";
import { nameOf } from "../backends/paths.ts";
import { engine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";
import { toBase64 } from "../engine/wire/bytes.ts";
import { confirmedChange } from "../hooks/changed-files.ts";
import { askReviewer, type CallQuestion } from "../hooks/asking.ts";
import { type AskedCall, type ChangingOutcome, isLasting } from "../hooks/scope/offer.ts";
import { type Confirm, type Confirmation, type ConfirmReply, denied, refusedBy } from "../hooks/confirm.ts";
import { digestOfParts } from "../hooks/question.ts";
import type { BaseVersion, Preview } from "../tools/change/change.ts";
import type { ChangingPlan } from "../tools/change/make.ts";
import { choose, isRevisable, show } from "../tools/change/show.ts";
import { currentVersion } from "../tools/lib/contents.ts";
import { escapeControls } from "../engine/escape.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { encodeUtf8 } from "../tools/lib/text.ts";
import { titleWithUndoNote } from "./undo-note.ts";
import type { AnyChangingTool, Call, PathUse, Plan, Settled } from "../tools/lib/tool.ts";
import {
  hasEditableText,
  hasParts,
  noteAboutWritten,
  type Revision,
  type Selection,
  selectParts,
  type ShownChanges,
  writtenRevision,
} from "./parts.ts";
import { exactCommandOf, rootsContaining } from "./command.ts";
import { realPlaceOf } from "./path-locks.ts";
import type { MetaApproval } from "./result.ts";
import type { Session } from "./session.ts";
import { type StaleFunctions, staleFunctionsOf } from "./stale.ts";

/** The state that an approval depends on. It is compared right before the change is made. */
export interface ApprovalEvidence {
  /** The real path of each path of the call, in the order of its uses. */
  readonly places: readonly string[];
  /** The versions of the existing entries. */
  readonly base: readonly BaseVersion[];
}

/** A plan that the reviewer approved. */
export interface ReviewedPlan extends ApprovalEvidence {
  readonly plan: ChangingPlan;
  /** The changes of the reviewer, in order. */
  readonly revisions: readonly Revision[];
  /** A sentence for the model about what the reviewer left out; undefined when nothing was. */
  readonly note: string | undefined;
  readonly approval: MetaApproval;
}

/** One change that needs an approval. */
export interface ReviewableChange {
  readonly tool: AnyChangingTool;
  readonly args: object;
  readonly uses: readonly PathUse[];
  readonly call: Call;
}

/** A change about which a reviewer is asked in a workspace. */
export interface AskedChange extends ReviewableChange {
  readonly session: Session;
}

/** The question about a planned change. */
export interface ChangeQuestion extends ApprovalEvidence {
  readonly details: Omit<Confirmation, "onConfirm" | "signal" | "scopes" | "isModifying">;
  /** The digest of the question without versions; equal when the same change is planned again. */
  readonly outline: string;
  /** The planned changes, in the order of those in `details`. */
  readonly planned: ShownChanges["planned"];
  /** True when a reviewer can change the contents of the plan. */
  readonly isRevisable: boolean;
}

/** Returns the real path of each path of a call: for an entry, of the entry itself; otherwise of its target. */
export async function realPathsOf(
  uses: readonly PathUse[],
  { fs, locations }: Pick<Call, "fs" | "locations">,
): Promise<readonly string[]> {
  const places: string[] = [];
  for (const [index, use] of uses.entries())
    places.push(await realPlaceOf(use, (locations[index] as Location).path, fs));
  return places;
}

/**
 * Returns the question about a plan, and the state that its answer depends on. Says in the title that a change cannot be
 * undone if it replaces or removes more than `maxUndoneBytes`.
 */
export async function changeQuestionOf(
  { tool, args, uses, call }: ReviewableChange,
  plan: ChangingPlan,
  maxUndoneBytes: number | undefined,
): Promise<ChangeQuestion> {
  const places = await realPathsOf(uses, call);
  const paths: string[] = [];
  for (const [index, { path }] of call.locations.entries()) {
    const { entry = false, belowReplaced = false } = uses[index] ?? {};
    paths.push(entry && !belowReplaced ? await call.fs.realpath(path) : (places[index] as string));
  }
  const limit = tool.traits.includes("writesSeveral") ? undefined : maxUndoneBytes;
  const preview = await show(plan, call);
  const title = await titleWithUndoNote(preview, limit, call.fs);
  const placeOfPath = new Map(call.locations.map(({ path }, index) => [path, places[index] as string]));
  const changes = preview.changes.map(({ contents, ...one }) =>
    confirmedChange(
      { ...one, path: placeOfPath.get(one.path) ?? one.path, display: call.reader.display(one.path) },
      contents,
    ),
  );
  const { base } = preview;
  const { agent, callId, turn } = call.about;
  const outlined = questionOutline(tool.name, args, places, preview);
  const outline = digestOfParts([...outlined, base.map(({ path, entry }) => [path, entry === true])]);
  const digest = digestOfParts([outline, base.map(({ path, version }) => [path, version])]);
  const { diff, originalContent, newContent, newBytes, risk, hash, incomplete } = preview;
  return {
    places,
    base,
    outline,
    planned: preview.changes,
    isRevisable: isRevisable(plan),
    details: withoutUndefined({
      type: hash === undefined ? "info" : "edit",
      title: escapeControls(title),
      tool: tool.name,
      fileName: nameOf((call.locations[preview.location] as Location).path),
      fileDiff: diff,
      originalContent,
      newContent,
      path: paths[preview.location] as string,
      paths,
      risk,
      agent,
      hash,
      callId: callId === "" ? undefined : callId,
      turn,
      changes,
      digest,
      complete: incomplete === undefined,
      incomplete,
      newContentBase64: newBytes && toBase64(newBytes),
    }),
  };
}

/** Returns the content of a question, without the versions that it depends on. */
function questionOutline(
  tool: string,
  args: object,
  places: readonly string[],
  { title, diff, originalContent, newContent, hash, changes, incomplete }: Preview,
): readonly unknown[] {
  const hashed = (text: string | null): string | null =>
    text === null ? null : engine().sha256(encodeUtf8(text));
  return [
    "filewright question 1",
    tool,
    hashed(JSON.stringify(args)),
    title,
    places,
    hash ?? hashed(newContent),
    hashed(diff),
    hashed(originalContent),
    changes.map(({ path, kind, type, from, mode }) => [path, kind, type, from ?? null, mode ?? null]),
    incomplete ?? null,
  ];
}

/**
 * Asks the reviewer until a plan is approved unchanged. `replan` plans again on the present content, for a reviewer who
 * looks again; its plan is returned at once when it has nothing to change. With `isTrial` it asks nobody, and its plan is
 * not used.
 * @throws FilewrightError APPROVAL_DENIED, also after {@link MAX_QUESTIONS} without a decision; CANCELLED
 */
export async function reviewUntilApproved(
  asked: AskedChange,
  planned: ChangingPlan,
  confirm: Confirm,
  replan: Replan,
): Promise<ReviewedPlan | Settled<unknown>> {
  const { session } = asked;
  const largest = session.past.log.largestUndo?.bytes;
  let revisions: readonly Revision[] = [];
  let notes: readonly string[] = [];
  let plan = planned;
  let replaces: string | undefined;
  for (let questions = 0; questions < MAX_QUESTIONS; questions++) {
    const question = await changeQuestionOf(asked, plan, largest);
    const open = await openQuestion(asked, question, replan);
    const reply = await putQuestion(
      session,
      { ...open, replaces, isModifying: revisions.length > 0 },
      confirm,
    );
    if (reply.outcome === "look_again") {
      session.staging.stage?.refresh();
      const again = await replan();
      [revisions, notes, replaces] = [[], [], question.details.digest];
      if (again.kind === "settled") return again;
      plan = again;
      continue;
    }
    const { revision, note, parts, asksAgain } = wholeChoiceOf(question, reply);
    if (note !== undefined) notes = [...notes, note];
    let approved = question;
    if (revision !== undefined) {
      plan = await choose(plan, revision.files, revision.isSelection);
      revisions = [...revisions, revision];
      if (asksAgain) continue;
      approved = await changeQuestionOf(asked, plan, largest);
      // The reviewer saw the file at the time of the question, which may differ from the current one.
      await assertStateUnchanged(question, asked);
    }
    const { outcome, payload = {} } = reply;
    return {
      plan,
      revisions,
      note: notes.length === 0 ? undefined : notes.join("\n"),
      base: question.base,
      places: question.places,
      approval: { outcome, ...withoutUndefined({ hash: approved.details.hash, by: payload.by, parts }) },
    };
  }
  throw denied(`The reviewer decided nothing in ${MAX_QUESTIONS} questions about one call.`);
}

/** The maximum number of questions about one call: no person asks for so many, and a program may never decide. */
const MAX_QUESTIONS = 100;

/** What a reviewer has made of a change. */
export interface Choice {
  /** Undefined for a change that stays as it is. */
  readonly revision: Revision | undefined;
  /** A sentence for the model. */
  readonly note: string | undefined;
  /** The parts that were accepted; undefined where no parts were chosen. */
  readonly parts: Selection["parts"] | undefined;
  /** True when the reviewer wants to see the revised change before it is made. */
  readonly asksAgain: boolean;
}

/** The choice of a reply that leaves a change as it is. */
export const NO_CHOICE: Choice = { revision: undefined, note: undefined, parts: undefined, asksAgain: false };

/**
 * Returns what a reply makes of the changes that were asked about; undefined when it accepts nothing of them.
 * @throws FilewrightError APPROVAL_DENIED
 */
export function choiceOf(shown: ShownChanges, reply: ConfirmReply): Choice | undefined {
  const { outcome, payload = {} } = reply;
  if (outcome === "modify_with_editor") {
    const revision = writtenRevision(shown, payload);
    const note = noteAboutWritten(shown, revision);
    return { revision, note, parts: undefined, asksAgain: payload.final !== true };
  }
  if (outcome !== "proceed_parts") return NO_CHOICE;
  const selection = selectParts(shown, payload.parts ?? []);
  return selection && { ...selection, asksAgain: payload.final === false };
}

/** Returns what a reply makes of one change. @throws FilewrightError APPROVAL_DENIED where that is nothing */
function wholeChoiceOf({ details, planned }: ChangeQuestion, reply: ConfirmReply): Choice {
  const choice = choiceOf({ changes: details.changes, planned }, reply);
  if (choice === undefined) throw refusedBy(reply);
  return choice;
}

/** Plans a change again on the present content. With `isTrial` nobody is asked, and the plan is not used. */
type Replan = (isTrial?: boolean) => Promise<Plan<unknown>>;

/** A question about changes that is put to a reviewer. */
export interface OpenQuestion {
  readonly details: ChangeQuestion["details"];
  /** The calls that a lasting answer may cover; undefined where an answer holds for this call alone. */
  readonly asked: AskedCall | undefined;
  /** How a reviewer may change what is made. */
  readonly changing: readonly ChangingOutcome[];
  readonly call: Pick<Call, "about" | "reader" | "signal">;
  readonly stale: StaleFunctions;
  /** The digest of the question that this one replaces; undefined for none. */
  readonly replaces: string | undefined;
  /** True when the reviewer has revised the change before. */
  readonly isModifying: boolean;
}

/** Returns the question about one planned change. */
async function openQuestion(
  change: AskedChange,
  { details, planned, isRevisable, places, base }: ChangeQuestion,
  replan: Replan,
): Promise<Omit<OpenQuestion, "replaces" | "isModifying">> {
  const { tool, call } = change;
  const { stage } = change.session.staging;
  const stale = staleFunctionsOf(
    async () => {
      stage?.refresh();
      await assertStateUnchanged({ places, base }, change);
    },
    async () => {
      stage?.refresh();
      await replan(true);
    },
  );
  const roots = rootsContaining(call.locations);
  const asked = { tool: tool.name, roots, command: await exactCommandOf(change) };
  const shown = { changes: details.changes, planned };
  const changing = isRevisable ? changingOutcomes(shown, details.newContent !== null) : [];
  return { details, asked, changing, call, stale };
}

/** Returns how a reviewer may change these changes. `hasText` spares looking for a text where one is known. */
export function changingOutcomes(
  { changes, planned }: ShownChanges,
  hasText: boolean,
): readonly ChangingOutcome[] {
  return [
    ...(hasParts(planned) ? (["proceed_parts"] as const) : []),
    ...(hasText || hasEditableText(changes) ? (["modify_with_editor"] as const) : []),
  ];
}

/** Where no lasting answer is offered, one allows this call alone. */
const KEEPS_NOTHING = { remember: async (): Promise<undefined> => undefined };

/** Asks a reviewer once. @throws FilewrightError APPROVAL_DENIED, CANCELLED */
export async function putQuestion(
  { gates: { approvals, notify } }: Session,
  { details, asked, changing, call, stale, replaces, isModifying }: OpenQuestion,
  confirm: Confirm,
): Promise<ConfirmReply> {
  const { title, complete } = details;
  const about = asked ?? { tool: details.tool, roots: [] };
  const scopes = approvals
    .offer(about, changing)
    .filter(({ outcome }) => asked !== undefined || !isLasting(outcome));
  const question: CallQuestion["question"] = {
    ...details,
    ...withoutUndefined({
      replaces,
      hasProgress: call.reader.onProgress === undefined ? undefined : true,
      isModifying: isModifying ? true : undefined,
    }),
    ...stale,
    scopes: complete ? scopes : scopes.filter(({ outcome }) => outcome === "cancel"),
  };
  const who = { confirm, approvals: asked === undefined ? KEEPS_NOTHING : approvals, notify };
  const asking = { asked: { ...about, turn: call.about.turn }, title, question };
  const reply = await askReviewer(who, asking, call.signal);
  if (reply.outcome === "cancel") throw refusedBy(reply);
  return asked === undefined && isLasting(reply.outcome) ? { ...reply, outcome: "proceed_once" } : reply;
}

/**
 * Compares the state in a question with the current one.
 * @throws FilewrightError CONFLICT when a path has another target, or an entry has changed
 */
export async function assertStateUnchanged(
  { places, base }: ApprovalEvidence,
  { uses, call }: Pick<ReviewableChange, "uses" | "call">,
): Promise<void> {
  const now = await realPathsOf(uses, call);
  for (const [index, place] of places.entries()) {
    if (now[index] === place) continue;
    const { path } = call.locations[index] as Location;
    throw new FilewrightError("CONFLICT", "leads to another place than the one that was shown", { path });
  }
  await assertVersionsUnchanged(base, call.fs);
}

/** Compares versions with the current ones. @throws FilewrightError CONFLICT when one differs */
export async function assertVersionsUnchanged(base: readonly BaseVersion[], fs: Files): Promise<void> {
  for (let at = 0; at < base.length; at += VERSIONS_COMPARED_AT_ONCE) {
    const some = base.slice(at, at + VERSIONS_COMPARED_AT_ONCE);
    const versions = await Promise.all(
      some.map(({ path, entry }) => currentVersion(fs, path, entry === true)),
    );
    const changed = some.find(({ version }, index) => versions[index] !== version);
    if (changed === undefined) continue;
    const { path } = changed;
    throw new FilewrightError("CONFLICT", "changed while its approval was asked for", { path });
  }
}

/** The number of versions that are requested at once. */
const VERSIONS_COMPARED_AT_ONCE = 32;
