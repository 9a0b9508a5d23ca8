/** The keys of the page. */
import {
  chosenQuestion,
  hunkKeys,
  KEY_GUARD_MS,
  type PageAction,
  type PageState,
  type Screen,
  whyNotAllowed,
  whyNotRefused,
} from "./store.ts";

/** The keys with what they do, for the dialog that lists them. */
export const KEY_HELP: readonly (readonly [keys: readonly string[], text: string])[] = [
  [["j", "k"], "the next and the previous question"],
  [["n", "p"], "the next and the previous hunk"],
  [["Space"], "choose or leave out the marked hunk"],
  [["a"], "allow once what is chosen"],
  [["r"], "refuse, with a reason for the model"],
  [["g"], "then r, t, p, s or a: waiting, timeline, policy, search, activity"],
  [["?"], "these keys"],
  [["Esc"], "close a dialog"],
];

/** The screens, by the key that follows `g`. */
const SCREEN_BY_KEY: Readonly<Record<string, Screen>> = {
  r: "review",
  t: "timeline",
  p: "policy",
  s: "search",
  a: "activity",
};

/** The effect of a key: it changes the state of the page, or it allows. */
export type KeyEffect = PageAction | { readonly type: "allow" } | undefined;

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
  switch (key) {
    case "g":
      return { type: "going", isGoing: true };
    case "?":
      return { type: "dialog", dialog: "keys" };
  }
  // The keys of other screens are their own.
  if (state.screen !== "review") return undefined;
  switch (key) {
    case "j":
      return { type: "step", by: 1, now };
    case "k":
      return { type: "step", by: -1, now };
    case "n":
      return hunkStep(state, 1);
    case "p":
      return hunkStep(state, -1);
  }
  if (now - state.chosenAt < KEY_GUARD_MS || chosenQuestion(state) === undefined) return undefined;
  switch (key) {
    case " ": {
      const marked = hunkKeys(state.rows.get(state.chosen ?? ""))[state.hunk];
      return marked === undefined ? undefined : { type: "toggle", key: marked };
    }
    case "a":
      return whyNotAllowed(state) === undefined ? { type: "allow" } : undefined;
    case "r":
      return whyNotRefused(state) === undefined ? { type: "dialog", dialog: "refuse" } : undefined;
    default:
      return undefined;
  }
}

function hunkStep(state: PageState, by: 1 | -1): KeyEffect {
  const count = hunkKeys(state.rows.get(state.chosen ?? "")).length;
  const hunk = state.hunk + by;
  return hunk < 0 || hunk >= count ? undefined : { type: "hunk", hunk };
}
