/** The form of output for a person: whether one reads it, colours, sizes, times, and harmless lines. */
import process from "node:process";
import util from "node:util";
import { UsageError, type ParsedCommandLine } from "../../schema/command-line.node.ts";
import { escapeControls } from "../../engine/escape.ts";

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
type ColourMode = (typeof MODES)[number];

let mode: ColourMode = "auto";

/** Sets the value of `--color`; it overrides the environment. @throws UsageError */
function setColour(given: unknown): ColourMode {
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
export function formOf({ values }: ParsedCommandLine): Form {
  const colour = setColour(values["color"]);
  const terminal = process.stdout.isTTY === true;
  const person = terminal || colour === "always" || values["heading"] === true;
  return {
    person,
    heading: person && values["no-heading"] !== true,
    pager: terminal && values["no-pager"] !== true,
  };
}

const UNITS = ["", "K", "M", "G", "T", "P"] as const;
const KIB = 1024;
/** The value below which a figure has one decimal. */
const PRECISE_BELOW = 10;

/** Formats a number of bytes in at most four characters and a unit of 1024. */
export function humanBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (Math.round(value) >= KIB && unit < UNITS.length - 1) {
    value /= KIB;
    unit += 1;
  }
  if (unit === 0) return `${bytes}`;
  const tenth = Math.ceil(value * 10) / 10;
  return `${tenth < PRECISE_BELOW ? tenth.toFixed(1) : Math.ceil(value)}${UNITS[unit]}`;
}

/** Formats a time as `YYYY-MM-DD HH:MM` in this machine's time zone. */
export function localTime(iso: string): string {
  const time = new Date(iso);
  const two = (figure: number): string => String(figure).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** Escapes a line of a file, so that it cannot control the terminal or hide text; tabs stay. */
export function harmless(line: string): string {
  return line.split("\t").map(escapeControls).join("\t");
}
