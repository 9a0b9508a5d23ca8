/**
 * Tells the developer of a program that one of its functions, such as an approver, gave an answer that is none. The call
 * is refused for the model, which cannot mend the program.
 */
import { warnDeveloper } from "../engine/debug.ts";
import { escapeControls } from "../engine/escape.ts";

/** A function of a program that answers. */
interface Answerer {
  /** The function, such as `confirm`. */
  readonly name: string;
  /** The valid answers in the notation of JavaScript, each with its meaning. */
  readonly valid: string;
}

/** The functions that answer. */
export const ANSWERERS: Readonly<Record<"confirm" | "ask" | "before", Answerer>> = {
  confirm: {
    name: "confirm",
    valid: '{ outcome: "proceed_once" } to allow the change, or { outcome: "cancel" } to refuse it',
  },
  ask: { name: "permissions.ask", valid: '"yes" to allow the directory, or "no" to refuse it' },
  before: {
    name: "a before hook",
    valid: "undefined to let the call go on, or { proceed: false } to refuse it",
  },
};

/** The facts about an invalid answer, for `details` of the error. */
export interface AnswerFault {
  /** The answer, shortened. */
  readonly answer: string;
  /** The change to make in the program, in words. */
  readonly remedy: string;
}

/** Prints a warning for the developer, and returns the facts for the error. */
export function answerFault({ name, valid }: Answerer, given: unknown): AnswerFault {
  const answer = shownAnswer(given);
  const remedy = `${name} answered ${answer}, which is no valid answer; it must return ${valid}`;
  warnDeveloper(`${remedy}. The call was refused.`);
  return { answer, remedy };
}

/** The maximum length of a text that is shown. Longer ones may be the content of a file. */
const MAX_SHOWN_LENGTH = 30;
const MAX_SHOWN_KEYS = 5;

function shownAnswer(given: unknown): string {
  if (Array.isArray(given)) return "a list";
  if (typeof given === "function") return "a function";
  if (typeof given !== "object" || given === null) return shownValue(given);
  const entries = Object.entries(given);
  if (entries.length === 0) return "an object without keys";
  const shown = entries
    .slice(0, MAX_SHOWN_KEYS)
    .map(([key, value]) => `${shownKey(key)}: ${shownValue(value)}`);
  return `{ ${shown.join(", ")}${entries.length > MAX_SHOWN_KEYS ? ", …" : ""} }`;
}

function shownKey(key: string): string {
  return escapeControls(key.slice(0, MAX_SHOWN_LENGTH));
}

function shownValue(value: unknown): string {
  if (typeof value === "string")
    return value.length > MAX_SHOWN_LENGTH ? "a text" : JSON.stringify(escapeControls(value));
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "function" ? "a function" : String(value);
}
