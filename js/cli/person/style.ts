/**
 * Decides how output looks for a person: colours, sizes, times and escaped lines, and whether a person reads
 * it at all.
 */
import util from "node:util";
import { UsageError, type ParsedCommandLine } from "../../schema/command-line.node.ts";
import { escapeControls } from "../../engine/escape.ts";
import type { Program } from "../../mcp/program.ts";

type AnsiFormat = Parameters<typeof util.styleText>[0];

/** A style, by its meaning. */
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

const FORMAT_BY_STYLE: Readonly<Record<Style, AnsiFormat>> = {
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

const COLOUR_MODES = ["auto", "always", "never"] as const;

/** When colour is used. `auto`: as the stream and the environment say. */
type ColourMode = (typeof COLOUR_MODES)[number];

/** The surroundings of a command: the program that runs it, and when its output is coloured. */
export interface Shell {
  readonly program: Program;
  readonly colour: ColourMode;
}

/**
 * Returns the surroundings of a command whose option `--color`, which overrides the environment, has this value.
 * @throws UsageError
 */
export function shellWithColour(program: Program, given: unknown): Shell {
  const colour = COLOUR_MODES.find((one) => one === (given ?? "auto"));
  if (colour === undefined) throw new UsageError(`--color must be auto, always or never, not '${given}'`);
  return Object.freeze({ program, colour });
}

/**
 * Returns true when output to a stream is coloured: as NO_COLOR and FORCE_COLOR say, or else if it is a
 * terminal with colours.
 */
export function hasColours({ program, colour }: Shell, stream: NodeJS.WriteStream = program.stdout): boolean {
  if (colour !== "auto") return colour === "always";
  const { NO_COLOR: no = "", FORCE_COLOR: force = "", TERM: term } = program.env;
  if (no !== "") return false;
  if (force !== "") return force !== "0" && force !== "false";
  return stream.isTTY === true && term !== "dumb";
}

/** Returns the text in a style, if output to the stream is coloured; otherwise unchanged. */
export function withStyle(
  shell: Shell,
  style: Style,
  text: string,
  stream: NodeJS.WriteStream = shell.program.stdout,
): string {
  return styledText(hasColours(shell, stream), style, text);
}

/** Returns the text in a style, if it is coloured; otherwise unchanged. */
export function styledText(isColoured: boolean, style: Style, text: string): string {
  if (!isColoured || text === "") return text;
  // Newer versions of Node check the stream themselves, which would override `--color always`.
  const paint = util.styleText as
    | ((format: AnsiFormat, text: string, options: { readonly validateStream: boolean }) => string)
    | undefined;
  // Node before 20.12 does not have styleText.
  return paint === undefined ? text : paint(FORMAT_BY_STYLE[style], text, { validateStream: false });
}

/** Where and how a result is printed. */
export interface OutputForm {
  readonly shell: Shell;
  /** True to format the result for a person: in columns, with headings and highlighted matches. */
  readonly person: boolean;
  /** True to print the name of a file once, above its matches. */
  readonly heading: boolean;
  /** True to show output that is longer than the screen in a pager. */
  readonly pager: boolean;
}

/** Returns how a command line wants its result printed. */
export function outputFormOf({ values }: ParsedCommandLine, shell: Shell): OutputForm {
  const terminal = shell.program.stdout.isTTY === true;
  const person = terminal || shell.colour === "always" || values["heading"] === true;
  return {
    shell,
    person,
    heading: person && values["no-heading"] !== true,
    pager: terminal && values["no-pager"] !== true,
  };
}

const SIZE_UNITS = ["", "K", "M", "G", "T", "P"] as const;
const BYTES_PER_KIB = 1024;
/** A number below this value is shown with one decimal. */
const MAX_NUMBER_WITH_DECIMAL = 10;

/** Returns a number of bytes as at most four characters and a unit (K, M and so on, in powers of 1024). */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (Math.round(value) >= BYTES_PER_KIB && unit < SIZE_UNITS.length - 1) {
    value /= BYTES_PER_KIB;
    unit += 1;
  }
  if (unit === 0) return `${bytes}`;
  const tenth = Math.ceil(value * 10) / 10;
  return `${tenth < MAX_NUMBER_WITH_DECIMAL ? tenth.toFixed(1) : Math.ceil(value)}${SIZE_UNITS[unit]}`;
}

/** Returns a time as `YYYY-MM-DD HH:MM` in the time zone of this machine, with seconds if they are wanted. */
export function formatLocalTime(iso: string | number, precision: "minutes" | "seconds" = "minutes"): string {
  const time = new Date(iso);
  const two = (figure: number): string => String(figure).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  const seconds = precision === "minutes" ? "" : `:${two(time.getSeconds())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}${seconds}`;
}

/**
 * Escapes control characters in a line of a file, so that it cannot control the terminal or hide text. Tabs
 * are kept.
 */
export function escapeForTerminal(line: string): string {
  return line.split("\t").map(escapeControls).join("\t");
}
