/** Colours: whether a stream gets them, and which one means what. */
import process from "node:process";
import util from "node:util";
import { UsageError } from "../../schema/command-line.node.ts";

type Format = Parameters<typeof util.styleText>[0];

/** What a style means. */
export type Style =
  | "bad"
  | "good"
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
  good: "green",
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

/** When there is colour: `auto` asks the stream and the environment. */
export type ColourMode = (typeof MODES)[number];

let mode: ColourMode = "auto";

/** Takes the value of `--color`; it stands above the environment. @throws UsageError */
export function setColour(given: unknown): ColourMode {
  const found = MODES.find((one) => one === (given ?? "auto"));
  if (found === undefined) throw new UsageError(`--color must be auto, always or never, not '${given}'`);
  mode = found;
  return found;
}

/** Whether a stream gets colour: NO_COLOR and FORCE_COLOR are obeyed, else it is a terminal that can show it. */
export function colours(stream: NodeJS.WriteStream): boolean {
  if (mode !== "auto") return mode === "always";
  const { NO_COLOR: no = "", FORCE_COLOR: force = "", TERM: term } = process.env;
  if (no !== "") return false;
  if (force !== "") return force !== "0" && force !== "false";
  return stream.isTTY === true && term !== "dumb";
}

/** The text in a style, where the stream has colour. */
export function styled(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  if (!colours(stream) || text === "") return text;
  // Newer releases of Node ask the stream themselves, and would take --color always for nothing.
  const paint = util.styleText as
    | ((format: Format, text: string, options: { readonly validateStream: boolean }) => string)
    | undefined;
  // Node before 20.12 has no styleText.
  return paint === undefined ? text : paint(STYLES[style], text, { validateStream: false });
}
