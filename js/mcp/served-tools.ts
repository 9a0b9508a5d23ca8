/**
 * Chooses the tools that a server lists: those of preset `lean`, which `filewright mcp` uses, or those named by
 * `--tools` or by `server.tools` in a config file.
 */
import { PRESETS } from "../presets/index.ts";
import { LISTABLE_LEAN_NAMES } from "../presets/lean.ts";
import { nearest } from "../schema/nearest.ts";
import { hasTrait, toolsWith } from "../schema/tool-facts.ts";
import { TOOL_NAMES } from "../schema/tool-names.ts";
import type { ServedPreset } from "./offered.ts";

/** Returns the names of the tools that `--tools` can add to a list. */
export function addableTools(preset: ServedPreset, listed: readonly string[]): readonly string[] {
  return toolNamesOfPreset(preset).filter(
    (name) => !hasTrait(name, "runsCommands") && !listed.includes(name),
  );
}

/** The name in `--tools` that stands for all tools of the preset. */
const ALL_TOOLS_NAME = "all";

/**
 * Returns an error message for the first chosen name that the preset does not have; undefined when it has
 * all.
 */
export function wrongToolError(chosen: readonly string[], preset: ServedPreset): string | undefined {
  const known = toolNamesOfPreset(preset);
  for (const one of chosen) {
    const name = one.replace(/^\+/u, "");
    if (one === ALL_TOOLS_NAME || known.includes(name)) continue;
    const close = nearest(name, known);
    const remedy = close === undefined ? `there are ${known.join(", ")}` : `did you mean ${close}?`;
    return `there is no tool '${name}' in preset ${preset}; ${remedy}`;
  }
  return undefined;
}

function toolNamesOfPreset(preset: ServedPreset): readonly string[] {
  if (preset === "lean") return [...LISTABLE_LEAN_NAMES, ...toolsWith("runsCommands")];
  if (preset === "canonical") return CANONICAL_PRESET_NAMES;
  return PRESETS[preset].tools.map(({ name }) => name);
}

/** The names of our tools in preset `canonical`. Those that need a history do not belong to it: only `lean` can list them. */
const CANONICAL_PRESET_NAMES: readonly string[] = [...TOOL_NAMES].filter(
  (name) => !hasTrait(name, "needsHistory"),
);

/**
 * Returns the chosen tools in the order of `all`. A name with `+` is chosen in addition to the `usual` ones.
 * @param usual the names that are listed by default
 */
export function chosenTools<T extends { readonly name: string }>(
  all: readonly T[],
  chosen: readonly string[] | undefined,
  usual: readonly string[],
): readonly T[] {
  const named = chosen ?? usual;
  if (named.includes(ALL_TOOLS_NAME)) return all;
  const names = new Set(named.map((one) => one.replace(/^\+/u, "")));
  if (named.some((one) => one.startsWith("+"))) for (const name of usual) names.add(name);
  return all.filter(({ name }) => names.has(name));
}
