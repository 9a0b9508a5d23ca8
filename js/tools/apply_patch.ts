/** `apply_patch`: applies a patch to any number of files, all or none. */
import { forEachYielding, STEPS_PER_YIELD_CHECK, Yielder } from "../engine/yielder.ts";
import { engine } from "../engine/current.ts";
import { FilewrightError, type Signalled } from "../engine/errors.ts";
import type { MaybePromise } from "../backends/backend.ts";
import type { ParsedPatch, ParseOptions, PatchFile, PatchOperation } from "../engine/text/patch.ts";
import { lazily } from "../engine/lazy.ts";
import type { PatchRequest } from "./lib/patching.ts";
import { exactly, named } from "./lib/exact.ts";
import type { ApplyPatchData, PatchOutcome } from "./generated/types.ts";
import { type Arguments, compileArgumentCheck, object } from "./lib/schema.ts";
import { DEFAULT_FUZZ, flag, HOOK_DIFF_SCHEMA, integer, PATH_ALIASES, path, text } from "./lib/shared.ts";
import { escapeControls, plural } from "../engine/escape.ts";
import type { ChangingTool, PathEffect, PathUse } from "./lib/tool.ts";
import { withDiff } from "./lib/text.ts";

const planning = lazily("patches", () => import("./lib/patching.ts"));

const inputSchema = object(
  {
    patch: text(
      "The patch: a unified diff (--- a/f, +++ b/f, @@), one of git with its headers, or *** Begin Patch … *** End Patch.",
      { minLength: 1 },
    ),
    path: path("The file to patch, for a patch of one file that does not name it"),
    strip: exactly(
      integer("Leading directories to take from the names of a diff. Default: a/ and b/ are taken.", {
        minimum: 0,
        maximum: 1000,
      }),
      { type: 'number | "auto"' },
    ),
    fuzz: integer(
      "Outermost context lines of a hunk that may differ. With 0 the hunk's lines must all be there; otherwise indentation and slips are forgiven where only one place fits.",
      { minimum: 0, maximum: 3, default: DEFAULT_FUZZ },
    ),
    reverse: flag("Undo the patch instead.", false),
    dry_run: flag("Only show the diff; nothing is written.", false),
  },
  ["patch"],
);

const outputSchema = object(
  {
    applied: { type: "boolean", description: "False for a dry run." },
    files: {
      type: "array",
      description: "What the patch did with each file, in its order.",
      items: named(
        "PatchOutcome",
        object(
          {
            path: text("The file, relative to the workspace."),
            from: text("Its name before, where it was renamed or copied."),
            operation: {
              type: "string",
              enum: ["update", "create", "delete", "rename", "copy"],
              description: "What was done.",
            },
            added: integer("Lines added."),
            removed: integer("Lines removed."),
            offset: integer("Lines between where the patch said and where it went."),
            matched: {
              type: "string",
              enum: ["exact", "whitespace", "fuzzy", "fuzz"],
              description: "How its loosest hunk was found.",
            },
          },
          ["path", "operation", "added", "removed", "offset", "matched"],
        ),
      ),
    },
    diff: text("Unified diff of the whole change."),
    hook_diff: HOOK_DIFF_SCHEMA,
    warnings: {
      type: "array",
      items: { type: "string" },
      description: "What was wrong with the patch and could be mended.",
    },
    truncated: { type: "boolean", description: "Whether the diff is cut." },
  },
  ["applied", "files", "diff"],
);

/** Applies a patch to its files. */
export const applyPatch: ChangingTool<PatchRequest, ApplyPatchData> = {
  kind: "change",
  name: "apply_patch",
  title: "Apply patch",
  traits: ["readsContents", "edits", "writesSeveral", "alsoDeletes", "alsoMoves", "alsoCopies", "showsDiff"],
  otherNames: {
    names: /^(?:patch|applydiff|applypatchtool|gitapply)$/u,
    does: "applies patches",
  },
  description: `Applies a patch to any number of files: all of it or nothing. Files can be changed, made, deleted, renamed, copied and made executable.
Hunks are found by their lines; line numbers and counts in the headers may be wrong or left out (@@). A hunk that is not there, is there already, or fits in two places is refused with the line that differs or the lines where it fits, and nothing is written. For a small change of one file edit_file is simpler; use this for changes over several files, or for a diff you already have.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  aliases: PATH_ALIASES,
  parse: parsePatchArguments,
  paths: (args) =>
    args.names.map(
      (typed): PathUse => ({
        argument: args.path === typed ? "path" : "patch",
        typed: args.taken?.get(typed) ?? typed,
        intent: args.sources.has(typed) ? "read" : "write",
        missing: args.created.has(typed) ? "create" : "refuse",
        effects: args.effects.get(typed) ?? [],
      }),
    ),
  withPaths: (args, taken) => ({ ...args, taken }),
  plan: async (args, call) => (await planning()).planPatch(args, call),
  texts: {
    render(data, _args, _call, shownDiff = data.diff) {
      const lines = data.applied ? [] : ["Dry run, nothing written"];
      lines.push(...data.files.map(outcomeLine));
      lines.push(...(data.warnings ?? []).map((warning) => `[${warning}]`));
      return (data.applied ? lines : [...lines, shownDiff.replace(/\n$/u, "")]).join("\n");
    },
    display({ applied, files, diff }) {
      const added = files.reduce((sum, file) => sum + file.added, 0);
      const removed = files.reduce((sum, file) => sum + file.removed, 0);
      const counts = `${plural(files.length, "file")}, +${added} −${removed}`;
      return withDiff(`${applied ? "Patched" : "Would patch"} ${counts}`, diff);
    },
  },
};

const VERB_BY_OPERATION: Readonly<Record<PatchOperation, string>> = Object.freeze({
  update: "Patched",
  create: "Created",
  delete: "Deleted",
  rename: "Renamed",
  copy: "Copied",
});

/** Returns a line such as `Patched src/a.ts (+2 -1, 3 lines further down)`. */
function outcomeLine({ path: to, from, operation, added, removed, offset, matched }: PatchOutcome): string {
  const name = from === undefined ? escapeControls(to) : `${escapeControls(from)} -> ${escapeControls(to)}`;
  const moved =
    offset === 0 ? "" : `, ${plural(Math.abs(offset), "line")} further ${offset > 0 ? "down" : "up"}`;
  const loose = {
    exact: "",
    whitespace: ", but for blanks",
    fuzzy: ", nearly",
    fuzz: ", without some context",
  };
  return `${VERB_BY_OPERATION[operation]} ${name} (+${added} -${removed}${moved}${loose[matched]})`;
}

/** The arguments without what the patch itself says. */
type PatchArguments = Omit<PatchRequest, "names" | "sources" | "created" | "effects" | "warnings">;

const checkArguments: (args: Arguments) => PatchArguments = compileArgumentCheck("apply_patch", inputSchema);

function checkPatchArguments(given: Arguments): PatchArguments {
  const { strip, ...others } = given;
  const args = checkArguments(strip === "auto" ? others : given);
  if (args.patch.isWellFormed()) return args;
  throw new FilewrightError("INVALID_ARGUMENT", "Invalid argument 'patch': it has an unpaired surrogate.", {
    complete: true,
    details: { tool: "apply_patch", argument: "patch" },
  });
}

function parsePatchArguments(given: Arguments): PatchRequest;
function parsePatchArguments(given: Arguments, later: Signalled): Promise<PatchRequest>;
function parsePatchArguments(given: Arguments, later?: Signalled): MaybePromise<PatchRequest> {
  const args = checkPatchArguments(given);
  const options = parseOptionsOf(args);
  if (later === undefined) {
    const patch = engine().parsePatch(args.patch, options);
    const named = new NamedPaths();
    for (const file of patch.files) named.add(file);
    return named.in(args, patch);
  }
  const outline = engine().onThreads.outlineOfPatch(args.patch, { ...options, signal: later.signal });
  return outline.then(async (patch) => {
    const yielder = new Yielder(later);
    // The outline of many files has taken long to decode.
    if (patch.files.length > STEPS_PER_YIELD_CHECK) await yielder.yieldNow();
    const named = new NamedPaths();
    await forEachYielding(patch.files, yielder, (file) => named.add(file));
    return named.in(args, patch);
  });
}

function parseOptionsOf({ strip, path: about, reverse }: PatchArguments): ParseOptions {
  return { strip, path: about, reverse };
}

const CREATING_OPERATIONS: ReadonlySet<PatchOperation> = new Set(["create", "rename", "copy"]);

/** The paths that a patch names, so that the pipeline checks them as it checks path arguments. */
class NamedPaths {
  readonly #written = new Set<string | null>();
  readonly #sources = new Set<string>();
  readonly #created = new Set<string>();
  /**
   * The deletions, moves and copies that the patch makes, by path, as calls of those tools: rules for the
   * tools then apply to the patch, too.
   */
  readonly #effects = new Map<string, PathEffect[]>();

  add(file: PatchFile): void {
    const { operation, oldPath, newPath } = file;
    this.#written.add(newPath);
    if (operation !== "copy") this.#written.add(oldPath);
    if (oldPath !== null) this.#sources.add(oldPath);
    if (newPath !== null && CREATING_OPERATIONS.has(operation)) this.#created.add(newPath);
    this.#addEffects(file);
  }

  #addEffects({ operation, oldPath, newPath }: PatchFile): void {
    if (operation === "delete") {
      const path = oldPath ?? newPath;
      this.#effect(path, { tool: "delete", args: { path, recursive: false, missing_ok: false } });
    } else if (operation === "rename" || operation === "copy") {
      const tool = operation === "rename" ? "move" : "copy";
      const args = { source: oldPath, destination: newPath, overwrite: false, create_dirs: true };
      for (const path of [oldPath, newPath]) this.#effect(path, { tool, args });
    }
  }

  #effect(path: string | null, effect: PathEffect): void {
    if (path === null) return;
    const known = this.#effects.get(path);
    if (known === undefined) this.#effects.set(path, [effect]);
    else known.push(effect);
  }

  /** Returns the arguments with the paths of all files that were added. */
  in(args: PatchArguments, { paths, warnings }: ParsedPatch): PatchRequest {
    const [sources, created, effects] = [this.#sources, this.#created, this.#effects];
    for (const name of sources) if (this.#written.has(name)) sources.delete(name);
    return { ...args, names: paths, sources, created, effects, warnings };
  }
}
