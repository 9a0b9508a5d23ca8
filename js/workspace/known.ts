/** Which tools there are, and what is said of a name that none has. */
import type { Rule } from "../access/index.ts";
import { FilewrightError } from "../engine/errors.ts";
import { nearest } from "../schema/nearest.ts";
import { wrongOption } from "../schema/option.ts";
import { TOOLS } from "../tools/index.ts";
import type { Tool } from "../tools/tool.ts";
import { unknownTool } from "./result.ts";

const byName: ReadonlyMap<string, Tool> = new Map(TOOLS.map((tool) => [tool.name, tool]));

/** The tool of a name. @throws FilewrightError UNKNOWN_TOOL naming the nearest one */
export function knownTool(name: string): Tool {
  const tool = byName.get(name);
  if (tool !== undefined) return tool;
  const { code, message } = unknownTool(name, byName.keys()).error;
  throw new FilewrightError(code, message, { complete: true });
}

/**
 * Refuses rules about arguments that their tool does not have: they would never match.
 * @throws FilewrightError INVALID_ARGUMENT naming the nearest argument
 */
export function assertRuleArguments(entry: string, rules: readonly Rule[]): void {
  for (const [index, { tool: name = "*", args }] of rules.entries()) {
    const tool = byName.get(name);
    if (tool === undefined || typeof args !== "object") continue;
    const known = Object.keys(tool.inputSchema.properties);
    for (const key of Object.keys(args)) {
      if (known.includes(key)) continue;
      const close = tool.aliases?.[key] ?? nearest(key, known);
      const remedy = close === undefined ? `known: ${known.join(", ")}` : `did you mean '${close}'?`;
      throw wrongOption(entry, `rules[${index}].args`, `${name} has no argument '${key}'; ${remedy}`);
    }
  }
}
