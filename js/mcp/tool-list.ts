/** The choice of tools by `--tools` and by `server.tools` of a config file. */
import { type PresetName, PRESETS } from "../presets/index.ts";
import { nearest } from "../schema/nearest.ts";
import { TOOL_NAMES } from "../schema/tool-names.ts";
import { LEAN_NAMES } from "./lean-preset.ts";

/** The preset of a server. `lean` has our own tools in a short form; see `lean-preset.ts`. */
export type ServedPreset = PresetName | "lean";

/** The word that chooses every tool of the preset. */
const ALL = "all";

/**
 * Returns an error message for a chosen name that the preset does not have; undefined when all names are
 * valid.
 */
export function wrongTool(chosen: readonly string[], preset: ServedPreset): string | undefined {
  const known = namesOf(preset);
  for (const one of chosen) {
    const name = one.replace(/^\+/u, "");
    if (one === ALL || known.includes(name)) continue;
    const close = nearest(name, known);
    const remedy = close === undefined ? `there are ${known.join(", ")}` : `did you mean ${close}?`;
    return `there is no tool '${name}' in preset ${preset}; ${remedy}`;
  }
  return undefined;
}

function namesOf(preset: ServedPreset): readonly string[] {
  if (preset === "lean") return [...LEAN_NAMES, "run_command"];
  if (preset === "canonical") return OWN_NAMES;
  return PRESETS[preset].tools.map(({ name }) => name);
}

/** The names of our tools in preset `canonical`. Only `lean` lists `undo` and `history`. */
const OWN_NAMES: readonly string[] = [...TOOL_NAMES].filter((name) => name !== "undo" && name !== "history");

/**
 * Returns the chosen tools in the order of `all`.
 * @param usual the names that are listed by default
 */
export function chosenTools<T extends { readonly name: string }>(
  all: readonly T[],
  chosen: readonly string[] | undefined,
  usual: readonly string[],
): readonly T[] {
  const named = chosen ?? usual;
  if (named.includes(ALL)) return all;
  const names = new Set(named.map((one) => one.replace(/^\+/u, "")));
  if (named.some((one) => one.startsWith("+"))) for (const name of usual) names.add(name);
  return all.filter(({ name }) => names.has(name));
}
