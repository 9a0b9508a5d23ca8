/**
 * Wider answers: the later calls that an answer allows, too. The page names a place and an end; the scope is made here
 * from the question itself, so an answer cannot cover more than its question offers.
 */
import { isWithin, literalGlob, parentOf } from "../../backends/paths.ts";
import type { ConfirmPayload, ConfirmReply } from "../../hooks/confirm.ts";
import type { PlainDetails } from "../../hooks/notebook.ts";
import { commandInWords } from "../../hooks/scope/command.ts";
import { type ApprovalScope, compileScope, endOfScope } from "../../hooks/scope/scope.ts";
import type { GrantReply } from "../../policy/index.ts";
import type { GrantChoice, WiderChoice, WiderOffer, WiderPlace } from "../protocol.ts";

/** The number of files that one scope may name. A question about more of them offers their directory. */
const MAX_FILES = 20;

/** Returns the wider answers that a question offers; undefined when it offers none. */
export function widerOfferOf(details: PlainDetails): WiderOffer | undefined {
  const { scopes } = details;
  const below = scopes.find(({ outcome }) => outcome === "proceed_always");
  const anywhere = scopes.find(({ outcome }) => outcome === "proceed_always_tool");
  const { ends, sessionEnd } = anywhere ?? below ?? {};
  if (ends === undefined || sessionEnd === undefined) return undefined;
  const command = below?.scope?.command;
  if (command !== undefined)
    return { places: ["command"], files: [], command: commandInWords(command), ends, sessionEnd };
  const files = filesOf(details);
  const dir = directoryOf(files);
  const places: WiderPlace[] = [];
  if (below?.scope !== undefined && files.length > 0) {
    if (files.length <= MAX_FILES && files.every((file) => coversPath(below.scope, file)))
      places.push("files");
    if (dir !== undefined && coversBelow(below.scope, dir)) places.push("directory");
  }
  if (anywhere !== undefined) places.push("everywhere");
  if (places.length === 0) return undefined;
  return {
    places,
    files: files.slice(0, MAX_FILES),
    ...(places.includes("directory") && dir !== undefined ? { dir } : {}),
    ends,
    sessionEnd,
  };
}

/** Returns the scope of a wider answer; undefined for one that its question does not offer. */
export function scopeOfChoice(details: PlainDetails, choice: WiderChoice): ApprovalScope | undefined {
  const { place, dir: named, isAgentOnly, until } = choice;
  const offer = widerOfferOf(details);
  const end = endOfScope({ until });
  if (offer === undefined || end === undefined || !offer.ends.includes(end)) return undefined;
  if (!offer.places.includes(place) || (named !== undefined && place !== "directory")) return undefined;
  if (end === "time" && Date.parse(until) <= Date.now()) return undefined;
  const { agent, tool } = details;
  if (isAgentOnly && agent === undefined) return undefined;
  const where = coveredByChoice(details, offer, choice);
  const who = isAgentOnly && agent !== undefined ? { agent } : {};
  return where && { tool, ...where, ...who, until };
}

/** Returns what a choice covers; undefined for a directory that its question does not offer. */
function coveredByChoice(
  { scopes }: PlainDetails,
  { files, dir = "/" }: WiderOffer,
  { place, dir: chosen = dir }: WiderChoice,
): Pick<ApprovalScope, "path" | "command"> | undefined {
  const below = scopes.find(({ outcome }) => outcome === "proceed_always")?.scope;
  switch (place) {
    case "command":
      return below?.command && { path: below.path, command: below.command };
    case "everywhere":
      return { path: "**" };
    case "files":
      return { path: globOfPaths(files) };
    case "directory":
      return isWithin(dir, chosen) && coversBelow(below, chosen)
        ? { path: `${literalGlob(chosen)}/**` }
        : undefined;
  }
}

/** Returns the reply with a wider answer; undefined for one that its question does not offer. */
export function lastingReply(
  details: PlainDetails,
  choice: WiderChoice,
  payload: ConfirmPayload,
): ConfirmReply | undefined {
  const scope = scopeOfChoice(details, choice);
  if (scope === undefined) return undefined;
  const outcome = choice.place === "everywhere" ? "proceed_always_tool" : "proceed_always";
  return { outcome, payload: { ...payload, scope } };
}

/** Returns the reply that grants a directory; undefined for an end that is none, or has passed. */
export function grantOfChoice({ access, until }: GrantChoice, by: string): GrantReply | undefined {
  const end = endOfScope({ until });
  if (end === undefined || end === "turn") return undefined;
  const granted = { answer: "yes", access, remember: end === "kept", by };
  if (end !== "time") return granted;
  const expires = new Date(until);
  return expires.getTime() > Date.now() ? { ...granted, expires } : undefined;
}

/** Returns every path that a question concerns, also those from which entries are moved, and the targets of links. */
function filesOf({ changes, paths }: PlainDetails): readonly string[] {
  const files = new Set<string>();
  for (const { path, from } of changes) {
    files.add(path);
    if (from !== undefined) files.add(from);
  }
  for (const path of paths) files.add(path);
  return [...files].filter((path) => path !== "");
}

/** Returns the deepest directory that contains these paths; undefined for none. */
function directoryOf(files: readonly string[]): string | undefined {
  const [first, ...others] = files;
  if (first === undefined) return undefined;
  let dir = parentOf(first);
  while (!others.every((file) => isWithin(parentOf(file), dir))) dir = parentOf(dir);
  return dir;
}

function globOfPaths(files: readonly string[]): string {
  const globs = files.map(literalGlob);
  return globs.length === 1
    ? String(globs[0])
    : `{${globs.map((glob) => glob.replaceAll(",", "\\,")).join(",")}}`;
}

/** Returns true when the offered scope covers a path. */
function coversPath(offered: ApprovalScope | undefined, path: string): boolean {
  if (offered === undefined) return false;
  const covers = compileScope(offered, undefined, [offered.tool]);
  return covers({ tool: offered.tool, places: [[path]] });
}

/** Returns true when the offered scope, whose globs are those of whole directories, covers all of a directory. */
function coversBelow(offered: ApprovalScope | undefined, dir: string): boolean {
  return coversPath(offered, `${dir === "/" ? "" : dir}/any`);
}
