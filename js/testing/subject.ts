/** The tested backend, and the form of a test case. */
import type { Capability, FsBackend, MaybePromise } from "../backends/backend.ts";

/** A backend to be tested: new for each case. */
export interface ContractSubject {
  readonly backend: FsBackend;
  /** An existing, empty directory in it: absolute and free of links. */
  readonly root: string;
  /** Creates files, by path relative to the root, without using the backend: for a read-only one. */
  seed?(files: Readonly<Record<string, string>>): MaybePromise<void>;
  /** Called after the case. */
  dispose?(): MaybePromise<void>;
}

/** The context of a case. */
export interface Context {
  readonly backend: FsBackend;
  readonly root: string;
  /** Returns the absolute path of a path relative to the root. */
  at(path: string): string;
  /** Writes files, with their directories. */
  seed(files: Readonly<Record<string, string>>): Promise<void>;
}

/** One rule of the contract. */
export interface ContractCase {
  readonly name: string;
  /** Capabilities without which the case is skipped. */
  readonly needs?: readonly Capability[];
  /** True when it changes only the files it seeds, so that it applies to a read-only backend too. */
  readonly reads?: true;
  run(context: Context): Promise<void>;
}
