/** Earlier contents of files, from what the log keeps to take changes back. */
import { holdsSecret, SECRET_HEAD_BYTES } from "../../backends/confined/rules.ts";
import type { PreImage } from "../../backends/transaction/pre-image.ts";
import { engine } from "../../engine/current.ts";
import type { HistoryRecord, Log } from "../../log/index.ts";
import { changesAfter, statesOfChange } from "../../log/past.ts";
import type { PathSince } from "../../tools/lib/past.ts";
import { sideOf } from "./file-change.ts";
import { placeOf } from "./place.ts";

/** The number of the last changes of a file whose records are read. */
const MAX_LOOKED_CHANGES = 20;

/** The log of a caller, and what the caller may read of it. */
export interface ReadLog {
  readonly log: Log;
  /** Returns true where the content at a path may be read only if it holds no secret. */
  checksContent(path: string): boolean;
}

/** Returns a content that a file had, by its hash; undefined where the log does not keep it, or it holds a secret. */
export async function contentBefore(
  from: ReadLog,
  path: string,
  hash: string,
): Promise<Uint8Array | undefined> {
  for (const record of await lastChangesOf(from.log, path)) {
    const bytes = await bytesFound(from, record, path);
    if (bytes !== undefined && bytes !== null && engine().sha256(bytes) === hash) return bytes;
  }
  return undefined;
}

/**
 * Returns the content that a change found; null for no file, undefined where it is not known. A content that the caller
 * could not read, because it holds a secret, is not known.
 */
async function bytesFound(
  { log, checksContent }: ReadLog,
  record: HistoryRecord,
  path: string,
): Promise<Uint8Array | null | undefined> {
  const states = await statesOfChange(log, record, (one) => one === path);
  const state = states.find((one) => one.path === path);
  const bytes = state === undefined ? undefined : contentOf(state.image);
  if (bytes === undefined || bytes === null || !checksContent(path)) return bytes;
  return holdsSecret(bytes.subarray(0, SECRET_HEAD_BYTES)) ? undefined : bytes;
}

function contentOf(image: PreImage | null): Uint8Array | null | undefined {
  return image?.type === "file" ? sideOf(image)?.bytes : null;
}

/** Returns the records of the last changes of a path, the latest first. */
export async function lastChangesOf(log: Log, path: string): Promise<readonly HistoryRecord[]> {
  const records = await log.list();
  return records.filter(({ paths }) => paths.includes(path)).slice(0, MAX_LOOKED_CHANGES);
}

/**
 * Returns the paths that changed after a mark or a call, each with what it was then.
 * @throws NOT_FOUND, LIMIT_EXCEEDED when the log no longer reaches back to the place
 */
export async function pathsSince<By>(
  from: ReadLog,
  since: string,
  byOf: (record: HistoryRecord) => By | undefined,
): Promise<readonly PathSince<By>[]> {
  const { log } = from;
  const after = await changesAfter(log, await placeOf(log, since));
  const found = new Map<string, { oldest: HistoryRecord; by: By }>();
  for (const record of after) {
    const by = record.header.callId === since ? undefined : byOf(record);
    if (by === undefined) continue;
    for (const path of record.paths) found.set(path, { by: found.get(path)?.by ?? by, oldest: record });
  }
  return [...found].map(([path, { oldest, by }]) => ({
    path,
    by,
    before: () => bytesFound(from, oldest, path),
  }));
}
