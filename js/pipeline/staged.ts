/**
 * The stage of a call: over a storage, a call reads what it names in one round trip and changes everything by one
 * commit. Without a storage, calls work on the backend itself.
 */
import type { Location } from "../policy/index.ts";
import { parentOf } from "../backends/paths.ts";
import { enterStage } from "../backends/abilities.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { PathToRead } from "../storage/staged/reads.ts";
import type { PathUse, Tool } from "../tools/lib/tool.ts";
import { hasGlobSyntax } from "../tools/lib/walks.ts";
import type { Session } from "./session.ts";

/**
 * Returns the state of a workspace for one call, which sees and changes the files through its stage. With `mayAssume`
 * false, an undo reads what it could assume.
 */
export function withStage(session: Session, mayAssume = true): Session {
  const { stages } = session.staging;
  if (stages === undefined || session.staging.stage !== undefined) return session;
  const stage = stages.begin(mayAssume);
  if (session.staging.charge !== undefined) stage.record(session.staging.charge);
  const storage = enterStage(stages.storage, stage);
  return {
    ...session,
    staging: { ...session.staging, stage, unstaged: session },
    files: {
      ...session.files,
      fs: enterStage(session.files.fs, stage),
      views: session.files.views.on(stage),
      repositories: session.files.repositories?.on(storage),
    },
    past: { ...session.past, log: stages.log(stage) },
  };
}

/** A call with the paths that it names. */
interface NamedCall {
  readonly tool: Pick<Tool, "traits">;
  readonly args: object;
  readonly uses: readonly PathUse[];
  readonly locations: readonly Location[];
}

/** Names the paths of a call for its stage, so that its first read is the only one. */
export function nameCallPaths(
  session: Pick<Session, "staging" | "files">,
  { tool, args, uses, locations }: NamedCall,
): void {
  const { stage } = session.staging;
  if (stage === undefined) return;
  const body = tool.traits.includes("readsContents");
  const paths: PathToRead[] = [];
  const trees: string[] = [];
  const above = (path: string, root: string, isWritten: boolean): void => {
    for (let at = path; at !== "/"; ) {
      at = parentOf(at);
      paths.push({ path: at, body: false });
      // A repository below the root could name the path as one that may not be written.
      if (isWritten && session.files.repositories !== undefined && at.length > root.length)
        paths.push({ path: `${at}/.git`, body: false });
    }
  };
  for (const [index, { intent, tree }] of uses.entries()) {
    const { path, root } = locations[index] as Location;
    paths.push({ path, body });
    above(path, root, intent === "write");
    if (tree === true) trees.push(path);
  }
  for (const path of tool.traits.includes("takesLists") ? namedFiles(session, args) : []) {
    paths.push({ path, body });
    above(path, "", false);
  }
  stage.name(paths, trees);
}

/** Returns the paths that a tool which takes lists names itself; globs and what cannot be resolved are left out. */
function namedFiles({ files: { resolver } }: Pick<Session, "files">, args: object): readonly string[] {
  const { paths = [] } = args as { readonly paths?: readonly string[] };
  const found: string[] = [];
  for (const typed of paths) {
    try {
      found.push(resolver.resolve(typed, "read").path);
    } catch (error) {
      if (!(error instanceof FilewrightError)) throw error;
    }
  }
  return found;
}

/** Returns true for a call with lists that seems to name files, and neither globs nor directories. */
function namesFilesOnly(args: object): boolean {
  const { paths = [], include = [] } = args as {
    readonly paths?: readonly string[];
    readonly include?: readonly string[];
  };
  return include.length === 0 && paths.every((path) => !hasGlobSyntax(path) && /[^/]\.[^./]+$/u.test(path));
}

/** Returns true for a conflict of a call that was decided on states which it had not read. */
export function isWrongAssumption({ staging: { stage } }: Session, error: unknown): boolean {
  return stage?.hasAssumed === true && error instanceof FilewrightError && error.code === "CONFLICT";
}

/**
 * Returns the session for a call of a tool. If the tool walks a tree of a shared storage, that is a session at one
 * moment, with the version of the storage that it shows. For every other call it is the given session.
 */
export async function sessionAtMoment(
  session: Session,
  tool: Pick<Tool, "kind" | "traits">,
  args: object,
  signal: AbortSignal | undefined,
): Promise<{ readonly session: Session; readonly version: string | undefined }> {
  const { enterMoment } = session.files;
  if (enterMoment === undefined || tool.kind !== "read" || !tool.traits.includes("searches"))
    return { session, version: undefined };
  // For files that are named one by one, no snapshot is needed: the stage of the call reads them in one round trip.
  if (tool.traits.includes("takesLists") && namesFilesOnly(args)) return { session, version: undefined };
  const { version, ...parts } = await enterMoment(signal);
  return { session: { ...session, files: { ...session.files, ...parts } }, version };
}
