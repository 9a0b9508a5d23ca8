// Turns what a workspace answers into plain data that two runs in different directories can be compared by.
//
// Volatile are the directory of the run, the ids of calls, approvals and turns, the digests that depend on paths and
// versions, the present time, and durations. Each is replaced by a name that counts from its first appearance, so that
// two answers about the same call still show the same name. Hashes of contents stay as they are.

/** The members that hold durations, times or process-wide counters. */
const VOLATILE_MEMBERS = new Set(["duration_ms", "queued_ms", "lock_wait_ms", "at", "ms", "pid"]);
/** The members that depend on how far threads and indexes have come. */
const RACING_MEMBERS = new Set(["fresh", "files_searched"]);
/** The counts of a search that ended at its limit: they depend on which files its threads had reached by then. */
const COUNTS_OF_CUT_SEARCH = new Set(["skipped_binary", "skipped_large", "unreadable"]);
/** The members whose text is an id or a digest of paths and versions. */
const NAMED_MEMBERS = new Map([
  ["digest", "digest"],
  ["replaces", "digest"],
  ["turn", "turn"],
  ["id", "id"],
  ["cursor", "cursor"],
  ["next_cursor", "cursor"],
  ["version", "version"],
]);
/** The members of a changed path that are not enumerable because they are computed when they are read. */
const LAZY_MEMBERS = ["before", "after", "binary", "hunks", "whole", "diff", "unknown"];

const CALL_ID = /\b0[0-9a-z]{8}-[0-9a-f]{12}\b/gu;
const TIME = /\b(20[2-9]\d)-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?/gu;
/** Files of the generated trees are older than this, in milliseconds since 1970. */
const RECENT_MS = Date.UTC(2020, 0);

/** Replaces in texts what is volatile, and remembers the names that it gave. */
function plainTexts(places) {
  const names = new Map();
  const counts = new Map();
  let isAnonymous = false;
  const nameOf = (kind, text) => {
    if (!names.has(text)) {
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      names.set(text, `<${kind} ${counts.get(kind)}>`);
    }
    return isAnonymous ? `<${kind}>` : names.get(text);
  };
  /** Replaces what is volatile in a text, and ids that were seen as members before. */
  const plainText = (text) => {
    let result = text;
    for (const [directory, name] of places) result = result.replaceAll(directory, name);
    result = result.replace(CALL_ID, (id) => nameOf("call", id)).replace(TIME, "<now>");
    if (!/[0-9a-f]{16}|[A-Za-z0-9_-]{20}/u.test(result)) return result;
    for (const [id, name] of names)
      if (id.length >= 16) result = result.replaceAll(id, isAnonymous ? name.replace(/ \d+/u, "") : name);
    return result;
  };
  return {
    nameOf,
    plainText,
    /** From now on names have no numbers: the order in which calls got their ids is not promised. */
    forgetOrder() {
      isAnonymous = true;
    },
  };
}

/**
 * Returns what makes values comparable; it remembers the names that it gave.
 *
 * @param {readonly (readonly [string, string])[]} places directories of the run, and what they are shown as
 */
export function plainValues(places) {
  const { nameOf, plainText, forgetOrder } = plainTexts(places);
  const plainMember = (key, value, seen) => {
    if (VOLATILE_MEMBERS.has(key)) return typeof value === "number" ? undefined : plain(value, seen);
    if (RACING_MEMBERS.has(key)) return undefined;
    const kind = NAMED_MEMBERS.get(key);
    if (kind !== undefined && typeof value === "string" && value !== "" && plainText(value) === value)
      return nameOf(kind, value);
    return plain(value, seen);
  };
  const plainObject = (value, seen) => {
    const result = {};
    const lazy = LAZY_MEMBERS.filter((key) => key in value);
    for (const key of [...new Set([...Object.keys(value), ...lazy])].sort()) {
      if (value.truncated === true && COUNTS_OF_CUT_SEARCH.has(key)) continue;
      const member = plainMember(key, value[key], seen);
      if (member !== undefined) result[plainText(key)] = member;
    }
    return result;
  };
  /** Objects that are not just their members, each with the test that knows it. */
  const special = [
    [
      (value) => value instanceof Date,
      (value) => (value.getTime() > RECENT_MS ? "<now>" : value.toISOString()),
    ],
    [
      ArrayBuffer.isView,
      (value) => `bytes ${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64")}`,
    ],
    [(value) => value instanceof AbortSignal, () => undefined],
    [(value) => value instanceof Error, (value, seen) => plainError(value, seen)],
    [Array.isArray, (value, seen) => value.map((item) => plain(item, seen) ?? null)],
    [(value) => value instanceof Map, (value, seen) => plain([...value], seen)],
    [() => true, (value, seen) => plainObject(value, seen)],
  ];
  const byType = {
    string: plainText,
    bigint: String,
    number: (value) => (value > RECENT_MS ? "<now>" : value),
    boolean: (value) => value,
    object(value, seen) {
      if (value === null) return null;
      if (seen.has(value)) return "<circle>";
      const [, make] = special.find(([fits]) => fits(value));
      return make(value, new Set(seen).add(value));
    },
  };
  /** Returns a comparable value; undefined for functions and for what is left out. */
  const plain = (value, seen = new Set()) => byType[typeof value]?.(value, seen);
  const plainError = (error, seen) => {
    const { code, message, path, hint, details } = error;
    // A failure without a code is no answer of ours; its first line names it.
    return plainObject({ error: error.name, code, message, path, hint, details }, seen);
  };
  return { plain, forgetOrder };
}

/** Sorts the lines of texts and the items of lists, for answers whose order depends on times of this run. */
export function withoutOrder(value) {
  if (typeof value === "string") return value.split("\n").sort().join("\n");
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value))
    return value.map(withoutOrder).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutOrder(item)]));
}
