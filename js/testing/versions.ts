/** Test cases for versions and conditional writes: `readVersionedBytes`, `ifVersion`, `ifAbsent`. */
import type { FsBackend, VersionedBytes } from "../backends/backend.ts";
import { assertEqual, assertFails, assertFrozen, assertTrue, type ContractCase } from "./case.ts";

const decoder = new TextDecoder();

async function readVersionedBytes(backend: FsBackend, path: string): Promise<VersionedBytes> {
  const result = await backend.read?.(path);
  if (result === undefined || result === null) throw new Error("read() gave nothing");
  return result;
}

/**
 * The cases about versions. They are skipped on a backend without the capability `readVersionedBytes`, by which a backend
 * promises to honour conditions.
 */
export const versionCases: readonly ContractCase[] = [
  {
    name: "read: content, version and facts of one moment",
    reads: true,
    needs: ["read"],
    run: async ({ backend, at, seed }) => {
      await seed({ f: "héllo" });
      const { bytes, version, stat } = await readVersionedBytes(backend, at("f"));
      assertEqual(decoder.decode(bytes), "héllo", "the content");
      assertEqual([stat.path, stat.size, stat.isFile], [at("f"), 6, true], "the facts");
      assertEqual((await backend.stat(at("f"))).version, version, "the version that stat gives");
      assertTrue(version !== "", "a version is not empty");
      assertFrozen(stat, "the facts");
    },
  },
  {
    name: "read: a range is cut to the file; a wrong one is INVALID_ARGUMENT",
    reads: true,
    needs: ["read"],
    run: async ({ backend, at, seed }) => {
      await seed({ f: "0123456789" });
      const part = async (start: number, end: number): Promise<string> =>
        decoder.decode((await backend.read?.(at("f"), { range: { start, end } }))?.bytes);
      assertEqual(await part(2, 5), "234", "in the middle");
      assertEqual(await part(8, 99), "89", "beyond the end");
      assertEqual(await part(50, 60), "", "past the end");
      assertEqual(await part(3, 3), "", "empty");
      for (const [start, end] of [
        [-1, 2],
        [5, 2],
        [Number.NaN, 2],
      ] as const) {
        await assertFails(() => part(start, end), "INVALID_ARGUMENT", `range ${start}..${end}`);
      }
    },
  },
  {
    name: "read: maxBytes bounds what is given, not the size of the file",
    reads: true,
    needs: ["read"],
    run: async ({ backend, at, seed }) => {
      await seed({ f: "0123456789" });
      await assertFails(() => backend.read?.(at("f"), { maxBytes: 9 }), "TOO_LARGE", "the whole file");
      assertEqual((await backend.read?.(at("f"), { maxBytes: 10 }))?.bytes.length, 10, "as many as allowed");
      const cut = await backend.read?.(at("f"), { maxBytes: 3, range: { start: 0, end: 3 } });
      assertEqual(cut?.bytes.length, 3, "a range within the limit");
    },
  },
  {
    name: "read: ifNoneMatch gives null until the content changes",
    needs: ["read"],
    run: async ({ backend, at, seed }) => {
      await seed({ f: "one" });
      const { version } = await readVersionedBytes(backend, at("f"));
      assertEqual(await backend.read?.(at("f"), { ifNoneMatch: version }), null, "the same version");
      await backend.writeText(at("f"), "two");
      const changed = await backend.read?.(at("f"), { ifNoneMatch: version });
      assertEqual(decoder.decode(changed?.bytes), "two", "the new content");
    },
  },
  {
    name: "read: the failures of the plain reads, and CANCELLED",
    reads: true,
    needs: ["read"],
    run: async ({ backend, at, seed }) => {
      await seed({ "d/f": "" });
      await assertFails(() => backend.read?.(at("gone")), "NOT_FOUND", "a missing file");
      await assertFails(() => backend.read?.(at("d")), "IS_DIRECTORY", "a directory");
      await assertFails(
        () => backend.read?.(at("d/f"), { signal: AbortSignal.abort() }),
        "CANCELLED",
        "an aborted signal",
      );
    },
  },
  {
    name: "versions: change with the content, stay without a change, and are never reused",
    needs: ["read"],
    run: async ({ backend, at, seed }) => {
      await seed({ f: "one" });
      const seen = [(await readVersionedBytes(backend, at("f"))).version];
      assertEqual((await readVersionedBytes(backend, at("f"))).version, seen[0], "read twice");
      for (const text of ["two", "three", "four!"]) {
        const { version } = await backend.writeText(at("f"), text);
        assertTrue(typeof version === "string", "a write gives the new version");
        assertEqual(
          (await readVersionedBytes(backend, at("f"))).version,
          version,
          "the version that was read",
        );
        assertTrue(!seen.includes(version as string), "a version of other content is not given again");
        seen.push(version as string);
      }
    },
  },
  {
    name: "ifVersion: writes on the version that was read, CONFLICT on any other",
    needs: ["read"],
    run: async ({ backend, at, seed }) => {
      await seed({ f: "one" });
      const { version: first } = await readVersionedBytes(backend, at("f"));
      const { version: second } = await backend.writeText(at("f"), "two", { ifVersion: first });
      await assertFails(
        () => backend.writeText(at("f"), "three", { ifVersion: first }),
        "CONFLICT",
        "an old version",
      );
      assertEqual(await backend.readText(at("f")), "two", "the content is as it was");
      await backend.writeText(at("f"), "three", { ifVersion: second });
      await assertFails(
        () => backend.writeText(at("f"), "x", { ifVersion: "no such version" }),
        "CONFLICT",
        "nonsense",
      );
    },
  },
  {
    name: "ifVersion: of a file that is gone: CONFLICT or NOT_FOUND, and it stays gone",
    needs: ["read"],
    run: async ({ backend, at, seed }) => {
      await seed({ f: "one" });
      const { version } = await readVersionedBytes(backend, at("f"));
      await backend.delete(at("f"));
      await assertFails(
        () => backend.writeText(at("f"), "x", { ifVersion: version }),
        ["CONFLICT", "NOT_FOUND"],
        "a missing file",
      );
      assertEqual(await backend.exists(at("f")), false, "still no file");
    },
  },
  {
    name: "ifVersion: one of twenty writers on one version wins",
    needs: ["read"],
    run: async ({ backend, at, seed }) => {
      await seed({ f: "start" });
      const { version } = await readVersionedBytes(backend, at("f"));
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, async (_, i) =>
          backend.writeText(at("f"), `writer ${i}`, { ifVersion: version }),
        ),
      );
      const winners = results.flatMap((result, i) => (result.status === "fulfilled" ? [i] : []));
      assertEqual(winners.length, 1, "the number of winners");
      assertEqual(await backend.readText(at("f")), `writer ${winners[0]}`, "the winner's content");
    },
  },
  {
    name: "ifAbsent: creates, and is ALREADY_EXISTS for a file and for a directory",
    needs: ["read"],
    run: async ({ backend, at }) => {
      await backend.writeText(at("f"), "first", { ifAbsent: true });
      await assertFails(
        () => backend.writeText(at("f"), "second", { ifAbsent: true }),
        "ALREADY_EXISTS",
        "a file",
      );
      assertEqual(await backend.readText(at("f")), "first", "the content");
      await backend.mkdir(at("d"));
      await assertFails(
        () => backend.writeText(at("d"), "x", { ifAbsent: true }),
        "ALREADY_EXISTS",
        "a directory",
      );
    },
  },
  {
    name: "ifAbsent: one of twenty creators wins",
    needs: ["read"],
    run: async ({ backend, at }) => {
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, async (_, i) =>
          backend.writeText(at("f"), `writer ${i}`, { ifAbsent: true }),
        ),
      );
      const winners = results.flatMap((result, i) => (result.status === "fulfilled" ? [i] : []));
      assertEqual(winners.length, 1, "the number of winners");
      assertEqual(await backend.readText(at("f")), `writer ${winners[0]}`, "the winner's content");
    },
  },
];
