/**
 * Facts about tools by their names, for code that has no tool at hand: a record of the history and a stored approval
 * name one, and neither the review page nor the beginning of a server may load any. The tools in `js/tools` define them;
 * `npm run tool-types` writes them to `generated/facts.ts`.
 */
import { FACTS_BY_TOOL } from "./generated/facts.ts";

/**
 * The traits of a tool: facts that other code needs to know about it.
 *
 * - `edits`, `writes`, `removes`, `copies`, `moves`: what it does with the files that it names: changes parts of their
 *   contents, replaces them whole, and so on. The guard goes by it.
 * - `alsoDeletes`, `alsoMoves`, `alsoCopies`, `alsoReplaces`: what a call may do besides, as the work of other tools:
 *   their rules apply, and an approval of this tool does not cover it.
 * - `takesBackCall`, `takesBackPart`, `takesBackCalls`: it takes back one call, a part of one, or several.
 * - `writesSeveral`: it writes several files, all or none; without it one.
 * - `recordsItself`: it records its change in the history itself, as an undo does.
 * - `needsHistory`: it is about the history of changes, and of no use without one.
 * - `runsCommands`: it runs a program, which may do anything: an approval covers the same command alone, and nothing
 *   records what the program changes.
 * - `readsContents`: it may need the contents of the files that it names, which a storage then reads with their facts.
 * - `searches`: it returns paths that the call did not name. Its data must have `warnings`.
 * - `takesLists`: it names files and globs by the arguments `paths` and `include`.
 * - `namesNoPath`: no argument of it is a path.
 * - `needsDirectory`: its path must be a directory. Only the text of `NOT_DIRECTORY` depends on it.
 * - `acceptsExisting`: the entry that it makes may exist already. Only the text of `ALREADY_EXISTS` depends on it.
 * - `actsOnLinks`: it acts on a link itself, never on its target.
 * - `showsDiff`: its text may be a diff, or end with one.
 * - `endsAtOnce`: a call looks at one path or none, and ends before it could be cancelled: it gets no signal, unless
 *   hooks, grants or rules could make it wait.
 * - `keepsTime`: it enforces `timeout_ms` itself.
 * - `isExtra`: models are offered it only where the host wants that (`knows`, true or `names`).
 * - `knowsRepository`: models are offered it only where the host wants that (`knows`).
 * - `standsForLooking`, `standsForReading`, `standsForWriting`: the rules for its calls also apply to an access that is
 *   not part of its calls, such as a path in an error message, or an earlier content on the review page. One tool has
 *   each (`TOOL_FOR_ACCESS`).
 */
export type ToolTrait =
  | "acceptsExisting"
  | "actsOnLinks"
  | "alsoCopies"
  | "alsoDeletes"
  | "alsoMoves"
  | "alsoReplaces"
  | "copies"
  | "edits"
  | "endsAtOnce"
  | "isExtra"
  | "keepsTime"
  | "knowsRepository"
  | "moves"
  | "namesNoPath"
  | "needsDirectory"
  | "needsHistory"
  | "readsContents"
  | "recordsItself"
  | "removes"
  | "runsCommands"
  | "searches"
  | "showsDiff"
  | "standsForLooking"
  | "standsForReading"
  | "standsForWriting"
  | "takesBackCall"
  | "takesBackCalls"
  | "takesBackPart"
  | "takesLists"
  | "writes"
  | "writesSeveral";

/** The facts about a tool. */
interface ToolFacts {
  /** `batch`: it consists of calls of other tools. */
  readonly kind: "batch" | "change" | "read";
  readonly traits: readonly ToolTrait[];
}

const FACTS: ReadonlyMap<string, ToolFacts> = new Map<string, ToolFacts>(Object.entries(FACTS_BY_TOOL));

/** Returns true for a tool with a trait; false for any other, and for a name that no tool has. */
export function hasTrait(tool: string, trait: ToolTrait): boolean {
  return FACTS.get(tool)?.traits.includes(trait) === true;
}

/** Returns true for a tool whose calls may change files. */
export function mayChangeFiles(tool: string): boolean {
  const kind = FACTS.get(tool)?.kind;
  return kind === "change" || kind === "batch";
}

/** Returns the names of the tools with a trait. */
export function toolsWith(trait: ToolTrait): readonly string[] {
  return [...FACTS.keys()].filter((tool) => hasTrait(tool, trait));
}

/** Returns true for a tool that takes back other calls. */
export function takesBack(tool: string): boolean {
  return (["takesBackCall", "takesBackPart", "takesBackCalls"] as const).some((trait) =>
    hasTrait(tool, trait),
  );
}

/** The tools whose rules decide about an access outside their calls: to see that a path exists, to read, to write. */
export const TOOL_FOR_ACCESS: { readonly look: string; readonly read: string; readonly write: string } =
  Object.freeze({
    look: onlyToolWith("standsForLooking"),
    read: onlyToolWith("standsForReading"),
    write: onlyToolWith("standsForWriting"),
  });

function onlyToolWith(trait: ToolTrait): string {
  const [tool] = toolsWith(trait);
  return tool as string;
}
