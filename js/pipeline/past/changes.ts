/**
 * The changes of one past call, with contents. The log has the contents before a call. The content that the call
 * left is what the next change of the file has replaced, or the file itself, if its hash is still the one that the call
 * left.
 */
import type { Files } from "../../backends/files.ts";
import { lstatOrNull } from "../../backends/fallback/fallback.ts";
import { parentOf } from "../../backends/paths.ts";
import type { PreImage } from "../../backends/transaction/pre-image.ts";
import { engine } from "../../engine/current.ts";
import type { HistoryRecord, Log, StateBefore } from "../../log/index.ts";
import { statesOfChange, undoableChange } from "../../log/past.ts";
import { storedContentOf } from "../../storage/staged/stored-content.ts";
import type { Session } from "../session.ts";
import { withStage } from "../staged.ts";
import { type ChangeSide, type HistoryChange, historyChange, readSide, sideOf } from "./file-change.ts";

/** The maximum number of paths of one call whose contents are returned. */
const MAX_CHANGES = 5000;

/** Returns what a call changed. @throws NOT_FOUND, UNSUPPORTED_OPERATION for a call that was not recorded */
export async function changesOfCall(workspace: Session, callId: string): Promise<readonly HistoryChange[]> {
  const session = withStage(workspace, false);
  const { log } = session.past;
  const { resolver } = session.files;
  const { display } = resolver;
  const change = await undoableChange(log, callId);
  const states = (await change.states(() => true)).slice(0, MAX_CHANGES);
  const later: LaterRecords = { records: await laterRecords(log, callId), found: foundOnce(log) };
  const sources = new Set(states.flatMap(({ from }) => (from === undefined ? [] : [from])));
  const changes: HistoryChange[] = [];
  for (const state of states) {
    const { path, image, from } = state;
    // An entry that was moved away is shown at the place to which it was moved.
    if (from !== undefined) {
      const side = withoutContent(sideOf(image));
      changes.push(historyChange({ path: from, display: display(from), from: path }, side, side));
      continue;
    }
    if (sources.has(path) && image === null) continue;
    const left = await sideLeft(session.files.fs, later, state);
    changes.push(historyChange({ path, display: display(path) }, sideOf(image), left));
  }
  return Object.freeze(changes.sort((a, b) => (a.path < b.path ? -1 : 1)));
}

/** The changes after a call, the oldest first. */
interface LaterRecords {
  readonly records: readonly HistoryRecord[];
  /** Returns the states that a change has found. */
  found(record: HistoryRecord): Promise<readonly StateBefore[]>;
}

/** Returns a function that reads the record of each call once. */
function foundOnce(log: Log): LaterRecords["found"] {
  const known = new Map<string, Promise<readonly StateBefore[]>>();
  return (record) => {
    const { callId } = record.header;
    const states = known.get(callId) ?? statesOfChange(log, record, () => true);
    known.set(callId, states);
    return states;
  };
}

/** Returns the recorded changes after a call, the oldest first. */
async function laterRecords(log: Log, callId: string): Promise<readonly HistoryRecord[]> {
  const records = await log.list();
  const at = records.findIndex(({ header }) => header.callId === callId);
  return at < 0 ? [] : records.slice(0, at).reverse();
}

/** Returns the state that a call left at a path, with its content if that is still known. */
async function sideLeft(
  fs: Files,
  later: LaterRecords,
  { path, after, image, leftMode }: StateBefore,
): Promise<ChangeSide | null> {
  if (after === null) return null;
  if (after === undefined) return { type: image?.type ?? "file" };
  const side = sideOf(after) as ChangeSide;
  if (after.type !== "file") return side;
  const found = await nextSide(fs, later, path, after);
  const bytes = found?.bytes;
  if (bytes === undefined) return side;
  const hash = engine().sha256(bytes);
  const isSame = after.hash === undefined ? found?.isSameVersion === true : hash === after.hash;
  return isSame ? { ...side, mode: side.mode ?? leftMode ?? found?.mode, hash, bytes } : side;
}

/** Returns the entry that the next change of a path found, or that is there now. */
async function nextSide(
  fs: Files,
  later: LaterRecords,
  path: string,
  left: PreImage,
): Promise<(ChangeSide & { readonly isSameVersion: boolean }) | undefined> {
  for (const record of later.records) {
    if (!record.paths.some((one) => one === path || isAbove(one, path))) continue;
    const states = await later.found(record);
    // Nothing is recorded of a command.
    if (states.length === 0) continue;
    const next = states.find((state) => state.path === path);
    // A directory above it was moved or removed.
    if (next === undefined) return undefined;
    if (next.image?.type !== "file" || next.image.bytes === undefined) return undefined;
    if (storedContentOf(next.image.bytes) !== undefined) return undefined;
    const isSameVersion = left.version !== undefined && next.image.version === left.version;
    return { ...(sideOf(next.image) as ChangeSide), isSameVersion };
  }
  const stat = await lstatOrNull(fs, path).catch(() => null);
  const side = await readSide(fs, path, stat);
  const isSameVersion = left.version !== undefined && stat?.version === left.version;
  return side === null ? undefined : { ...side, isSameVersion };
}

function isAbove(directory: string, path: string): boolean {
  for (let at = parentOf(path); ; at = parentOf(at)) {
    if (at === directory) return true;
    if (at === "/") return false;
  }
}

function withoutContent(side: ChangeSide | null): ChangeSide | null {
  if (side === null) return null;
  const { type, mode, hash } = side;
  return { type, mode, hash };
}
