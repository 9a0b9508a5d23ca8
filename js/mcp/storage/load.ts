/** Loads `@filewright/storage`, a package of its own with the storages that need a server. */
import { VERSION } from "../../engine/generated/version.ts";
import { importPackage } from "../../schema/optional-packages.ts";
import type { Storage } from "../../storage/storage.ts";
import { importS3, importPostgres } from "./package.ts";

/** The part of `@filewright/storage/postgres` that the server uses, with a client of the type `Client`. */
export interface PostgresModule<Client> {
  postgresStorage(place: PlaceInDatabase<Client>): Promise<Storage>;
  setPostgresQuota(
    options: PlaceInDatabase<Client> & { readonly bytes: number | null; readonly files: number | null },
  ): Promise<void>;
}

/** A workspace in a database. */
interface PlaceInDatabase<Client> {
  readonly client: Client;
  readonly schema?: string;
  readonly tenant?: string;
  readonly workspace: string;
}

/** The part of `@filewright/storage/s3` that the server uses. */
export interface S3Module {
  s3Storage(options: PlaceInBucket): Promise<Storage>;
}

/** A workspace in a bucket. */
interface PlaceInBucket {
  readonly endpoint: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly region?: string;
  readonly credentials: S3Keys;
  readonly workspace: string;
}

/** The keys of an object store. */
export interface S3Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

const [name, least] = ["@filewright/storage", VERSION];

/** Loads the storage on Postgres. @throws FilewrightError UNSUPPORTED_OPERATION without the package */
export function loadPostgres<Client>(): Promise<PostgresModule<Client>> {
  const needed = { name, least, exports: ["postgresStorage"], install: `${name}@${least} pg` };
  return importPackage(needed, importPostgres as () => Promise<PostgresModule<Client>>);
}

/** Loads the storage in a bucket. @throws FilewrightError UNSUPPORTED_OPERATION without the package */
export function loadS3(): Promise<S3Module> {
  const needed = { name, least, exports: ["s3Storage"], install: `${name}@${least} aws4fetch` };
  return importPackage(needed, importS3 as () => Promise<S3Module>);
}
