/** The changes of the page's state: a pure function of the state and an action. */
import type { ReviewEvent, ReviewQuestion, ReviewState } from "../../protocol.ts";
import { sentenceOf } from "../../questions/wider-draft.ts";
import { applyEvent } from "../../state.ts";
import { planOf, waitingInOrder } from "../screens/group/group.ts";
import { FIRST_TIMELINE } from "../screens/timeline/view.ts";
import { toggle, toggleLines } from "./choice.ts";
import { hiddenIn } from "./hidden.ts";
import { askedAgain, lastAnswer } from "./last-answer.ts";
import { CONFLICT_REASON, knownNotice, OUTCOME_WORDS, unknownNotice } from "./notice.ts";
import type { PageAction, PageState } from "./store.ts";

/**
 * Returns the state after an action.
 * @throws MissingEventsError when events before the given one are missing
 */
export function reducePage(state: PageState, action: PageAction): PageState {
  switch (action.type) {
    case "snapshot": {
      const { run, subject, workspaces, version, role, by, state: review } = action.snapshot;
      const workspace = keptWorkspace(workspaces, state.workspace);
      const shared = { run, subject, workspaces, version, role, by, review, workspace };
      const next: PageState = { ...withKnownAnswer(state, review), connection: "live", ...shared };
      return withChoice(
        run === state.run ? next : { ...next, rows: new Map(), leftOut: new Map(), seen: new Map() },
        action.now,
      );
    }
    case "event": {
      const review = applyEvent(state.review, action.event);
      if (review === state.review) return state;
      const next = replaced(
        { ...state, review, ...subjectOf(action.event, state.workspace) },
        action.event,
        action.now,
      );
      return withChoice(forgetSettled(withLateAnswer(next)), action.now);
    }
    case "connection":
      return { ...state, connection: action.connection };
    case "rows":
      return { ...state, rows: new Map(state.rows).set(action.id, action.rows) };
    case "secrets":
      return toggleSecrets(state);
    case "choose":
      return choose({ ...state, pane: "change", notice: undefined }, action.id, action.now);
    case "step":
      return step({ ...state, notice: undefined }, action.by, action.now);
    case "hunk":
      return action.hunk === state.hunk ? state : { ...state, hunk: action.hunk, line: undefined };
    case "toggle":
      return toggle(state, action.key, action.line);
    case "lines":
      return toggleLines(state, action.hunk);
    case "line":
      return { ...state, hunk: action.hunk, line: action.line };
    case "dialog":
      return openDialog(state, action.dialog, action.proposal);
    case "group":
      return { ...state, dialog: "group", plan: planOf(state, action.group, action.outcome) };
    case "group-sent": {
      const next = goOn({ ...state, sending: undefined, dialog: undefined }, action.ids, action.now);
      return { ...next, notice: action.notice };
    }
    case "reason":
      return { ...state, reason: action.reason };
    case "typing":
      return state.isTyping ? state : { ...state, isTyping: true };
    case "draft":
      return { ...state, isTyping: false, drafts: withDraft(state, action) };
    case "sending":
      return { ...state, sending: action.id, notice: undefined };
    case "sent":
      return sent(state, action);
    case "failed":
      return { ...state, sending: undefined, notice: { text: action.text, isFailure: true } };
    case "done":
      return { ...state, dialog: state.dialog === "put-back" ? undefined : state.dialog, notice: action };
    case "dismiss":
      return { ...state, notice: undefined };
    case "put-back":
      return putBack(state, action.now);
    case "unknown":
      return withUnknownAnswer(state, action.id);
    case "pane":
      return { ...state, pane: action.pane };
    case "going":
      return { ...state, isGoing: action.isGoing };
    case "screen":
      return {
        ...state,
        screen: action.screen,
        isGoing: false,
        notice: undefined,
        allowed: undefined,
        file: undefined,
      };
    case "why":
      return { ...state, screen: "policy", isGoing: false, asked: action.asked, notice: undefined };
    case "allowed":
      return { ...state, screen: "policy", isGoing: false, notice: undefined, allowed: action.allowed };
    case "file":
      return { ...state, screen: "search", isGoing: false, notice: undefined, file: action.path };
    case "workspace":
      return { ...state, workspace: action.workspace, timeline: FIRST_TIMELINE, notice: undefined };
    case "timeline":
      return { ...state, timeline: { ...state.timeline, ...action.change } };
  }
}

/** Returns the drafts after the editor of a change was closed. */
function withDraft(
  { drafts, review }: PageState,
  { id, change, text }: PageAction & { readonly type: "draft" },
): PageState["drafts"] {
  const ofQuestion = new Map(drafts.get(id));
  if (text === undefined) ofQuestion.delete(change);
  else ofQuestion.set(change, text);
  const next = new Map(drafts);
  if (ofQuestion.size > 0 && review.waiting.some((one) => one.id === id)) next.set(id, ofQuestion);
  else next.delete(id);
  return next;
}

/** Has the rows of the chosen question loaded again, with its secrets or without. */
function toggleSecrets(state: PageState): PageState {
  const { chosen = "", rows } = state;
  const known = rows.get(chosen);
  if (known === undefined || (hiddenIn(known.pages) === 0 && known.isShown !== true)) return state;
  const next = { ...known, isComplete: false, isShown: known.isShown !== true };
  return { ...state, rows: new Map(rows).set(chosen, next) };
}

/** Chooses the first question that waits where none is chosen. A chosen one stays, also when it is settled. */
function withChoice(state: PageState, now: number): PageState {
  const { chosen, review } = state;
  const isThere =
    chosen !== undefined &&
    !(state.goesOn && review.waiting.length > 0) &&
    (review.waiting.some(({ id }) => id === chosen) ||
      review.settled.some((one) => one.question.id === chosen));
  if (isThere) return state;
  const [first] = review.waiting;
  return first === undefined ? { ...state, chosen: undefined } : chooseByItself(state, first.id, now);
}

function choose(state: PageState, id: string, now: number): PageState {
  if (id === state.chosen) return state.goesOn ? { ...state, goesOn: false } : state;
  return {
    ...state,
    chosen: id,
    chosenAt: now,
    goesOn: false,
    hunk: 0,
    line: undefined,
    dialog: undefined,
    reason: "",
  };
}

/**
 * Chooses a question that no person has chosen. An open dialog stays: what is being typed into it would be the keys of
 * the page without it, and could answer the question that has just appeared.
 */
function chooseByItself(state: PageState, id: string, now: number): PageState {
  const { dialog, reason } = state;
  return { ...choose(state, id, now), dialog, reason: dialog === "refuse" ? reason : "" };
}

/** Opens a dialog, or closes the open one. The reason of a refusal that must be is filled in. */
function openDialog(
  state: PageState,
  dialog: PageState["dialog"],
  proposal: PageState["proposal"],
): PageState {
  const question = state.review.waiting.find(({ id }) => id === state.chosen);
  const isConflict = dialog === "refuse" && question?.conflict !== undefined && state.reason === "";
  const reason = isConflict ? CONFLICT_REASON : state.reason;
  return { ...state, dialog, proposal, reason, notice: dialog === undefined ? state.notice : undefined };
}

/** Chooses the question before or after the chosen one. */
function step(state: PageState, by: 1 | -1, now: number): PageState {
  const waiting = waitingInOrder(state.review.waiting);
  const at = waiting.findIndex(({ id }) => id === state.chosen);
  const next = at < 0 ? waiting[0] : waiting[at + by];
  return next === undefined ? state : choose(state, next.id, now);
}

/** Chooses the question that replaces the chosen one, and keeps what was seen of that. */
function replaced(state: PageState, event: ReviewEvent, now: number): PageState {
  if (event.type !== "asked" || event.question.replaces === undefined) return state;
  const { id, replaces } = event.question;
  const pages = state.rows.get(replaces)?.pages;
  const next = pages === undefined ? state : { ...state, seen: new Map(state.seen).set(id, pages) };
  return state.chosen === replaces ? chooseByItself(next, id, now) : next;
}

/** Says what was answered, and chooses the next question that waits, or that which replaces it. */
function sent(
  state: PageState,
  { id, outcome, now, isEdited, wider }: PageAction & { readonly type: "sent" },
): PageState {
  const { waiting, settled } = state.review;
  const question =
    waiting.find((one) => one.id === id) ?? settled.findLast((one) => one.question.id === id)?.question;
  const refusal = outcome === "refuse" ? { id, reason: state.reason.trim() } : state.refusal;
  const answered = { ...state, sending: undefined, dialog: undefined, goesOn: false, reason: "", refusal };
  const stays = outcome === "look_again" && waiting.some((one) => one.id !== id);
  const moved = stays ? answered : goOn(answered, new Set([id]), now);
  const done = isEdited === true ? "Allowed as you edited it" : OUTCOME_WORDS[outcome];
  const text = `${done}: ${question?.title ?? id}`;
  if (question === undefined || wider === undefined) return { ...moved, notice: { text, isFailure: false } };
  const { scope, dir } = wider;
  const words = `${text}. ${sentenceOf(question, wider)} The policy lists it and can revoke it.`;
  return { ...moved, notice: { text: words, isFailure: false, allowed: { scope, dir } } };
}

/** Chooses the next question that waits if the chosen one was answered; where none waits, that which is asked next. */
function goOn(state: PageState, answered: ReadonlySet<string>, now: number): PageState {
  const { chosen, review } = state;
  if (chosen === undefined || !answered.has(chosen)) return state;
  const waiting = waitingInOrder(review.waiting);
  const isLeft = ({ id }: ReviewQuestion): boolean => !answered.has(id);
  const at = waiting.findIndex(({ id }) => id === chosen);
  const next = waiting.slice(Math.max(at, 0)).find(isLeft) ?? waiting.findLast(isLeft);
  return next === undefined ? { ...state, goesOn: true } : choose(state, next.id, now);
}

/**
 * Opens the way back from the last answer. What was allowed can be undone, after a confirmation. What was refused was
 * never made: its text is shown again, and its reason is a draft once the same is asked again.
 */
function putBack(state: PageState, now: number): PageState {
  const last = lastAnswer(state);
  if (last === undefined) return state;
  if (last.outcome !== "refuse") return { ...state, dialog: "put-back" };
  const again = askedAgain(state.review, last);
  const { id } = last.question;
  const shown = choose({ ...state, pane: "change" }, (again ?? last.question).id, now);
  const reason = state.refusal?.id === id ? state.refusal.reason : "";
  if (again === undefined) {
    const text = `Nothing of it was made, and it does not wait any more.${reason && ` Your reason was: ${reason}`}`;
    return { ...shown, notice: { text, isFailure: false } };
  }
  return { ...shown, dialog: "refuse", reason };
}

/** Says that it is not known whether an answer was taken. Its dialog is closed, and keeps what was typed. */
function withUnknownAnswer(state: PageState, id: string): PageState {
  const { waiting, settled } = state.review;
  const question = [...waiting, ...settled.map((one) => one.question)].find((one) => one.id === id);
  const unknown = { id, title: question?.title ?? id };
  return { ...state, dialog: undefined, unknown, notice: unknownNotice(unknown) };
}

/** Says what the server knows of an answer of which it was not known whether it was taken. */
function withKnownAnswer(state: PageState, review: ReviewState): PageState {
  const { unknown } = state;
  if (unknown === undefined) return state;
  return { ...state, unknown: undefined, sending: undefined, notice: knownNotice(review, unknown) };
}

/** Replaces the message that a question still waits, once it is answered. */
function withLateAnswer(state: PageState): PageState {
  const id = state.notice?.unanswered;
  if (id === undefined || state.review.waiting.some((one) => one.id === id)) return state;
  const title = state.review.settled.findLast(({ question }) => question.id === id)?.question.title;
  return { ...state, notice: knownNotice(state.review, { id, title: title ?? id }) };
}

/** Returns what an event says about the subject of the review and its workspaces. */
function subjectOf(
  event: ReviewEvent,
  chosen: string | undefined,
): Partial<Pick<PageState, "subject" | "workspaces" | "workspace">> {
  if (event.type !== "subject") return {};
  const { subject, workspaces } = event;
  return { subject, workspaces, workspace: keptWorkspace(workspaces, chosen) };
}

/** Returns the chosen workspace if it is still there; otherwise the first one is meant. */
function keptWorkspace(workspaces: readonly string[], chosen: string | undefined): string | undefined {
  return chosen !== undefined && workspaces.includes(chosen) ? chosen : undefined;
}

/**
 * Drops what is kept of questions that are neither waiting nor chosen. That of a question which was just looked at again
 * is needed to compare it with the one that replaces it, and that of the last answer to show it again.
 */
function forgetSettled(state: PageState): PageState {
  const { rows, seen, drafts, review, chosen } = state;
  const last = review.settled.at(-1);
  const replacing = last?.outcome === "look_again" ? last.question.id : undefined;
  const answered = lastAnswer(state)?.question.id;
  const isNeeded = (id: string): boolean =>
    id === chosen || id === replacing || id === answered || review.waiting.some((one) => one.id === id);
  const keep = <T>(map: ReadonlyMap<string, T>): ReadonlyMap<string, T> =>
    [...map.keys()].every(isNeeded) ? map : new Map([...map].filter(([id]) => isNeeded(id)));
  const kept = { rows: keep(rows), seen: keep(seen), drafts: keep(drafts) };
  const isSame = kept.rows === rows && kept.seen === seen && kept.drafts === drafts;
  return isSame ? state : { ...state, ...kept };
}
