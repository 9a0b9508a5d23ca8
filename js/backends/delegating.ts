/** Files that pass every call on to others. A wrapper extends them and says what it does in another way. */
import { Able } from "./abilities.ts";
import type { Files } from "./files.ts";

type MethodName = Exclude<keyof Files, "abilities">;

// A record, so that it does not compile when a name is missing.
const METHOD_NAMES: Readonly<Record<MethodName, true>> = {
  exists: true,
  stat: true,
  readText: true,
  readBytes: true,
  writeText: true,
  writeBytes: true,
  delete: true,
  mkdir: true,
  listDir: true,
  iterFiles: true,
  glob: true,
  read: true,
  readLines: true,
  hash: true,
  grep: true,
  find: true,
  findFiles: true,
  listTree: true,
  rename: true,
  copyFile: true,
  lstat: true,
  readLink: true,
  symlink: true,
  realpath: true,
  chmod: true,
  removeTree: true,
  copyTree: true,
  asidePath: true,
  sweep: true,
  grantSecrets: true,
  trusted: true,
  close: true,
  lock: true,
  gitExclude: true,
  otherNames: true,
};

/** The names of all methods of {@link Files}. */
const FILES_METHODS: readonly MethodName[] = Object.freeze(Object.keys(METHOD_NAMES) as MethodName[]);

class Delegating extends Able {
  readonly #inner: Files;

  constructor(inner: Files) {
    super(inner.abilities);
    this.#inner = inner;
  }

  static {
    for (const name of FILES_METHODS) {
      const value = function (this: Delegating, ...args: never[]): unknown {
        return (this.#inner[name] as (...args: never[]) => unknown)(...args);
      };
      Object.defineProperty(Delegating.prototype, name, { value, writable: true, configurable: true });
    }
  }
}

/** Files that pass every call on. They work as the others do; what else these can do, a wrapper decides. */
export const PassingFiles = Delegating as unknown as new (inner: Files) => Files & Able;
