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
 * Compares two texts within their lines, word by word or character by character.
 *
 * @example diffParts("one two", "one three").map((part) => part.text); // ["one ", "two", "three"]
 */
export const diffParts: Engine["diffParts"] = (...args) => engine().diffParts(...args);

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

/**
 * Reads a patch: a unified diff, git's extended form, or a `*** Begin Patch` envelope.
 *
 * @example parsePatch("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n").paths; // ["f"]
 */
export const parsePatch: Engine["parsePatch"] = (...args) => engine().parsePatch(...args);

/**
 * Works out what a patch makes of files: all of them, or a refusal and nothing.
 *
 * @example applyPatch({ f: "a\n" }, "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n")[0]?.bytes; // "b\n" in UTF-8
 */
export const applyPatch: Engine["applyPatch"] = (...args) => engine().applyPatch(...args);

/** The same off the event loop where there are threads: for large files. */
export const applyPatchAsync: Engine["applyPatchAsync"] = (...args) => engine().applyPatchAsync(...args);

/** Merges what two sides made of one text; conflicts are objects, and markers in the text. */
export const merge3: Engine["merge3"] = (...args) => engine().merge3(...args);

/** What a file is, told by its content: kind, MIME type, encoding, line ends. */
export const inspect: Engine["inspect"] = (...args) => engine().inspect(...args);

/**
 * A page of bytes in memory.
 *
 * @example readPage(new TextEncoder().encode("a\nb\n"), { startLine: -1 }).content; // "b\n"
 */
export const readPage: Engine["readPage"] = (...args) => engine().readPage(...args);

/** The same off the event loop where there are threads: for megabytes. */
export const readPageAsync: Engine["readPageAsync"] = (...args) => engine().readPageAsync(...args);

/** Bytes as text: in the encoding found, or strictly in the one named. */
export const decodeText: Engine["decodeText"] = (...args) => engine().decodeText(...args);

/** Text as bytes; a character that the encoding lacks is refused. */
export const encodeText: Engine["encodeText"] = (...args) => engine().encodeText(...args);

/** Two characters for each line of a text, as pages with `anchors` have them. */
export const lineAnchors: Engine["lineAnchors"] = (...args) => engine().lineAnchors(...args);

/**
 * Compiles globs, by ripgrep's rule: a pattern without a slash matches at any depth.
 *
 * @example glob("src/**\/*.ts").matches("src/a/b.ts"); // true
 */
export const glob: Engine["glob"] = (...args) => engine().glob(...args);

/**
 * The paths that somebody means who remembers some of their letters, best first.
 *
 * @example rankPaths("usbhub", ["drivers/usb/hub.c", "fs/inode.c"]).files[0]?.path; // "drivers/usb/hub.c"
 */
export const rankPaths: Engine["rankPaths"] = (...args) => engine().rankPaths(...args);

/**
 * Searches a text, line by line.
 *
 * @example grepText("a\nbc\n", { pattern: "c" }).matches; // [{ line: 2, column: 2, text: "bc" }]
 */
export const grepText: Engine["grepText"] = (...args) => engine().grepText(...args);

/** Compiles a query once, to search many texts. */
export const compileQuery: Engine["compileQuery"] = (...args) => engine().compileQuery(...args);

/**
 * Ignore rules with git's semantics, for walks of one's own.
 *
 * @example
 * const content = new TextEncoder().encode("*.log\n");
 * ignoreRules().enter("", [{ place: 0, content }], false).ignored("a.log", false); // true
 */
export const ignoreRules: Engine["ignoreRules"] = () => engine().ignoreRules();
