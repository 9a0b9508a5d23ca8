/** The stages that handle a failure: another try with a path that looks the same, or an answer. */
import { FilewrightError } from "../engine/errors.ts";
import { answerOfRefusal } from "../hooks/confirm.ts";
import { HookException } from "../hooks/run.ts";
import { failureResult, isJson } from "../pipeline/answer.ts";
import { lookAlikeContext } from "../pipeline/enter.ts";
import type { Facts } from "../pipeline/facts.ts";
import { type ReplacedPath, replaceByLookAlikes } from "../pipeline/paths/look-alikes.ts";
import type { Failure, ToolResult } from "../pipeline/result.ts";
import type { Session } from "../pipeline/session.ts";
import type { CallRequest, Stage } from "./call.ts";

/** Makes an answer of an error, in the words and names of the caller. */
export const words: Stage = {
  run: (request, next) => next(request).catch((thrown: unknown) => answerOf(request, thrown)),
};

/** Returns the answer of a call that failed, also outside this stage. @throws what a hook raised */
export async function answerOf(
  { session, known, facts, limited }: CallRequest,
  error: unknown,
): Promise<Failure> {
  if (error instanceof HookException) throw error.what;
  const thrown = limited.told(error);
  facts.tell({ what: "failed", by: answerOfRefusal(thrown) });
  const { tool = known, meant, callId = "" } = facts.last("meant") ?? {};
  const { uses = [], locations = [] } = facts.last("located") ?? {};
  const fs = facts.last("sees")?.fs;
  const { started } = facts;
  return failureResult(session, { tool, thrown, uses, locations, started, meant, fs, callId });
}

/** Error codes of calls whose path may have a look-alike. */
const LOOK_ALIKE_CODES: ReadonlySet<string> = new Set(["NOT_FOUND", "PATCH_FAILED"]);

/**
 * Makes a call once more with an existing path that looks like the missing one, or for a read lies in another root, and
 * says so in the answer.
 */
export const lookAlikes: Stage = {
  run: (request, next) =>
    next(request).catch(async (thrown: unknown) => {
      if (!(thrown instanceof FilewrightError) || !LOOK_ALIKE_CODES.has(thrown.code)) throw thrown;
      const replaced = await replacements(request.session, request.facts).catch(() => undefined);
      if (replaced === undefined) throw thrown;
      return withReplacedPathNotes(await next({ ...request, replaced }), request.facts, replaced);
    }),
};

/** Returns what replaces the missing paths of a call; undefined where one of them has no look-alike. */
async function replacements(session: Session, facts: Facts): Promise<readonly ReplacedPath[] | undefined> {
  const [meant, located] = [facts.last("meant"), facts.last("located")];
  if (meant === undefined || located === undefined) return undefined;
  const { uses, locations } = located;
  const context = lookAlikeContext(session, meant.tool.name, meant.raw);
  return replaceByLookAlikes(meant.tool, uses, locations, context);
}

/** Returns the result with notes about the paths that replaced those of the call. */
function withReplacedPathNotes(
  result: ToolResult,
  facts: Facts,
  replaced: readonly ReplacedPath[],
): ToolResult {
  const called = facts.last("meant");
  if (!result.ok || called === undefined) return result;
  const { tool, meant, raw } = called;
  const notes = replaced.map(({ note }) => note);
  const below = notes.map((note) => `\n[${note}]`).join("");
  const text = meant?.fixedText === true || isJson(meant, raw) ? result.text : result.text + below;
  const display = result.display + below;
  const data = result.data as { readonly warnings?: readonly string[]; readonly warning?: string };
  const { properties } = tool.outputSchema;
  const noted = Object.hasOwn(properties, "warnings")
    ? { ...data, warnings: [...(data.warnings ?? []), ...notes] }
    : Object.hasOwn(properties, "warning")
      ? { ...data, warning: [data.warning, ...notes].filter(Boolean).join("; ") }
      : data;
  return { ...result, text, display, data: noted };
}
