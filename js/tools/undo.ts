/** `undo`: restores what one earlier call has changed. */
import { EMPTY_BYTES } from "../engine/wire/bytes.ts";
import { lstatOrNull } from "../backends/fallback/fallback.ts";
import { FilewrightError } from "../engine/errors.ts";
import { previewDiff, textIfDecodable } from "./render/preview.ts";
import type { HistoryEntry } from "./lib/history-entry.ts";
import { lastUndoableChange, type RestoredState, type UndoableHistory } from "./lib/past.ts";
import { effectsOfPutBack, putBackUse } from "./lib/put-back.ts";
import type { UndoArgs, UndoData } from "./generated/internal.ts";
import { compileArgumentCheck, object } from "./lib/schema.ts";
import { text, texts, WARNINGS_SCHEMA } from "./lib/shared.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { escapeControls } from "../engine/escape.ts";
import type { Preview, PreviewChange } from "./change/change.ts";
import type { Answer, Call, ChangingTool, PathEffect } from "./lib/tool.ts";

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

/** The maximum size in bytes of a file that a preview compares. */
const MAX_COMPARED_BYTES: number = 2 * 1024 * 1024;
/** The maximum number of paths of a call that a preview compares. Further ones are counted. */
const MAX_COMPARED_PATHS: number = 100;

/**
 * Returns the call to undo: the one that the arguments name, or the last change. @throws FilewrightError
 * NOT_FOUND
 */
async function chooseUndo(args: ChosenUndo, past: UndoableHistory, all: boolean): Promise<ChosenUndo> {
  const { call_id: wanted } = args;
  const chosen =
    wanted === undefined ? lastUndoableChange(await past.list(all)) : await past.find(wanted, all);
  if (chosen !== undefined) {
    const restored = await past.restores(chosen.callId);
    const shownAs = new Map(restored.map(({ path, shown }) => [path, shown]));
    return { ...args, chosen, effects: effectsOfPutBack(restored, (path) => shownAs.get(path) ?? path) };
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
    async plan(args, { past }) {
      const restored = await past().restores(args.chosen?.callId ?? "");
      return {
        kind: "act",
        undoes: undefined,
        show: (call) => showUndo(args, restored, call),
        make: (call) => takeBack(args, call, all ? restored : undefined),
      };
    },
    render: ({ tool, paths, diff = "" }) =>
      `Undone: ${tool} of ${paths.map(escapeControls).join(", ")}${diff === "" ? "" : `\n${escapeDiffLines(diff)}`}`,
  };
}

/** Returns what a reviewer sees of an undo. */
async function showUndo(
  { chosen }: ChosenUndo,
  restored: readonly RestoredState[],
  call: Call,
): Promise<Preview> {
  const diff = await restoringDiff(restored, call);
  const [only] = restored;
  const alone = restored.length === 1 ? only?.image?.bytes : undefined;
  return {
    title: `Undo ${chosen?.tool ?? ""} of ${(chosen?.paths ?? []).join(", ")}`,
    location: 0,
    diff,
    originalContent: null,
    newContent: alone === undefined ? null : textIfDecodable(alone),
    risk: "medium",
    base: [],
    changes: restored.map(previewChangeOf),
  };
}

/** Takes a call back. `told` is what the answer has a diff of; undefined for none. */
async function takeBack(
  { chosen }: ChosenUndo,
  call: Call,
  told: readonly RestoredState[] | undefined,
): Promise<Answer<UndoData>> {
  // A person may see content that a model may not, such as that of a secret which is restored.
  const diff = told && (await restoringDiff(told, call));
  const { about, fs, signal } = call;
  await call.past().undo(chosen?.callId ?? "", { ...about, fs, signal });
  return {
    data: withoutUndefined({
      undone: chosen?.callId ?? "",
      tool: chosen?.tool ?? "",
      paths: chosen?.paths ?? [],
      diff,
    }),
  };
}

/** Escapes the control characters in a diff, except line endings and tabs. */
function escapeDiffLines(diff: string): string {
  return diff
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t").map(escapeControls).join("\t"))
    .join("\n");
}

function previewChangeOf({ path, image, from }: RestoredState): PreviewChange {
  if (image === null) return { path, kind: "delete", type: "file" };
  if (from !== undefined) return { path, kind: "move", type: image.type, from };
  return { path, kind: "edit", type: image.type };
}

/**
 * Returns what an undo changes: a diff for each file that is text and not too large, and a line in words for
 * any other path. Further paths than `MAX_COMPARED_PATHS` are counted.
 */
async function restoringDiff(
  restored: readonly RestoredState[],
  call: Pick<Call, "fs" | "reader">,
): Promise<string> {
  const parts: string[] = [];
  for (const one of restored.slice(0, MAX_COMPARED_PATHS)) parts.push(await restoringPart(one, call));
  if (restored.length > MAX_COMPARED_PATHS)
    parts.push(`and ${restored.length - MAX_COMPARED_PATHS} more paths\n`);
  return parts.join("");
}

/** Returns what an undo changes at one path. */
async function restoringPart(
  { path, image, from }: RestoredState,
  call: Pick<Call, "fs" | "reader">,
): Promise<string> {
  const name = escapeControls(call.reader.display(path));
  if (from !== undefined) return `moves ${escapeControls(call.reader.display(from))} back to ${name}\n`;
  const stat = await lstatOrNull(call.fs, path).catch(() => null);
  const isSmall = Math.max(image?.size ?? 0, stat?.size ?? 0) <= MAX_COMPARED_BYTES;
  if (!isFileOrMissing(image) || !isFileOrMissing(stat) || !isSmall)
    return `${image === null ? "removes" : "puts back"} ${name}\n`;
  const now =
    stat === null ? EMPTY_BYTES : await Promise.resolve(call.fs.readBytes(path)).catch(() => undefined);
  const then = image === null ? EMPTY_BYTES : image.bytes;
  if (now === undefined || then === undefined) return `puts back ${name}\n`;
  const isText = textIfDecodable(now) !== null && textIfDecodable(then) !== null;
  return isText ? previewDiff(now, then, name) : `puts back ${name} (no text)\n`;
}

const isFileOrMissing = (entry: { readonly type: string } | null): boolean =>
  entry === null || entry.type === "file";
