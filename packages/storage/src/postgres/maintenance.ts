/** Maintenance of a database: the schema, quotas, dropped workspaces, and sweeping what nothing needs. */
import { FilewrightError, optionChecker } from "filewright/files";
import { blobKey } from "./contents.ts";
import { Database } from "./database.ts";
import { openWorkspaceRow } from "./opening.ts";
import {
  DEFAULT_TENANT,
  POSTGRES_DROP_OPTIONS,
  POSTGRES_QUOTA_OPTIONS,
  POSTGRES_SWEEP_OPTIONS,
  type PostgresDropOptions,
  type PostgresQuotaOptions,
  type PostgresSweepOptions,
} from "./options.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** The number of rows that one transaction of the sweeper removes. */
const ROWS_PER_SWEEP = 5000;
/** The number of contents that one transaction removes. */
const BLOBS_PER_SWEEP = 200;
/** The number of storages above a fork from which its reads get slow. */
const MAX_FORK_DEPTH = 8;

/** The default name of a schema. */
export const DEFAULT_SCHEMA = "filewright";

const checkSweep = optionChecker("sweepPostgres", POSTGRES_SWEEP_OPTIONS);
const checkQuota = optionChecker("setPostgresQuota", POSTGRES_QUOTA_OPTIONS);
const checkDrop = optionChecker("dropPostgresWorkspace", POSTGRES_DROP_OPTIONS);

/** The result of {@link sweepPostgres}. */
export interface PostgresSwept {
  /** The number of past states of paths that were removed, in all workspaces. */
  readonly rows: number;
  /** The number of contents that were removed. */
  readonly blobs: number;
  /** The number of forks that were copied, because too many storages were above them. */
  readonly flattened: number;
}

/**
 * Removes past states that are older than `keepMs` and that no fork, snapshot or merge reads, contents that nothing
 * names, and dropped workspaces. Call it from time to time, from any process: it holds up no commit for long.
 */
export async function sweepPostgres(options: PostgresSweepOptions): Promise<PostgresSwept> {
  const { client, schema = DEFAULT_SCHEMA, keepMs = 30 * DAY_MS, blobs } = checkSweep(options);
  const database = new Database(client, schema);
  let after = "0";
  let rows = 0;
  let flattened = 0;
  for (;;) {
    const [row] = await database.change("sweep", [after, keepMs, ROWS_PER_SWEEP]);
    if (row === undefined) break;
    rows += Number(row["rows"]);
    if (Number(row["depth"]) > MAX_FORK_DEPTH) {
      await database.change("flatten", [String(row["ws"])]);
      flattened++;
    }
    // A full transaction may have left something.
    if (Number(row["rows"]) < ROWS_PER_SWEEP) after = String(row["ws"]);
  }
  return { rows, flattened, blobs: (await sweepInside(database)) + (await sweepOutside(database, blobs)) };
}

async function sweepInside(database: Database): Promise<number> {
  for (let removed = 0; ; ) {
    const gone = await database.change("sweep_blobs", [BLOBS_PER_SWEEP, false]);
    removed += gone.length;
    if (gone.length < BLOBS_PER_SWEEP) return removed;
  }
}

/** Contents of an object store are removed within the transaction that forgets them: a put of the same waits. */
async function sweepOutside(database: Database, blobs: PostgresSweepOptions["blobs"]): Promise<number> {
  if (blobs === undefined) return 0;
  if (!database.hasPool)
    throw new FilewrightError("UNSUPPORTED_OPERATION", "sweeping an object store needs a client with a pool");
  const connection = await database.connect();
  let whole = false;
  try {
    for (let removed = 0; ; ) {
      await connection.run("begin", []);
      const values = [BLOBS_PER_SWEEP, true];
      const gone = await connection.run(database.statement("sweep_blobs", values.length), values);
      for (const row of gone)
        if (row["remote"] === true) await blobs.remove(blobKey(String(row["tenant"]), String(row["hash"])));
      await connection.run("commit", []);
      removed += gone.length;
      if (gone.length < BLOBS_PER_SWEEP) {
        whole = true;
        return removed;
      }
    }
  } finally {
    // A connection in a transaction that failed must not go back to the pool.
    connection.release(!whole);
  }
}

/** The use of a workspace. */
export interface PostgresUsage {
  /** The number of bytes in the files of a workspace now. */
  readonly bytes: number;
  /** The number of files of a workspace now. */
  readonly files: number;
}

/**
 * Limits a workspace. A commit that would grow beyond a limit is NO_SPACE; one that frees something is accepted also
 * beyond it. Forks begin with the limits of their parent.
 */
export async function setPostgresQuota(options: PostgresQuotaOptions): Promise<PostgresUsage> {
  const {
    client,
    schema = DEFAULT_SCHEMA,
    tenant = DEFAULT_TENANT,
    workspace,
    bytes,
    files,
  } = checkQuota(options);
  const database = new Database(client, schema);
  const id = await openWorkspaceRow(database, tenant, workspace);
  const [row] = await database.change("set_quota", [tenant, id, bytes, files]);
  return { bytes: Number(row?.["bytes"]), files: Number(row?.["files"]) };
}

/**
 * Drops a workspace; its name is free at once. What its forks read from it stays until they are dropped as well.
 * @returns false when there was none
 */
export async function dropPostgresWorkspace(options: PostgresDropOptions): Promise<boolean> {
  const { client, schema = DEFAULT_SCHEMA, tenant = DEFAULT_TENANT, workspace } = checkDrop(options);
  const [row] = await new Database(client, schema).change("drop", [tenant, workspace, false]);
  return row?.["drop"] === true;
}
