/**
 * Presets offer the canonical tools under the names, parameters and texts of other systems. They are data: a
 * preset only translates calls and answers, and accesses no file.
 */
import { TOOLS } from "../tools/index.ts";
import { choiceOf, either, optionChecker, type OptionalOption } from "../schema/option.ts";
import { adk } from "./adk.ts";
import { amplifier } from "./amplifier.ts";
import { anthropic } from "./anthropic.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { fluent } from "./fluent.ts";
import { gemini } from "./gemini.ts";
import { geminiCli } from "./gemini-cli.ts";
import { go } from "./go.ts";
import { mcp } from "./mcp.ts";
import { PRESET_OPTIONS, type Preset, type PresetTool } from "./preset.ts";
import { tinyagent } from "./tinyagent.ts";

/** Every preset by its name. */
export const PRESETS: {
  readonly adk: Preset;
  readonly fluent: Preset;
  readonly tinyagent: Preset;
  readonly gemini: Preset;
  readonly go: Preset;
  readonly amplifier: Preset;
  readonly mcp: Preset;
  readonly "gemini-cli": Preset;
  readonly claude: Preset;
  readonly anthropic: Preset;
  readonly codex: Preset;
} = Object.freeze({
  adk,
  fluent,
  tinyagent,
  gemini,
  go,
  amplifier,
  mcp,
  "gemini-cli": geminiCli,
  claude,
  anthropic,
  codex,
});

/** The name of a preset; `canonical` means the tools' own names. */
export type PresetName = "canonical" | keyof typeof PRESETS;

/** The names of all presets, `canonical` first. */
export const PRESET_NAMES: readonly PresetName[] = Object.freeze([
  "canonical",
  ...(Object.keys(PRESETS) as (keyof typeof PRESETS)[]),
]);

/** The type of the option `preset`, wherever it is accepted: a name, or a preset object. */
export const PRESET_OPTION: OptionalOption<PresetName | Preset> = either(
  choiceOf(PRESET_NAMES),
  PRESET_OPTIONS,
);

const checkPresetOption = optionChecker("preset", PRESET_OPTION);

/**
 * Returns the preset with a name, or the given preset; undefined for `canonical` or no preset.
 *
 * @throws FilewrightError INVALID_ARGUMENT naming the nearest one
 */
export function presetOf(preset: PresetName | Preset | undefined): Preset | undefined {
  if (preset === undefined) return undefined;
  const given = checkPresetOption(preset);
  return given === "canonical" ? undefined : typeof given === "string" ? PRESETS[given] : given;
}

/** The meaning of a name of a preset's tool. */
export interface NameMeaning {
  /** The canonical tools of its calls. */
  readonly tools: ReadonlySet<string>;
  /** All names of the presets that have it. */
  readonly siblings: ReadonlySet<string>;
}

/** Returns what the names of all tools of all presets stand for; `own` is the preset of the workspace. */
export function presetToolMeanings(own: PresetName | Preset | undefined): ReadonlyMap<string, NameMeaning> {
  const presets = typeof own === "object" ? [...Object.values(PRESETS), own] : Object.values(PRESETS);
  const meanings = new Map<string, NameMeaning>();
  for (const { tools } of presets) {
    const names = tools.map(({ name }) => name);
    for (const tool of tools) {
      const known = meanings.get(tool.name) ?? { tools: [], siblings: [] };
      meanings.set(tool.name, {
        tools: new Set([...known.tools, ...toolsBehind(tool)]),
        siblings: new Set([...known.siblings, ...names]),
      });
    }
  }
  return meanings;
}

/** Returns the canonical tools to which calls of a preset's tool can lead. A preset of another package need not say. */
function toolsBehind({ tool, routes }: Partial<Pick<PresetTool, "tool" | "routes">>): readonly string[] {
  if (tool !== undefined && routes !== true) return [tool.name];
  return TOOLS.filter(({ kind }) => kind !== "batch").map(({ name }) => name);
}

export { strictSchema, type StrictSchema } from "./strict.ts";
export { definePreset, param, tool } from "./define.ts";
export { byArguments, call, calls } from "./meaning.ts";
export type { Meaning, Meant, Refused, RenderInput, Sent, UsualMeaning, Wording } from "./meaning.ts";
export type {
  CanonicalCall,
  GuardLevel,
  Param,
  Preset,
  PresetAccess,
  PresetSpec,
  PresetTool,
  ToolSpec,
} from "./preset.ts";
export type { RetryCall } from "../tools/lib/retry.ts";
