/** Random commits on the storage in an S3-compatible store and on the one in memory: the same answers, the same files. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { FilewrightError } from "../../../js/engine/errors.ts";
import { s3Storage } from "@filewright/storage/s3";
import { memoryStorage } from "../../../js/storage/index.node.ts";
import type { Entry, Op, Storage } from "../../../js/storage/storage.ts";
import { seededRandom } from "../../../scripts/lib/deep-kind.mjs";
import { share } from "../../support/share.ts";
import { LACKS_VERSITYGW, startVersitygw } from "./versitygw.mjs";

const encoder = new TextEncoder();

/** Makes random changes; names are few, so that changes meet. Some commits are larger than what the root holds. */
function randomOps(random: () => number): Op[] {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const names = ["a", "b", "a-b", "a.b", "é", "\u{1f600}", "\uffee", "0", "z"];
  const path = (): string =>
    `/${Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(names)).join("/")}`;
  if (random() < 0.1) {
    const top = path();
    return Array.from({ length: 300 }, (_, index) => ({ op: "mkdir", path: `${top}/n${index}` }) as const);
  }
  return Array.from({ length: 1 + Math.floor(random() * 4) }, (): Op => {
    switch (Math.floor(random() * 8)) {
      case 0:
        return { op: "mkdir", path: path(), ...(random() < 0.5 ? { mode: 0o700 } : {}) };
      case 1:
        return { op: "remove", path: path(), tree: random() < 0.5 };
      case 2:
        return { op: "move", from: path(), to: path() };
      case 3:
        return { op: "symlink", path: path(), target: "a" };
      case 4:
        return { op: "chmod", path: path(), mode: pick([0o600, 0o755]) };
      default:
        return { op: "put", path: path(), body: encoder.encode(String(Math.floor(random() * 50))) };
    }
  });
}

/** Returns every entry, without what differs between storages. */
async function allOf(storage: Storage, limit: number): Promise<readonly unknown[]> {
  const found: Entry[] = [];
  let after: string | undefined;
  do {
    const page = await storage.list({ limit, after });
    found.push(...page.entries);
    after = page.next;
  } while (after !== undefined);
  return found.map(({ version: _version, mtime: _mtime, ...rest }) => rest);
}

const outcome = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => "done",
    (error: unknown) => (error instanceof FilewrightError ? [error.code, error.path] : error),
  );

describe.skipIf(LACKS_VERSITYGW)("random commits", () => {
  test.each(share([1, 2], 2))(
    "of seed %i have the same answers and leave the same files as in memory",
    async (seed) => {
      const server = await startVersitygw();
      try {
        const random = seededRandom(seed).next;
        const { endpoint, bucket, credentials } = server;
        const options = { endpoint, bucket, credentials, workspace: randomUUID() };
        const memory = memoryStorage();
        // Two processes write in turn, and a third one, which has seen nothing yet, reads.
        const writers = [await s3Storage(options), await s3Storage(options)] as const;
        const versions: [memory: string | null, stored: string | null][] = [[null, null]];
        for (let round = 0; round < 120; round += 1) {
          const ops = randomOps(random);
          const expected = await outcome(memory.commit(ops));
          expect([round, ops, await outcome(writers[round % 2 === 0 ? 0 : 1].commit(ops))]).toEqual([
            round,
            ops,
            expected,
          ]);
          if (round % 20 !== 19) continue;
          const reader = await s3Storage(options);
          expect(await allOf(reader, 100)).toEqual(await allOf(memory, 100_000));
          const depth = 1 + Math.floor(random() * 2);
          const strip = ({ version: _version, mtime: _mtime, ...rest }: Entry): unknown => rest;
          const request = { prefix: "/a", depth, limit: 100_000 };
          const lists = [await reader.list(request), await memory.list(request)];
          expect(lists[0]?.entries.map(strip)).toEqual(lists[1]?.entries.map(strip));
          for (const [since, stored] of versions) {
            const changes = [
              await memory.changes(since, { limit: 100_000 }),
              await reader.changes(stored, { limit: 100_000 }),
            ] as const;
            expect(changes[1].entries.map(strip)).toEqual(changes[0].entries.map(strip));
            versions.length = Math.min(versions.length, 4);
          }
          versions.push([
            (await memory.changes(null, { limit: 0 })).head,
            (await reader.changes(null, { limit: 0 })).head,
          ]);
        }
      } finally {
        await server.stop();
      }
    },
  );
});
