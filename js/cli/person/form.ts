/** The form of the output: the text for models and scripts, or one made for a person. */
import process from "node:process";
import type { Parsed } from "../../schema/command-line.node.ts";
import { setColour } from "./style.ts";

/** How results are printed. */
export interface Form {
  /** Formatted for a person: columns, headings, highlighted matches. */
  readonly person: boolean;
  /** Group the matches of a file below its name. */
  readonly heading: boolean;
  /** Send output longer than the screen to a pager. */
  readonly pager: boolean;
}

/** Returns the form that a command line requests. @throws UsageError */
export function formOf({ values }: Parsed): Form {
  const colour = setColour(values["color"]);
  const terminal = process.stdout.isTTY === true;
  const person = terminal || colour === "always" || values["heading"] === true;
  return {
    person,
    heading: person && values["no-heading"] !== true,
    pager: terminal && values["no-pager"] !== true,
  };
}
