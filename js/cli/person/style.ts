/** Colours: whether a stream supports them, and their meaning. */
import process from "node:process";
import util from "node:util";
import { UsageError } from "../../schema/command-line.node.ts";

type Format = Parameters<typeof util.styleText>[0];

/** The meaning of a style. */
export type Style =
  | "bad"
  | "badWord"
  | "good"
  | "goodWord"
  | "place"
  | "faint"
  | "strong"
  | "path"
  | "number"
  | "match"
  | "directory"
  | "link"
  | "other";

const STYLES: Readonly<Record<Style, Format>> = {
  bad: "red",
  badWord: ["red", "inverse"],
  good: "green",
  goodWord: ["green", "inverse"],
  place: "cyan",
  faint: "dim",
  strong: "bold",
  path: "magenta",
  number: "green",
  match: ["bold", "red"],
  directory: ["bold", "blue"],
  link: "cyan",
  other: "yellow",
};

const MODES = ["auto", "always", "never"] as const;

/** When to use colour: `auto` checks the stream and the environment. */
export type ColourMode = (typeof MODES)[number];

let mode: ColourMode = "auto";

/** Sets the value of `--color`; it overrides the environment. @throws UsageError */
export function setColour(given: unknown): ColourMode {
  const found = MODES.find((one) => one === (given ?? "auto"));
  if (found === undefined) throw new UsageError(`--color must be auto, always or never, not '${given}'`);
  mode = found;
  return found;
}

/**
 * Returns true when a stream gets colour: NO_COLOR and FORCE_COLOR are obeyed, otherwise it must
 * be a terminal with colours.
 */
export function colours(stream: NodeJS.WriteStream): boolean {
  if (mode !== "auto") return mode === "always";
  const { NO_COLOR: no = "", FORCE_COLOR: force = "", TERM: term } = process.env;
  if (no !== "") return false;
  if (force !== "") return force !== "0" && force !== "false";
  return stream.isTTY === true && term !== "dumb";
}

/** Returns the text in a style, when the stream has colour. */
export function styled(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  if (!colours(stream) || text === "") return text;
  // Newer releases of Node check the stream themselves, and would ignore --color always.
  const paint = util.styleText as
    | ((format: Format, text: string, options: { readonly validateStream: boolean }) => string)
    | undefined;
  // Node before 20.12 has no styleText.
  return paint === undefined ? text : paint(STYLES[style], text, { validateStream: false });
}
