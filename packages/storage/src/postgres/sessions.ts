/** Whether a connection of the client stays with one session of the server, so that it can hold locks. */
import type { Connection } from "./client.ts";
import type { Database } from "./database.ts";

/** The time to wait for a second connection. A pool that has none to give has too few for locks. */
const SECOND_CONNECTION_MS = 2000;

/** The checks under way by their clients. Two at once could take every connection that each of them waits for. */
const checks = new WeakMap<object, Promise<boolean>>();

/**
 * Returns true when a connection stays with its session. A server tells each connection the process that serves it. A
 * pooler tells numbers of its own, and whether it lends its sessions by the transaction cannot be seen from outside:
 * a connection often gets the session again that it had before, above all where others use the pooler as well. So
 * behind a pooler locks are leases.
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
  let first: Connection | undefined;
  let second: Connection | undefined;
  try {
    first = await database.connect();
    if (String(first.processId) !== (await processOf(first))) return false;
    second = await withinTime(SECOND_CONNECTION_MS, database.connect(), (late) => late.release());
    return second !== undefined;
  } catch {
    return false;
  } finally {
    first?.release();
    second?.release();
  }
}

async function processOf(connection: Connection): Promise<unknown> {
  const [row] = await connection.run("select pg_backend_pid()::text as id", []);
  return row?.["id"];
}

/** Waits for some time. What comes later is given to `whenLate`. */
export async function withinTime<T>(
  ms: number,
  pending: Promise<T>,
  whenLate: (result: T) => void = () => undefined,
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
      if (late) whenLate(result);
    },
    () => undefined,
  );
  try {
    return await Promise.race([pending, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
