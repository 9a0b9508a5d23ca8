/** Whether a connection of the client stays with one session of the server, so that it can hold locks. */
import type { Connection } from "./client.ts";
import type { Database } from "./database.ts";

/** The time to wait for a second connection. A pool that has none to give has too few for locks. */
const SECOND_CONNECTION_MS = 2000;
/**
 * The time to wait for the session of an idle connection. Only a pooler makes it wait, whose sessions are all in
 * transactions, such as those of this check in other processes.
 */
const IDLE_SESSION_MS = 5000;

/**
 * How often the sessions are compared. Where others use the pooler as well, a connection gets the same session again by
 * chance.
 */
const MAX_ROUNDS = 8;

/** The checks under way by their clients. Together they could take every session that the others wait for. */
const checks = new WeakMap<object, Promise<boolean>>();

/**
 * Returns true when a connection stays with its session. A pooler that lends sessions for one transaction at a time
 * gives the session of an idle connection to another one. So two connections are taken: while the second is in a
 * transaction, the first asks again who serves it.
 */
export async function holdsSessions(database: Database): Promise<boolean> {
  const { client } = database;
  const running = checks.get(client) ?? checkSessions(database);
  checks.set(client, running);
  try {
    return await running;
  } finally {
    checks.delete(client);
  }
}

async function checkSessions(database: Database): Promise<boolean> {
  if (!database.hasPool) return false;
  const first = await database.connect();
  let second: Connection | undefined;
  let isEnded = true;
  try {
    const before = await processOf(first);
    second = await withinTime(SECOND_CONNECTION_MS, database.connect(), (late) => late.release());
    if (second === undefined) return false;
    // A pooler tells its clients numbers of its own.
    if (String(first.processId) === before) return true;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      isEnded = false;
      await second.run("begin", []);
      const other = await processOf(second);
      const after = await withinTime(IDLE_SESSION_MS, processOf(first));
      await second.run("rollback", []);
      isEnded = true;
      if (before !== after || other === before) return false;
    }
    return true;
  } catch {
    return false;
  } finally {
    first.release();
    // A transaction that did not end must not go back to the pool.
    second?.release(!isEnded);
  }
}

async function processOf(connection: Connection): Promise<unknown> {
  const [row] = await connection.run("select pg_backend_pid()::text as id", []);
  return row?.["id"];
}

/** Waits for some time. What comes later is given to `late`. */
async function withinTime<T>(
  ms: number,
  pending: Promise<T>,
  whenLate?: (result: T) => void,
): Promise<T | undefined> {
  let late = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      late = true;
      resolve(undefined);
    }, ms);
  });
  void pending.then(
    (result) => {
      if (late) whenLate?.(result);
    },
    () => undefined,
  );
  try {
    return await Promise.race([pending, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
