/** The arguments of a command in words, for people. */
import { escapeControls } from "../../engine/escape.ts";

/** An argument whose limits can be seen without quotes. */
const PLAIN_ARGUMENT = /^[\w@%+=:,./-]+$/u;

/** Returns the arguments of a command, such as `git commit -m "two words"`: each that is not plain is quoted. */
export function argvInWords(argv: readonly string[]): string {
  const quoted = (part: string): string => escapeControls(JSON.stringify(part));
  return argv.map((part) => (PLAIN_ARGUMENT.test(part) ? part : quoted(part))).join(" ");
}
