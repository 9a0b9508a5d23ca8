/** Whether a connection of the client stays with one session of the server, so that it can hold locks. */
import type { Connection } from "./client.ts";
import type { Database } from "./database.ts";

/** The time to wait for a second connection. A pool that has none to give has too few for locks. */
const SECOND_CONNECTION_MS = 2000;

/**
 * A pooler that lends sessions for one transaction at a time gives the session of an idle connection to another
 * one. So two connections are taken: while the second is in a transaction, the first asks again who serves it.
 */
export async function holdsSessions(database: Database): Promise<boolean> {
  if (!database.hasPool) return false;
  const first = await database.connect();
  let second: Connection | undefined;
  try {
    const before = await processOf(first);
    second = await withinTime(database.connect());
    if (second === undefined) return false;
    await second.run("begin", []);
    const other = await processOf(second);
    const after = await processOf(first);
    await second.run("rollback", []);
    return before === after && other !== before;
  } catch {
    return false;
  } finally {
    first.release();
    second?.release();
  }
}

async function processOf(connection: Connection): Promise<unknown> {
  const [row] = await connection.run("select pg_backend_pid()::text as id", []);
  return row?.["id"];
}

/** Waits for a connection for some time. One that comes later goes back. */
async function withinTime(pending: Promise<Connection>): Promise<Connection | undefined> {
  let late = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      late = true;
      resolve(undefined);
    }, SECOND_CONNECTION_MS);
  });
  void pending.then(
    (connection) => {
      if (late) connection.release();
    },
    () => undefined,
  );
  try {
    return await Promise.race([pending, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
