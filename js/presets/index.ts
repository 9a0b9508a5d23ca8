/**
 * Presets offer the canonical tools under the names, parameters and texts of other systems. They are data: a
 * preset only translates calls and answers, and accesses no file.
 */
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
import { PRESET_OPTIONS, type Preset } from "./preset.ts";
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

/** Returns the names of all tools of all presets. */
export function presetToolNames(): readonly string[] {
  return Object.values(PRESETS).flatMap(({ tools }) => tools.map(({ name }) => name));
}

export { strictSchema, type StrictSchema } from "./strict.ts";
export { definePreset, param, route, tool } from "./define.ts";
export type {
  CanonicalCall,
  GuardLevel,
  Param,
  Preset,
  PresetAccess,
  PresetSpec,
  PresetTool,
  Refused,
  Route,
  RenderInput,
  ToolSpec,
  ToolMapping,
} from "./preset.ts";
