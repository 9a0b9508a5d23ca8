/**
 * Real paths and contents of files. A call that changes a file asks for both before it waits for either: what is asked
 * about one path in one turn is one job.
 */
import type * as addon from "../../engine/generated/binding.ts";
import type { NativeRoots } from "../../engine/generated/binding.ts";
import type { VersionedBytes } from "../backend.ts";
import { cancellable, decodeContent, errorAt, withPathInRejection } from "./local-calls.ts";

/** A promise that is settled from outside. */
interface Asked<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

function asked<T>(): Asked<T> {
  let [resolve, reject]: [Asked<T>["resolve"]?, Asked<T>["reject"]?] = [];
  const promise = new Promise<T>((...settle) => {
    [resolve, reject] = settle;
  });
  return { promise, resolve: resolve!, reject: reject! };
}

/** The content of a file that is asked for. */
interface AskedContent extends Asked<VersionedBytes> {
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
}

/** The questions about a path in this turn. */
interface Lookup {
  readonly path: string;
  real?: Asked<string>;
  content?: AskedContent;
}

/**
 * Collects the questions about paths until the next tick, and starts one native job for each path then. A read of a range,
 * or one that depends on a version, does not pass here.
 */
export class Lookups {
  readonly #native: Pick<typeof addon, "CancelToken">;
  readonly #roots: NativeRoots;
  readonly #waiting = new Map<string, Lookup>();

  constructor(native: Pick<typeof addon, "CancelToken">, roots: NativeRoots) {
    this.#native = native;
    this.#roots = roots;
  }

  /** Returns the real path of a path. */
  realpath(path: string): Promise<string> {
    const lookup = this.#lookup(path);
    lookup.real ??= asked();
    return lookup.real.promise;
  }

  /** Returns the content of a file, which has at most `maxBytes` unless that is negative. */
  read(path: string, maxBytes: number, signal: AbortSignal | undefined): Promise<VersionedBytes> {
    const lookup = this.#lookup(path);
    const content = { maxBytes, signal, ...asked<VersionedBytes>() };
    if (lookup.content === undefined) lookup.content = content;
    // A second read of the file is not joined: it has a limit and a signal of its own.
    else this.#start({ path, content });
    return content.promise;
  }

  #lookup(path: string): Lookup {
    const known = this.#waiting.get(path);
    if (known !== undefined) return known;
    const lookup: Lookup = { path };
    // Runs when the present synchronous code has ended.
    if (this.#waiting.size === 0) process.nextTick(this.start);
    this.#waiting.set(path, lookup);
    return lookup;
  }

  /** Starts all that is asked for; also before the disk is closed, so that these calls count as running ones. */
  readonly start = (): void => {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const lookup of waiting) this.#start(lookup);
  };

  #start({ path, real, content }: Lookup): void {
    if (content === undefined) this.#realpath(path).then(real?.resolve, real?.reject);
    else if (real === undefined) this.#read(path, content).then(content.resolve, content.reject);
    else this.#readLocated(path, real, content);
  }

  async #realpath(path: string): Promise<string> {
    return withPathInRejection(path, this.#roots.realpath(path));
  }

  async #read(path: string, { maxBytes, signal }: AskedContent): Promise<VersionedBytes> {
    const found = await cancellable(this.#native, path, signal, (cancel) =>
      this.#roots.read(path, -1, -1, maxBytes, undefined, cancel),
    );
    return decodeContent(found, path);
  }

  #readLocated(path: string, real: Asked<string>, content: AskedContent): void {
    const { maxBytes, signal } = content;
    const located = cancellable(this.#native, path, signal, (cancel) =>
      this.#roots.readLocated(path, maxBytes, cancel),
    );
    located.then(
      (found) => {
        if (found.real === undefined) real.reject(errorAt(path, found.realError));
        else real.resolve(found.real);
        if (found.bytes === undefined) content.reject(errorAt(path, found.error));
        else content.resolve(decodeContent(found, path));
      },
      (error: unknown) => {
        content.reject(error);
        // Usually the signal, which belongs to the read alone.
        this.#realpath(path).then(real.resolve, real.reject);
      },
    );
  }
}
