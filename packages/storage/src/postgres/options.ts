/** The options of the storage on Postgres and of its maintenance. */
import {
  byteLength,
  callback,
  instance,
  integer,
  type MaybePromise,
  nullable,
  type Options,
  options,
  required,
  text,
} from "filewright/files";
import type { PgliteClient, PostgresClient } from "./client.ts";

/**
 * An object store for large contents. Keys are the hash of the content, after the tenant; what is put under a key
 * never changes.
 */
export interface BlobStore {
  /** Stores a content. One that is stored already is a success. */
  put(
    key: string,
    body: Uint8Array,
    options?: { readonly signal?: AbortSignal | undefined },
  ): MaybePromise<unknown>;
  /** Returns a stored content; null when there is none. */
  get(
    key: string,
    options?: { readonly signal?: AbortSignal | undefined },
  ): MaybePromise<Uint8Array | null | undefined>;
  /** Removes a stored content. One that is not stored is a success. */
  remove(key: string): MaybePromise<unknown>;
}

/** The part of a database in which a workspace, or several, are stored. */
export interface PostgresPlace {
  /**
   * The client of the database: a pool of `pg`, one connected client of it, or PGlite. It stays the caller's:
   * `close` of a storage does not end it.
   */
  readonly client: PostgresClient | PgliteClient;
  /** The name of the schema that holds the tables. Default `filewright`. It is made when it is missing. */
  readonly schema?: string | undefined;
}

/** Options of a storage on Postgres. */
export interface PostgresStorageOptions extends PostgresPlace {
  /** The name of a workspace of a tenant. It is made when it is missing. */
  readonly workspace: string;
  /** The name of the tenant whose workspaces are seen. Default: a tenant that no name reaches. */
  readonly tenant?: string | undefined;
  /** An object store for contents over 256 KiB. Default: they are stored in the database. */
  readonly blobs?: BlobStore | undefined;
}

/** Options of {@link sweepPostgres}. */
export interface PostgresSweepOptions extends PostgresPlace {
  /**
   * The time in milliseconds for which past states are kept: for `changes`, the history and undo. At least a
   * minute. Default: 30 days.
   */
  readonly keepMs?: number | undefined;
  /** The object store of large contents, if the storages have one. Without it they are not swept. */
  readonly blobs?: BlobStore | undefined;
}

/** Options of {@link setPostgresQuota}. */
export interface PostgresQuotaOptions extends PostgresPlace {
  /** The name of the workspace with the quota. */
  readonly workspace: string;
  /** The name of the tenant of the workspace with the quota. Default: that of storages that name none. */
  readonly tenant?: string | undefined;
  /** The maximum number of bytes in the files of a workspace; null for no limit. */
  readonly bytes: number | null;
  /** The maximum number of files of a workspace; null for no limit. */
  readonly files: number | null;
}

/** Options of {@link dropPostgresWorkspace}. */
export interface PostgresDropOptions extends PostgresPlace {
  /** The name of the workspace that is dropped. */
  readonly workspace: string;
  /** The name of the tenant of the workspace that is dropped. Default: that of storages that name none. */
  readonly tenant?: string | undefined;
}

/** The maximum length of the name of a tenant or a workspace, in UTF-8 bytes. */
const MAX_NAME_BYTES = 200;

/** Returns what is wrong with the name of a tenant or a workspace. */
export function nameFault(value: string): string | undefined {
  if (value.includes("\0") || !value.isWellFormed()) return "must be valid text without NUL";
  return byteLength(value) > MAX_NAME_BYTES ? `must have at most ${MAX_NAME_BYTES} bytes` : undefined;
}

const name = text({ noun: "a text of 1 to 200 bytes", test: nameFault });
/**
 * The name of the tenant of storages that name none. The leading blank keeps it apart from the names in tokens, which
 * begin with none: a token whose tenant is `default` is one of several tenants.
 */
export const DEFAULT_TENANT = " default";

/** The tenant `*` is that of the maintenance functions. */
const tenantName = text({
  noun: "a text of 1 to 200 bytes",
  test: (value) => (value === "*" || value === DEFAULT_TENANT ? "must be another name" : nameFault(value)),
});
/** A schema's name becomes part of statements, so it has only characters that mean nothing there. */
const schemaName = text({
  noun: "the name of a schema",
  test: (value) =>
    /^(?!pg_)[A-Za-z_][A-Za-z0-9_]{0,62}$/u.test(value)
      ? undefined
      : "must be 1 to 63 letters, digits and '_', and must not begin with a digit or 'pg_'",
});
const blobStore = instance<BlobStore>("BlobStore", "an object with put, get and remove", {
  put: required(callback()),
  get: required(callback()),
  remove: required(callback()),
});
const client = instance<PostgresClient | PgliteClient>("PostgresClient", "a client with query()", {
  query: required(callback()) as never,
});

/** The table of the options of {@link postgresStorage}, with the type and the check of each. */
export const POSTGRES_STORAGE_OPTIONS: Options<PostgresStorageOptions> = options("PostgresStorageOptions", {
  client: required(client),
  workspace: required(name),
  tenant: tenantName,
  blobs: blobStore,
  schema: schemaName,
});

/** The table of the options of {@link sweepPostgres}. */
export const POSTGRES_SWEEP_OPTIONS: Options<PostgresSweepOptions> = options("PostgresSweepOptions", {
  client: required(client),
  schema: schemaName,
  keepMs: integer(60_000),
  blobs: blobStore,
});

/** The table of the options of {@link setPostgresQuota}. */
export const POSTGRES_QUOTA_OPTIONS: Options<PostgresQuotaOptions> = options("PostgresQuotaOptions", {
  client: required(client),
  workspace: required(name),
  tenant: tenantName,
  schema: schemaName,
  bytes: required(nullable(integer(0))),
  files: required(nullable(integer(0))),
});

/** The table of the options of {@link dropPostgresWorkspace}. */
export const POSTGRES_DROP_OPTIONS: Options<PostgresDropOptions> = options("PostgresDropOptions", {
  client: required(client),
  workspace: required(name),
  tenant: tenantName,
  schema: schemaName,
});
