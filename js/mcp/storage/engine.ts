/** The engine behind `--storage`, and the names of its workspaces. */
import type { Storage } from "../../storage/storage.ts";

/** The name of a workspace in an engine. */
export interface WorkspaceName {
  /** The tenant; undefined where the engine has one tenant. */
  readonly tenant: string | undefined;
  readonly workspace: string;
}

/** The limits of each workspace; null for none. */
export interface WorkspaceQuota {
  /** The maximum number of bytes in its files. */
  readonly bytes: number | null;
  /** The maximum number of its files. */
  readonly files: number | null;
}

/** An engine that was tried. */
export interface StorageEngine {
  /** The address of the engine without user and password. */
  readonly shown: string;
  /** Opens the storage of a workspace, which is made when it is missing. */
  open(name: WorkspaceName): Promise<Storage>;
  /** Makes one round trip. Rejects when the engine does not answer. */
  ping(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** The environment variables that hold keys. */
export type Environment = Readonly<Record<string, string | undefined>>;
