/** The form of the output: the text that a model and a script get, or one that is made for a person. */
import process from "node:process";
import type { Parsed } from "../../schema/command-line.node.ts";
import { setColour } from "./style.ts";

/** How results are printed. */
export interface Form {
  /** Laid out for a person: columns, headings, highlighted matches. */
  readonly person: boolean;
  /** The matches of a file stand below its name. */
  readonly heading: boolean;
  /** What is longer than the screen goes to a pager. */
  readonly pager: boolean;
}

/** The form that a command line wants. @throws UsageError */
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
