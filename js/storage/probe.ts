/**
 * The probe of a storage: it tries what every other guarantee rests on, and refuses an engine in which two writers
 * can win the same condition. Every engine runs it when a workspace is opened.
 */
import { randomHex } from "../engine/hex.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { Op } from "./commit.ts";
import type { Entry, Version } from "./entry.ts";
import type { ProbeOptions, Storage } from "./storage.ts";

/** The number of races of two writers. */
const RACE_ROUNDS = 20;

/** How {@link probeStorage} probes. */
export interface ProbeStorageOptions extends ProbeOptions {
  /** The same workspace through a connection of its own, where the engine has several. Default: the storage. */
  readonly second?: Storage | undefined;
  /** The directory in which the probe writes, which must not exist; it is removed. Default: one with a random name. */
  readonly directory?: string | undefined;
}

/**
 * Tries a storage: creates a file twice, writes and deletes with a version of the past, lets two writers race for
 * one condition, cuts a commit in the middle, and reads its own write through a second connection. It writes into
 * a directory that it removes again, so an engine gives it a workspace of its own.
 *
 * @throws UNSUPPORTED_OPERATION with `details.failed`, the name of what failed
 */
export async function probeStorage(storage: Storage, options: ProbeStorageOptions = {}): Promise<void> {
  const { second = storage, mode = "full", signal } = options;
  const directory = options.directory ?? `/.filewright-probe-${randomHex(8)}`;
  const probe = new Probe(storage, second, directory, signal);
  try {
    await probe.createTwice();
    await probe.writeStale();
    if (mode === "full") await probe.race();
    await probe.deleteStale();
    await probe.cutCommit();
    await probe.readOwnWrite();
  } finally {
    const there = await storage.readMany([directory], { bodies: false }).catch(() => undefined);
    if (there?.results[0]) await storage.commit([{ op: "remove", path: directory, tree: true }]);
  }
}

class Probe {
  readonly #first: Storage;
  readonly #second: Storage;
  readonly #directory: string;
  readonly #signal: AbortSignal | undefined;

  constructor(first: Storage, second: Storage, directory: string, signal: AbortSignal | undefined) {
    this.#first = first;
    this.#second = second;
    this.#directory = directory;
    this.#signal = signal;
  }

  async createTwice(): Promise<void> {
    const path = this.#path("create");
    await this.#write(this.#first, path, "1", null);
    await this.#mustConflict("create", () => this.#write(this.#second, path, "2", null));
    await this.#mustBe("create", path, "1");
  }

  async writeStale(): Promise<void> {
    const path = this.#path("stale");
    const old = await this.#write(this.#first, path, "1", null);
    const now = await this.#write(this.#first, path, "2", old);
    if (old === now) throw failed("stale", "two contents have one version");
    await this.#mustConflict("stale", () => this.#write(this.#second, path, "3", old));
    await this.#mustBe("stale", path, "2");
  }

  async race(): Promise<void> {
    const path = this.#path("race");
    let version: Version | null = null;
    for (let round = 0; round < RACE_ROUNDS; round++) {
      const expected: Version | null = version;
      const writes: Promise<Version>[] = [this.#first, this.#second].map((storage, index) =>
        this.#write(storage, path, `${round}.${index}`, expected),
      );
      const results: PromiseSettledResult<Version>[] = await Promise.allSettled(writes);
      const winners = results.flatMap((result, index) => (result.status === "fulfilled" ? [index] : []));
      for (const result of results)
        if (result.status === "rejected" && !isConflict(result.reason)) throw result.reason;
      if (winners.length > 1) throw failed("race", "two writers won the same condition");
      if (winners.length < 1) throw failed("race", "of two writers with the same condition none won");
      await this.#mustBe("race", path, `${round}.${winners[0]}`);
      version = (results[winners[0] as number] as PromiseFulfilledResult<Version>).value;
    }
  }

  async deleteStale(): Promise<void> {
    const path = this.#path("delete");
    const old = await this.#write(this.#first, path, "1", null);
    const now = await this.#write(this.#first, path, "2", old);
    const remove = (version: Version): Promise<unknown> =>
      this.#second.commit([{ op: "remove", path }], {
        expect: [{ path, version }],
        signal: this.#signal,
      });
    await this.#mustConflict("delete", () => remove(old));
    await this.#mustBe("delete", path, "2");
    await remove(now);
    if ((await this.#read(path)) !== null) throw failed("delete", "a deleted file is still there");
  }

  /** A commit whose last change fails, and one whose last condition fails, change nothing. */
  async cutCommit(): Promise<void> {
    const path = this.#path("cut");
    const gone = this.#path("gone");
    const ops: readonly Op[] = [put(path, "1"), { op: "remove", path: gone }];
    const attempts = [
      () => this.#first.commit(ops, { signal: this.#signal }),
      () => this.#first.commit([put(path, "1")], { expect: [{ path: gone, version: "no such version" }] }),
    ];
    for (const attempt of attempts) {
      const error = await attempt().then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (error === undefined) throw failed("atomic", "a commit of which one part cannot be succeeded");
      if (!(error instanceof FilewrightError)) throw error;
      if ((await this.#read(path)) !== null) throw failed("atomic", "a refused commit left a file");
    }
  }

  async readOwnWrite(): Promise<void> {
    const path = this.#path("own");
    await this.#write(this.#first, path, "1", null);
    await this.#mustBe("read", path, "1");
    const listed = await this.#second.list({ prefix: this.#directory, limit: 1000, signal: this.#signal });
    if (!listed.entries.some((entry) => entry.path === path))
      throw failed("read", "a listing lacks a file that was written before");
  }

  #path(name: string): string {
    return `${this.#directory}/${name}`;
  }

  async #write(storage: Storage, path: string, text: string, version: Version | null): Promise<Version> {
    const options = { expect: [{ path, version }], signal: this.#signal };
    const { entries } = await storage.commit([put(path, text)], options);
    const entry = entries.find((one) => one.path === path);
    if (entry === undefined) throw failed("answer", "the answer of a commit lacks a path that it wrote");
    return entry.version;
  }

  async #read(path: string): Promise<{ readonly entry: Entry; readonly body?: Uint8Array } | null> {
    const [result] = (await this.#second.readMany([path], { signal: this.#signal })).results;
    if (result instanceof FilewrightError) throw result;
    return result ?? null;
  }

  async #mustBe(what: string, path: string, text: string): Promise<void> {
    const found = await this.#read(path);
    if (new TextDecoder().decode(found?.body) !== text)
      throw failed(what, "the content is not that of the commit that succeeded");
  }

  async #mustConflict(what: string, run: () => Promise<unknown>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (isConflict(error)) return;
      throw error;
    }
    throw failed(what, "a commit succeeded although its condition did not hold");
  }
}

const put = (path: string, text: string): Op => ({ op: "put", path, body: new TextEncoder().encode(text) });

function isConflict(error: unknown): boolean {
  return error instanceof FilewrightError && error.code === "CONFLICT";
}

function failed(what: string, why: string): FilewrightError {
  return new FilewrightError("UNSUPPORTED_OPERATION", `the storage cannot be used: ${why}`, {
    hint: "use an engine with conditional writes",
    details: { failed: what },
  });
}
