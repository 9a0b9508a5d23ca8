/** The marks in the history of a storage: shared records, which all replicas see. */
import { FilewrightError } from "../engine/errors.ts";
import type { Records } from "../storage/storage.ts";
import { markExistsError } from "./call-id.ts";
import type { JournalMark } from "./types.ts";

/** The kind of the shared records of marks. */
const MARK_KIND = "mark";
/** The maximum number of marks that are listed. */
const MAX_MARKS = 1000;

/** Returns the marks, the newest first. */
export async function listStorageMarks(records: Records): Promise<readonly JournalMark[]> {
  const found = await records.list(MARK_KIND, { limit: MAX_MARKS });
  const marks = found.map(
    ({ id, value }): JournalMark => ({ ...(value as Omit<JournalMark, "name">), name: id }),
  );
  return marks.sort((a, b) => b.at - a.at);
}

/** Names a moment of the history. @throws ALREADY_EXISTS for a name in use */
export async function addStorageMark(records: Records, mark: JournalMark): Promise<JournalMark> {
  const { name, ...value } = mark;
  try {
    await records.put(MARK_KIND, name, value, { expect: null });
  } catch (error) {
    if (error instanceof FilewrightError && error.code === "CONFLICT") throw markExistsError(name);
    throw error;
  }
  return mark;
}
