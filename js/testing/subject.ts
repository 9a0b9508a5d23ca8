/** The backend that the contract tests, and the form of a case. */
import type { Capability, FsBackend, MaybePromise } from "../backends/backend.ts";

/** A backend to be tested: fresh for each case. */
export interface ContractSubject {
  readonly backend: FsBackend;
  /** An existing, empty directory in it: absolute and free of links. */
  readonly root: string;
  /** Puts files there, by path relative to the root, by other means than the backend: for one that is read-only. */
  seed?(files: Readonly<Record<string, string>>): MaybePromise<void>;
  /** Called after the case. */
  dispose?(): MaybePromise<void>;
}

/** What a case is given. */
export interface Context {
  readonly backend: FsBackend;
  readonly root: string;
  /** The absolute path of a path relative to the root. */
  at(path: string): string;
  /** Writes files, with their directories. */
  seed(files: Readonly<Record<string, string>>): Promise<void>;
}

/** One rule of the contract. */
export interface ContractCase {
  readonly name: string;
  /** Capabilities without which the case says nothing. */
  readonly needs?: readonly Capability[];
  /** Changes nothing beyond what it seeds, so that it says something of a read-only backend too. */
  readonly reads?: true;
  run(context: Context): Promise<void>;
}
