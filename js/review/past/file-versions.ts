/** The versions of a file that calls have made, and their comparison. */
import { FilewrightError } from "../../engine/errors.ts";
import { confirmedChange } from "../../hooks/changed-files.ts";
import { contentsOf, type HistoryChange } from "../../pipeline/past/file-change.ts";
import { encodeUtf8 } from "../../tools/lib/text.ts";
import type { Workspace } from "../../workspace/types.ts";
import { changesOfPastCall, type PastChange } from "./past-changes.ts";
import type { ReviewedWorkspace } from "./reviewed.ts";

/** The version of a file that is there now. */
const NOW = "now";
/** The prefix before the id of a call that names the version which the call found. */
const BEFORE = "before:";

/** A content: null for no file, undefined when it is not known. */
interface Version {
  readonly content: Uint8Array | null | undefined;
  /** The absolute path; undefined for the version that is there now. */
  readonly path: string | undefined;
}

/**
 * Compares two versions of a file. A version is the id of the call that left it, `before:` and the id of the call that
 * found it, or `now`.
 *
 * @param path the path as the history has it
 * @throws FilewrightError NOT_FOUND for an unknown call, or one that did not change this file
 */
export async function compareVersions(
  reviewed: ReviewedWorkspace,
  path: string,
  before: string,
  after: string,
): Promise<PastChange> {
  const [old, now] = [await versionOf(reviewed, path, before), await versionOf(reviewed, path, after)];
  const absolute = old.path ?? now.path;
  if (absolute === undefined)
    throw new FilewrightError("INVALID_ARGUMENT", "One of the versions must be that of a call.", {
      complete: true,
    });
  const read = async ({ content, path: own }: Version): Promise<Uint8Array | null | undefined> =>
    own === undefined ? readNow(reviewed.workspace, absolute) : content;
  const [from, to] = [await read(old), await read(now)];
  const kind = from === null ? "create" : to === null ? "delete" : "edit";
  const summary = { path: absolute, display: path, kind, type: "file" } as const;
  if (from === undefined || to === undefined) {
    const unknown = (["before", "after"] as const).filter(
      (side) => (side === "before" ? from : to) === undefined,
    );
    return Object.assign(Object.create(confirmedChange(summary)), { unknown }) as PastChange;
  }
  return confirmedChange(summary, { before: from, after: to });
}

async function versionOf(reviewed: ReviewedWorkspace, path: string, version: string): Promise<Version> {
  if (version === NOW) return { content: undefined, path: undefined };
  const isBefore = version.startsWith(BEFORE);
  const callId = isBefore ? version.slice(BEFORE.length) : version;
  const change = (await changesOfPastCall(reviewed, callId)).find(({ display }) => display === path);
  if (change === undefined)
    throw new FilewrightError("NOT_FOUND", "That call did not change this file.", { complete: true });
  return { content: contentOf(change, isBefore ? "before" : "after"), path: change.path };
}

/** Returns one content of a change: null for no file, undefined when it is not known. */
function contentOf(change: PastChange, side: "before" | "after"): Uint8Array | null | undefined {
  const contents = contentsOf(change as HistoryChange);
  if (contents !== undefined) return contents[side];
  if (change.unknown?.includes(side) === true) return undefined;
  const text = change[side];
  if (text !== null) return encodeUtf8(text);
  return change.kind === (side === "before" ? "create" : "delete") ? null : undefined;
}

/** Reads the file that is there now; undefined when it cannot be read. */
async function readNow(ws: Workspace, path: string): Promise<Uint8Array | null | undefined> {
  try {
    return await ws.fs.readBytes(path);
  } catch (error) {
    if (!(error instanceof FilewrightError)) throw error;
    return error.code === "NOT_FOUND" ? null : undefined;
  }
}
