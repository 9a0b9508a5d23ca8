/** Looks up tools by name, and words the error for an unknown name. */
import { FilewrightError } from "../../engine/errors.ts";
import { TOOLS } from "../../tools/index.ts";
import type { Tool } from "../../tools/lib/tool.ts";
import { unknownTool } from "../result.ts";

const byName: ReadonlyMap<string, Tool> = new Map(TOOLS.map((tool) => [tool.name, tool]));

/** Returns the tool with a name. @throws FilewrightError UNKNOWN_TOOL naming the nearest one */
export function knownTool(name: string): Tool {
  const tool = byName.get(name);
  if (tool !== undefined) return tool;
  const { code, message } = unknownTool(name, byName.keys()).error;
  throw new FilewrightError(code, message, { complete: true });
}
