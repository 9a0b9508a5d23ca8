/** The tools of a workspace under their canonical names: as calls, as a list for models, and as a method for each. */
import { callsOf } from "../call/stages.ts";
import { checkCallOptions, optionsOrThrow } from "../pipeline/call-options.ts";
import type { CallOptions } from "../pipeline/enter.ts";
import { outlineOfCall, previewOfCall } from "../call/outline.ts";
import { makeRootLookup, ROOT_LOOKUP } from "../pipeline/paths/first-root.ts";
import { dataOrThrow } from "../pipeline/result.ts";
import type { Session } from "../pipeline/session.ts";
import { TOOLS } from "../tools/index.ts";
import { iconOfTool } from "../tools/icons.ts";
import type { Tool } from "../tools/lib/tool.ts";
import type { CallByName, Entrance } from "./entrance.ts";
import type { ToolDefinition } from "./preset-tools.ts";
import type { ToolMethods } from "./generated/tool-methods.ts";

/** The tools of a workspace under their canonical names. */
export interface OwnTools {
  /** Every tool that can be called, by its name. */
  readonly byName: ReadonlyMap<string, Tool>;
  readonly call: CallByName;
  /** The tools that models are offered. */
  readonly definitions: readonly ToolDefinition[];
  readonly methods: ToolMethods;
}

/** Makes the tools of a workspace. */
export function makeOwnTools(session: Session, { gate, refusal, callsBy }: Entrance): OwnTools {
  const { sandbox, toolFor } = session.commands;
  const known = sandbox === undefined || toolFor === undefined ? TOOLS : [...TOOLS, toolFor(sandbox.status)];
  const byName = new Map<string, Tool>(known.map((tool) => [tool.name, tool]));
  const call = callsBy(byName, callsOf(session));
  const definitionOf = (tool: Tool): ToolDefinition =>
    Object.freeze({
      name: tool.name,
      title: tool.title,
      description: tool.description,
      inputSchema: tool.inputSchema,
      outputSchema: tool.outputSchema,
      annotations: tool.annotations,
      icon: iconOfTool(tool.name),
      outline: (args: unknown) => outlineOfCall(session, tool, args),
      preview: async (args: unknown, options?: CallOptions) =>
        gate.run(() =>
          previewOfCall(
            session,
            { known: tool, given: args, presetCall: undefined },
            optionsOrThrow(refusal() ?? checkCallOptions(options)),
          ),
        ),
      execute: (args: unknown, options?: CallOptions) => call(tool.name, args, options),
      [ROOT_LOOKUP]: makeRootLookup(session, tool.name),
    });
  const definitions = Object.freeze(known.filter((tool) => isOffered(session, tool)).map(definitionOf));
  return { byName, call, definitions, methods: methodsOf(call) };
}

/** A read-only workspace does not offer changing tools; a call of one fails with READ_ONLY. */
function isOffered({ files, settings }: Session, { kind, traits }: Tool): boolean {
  return (
    (!files.access.readOnly || kind === "read") &&
    (settings.findFiles || !traits.includes("isExtra")) &&
    (settings.knows || !traits.includes("knowsRepository"))
  );
}

/** Returns a method for each tool, which returns the data of a call or throws its error. */
function methodsOf(call: OwnTools["call"]): ToolMethods {
  const methods: Record<string, (args: unknown, options?: CallOptions) => Promise<unknown>> = {};
  for (const { name } of TOOLS) {
    methods[toCamelCase(name)] = async (args, options) => dataOrThrow(await call(name, args, options));
  }
  return methods as unknown as ToolMethods;
}

function toCamelCase(name: string): string {
  return name.replace(/_(\w)/gu, (_, letter: string) => letter.toUpperCase());
}
