/** The functions for texts by name, on whichever engine is in use, and their types. */
import { textEngine } from "../current.ts";
import type { TextEngine } from "./text-engine.ts";

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

/** The same on another thread, where threads exist: for large contents. */
export const sha256Async: TextEngine["sha256Async"] = (bytes) => textEngine().sha256Async(bytes);

/**
 * Compares two texts, line by line.
 *
 * @example diff("a\nb\n", "a\nc\n").text; // "--- a/file\n+++ b/file\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
 */
export const diff: TextEngine["diff"] = (...args) => textEngine().diff(...args);

/** The same on another thread, where threads exist: for large inputs. */
export const diffAsync: TextEngine["diffAsync"] = (...args) => textEngine().diffAsync(...args);
/**
 * Compares two texts within their lines, word by word or character by character.
 *
 * @example diffParts("one two", "one three").map((part) => part.text); // ["one ", "two", "three"]
 */
export const diffParts: TextEngine["diffParts"] = (...args) => textEngine().diffParts(...args);

/**
 * Applies edits to a text: all of them, or none and the reason.
 *
 * @example planEdits("a\nb\n", [{ oldText: "b", newText: "c" }]); // { ok: true, text: "a\nc\n", … }
 */
export const planEdits: TextEngine["planEdits"] = (...args) => textEngine().planEdits(...args);

/** Applies edits to the bytes of a text; only the edited bytes change. */
export const planEditsBytes: TextEngine["planEditsBytes"] = (...args) => textEngine().planEditsBytes(...args);

/** The same on another thread, where threads exist: for large files. */
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
 * @example applyPatch({ f: "a
 * " }, "--- a/f
 * +++ b/f
 * @@ -1 +1 @@
 * -a
 * +b
 * ")[0]?.bytes; // "b
 * " in UTF-8
 */
export const applyPatch: TextEngine["applyPatch"] = (...args) => textEngine().applyPatch(...args);

/** The same on another thread, where threads exist: for large files. */
export const applyPatchAsync: TextEngine["applyPatchAsync"] = (...args) =>
  textEngine().applyPatchAsync(...args);

/** Merges the changes of two sides to one text; conflicts are objects, and markers in the text. */
export const merge3: TextEngine["merge3"] = (...args) => textEngine().merge3(...args);
