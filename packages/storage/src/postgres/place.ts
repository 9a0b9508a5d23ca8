/** The place of a workspace: its number in a database, and what its storage is made of. */
import type { Database } from "./database.ts";
import type { BlobStore } from "./options.ts";

/** A workspace in a database. */
export interface WorkspacePlace {
  readonly database: Database;
  readonly tenant: string;
  readonly id: string;
  readonly blobs: BlobStore | undefined;
}
