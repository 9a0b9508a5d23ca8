/** `undo`: restores what one earlier call has changed. */
import { FilewrightError } from "../engine/errors.ts";
import type { HistoryEntry } from "./lib/history-entry.ts";
import { lastUndoableChange, type UndoableHistory } from "./lib/past.ts";
import { effectsOfPutBack, putBackUse } from "./lib/put-back.ts";
import type { UndoArgs, UndoData } from "./generated/internal.ts";
import { compileArgumentCheck, object } from "./lib/schema.ts";
import { text, texts, WARNINGS_SCHEMA } from "./lib/shared.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { escapeControls } from "../engine/escape.ts";
import type { Answer, Call, ChangingTool, PathEffect } from "./lib/tool.ts";
import { withDiff } from "./lib/text.ts";

/** The arguments, with the call that will be undone. */
interface ChosenUndo extends UndoArgs {
  readonly chosen?: HistoryEntry;
  /** The effect of restoring on each path, as calls of other tools, so that rules for those tools apply. */
  readonly effects?: ReadonlyMap<string, readonly PathEffect[]>;
}

const inputSchema = object(
  {
    call_id: text(
      "The call to undo, as history lists it. Default: your last change that is not undone yet.",
      {
        minLength: 1,
      },
    ),
  },
  [],
);

const outputSchema = object(
  {
    undone: text("The call that was undone."),
    tool: text("Its tool."),
    paths: texts("What was put back, relative to the workspace."),
    diff: text("What was put back, as a diff; for a person."),
    warnings: WARNINGS_SCHEMA,
  },
  ["undone", "tool", "paths"],
);

/**
 * Returns the call to undo: the one that the arguments name, or the last change. @throws FilewrightError
 * NOT_FOUND
 */
async function chooseUndo(args: ChosenUndo, past: UndoableHistory, all: boolean): Promise<ChosenUndo> {
  const { call_id: wanted } = args;
  const chosen =
    wanted === undefined ? lastUndoableChange(await past.list(all)) : await past.find(wanted, all);
  if (chosen !== undefined) {
    const effects = effectsOfPutBack(await past.restores(chosen.callId), past.display);
    return { ...args, chosen, effects };
  }
  throw new FilewrightError(
    "NOT_FOUND",
    wanted === undefined
      ? `There is no change${all ? "" : " of yours"} to undo.`
      : `There is no call '${escapeControls(wanted).slice(0, 80)}' ${all ? "in the history" : "among your changes"}; history lists them.`,
    { complete: true },
  );
}

/** Creates the tool. With `all` it can also undo changes of other callers. */
export function undoTool(all: boolean): ChangingTool<ChosenUndo, UndoData> {
  return {
    kind: "change",
    name: "undo",
    title: "Undo",
    traits: ["recordsItself", "needsHistory", "namesNoPath", "takesBackCall", "alsoDeletes", "alsoMoves"],
    description:
      "Takes one of your changes back: puts every file as it was before that call. Without call_id your last change. Refused where something changed since; an undo can be undone.",
    inputSchema,
    outputSchema,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    parse: compileArgumentCheck("undo", inputSchema),
    prepare: (args, past) => chooseUndo(args, past, all),
    paths: ({ chosen, effects }) =>
      (chosen?.paths ?? []).map((typed) => ({
        ...putBackUse("call_id", typed),
        effects: effects?.get(typed) ?? [],
      })),
    plan: (args) => ({
      kind: "act",
      of: "entries",
      undoes: undefined,
      heading: {
        title: `Undo ${args.chosen?.tool ?? ""} of ${(args.chosen?.paths ?? []).join(", ")}`,
        location: 0,
        risk: "medium",
      },
      base: [],
      showsContent: true,
      changes: (call) => call.past().preview(args.chosen?.callId ?? "", call),
      make: (call) => undoChosen(args, call, all),
    }),
    texts: {
      render: ({ tool, paths, diff = "" }) =>
        `Undone: ${tool} of ${paths.map(escapeControls).join(", ")}${diff === "" ? "" : `\n${escapeDiffLines(diff)}`}`,
      display: ({ tool, paths, diff = "" }) =>
        withDiff(`Took back ${escapeControls(tool)} of ${paths.map(escapeControls).join(", ")}`, diff),
    },
  };
}

/** Takes a call back. With `isTold` the answer has a diff of it. */
async function undoChosen({ chosen }: ChosenUndo, call: Call, isTold: boolean): Promise<Answer<UndoData>> {
  const undone = chosen?.callId ?? "";
  // A person may see content that a model may not, such as that of a secret which is restored.
  const told = isTold ? await call.past().preview(undone, call) : undefined;
  const diff = told?.map(({ text }) => text).join("");
  const { about, fs, signal } = call;
  await call.past().undo(undone, { ...about, fs, signal });
  return { data: withoutUndefined({ undone, tool: chosen?.tool ?? "", paths: chosen?.paths ?? [], diff }) };
}

/** Escapes the control characters in a diff, except line endings and tabs. */
function escapeDiffLines(diff: string): string {
  return diff
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t").map(escapeControls).join("\t"))
    .join("\n");
}
