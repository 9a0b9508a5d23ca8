/**
 * `@filewright/storage/postgres`: a storage on Postgres, for workspaces that several machines share.
 *
 * @module @filewright/storage/postgres
 */
import { optionChecker } from "filewright/files";
import { Database } from "./database.ts";
import { DEFAULT_SCHEMA } from "./maintenance.ts";
import { openWorkspaceRow } from "./opening.ts";
import { DEFAULT_TENANT, POSTGRES_STORAGE_OPTIONS, type PostgresStorageOptions } from "./options.ts";
import { type PostgresStorage, PostgresStorageEngine } from "./storage.ts";

export type {
  PgliteClient,
  PostgresClient,
  PostgresConnection,
  PostgresQuery,
  PostgresResult,
} from "./client.ts";
export {
  dropPostgresWorkspace,
  type PostgresSwept,
  type PostgresUsage,
  setPostgresQuota,
  sweepPostgres,
} from "./maintenance.ts";
export type {
  BlobStore,
  PostgresDropOptions,
  PostgresPlace,
  PostgresQuotaOptions,
  PostgresStorageOptions,
  PostgresSweepOptions,
} from "./options.ts";
export type { PostgresStorage } from "./storage.ts";

const checkOptions = optionChecker("postgresStorage", POSTGRES_STORAGE_OPTIONS);

/**
 * Opens a workspace in a database, and makes it, and the tables, where they are missing. One round trip when
 * everything is there.
 *
 * @example
 * import { Pool } from "pg";
 * const storage = await postgresStorage({ client: new Pool(), workspace: "main" });
 * const ws = await openWorkspace({ storage, root: "/repo" });
 *
 * @throws UNSUPPORTED_OPERATION when a newer version of this package has made the tables
 */
export async function postgresStorage(options: PostgresStorageOptions): Promise<PostgresStorage> {
  const {
    client,
    workspace,
    tenant = DEFAULT_TENANT,
    schema = DEFAULT_SCHEMA,
    blobs,
  } = checkOptions(options);
  const database = new Database(client, schema);
  const id = await openWorkspaceRow(database, tenant, workspace);
  return new PostgresStorageEngine({ database, tenant, id, blobs });
}
