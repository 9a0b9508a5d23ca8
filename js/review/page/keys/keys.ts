/** The keys of the page. */
import { changedLines, canChooseParts, chosenQuestion, stopsOfChosen } from "../state/choice.ts";
import { canLookAgain, whyNotAllowed, whyNotEdited, whyNotRefused } from "../state/answers.ts";
import { KEY_GUARD_MS, type PageAction, type PageState, type Screen } from "../state/store.ts";
import { whyNotWider } from "../screens/wider/why-not.ts";

/** The keys with what they do, for the dialog that lists them. */
export const KEY_HELP: readonly (readonly [keys: readonly string[], text: string])[] = [
  [["j", "k"], "the next and the previous question, or call of the timeline"],
  [["n", "p"], "the next and the previous hunk, or line"],
  [["Space"], "choose or leave out the marked hunk, or line"],
  [["v"], "choose lines of the marked hunk, and hunks again"],
  [["a"], "allow once what is chosen"],
  [["w"], "allow wider: later calls too"],
  [["e"], "edit the content before allowing it"],
  [["r"], "refuse, with a reason for the model"],
  [["l"], "look again at what has changed meanwhile"],
  [["h"], "show text that looks like a secret, and hide it again"],
  [["u"], "put back what you answered last; timeline: the chosen call"],
  [["g"], "then r, t, p, s or a: waiting, timeline, policy, search, activity"],
  [["m"], "timeline: set a mark"],
  [["b"], "timeline: rewind to the chosen mark, or to before the chosen call"],
  [["v"], "timeline: versions of the file"],
  [["a"], "timeline: keep the chosen call, so that it counts as reviewed"],
  [["?"], "these keys"],
  [["Esc"], "close a dialog, or choose hunks again"],
];

/** The screens, by the key that follows `g`. */
const SCREEN_BY_KEY: Readonly<Record<string, Screen>> = {
  r: "review",
  t: "timeline",
  p: "policy",
  s: "search",
  a: "activity",
};

/** The effect of a key: it changes the state of the page, or it answers. */
export type KeyEffect =
  | PageAction
  | { readonly type: "answer"; readonly outcome: "allow" | "look_again" }
  | undefined;

/** Returns the effect of a key. `now` is the page's clock in milliseconds. */
type KeyAction = (state: PageState, now: number) => KeyEffect;

/** The keys of every screen. */
const KEYS_OF_PAGE: ReadonlyMap<string, KeyAction> = new Map<string, KeyAction>([
  ["g", () => ({ type: "going", isGoing: true })],
  ["?", () => ({ type: "dialog", dialog: "keys" })],
]);

/** The keys of the screen of questions, whether or not one is chosen. */
const KEYS_OF_REVIEW: ReadonlyMap<string, KeyAction> = new Map<string, KeyAction>([
  ["j", (_, now) => ({ type: "step", by: 1, now })],
  ["k", (_, now) => ({ type: "step", by: -1, now })],
  ["n", (state) => (state.line === undefined ? hunkStep(state, 1) : lineStep(state, 1))],
  ["p", (state) => (state.line === undefined ? hunkStep(state, -1) : lineStep(state, -1))],
  ["v", (state) => (canChooseParts(state) ? { type: "lines", hunk: state.hunk } : undefined)],
  ["u", (_, now) => ({ type: "put-back", now })],
  ["h", () => ({ type: "secrets" })],
  ["Escape", ({ line, hunk }) => (line === undefined ? undefined : { type: "lines", hunk })],
]);

/** The keys for the chosen question. */
const KEYS_OF_QUESTION: ReadonlyMap<string, KeyAction> = new Map<string, KeyAction>([
  [" ", toggle],
  ["a", (state) => (whyNotAllowed(state) === undefined ? { type: "answer", outcome: "allow" } : undefined)],
  ["w", (state) => (whyNotWider(state) === undefined ? { type: "dialog", dialog: "wider" } : undefined)],
  ["e", (state) => (whyNotEdited(state) === undefined ? { type: "dialog", dialog: "edit" } : undefined)],
  ["l", (state) => (canLookAgain(state) ? { type: "answer", outcome: "look_again" } : undefined)],
  ["r", (state) => (whyNotRefused(state) === undefined ? { type: "dialog", dialog: "refuse" } : undefined)],
]);

/**
 * Returns what a key does; undefined for nothing. `now` is the page's clock in milliseconds.
 *
 * No key answers a question that has just appeared: it was probably meant for the one before.
 */
export function effectOfKey(state: PageState, key: string, now: number): KeyEffect {
  if (state.dialog !== undefined) return undefined;
  if (state.isGoing) {
    const screen = Object.hasOwn(SCREEN_BY_KEY, key) ? SCREEN_BY_KEY[key] : undefined;
    return screen === undefined ? { type: "going", isGoing: false } : { type: "screen", screen };
  }
  const ofPage = KEYS_OF_PAGE.get(key);
  if (ofPage !== undefined) return ofPage(state, now);
  // The keys of other screens are their own.
  if (state.screen !== "review") return undefined;
  const ofReview = KEYS_OF_REVIEW.get(key);
  if (ofReview !== undefined) return ofReview(state, now);
  if (now - state.chosenAt < KEY_GUARD_MS || chosenQuestion(state) === undefined) return undefined;
  return KEYS_OF_QUESTION.get(key)?.(state, now);
}

/** Chooses or leaves out the marked hunk, or line. */
function toggle(state: PageState): KeyEffect {
  const marked = stopsOfChosen(state)[state.hunk];
  if (marked === undefined) return undefined;
  const { key } = marked;
  return { type: "toggle", key, ...(state.line === undefined ? {} : { line: state.line }) };
}

function hunkStep(state: PageState, by: 1 | -1): KeyEffect {
  const hunk = state.hunk + by;
  return stopsOfChosen(state)[hunk] === undefined ? undefined : { type: "hunk", hunk };
}

/** Goes to the changed line after or before the marked one, which may be in another hunk. */
function lineStep(state: PageState, by: 1 | -1): KeyEffect {
  const stops = stopsOfChosen(state);
  const lines = changedLines(stops[state.hunk]?.lines ?? "");
  const next = lines[lines.indexOf(state.line ?? -1) + by];
  if (next !== undefined) return { type: "line", hunk: state.hunk, line: next };
  for (let hunk = state.hunk + by; stops[hunk] !== undefined; hunk += by) {
    const stop = stops[hunk];
    const line =
      stop === undefined || stop.isWhole ? undefined : changedLines(stop.lines).at(by === 1 ? 0 : -1);
    if (line !== undefined) return { type: "line", hunk, line };
  }
  return undefined;
}
