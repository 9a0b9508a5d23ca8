// The history of the files that are kept in this browser. It is kept in a database of the same origin, because a record
// of it is an object with bytes, which a database stores as it is.

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
 * Opens the history; `isReset` empties it. `journal` is an option of a workspace. A change that ends with the tab is not
 * rolled back by the next one: its record is written when the change is made.
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
      unfinished: () => [],
      async history(group) {
        // Later ids are greater, and every array is greater than every text.
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
