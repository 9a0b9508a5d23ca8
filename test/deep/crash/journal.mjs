// Rewrites the journal of a replayed disk, so that it names the identities of the replayed files.
//
// A record names each entry by the number and the times that the file system gave it. A file that the replay writes has
// others, so that a recovery would take it for a file of another program. This module rewrites the part of each
// record whose MAC is valid, with the key of the journal: a number or time that would still be right after the power cut becomes that
// of the new file, and one that would not becomes one that no file has.
import * as fs from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const RECORDS = pathToFileURL(resolve(import.meta.dirname, "../../../dist/log/record-file.node.js")).href;
/** Hexadecimal digits of a value that no entry has: alone as a time, or before an inode number. */
const NONE = "7fff";

/** The members of a record that hold the identity of an entry. */
const IDENTITIES = new Set(["version", "fileId", "parent", "parents"]);

/** Returns the number of nanoseconds in hexadecimal, as versions have it. */
const nanosecondsOf = (time) => time.toString(16);

/** Returns the number of milliseconds, as the product computes it. */
const millisecondsOf = (nanoseconds) =>
  Number(nanoseconds / 1_000_000n) + Number(nanoseconds % 1_000_000n) / 1e6;

/** Returns the record files of a journal. */
function recordFiles(journal) {
  const below = (folder) =>
    fs.existsSync(folder) ? fs.readdirSync(folder).map((name) => join(folder, name)) : [];
  return [...below(join(journal, "open")), ...below(join(journal, "done")).flatMap(below)];
}

/** Collects the entries of a replayed directory, and the status of the real ones, by their former numbers. */
export function boundEntries(shown, path, found = new Map()) {
  const { ino } = shown.source;
  if (ino !== undefined)
    found.set(ino, [...(found.get(ino) ?? []), { shown, stat: fs.lstatSync(path, { bigint: true }) }]);
  for (const [name, child] of shown.names) boundEntries(child, join(path, name), found);
  return found;
}

/** Returns the new form of `DEVICE.INODE` or `DEVICE.INODE.SIZE.MTIME.CTIME`. */
function reboundVersion(text, entries) {
  const [device, ino, size, mtime, ctime] = text.split(".");
  const candidates = entries.get(ino) ?? [];
  const seenAt = ({ shown }) =>
    shown.source.seen.findLast((one) => one.mtime === mtime && one.ctime === ctime);
  const bound = candidates.find((one) => ctime !== undefined && seenAt(one)) ?? candidates.at(-1);
  if (bound === undefined) return text.replace(`.${ino}`, `.${NONE}${ino}`);
  const { shown, stat } = bound;
  const identity = `${device}.${stat.ino.toString(16)}`;
  if (ctime === undefined) return identity;
  const seen = seenAt(bound);
  const isFresh = (changes) => seen !== undefined && !changes.some((at) => at > seen.at);
  const newer = isFresh(shown.contentChanges) ? nanosecondsOf(stat.mtimeNs) : NONE;
  const changed = isFresh([...shown.contentChanges, ...shown.entryChanges])
    ? nanosecondsOf(stat.ctimeNs)
    : NONE;
  return `${identity}.${size}.${newer}.${changed}`;
}

/**
 * Returns the entries below a moved directory with the new times of its files, where those recorded are still right.
 * Files are found by their paths, because several can have one time: the clock of a file system ticks in milliseconds.
 */
function reboundBelow({ moved, below }, entries) {
  const [, ino] = moved.fileId.split(".");
  const top = (entries.get(ino) ?? []).at(-1)?.shown;
  return below.map(([path, facts]) => {
    const shown = path.split("/").reduce((directory, name) => directory?.names.get(name), top);
    return [path, reboundFacts(facts, shown, entries)];
  });
}

/** Returns the facts `SIZE MILLISECONDS` of a file with its new time; other facts, and those not right any more, as they are. */
function reboundFacts(text, shown, entries) {
  const [size, milliseconds] = text.split(" ");
  const seen = shown?.source.seen.find(
    ({ mtime }) => String(millisecondsOf(BigInt(`0x${mtime}`))) === milliseconds,
  );
  if (seen === undefined || shown.contentChanges.some((changed) => changed > seen.at)) return text;
  const { stat } = entries.get(shown.source.ino).find((one) => one.shown === shown);
  return `${size} ${millisecondsOf(stat.mtimeNs)}`;
}

/**
 * Returns a value of a record with the versions and numbers of the replayed entries.
 * @param {unknown} value
 * @param {Map<string, { shown: object, stat: fs.BigIntStats }[]>} entries
 * @param {string} member the name under which the record has the value
 */
export function reboundRecord(value, entries, member = "") {
  if (typeof value === "string") return IDENTITIES.has(member) ? reboundVersion(value, entries) : value;
  if (ArrayBuffer.isView(value) || value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((one) => reboundRecord(one, entries, member));
  const result = Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, reboundRecord(one, entries, key)]),
  );
  if (value.below !== undefined) result.below = reboundBelow(value, entries);
  // The same time, as a number of milliseconds.
  const [, , , mtime] = (result.version ?? "").split(".");
  if (result.mtime !== undefined && mtime !== undefined && mtime !== NONE)
    result.mtime = millisecondsOf(BigInt(`0x${mtime}`));
  return result;
}

/** Rewrites the records of a journal for the entries of a replayed disk; what follows the authentic part stays. */
export async function rebindJournal(journal, entries) {
  const { decodeRecord, encodeRecord, idOfOpenRecord, RECORD_MAC_BYTES, recordKeyOf } = await import(RECORDS);
  const keyFile = join(journal, "key");
  const bytes = fs.existsSync(keyFile) ? fs.readFileSync(keyFile) : Buffer.alloc(0);
  if (bytes.length === 0) return;
  const key = recordKeyOf(bytes);
  for (const path of recordFiles(journal)) {
    const id = idOfOpenRecord(path);
    if (id === undefined) continue;
    const { entries: records } = decodeRecord(path, key, id, true);
    const encoded = (all) => {
      let previous = Buffer.alloc(RECORD_MAC_BYTES);
      const parts = all.map((record) => {
        const { buffers, mac } = encodeRecord(record, key, previous, id);
        previous = mac;
        return Buffer.concat(buffers);
      });
      return Buffer.concat(parts);
    };
    const rest = fs.readFileSync(path).subarray(encoded(records).length);
    const renewed = encoded(records.map((record) => reboundRecord(record, entries)));
    fs.writeFileSync(path, Buffer.concat([renewed, rest]));
  }
}
