/** `batch`: several calls as one, all or none. The workspace runs the operations. */
import { exactly, named } from "./lib/exact.ts";
import type { BatchData, BatchOutcome } from "./generated/types.ts";
import type { CheckedArgs } from "./generated/internal.ts";
import { compileArgumentCheck, object } from "./lib/schema.ts";
import { flag, text, WARNINGS_SCHEMA } from "./lib/shared.ts";
import { escapeControls, plural } from "../engine/escape.ts";
import type { AnyTool, BatchTool } from "./lib/tool.ts";
import { headlineOf } from "./lib/text.ts";

const inputSchema = object(
  {
    operations: {
      type: "array",
      minItems: 1,
      maxItems: 100,
      description: "The calls, in order; each sees what those before it did.",
      items: named(
        "BatchOperation",
        object(
          {
            tool: text("The name of a tool; any but batch.", { minLength: 1 }),
            args: { type: "object", description: "Its arguments, as for the tool alone.", default: {} },
          },
          ["tool"],
        ),
      ),
    },
    atomic: flag(
      "All operations or none: after a failure nothing is changed. When false each stands for itself and the others go on.",
      true,
    ),
    dry_run: flag("Only tell what each operation would do; nothing is written.", false),
  },
  ["operations"],
);

const outputSchema = object(
  {
    results: {
      type: "array",
      description: "What became of each operation, in order.",
      items: named(
        "BatchOutcome",
        object(
          {
            tool: text("The tool."),
            ok: { type: "boolean", description: "Whether it succeeded." },
            text: text("What the tool says."),
            data: exactly({ type: "object", description: "The tool's data." }, { type: "unknown" }),
            error: exactly({ type: "object", description: "The tool's failure." }, { type: "unknown" }),
            modified_by: {
              type: "string",
              enum: ["hook", "reviewer"],
              description: "Who changed what was asked for before it was done.",
            },
          },
          ["tool", "ok", "text"],
        ),
      ),
    },
    applied: { type: "boolean", description: "Whether anything was written." },
    rolled_back: { type: "boolean", description: "Whether what had been written was taken back." },
    warnings: WARNINGS_SCHEMA,
  },
  ["results", "applied", "rolled_back"],
);

/** Runs several calls as one. */
export const batch: BatchTool<CheckedArgs["batch"], BatchData> = {
  kind: "batch",
  name: "batch",
  title: "Batch",
  traits: ["namesNoPath"],
  description: `Runs several tool calls in order as one: all of them succeed, or nothing is changed and the error names the operation that failed (details.index, from 0). Later operations see the results of earlier ones, so a file can be made, edited and moved in one batch. A batch that is cut off is taken back, too.
Use it where changes of several files belong together. Up to 100 operations; batches cannot be nested.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  parse: compileArgumentCheck("batch", inputSchema),
  paths: () => [],
  texts: {
    render(data, args) {
      const lines = data.results.flatMap((one, index) => {
        const { tool, text, modified_by: by } = one;
        const told = `${index + 1}. ${escapeControls(tool)}: ${text.split("\n", 1)[0] ?? ""}`;
        const changed = by === undefined ? "" : ` [modified by ${by === "hook" ? "a hook" : "the reviewer"}]`;
        return [`${told}${changed}`, ...warningsOfOutcome(one).map((warning) => `   [${warning}]`)];
      });
      return args.dry_run ? ["Dry run, nothing written", ...lines].join("\n") : lines.join("\n");
    },
    display({ results, applied }, { operations }, tools) {
      const lines = results.map(({ tool: name, ok, data }, index) => {
        if (!ok || data === undefined) return `${name}: ${ok ? "done" : "failed"}`;
        const tool = tools.get(name) as AnyTool | undefined;
        return headlineOf(tool?.texts.display?.(data, operations[index]?.args ?? {}, tools) ?? name);
      });
      return [`${applied ? "Made" : "Tried"} ${plural(results.length, "call")}`, ...lines].join("\n");
    },
  },
};

/** Returns the warnings in the data of an operation; empty when it has none. */
function warningsOfOutcome({ data }: BatchOutcome): readonly string[] {
  const warnings = (data as { readonly warnings?: readonly string[] } | undefined)?.warnings;
  return Array.isArray(warnings) ? warnings : [];
}
