/**
 * Decides which tools a server offers, from its options alone: instructions are sent before a workspace is open and
 * before any tool is loaded.
 */
import type { PresetName } from "../presets/index.ts";

/** The preset of a server. `lean` means our own tools in a short form; see `leanPreset`. */
export type ServedPreset = PresetName | "lean";

/** The tools that `filewright mcp` lists by default. */
export const LEAN_TOOLS: readonly string[] = [
  "read_file",
  "write_file",
  "edit_file",
  "apply_patch",
  "grep",
  "glob",
  "list_directory",
  "move",
  "delete",
  "batch",
  "undo",
  "history",
  "access_info",
];

/** The tools about which a server records nothing where nothing is changed. */
const HISTORY_TOOLS: readonly string[] = ["undo", "history"];

/** The tools of the presets `lean`, `canonical` and `mcp` that change files. */
const CHANGING_TOOLS: ReadonlySet<string> = new Set([
  ...["write_file", "edit_file", "apply_patch", "move", "move_file", "copy", "delete", "batch"],
  ...["mkdir", "create_directory", "undo", "run_command"],
]);

/** The options on which it depends. */
export interface OfferOptions {
  readonly preset: ServedPreset;
  /** The names after `--tools`; undefined for the usual ones. */
  readonly tools?: readonly string[] | undefined;
  readonly readOnly: boolean;
  /** False when changes are not recorded. */
  readonly history: boolean;
}

/** Returns true when a server records the changes that are made by it. */
export function recordsChanges({ readOnly, history }: Pick<OfferOptions, "readOnly" | "history">): boolean {
  return !readOnly && history;
}

/** Returns a function that returns true for the name of a tool that a server offers. */
export function offersOf(options: OfferOptions): (name: string) => boolean {
  const { preset, tools: chosen } = options;
  const usual = (name: string): boolean =>
    preset === "lean" ? LEAN_TOOLS.includes(name) : !HISTORY_TOOLS.includes(name);
  const isChosen = (name: string): boolean => {
    if (chosen === undefined) return usual(name);
    if (chosen.includes("all") || chosen.includes(name) || chosen.includes(`+${name}`)) return true;
    return chosen.some((one) => one.startsWith("+")) && usual(name);
  };
  return (name) =>
    isChosen(name) &&
    !(options.readOnly && CHANGING_TOOLS.has(name)) &&
    (recordsChanges(options) || !HISTORY_TOOLS.includes(name));
}

/** Returns the instructions of a server for a model: what its tools do, and which of them to take. */
export function instructionsFor(preset: ServedPreset, offers: (name: string) => boolean): string {
  const edits = ["edit_file", "apply_patch"].some(offers);
  const changes = [...CHANGING_TOOLS].some(offers);
  const about = [
    changes
      ? "Read, search and change files inside the allowed directories; everything else is out of reach."
      : "Read and search files inside the allowed directories; nothing can be changed, and everything else is out of reach.",
  ];
  if (edits) about.push("Edits are exact or refused, and a refusal says what to send instead.");
  if (changes) about.push("A file that changed meanwhile is never overwritten.");
  about.push("Long answers are cut at a line and say how to go on.");
  const finders = (FINDERS_BY_PRESET[preset] ?? []).filter(([name]) => offers(name));
  if (finders.length > 0) about.push(`${finders.map(([name, does]) => `${name} ${does}`).join(", ")}.`);
  if (preset === "lean" && offers("undo")) about.push("undo takes your last change back.");
  return about.join(" ");
}

const OUR_FINDERS: readonly (readonly [string, string])[] = [
  ["glob", "finds names"],
  ["grep", "finds contents"],
  ["access_info", "tells the directories"],
];

/** The finding tools of a preset, each with what it finds. */
const FINDERS_BY_PRESET: Partial<Record<ServedPreset, readonly (readonly [string, string])[]>> = {
  lean: OUR_FINDERS,
  canonical: OUR_FINDERS,
  mcp: [
    ["search_files", "finds names, not contents"],
    ["list_allowed_directories", "tells the directories"],
  ],
};
