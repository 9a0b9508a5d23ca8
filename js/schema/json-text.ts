/**
 * Reads the JSON text that models send in place of a list or an object.
 *
 * Line feeds and tabs that stand raw in a string can mean only themselves, so they are taken. Any other fault is
 * reported with its place.
 */
import { escapeControls } from "../engine/escape.ts";

/** A JSON text that cannot be read, and why. */
export class BrokenJsonText {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

/** The number of UTF-16 units that are shown before the place of a fault. */
const SHOWN_UNITS = 20;

/** Returns the value of a JSON text that begins with `begins`. Any other text is returned unchanged. */
export function parseJsonText(text: string, begins: "[" | "{"): unknown {
  if (!text.trimStart().startsWith(begins)) return text;
  try {
    return JSON.parse(text);
  } catch {
    const escaped = withEscapedControls(text);
    try {
      return JSON.parse(escaped);
    } catch (error) {
      return new BrokenJsonText(faultOf(escaped, error));
    }
  }
}

/** Matches the strings of a JSON text. */
const STRINGS = /"(?:[^"\\]|\\.)*"/gsu;
/** Matches an escape, which stays, and a control character. */
const ESCAPES_AND_CONTROLS = /\\.|\p{Cc}/gsu;

/** Returns a JSON text with the control characters that stand raw in its strings as escapes. */
function withEscapedControls(text: string): string {
  return text.replace(STRINGS, (string) =>
    string.replace(ESCAPES_AND_CONTROLS, (found) =>
      found.startsWith("\\") ? found : JSON.stringify(found).slice(1, -1),
    ),
  );
}

/** Returns where a JSON text is broken, as far as the error of the runtime tells it. */
function faultOf(text: string, error: unknown): string {
  const [, digits] = /position (\d+)/u.exec((error as Error).message) ?? [];
  if (digits === undefined) return "its JSON text is broken or ends too early";
  const at = Number(digits);
  const before = text.slice(Math.max(0, at - SHOWN_UNITS), at);
  return `its JSON text is broken after ${escapeControls(JSON.stringify(before))}`;
}
