/**
 * Decides which tools a server offers, from its options alone: instructions are sent before a workspace is open and
 * before any tool is loaded.
 */
import type { PresetName } from "../presets/index.ts";
import { CHANGING_TOOLS_OF_MCP, FINDERS_BY_PRESET, LEAN_TOOLS, WORDS_OF_LEAN } from "../presets/served.ts";
import { hasTrait, mayChangeFiles, toolsWith } from "../schema/tool-facts.ts";
import { TOOL_NAMES } from "../schema/tool-names.ts";

/** The preset of a server. `lean` means our own tools in a short form; see `leanPreset`. */
export type ServedPreset = PresetName | "lean";

/** The tools of the presets `lean`, `canonical` and `mcp` that change files. */
const CHANGING_TOOLS: ReadonlySet<string> = new Set([
  ...[...TOOL_NAMES].filter(mayChangeFiles),
  ...CHANGING_TOOLS_OF_MCP,
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
    preset === "lean" ? LEAN_TOOLS.includes(name) : !hasTrait(name, "needsHistory");
  const isChosen = (name: string): boolean => {
    if (chosen === undefined) return usual(name);
    if (chosen.includes("all") || chosen.includes(name) || chosen.includes(`+${name}`)) return true;
    return chosen.some((one) => one.startsWith("+")) && usual(name);
  };
  return (name) =>
    isChosen(name) &&
    !(options.readOnly && CHANGING_TOOLS.has(name)) &&
    (recordsChanges(options) || !hasTrait(name, "needsHistory"));
}

/** Returns the instructions of a server for a model: what its tools do, and which of them to take. */
export function instructionsFor(preset: ServedPreset, offers: (name: string) => boolean): string {
  const edits = toolsWith("edits").some(offers);
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
  if (preset === "lean")
    about.push(...WORDS_OF_LEAN.filter(([name]) => offers(name)).map(([, sentence]) => sentence));
  return about.join(" ");
}
