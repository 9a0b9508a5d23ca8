/** Applying patches to texts that the caller holds. */
import { textEngine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";
import { toUtf8 } from "../engine/utf8.ts";
import { parsePatch } from "./parse.ts";
import { formatPatch, isList, OMIT_HEADERS, type StructuredPatch } from "./patch.ts";

/** How a patch is applied. */
export interface ApplyPatchOptions {
  /** Context lines that may differ, 0 to 3. Default 0: all lines must be there. */
  readonly fuzzFactor?: number | undefined;
}

/** Where texts come from and go to. */
export interface ApplyPatchesOptions extends ApplyPatchOptions {
  loadFile(index: StructuredPatch, callback: (error: unknown, text: string) => void): void;
  patched(index: StructuredPatch, text: string | false, callback: (error?: unknown) => void): void;
  complete(error?: unknown): void;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The patched text, or false where the patch does not fit. @throws Error for a patch of several files */
export function applyPatch(
  source: string,
  patch: string | StructuredPatch | readonly StructuredPatch[],
  options: ApplyPatchOptions = {},
): string | false {
  const { fuzzFactor = 0 } = options;
  if (!Number.isInteger(fuzzFactor) || fuzzFactor < 0) {
    throw new Error("fuzzFactor must be a non-negative integer");
  }
  const patches = typeof patch === "string" ? parsePatch(patch) : isList(patch) ? patch : [patch];
  if (patches.length > 1) throw new Error("applyPatch only works with a single input.");
  const hunks = patches[0]?.hunks ?? [];
  if (!hunks.some(({ lines }) => lines.some((line) => /^[+-]/u.test(line)))) return source;
  const text = formatPatch(patches[0] as StructuredPatch, OMIT_HEADERS);
  const files = new Map([["file", toUtf8(source)]]);
  try {
    const [made] = textEngine().applyPatch(files, text, { path: "file", fuzz: fuzzFactor });
    return decoder.decode(made?.bytes ?? new Uint8Array(0));
  } catch (error) {
    if (error instanceof FilewrightError && error.code === "PATCH_FAILED") return false;
    throw error;
  }
}

/** Applies a patch of several files, one after the other. */
export function applyPatches(patch: string | readonly StructuredPatch[], options: ApplyPatchesOptions): void {
  const patches = typeof patch === "string" ? parsePatch(patch) : patch;
  const go = (at: number): void => {
    const index = patches[at];
    if (index === undefined) {
      options.complete();
      return;
    }
    options.loadFile(index, (error, text) => {
      if (error) {
        options.complete(error);
        return;
      }
      options.patched(index, applyPatch(text, index, options), (failed) => {
        if (failed) options.complete(failed);
        else go(at + 1);
      });
    });
  };
  go(0);
}
