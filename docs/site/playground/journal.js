// The history of the files that are kept in this browser, in an IndexedDB database: its records are objects with bytes,
// which a database stores as they are.

/** The database, and its only store. */
const DATABASE = "filewright-playground";
const RECORDS = "records";

/** Resolves with the result of a request to the database. */
const resultOf = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** Returns a record as a journal reads it. */
const storedRecord = ({ entries }) => ({ entries, damaged: false, close() {}, leave() {} });

/**
 * Opens the history, for the option `journal` of a workspace; `isReset` empties it. A record is written once its change
 * has ended, so a change that is cut off by closing the tab has none, and is not rolled back on the next visit.
 */
export async function openJournal(isReset) {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(RECORDS, { keyPath: ["group", "id"] });
  const database = await resultOf(opening);
  const records = (mode) => database.transaction(RECORDS, mode).objectStore(RECORDS);
  if (isReset) await resultOf(records("readwrite").clear());
  return {
    journal: {
      begin(id) {
        const entries = [];
        return {
          append: (entry) => void entries.push(structuredClone(entry)),
          async close(group) {
            if (group !== null) await resultOf(records("readwrite").put({ group, id, entries }));
          },
        };
      },
      // Only changes that have ended have a record.
      unfinished: () => [],
      async history(group) {
        // The keys are [group, id], and [group, []] comes after all of them. Later ids are greater.
        const all = await resultOf(records("readonly").getAll(IDBKeyRange.bound([group], [group, []])));
        return all.reverse().map(storedRecord);
      },
      async find(group, id) {
        const found = await resultOf(records("readonly").get([group, id]));
        return found === undefined ? null : storedRecord(found);
      },
    },
    close: () => database.close(),
  };
}
