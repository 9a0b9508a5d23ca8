/** The engine's functions by name, on whichever engine is in use. */
import { engine } from "./current.ts";
import type { Engine } from "./engine.ts";

/** `sha256:` and 64 hexadecimal digits of the bytes. */
export const sha256: Engine["sha256"] = (bytes) => engine().sha256(bytes);

/**
 * Compares two texts, line by line.
 *
 * @example diff("a\nb\n", "a\nc\n").text; // "--- a/file\n+++ b/file\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
 */
export const diff: Engine["diff"] = (...args) => engine().diff(...args);

/** The same off the event loop where there are threads: for large inputs. */
export const diffAsync: Engine["diffAsync"] = (...args) => engine().diffAsync(...args);

/**
 * Applies edits to a text: all of them, or none and the reason.
 *
 * @example planEdits("a\nb\n", [{ oldText: "b", newText: "c" }]); // { ok: true, text: "a\nc\n", … }
 */
export const planEdits: Engine["planEdits"] = (...args) => engine().planEdits(...args);

/** Applies edits to the bytes of a text; only bytes that the edits name change. */
export const planEditsBytes: Engine["planEditsBytes"] = (...args) => engine().planEditsBytes(...args);

/** The same off the event loop where there are threads: for large files. */
export const planEditsBytesAsync: Engine["planEditsBytesAsync"] = (...args) =>
  engine().planEditsBytesAsync(...args);
