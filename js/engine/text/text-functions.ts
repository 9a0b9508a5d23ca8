/** The functions for texts under their names, which call the engine in use, and their types. */
import { textEngine } from "../current.ts";
import type { TextEngine, TextThreads } from "./text-engine.ts";

export type { DiffAlgorithm, DiffHunk, DiffOptions, DiffPart, DiffResult, TextOrBytes } from "./diff.ts";
export type {
  AppliedEdit,
  BytesPlan,
  EditInput,
  EditOptions,
  MatchMode,
  PlanFacts,
  PlanRefusal,
  TextPlan,
} from "./edit.ts";
export type { HunkChoice, HunkRange, ReplacedLines } from "./hunks.ts";
export type { EngineInfo, TextEngine } from "./text-engine.ts";
export type {
  ApplyOptions,
  FileContents,
  LineRange,
  MergeConflict,
  MergeOptions,
  MergeResult,
  ParsedPatch,
  ParseOptions,
  PatchedFile,
  PatchFile,
  PatchHunk,
  PatchOperation,
  PlacedHunk,
} from "./patch.ts";

/** Returns `sha256:` and 64 hexadecimal digits of the bytes. */
export const sha256: TextEngine["sha256"] = (bytes) => textEngine().sha256(bytes);

/**
 * Like {@link sha256}, but on another thread where threads exist, so that large contents do not block the
 * caller.
 */
export const sha256Async: TextThreads["sha256"] = (...args) => textEngine().onThreads.sha256(...args);

/**
 * Compares two texts, line by line.
 *
 * @example diff("a\nb\n", "a\nc\n").text; // "--- a/file\n+++ b/file\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
 */
export const diff: TextEngine["diff"] = (...args) => textEngine().diff(...args);

/** Like {@link diff}, but on another thread where threads exist, so that large inputs do not block the caller. */
export const diffAsync: TextEngine["diffAsync"] = (...args) => textEngine().diffAsync(...args);
/**
 * Compares two texts within their lines, word by word or character by character.
 *
 * @example diffParts("one two", "one three").map((part) => part.text); // ["one ", "two", "three"]
 */
export const diffParts: TextEngine["diffParts"] = (...args) => textEngine().diffParts(...args);

/**
 * Returns the hunks between two contents of a file, as ranges of lines.
 *
 * @example
 * const bytes = (text) => new TextEncoder().encode(text);
 * hunksBetween(bytes("a\n"), bytes("b\n"))[0]?.changes; // [{ oldStart: 0, oldLines: 1, newStart: 0, newLines: 1 }]
 */
export const hunksBetween: TextEngine["hunksBetween"] = (...args) => textEngine().hunksBetween(...args);

/**
 * Returns the content of a file after some of the hunks of a change.
 *
 * @example
 * const bytes = (text) => new TextEncoder().encode(text);
 * composeHunks(bytes("a\nb\n"), bytes("A\nB\n"), [{ hunk: 0, rows: [0, 2] }]); // "b\nA\n" in UTF-8
 */
export const composeHunks: TextEngine["composeHunks"] = (...args) => textEngine().composeHunks(...args);

/** Like {@link composeHunks}, but large contents are composed on another thread where threads exist. */
export const composeHunksAsync: TextThreads["composeHunks"] = (...args) =>
  textEngine().onThreads.composeHunks(...args);

/**
 * Applies edits to a text: all of them, or none and the reason.
 *
 * @example planEdits("a\nb\n", [{ oldText: "b", newText: "c" }]); // { ok: true, text: "a\nc\n", … }
 */
export const planEdits: TextEngine["planEdits"] = (...args) => textEngine().planEdits(...args);

/** Applies edits to the bytes of a text. All other bytes stay as they are. */
export const planEditsBytes: TextEngine["planEditsBytes"] = (...args) => textEngine().planEditsBytes(...args);

/**
 * Like {@link planEditsBytes}, but on another thread where threads exist, so that large files do not block
 * the caller.
 */
export const planEditsBytesAsync: TextEngine["planEditsBytesAsync"] = (...args) =>
  textEngine().planEditsBytesAsync(...args);

/**
 * Reads a patch: a unified diff, git's extended form, or a `*** Begin Patch` envelope.
 *
 * @example parsePatch("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n").paths; // ["f"]
 */
export const parsePatch: TextEngine["parsePatch"] = (...args) => textEngine().parsePatch(...args);

/**
 * Computes the result of a patch: all files, or an error and nothing.
 *
 * @example applyPatch({ f: "a\n" }, "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n")[0]?.bytes; // "b\n" in UTF-8
 */
export const applyPatch: TextEngine["applyPatch"] = (...args) => textEngine().applyPatch(...args);

/**
 * Like {@link applyPatch}, but on another thread where threads exist, so that large files do not block the
 * caller.
 */
export const applyPatchAsync: TextEngine["applyPatchAsync"] = (...args) =>
  textEngine().applyPatchAsync(...args);

/**
 * Merges two changed versions of a text, given their common origin. Conflicts are returned as objects, and
 * marked in the text.
 */
export const merge3: TextEngine["merge3"] = (...args) => textEngine().merge3(...args);

/** Like {@link merge3}, but large texts are merged on another thread where threads exist. */
export const merge3Async: TextThreads["merge3"] = (...args) => textEngine().onThreads.merge3(...args);
