/** What a reviewer is offered: the outcomes of a question, and the widest scope of each that lasts. */
import type { GlobBases } from "../../policy/rule-globs.ts";
import { escapeControls, plural } from "../../engine/escape.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { denied, type Outcome, type Scope } from "../confirm.ts";
import { commandInWords, type ExactCommand } from "./command.ts";
import { effectsInWords } from "./effects.ts";
import {
  type ApprovalScope,
  compileScope,
  EVERY_TOOL_WORDS,
  globBelow,
  type OfferedScope,
  type ScopeEnd,
  wideningOf,
} from "./scope.ts";
import { hasTrait } from "../../schema/tool-facts.ts";

/** The outcomes that cover later calls, too. */
export type LastingOutcome = "proceed_always" | "proceed_always_tool" | "proceed_always_server";

/** The call that a question is about, as far as it limits what an answer can cover. */
export interface AskedCall {
  readonly tool: string;
  /** The roots that contain the paths of the call. */
  readonly roots: readonly string[];
  /** The command that the call runs; absent for a tool that runs none. */
  readonly command?: ExactCommand | undefined;
}

/** Returns the widest scope of an outcome that lasts. */
export function offeredScope(
  outcome: LastingOutcome,
  { tool, roots, command }: AskedCall,
  ends: readonly ScopeEnd[],
): OfferedScope {
  if (command !== undefined) {
    const scope = Object.freeze({ tool, path: "**", command, until: "session" });
    return { scope, roots: undefined, ends };
  }
  const isLimited = outcome === "proceed_always" && roots.length > 0;
  const scope = Object.freeze({
    tool: outcome === "proceed_always_server" ? "*" : tool,
    path: isLimited ? globBelow(roots) : "**",
    until: "session",
  });
  return { scope, roots: isLimited ? roots : undefined, ends };
}

/** Returns true for an outcome that covers later calls, too. */
export function isLasting(outcome: Outcome): outcome is LastingOutcome {
  return (
    outcome === "proceed_always" || outcome === "proceed_always_tool" || outcome === "proceed_always_server"
  );
}

/** @throws FilewrightError APPROVAL_DENIED for a scope that is invalid or wider than the offered one */
export function assertOffered(
  scope: ApprovalScope,
  offered: OfferedScope,
  tool: string,
  bases: GlobBases | undefined,
): void {
  let widening: string | undefined;
  try {
    compileScope(scope, bases, [tool]);
    widening = wideningOf(scope, offered, bases);
  } catch (error) {
    if (!(error instanceof FilewrightError)) throw error;
    throw denied("The scope of the reviewer's answer is not understood.", error);
  }
  if (widening !== undefined) throw denied(`The reviewer's answer is for ${widening} than what was offered.`);
}

/** Returns a duration in words, in the largest unit that it has a whole number of. */
export function phraseOfDuration(ms: number): string {
  const units = [
    ["hour", 3_600_000],
    ["minute", 60_000],
    ["second", 1000],
  ] as const;
  const [unit, size] = units.find(([, of]) => ms >= of && ms % of === 0) ?? ["second", 1000];
  const count = Math.max(1, Math.round(ms / size));
  return plural(count, unit);
}

/** An outcome that approves a changed call. */
export type ChangingOutcome = "proceed_parts" | "modify_with_editor";

/** Returns every outcome that a reviewer may choose, with a description, and with its scope where it lasts. */
export function scopesOf(
  asked: AskedCall,
  changing: readonly ChangingOutcome[],
  until: string,
  offerOf: (outcome: LastingOutcome) => OfferedScope,
): readonly Scope[] {
  const outcomes: Outcome[] = ["proceed_once", ...lastingOutcomesOf(asked), ...changing, "cancel"];
  const scopes = outcomes.map((outcome): Scope => {
    const label = scopeLabel(outcome, asked, until);
    if (!isLasting(outcome)) return Object.freeze({ outcome, label });
    const { scope, ends } = offerOf(outcome);
    return Object.freeze({ outcome, label, scope, ends, sessionEnd: until });
  });
  return Object.freeze(scopes);
}

/** Returns the outcomes for later calls: of a command only one, because none covers more than the same command. */
function lastingOutcomesOf({ tool, command }: AskedCall): readonly LastingOutcome[] {
  if (command !== undefined) return ["proceed_always"];
  return hasTrait(tool, "runsCommands")
    ? []
    : ["proceed_always", "proceed_always_tool", "proceed_always_server"];
}

/** Returns the description of an outcome for a reviewer. */
export function scopeLabel(outcome: Outcome, { tool, roots, command }: AskedCall, until: string): string {
  if (isLasting(outcome) && command !== undefined) return `exactly ${commandInWords(command)}, ${until}`;
  const besides = effectsInWords(tool);
  switch (outcome) {
    case "proceed_once":
      return "this call only";
    case "proceed_always":
      return `${tool} below ${roots.map(escapeControls).join(" and ")}${besides}, ${until}`;
    case "proceed_always_tool":
      return roots.length === 0
        ? `every call of ${escapeControls(tool)}${besides}, whatever its arguments, ${until}`
        : `${tool} on every path of this workspace${besides}, ${until}`;
    case "proceed_always_server":
      return `${EVERY_TOOL_WORDS} on every path of this workspace, ${until}`;
    case "proceed_parts":
      return "only some parts of the change";
    case "modify_with_editor":
      return "change the content first";
    case "look_again":
      return "plan it again on the present content";
    case "cancel":
      return "refuse";
  }
}
