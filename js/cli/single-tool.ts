/** Presets of one tool, for commands that call a tool for a person. */
import { type CanonicalCall, type Preset, sameCall } from "../presets/preset.ts";
import type { Arguments } from "../tools/lib/schema.ts";
import { CANONICAL_NAMES, type ReaderNames, type Tool } from "../tools/lib/tool.ts";

/** Returns a preset that consists of one tool, for a command that calls the tool for a person. */
export function singleToolPreset(tool: Tool, command: string, names: ReaderNames = CANONICAL_NAMES): Preset {
  const { name, title, description, inputSchema, outputSchema, annotations, kind } = tool;
  const expand = (args: unknown): CanonicalCall => sameCall(tool, args as Arguments, names);
  const offered = {
    ...{ name, title, description, inputSchema, outputSchema, annotations, kind, tool },
    ...{ names, expand },
  };
  return { name: command, about: `the command ${command}`, tools: [offered], limits: {}, access: {} };
}
