/** Test cases for writing: writeText, writeBytes, delete; and for a backend that is read-only. */
import type { WriteOptions } from "../backends/backend.ts";
import { assertEqual, assertFails, type ContractCase } from "./case.ts";

/** The cases about writing and deleting. */
export const writingCases: readonly ContractCase[] = [
  {
    name: "write: creates, then replaces as a whole",
    run: async ({ backend, at, root }) => {
      await backend.writeText(at("f"), "a longer first content");
      await backend.writeText(at("f"), "short");
      assertEqual(await backend.readText(at("f")), "short", "the second content");
      assertEqual(
        (await backend.listDir(root)).map((e) => e.name),
        ["f"],
        "nothing is left beside it",
      );
    },
  },
  {
    name: "write: onto a directory IS_DIRECTORY, below a file NOT_DIRECTORY",
    run: async ({ backend, at, seed }) => {
      await seed({ "d/f": "1" });
      await assertFails(() => backend.writeText(at("d"), "x"), "IS_DIRECTORY", "onto a directory");
      await assertFails(() => backend.writeText(at("d/f/x"), "x"), "NOT_DIRECTORY", "below a file");
      assertEqual(await backend.readText(at("d/f")), "1", "the file is as it was");
    },
  },
  {
    name: "write: a missing parent is NOT_FOUND and nothing is made",
    run: async ({ backend, at, root }) => {
      await assertFails(() => backend.writeText(at("no/such/f"), "x"), "NOT_FOUND", "a missing parent");
      assertEqual(await backend.listDir(root), [], "the root is still empty");
    },
  },
  {
    name: "write with createDirs: makes the parents",
    needs: ["read"],
    run: async ({ backend, at }) => {
      await backend.writeText(at("a/b/f"), "x", { createDirs: true });
      assertEqual(await backend.readText(at("a/b/f")), "x", "the content");
    },
  },
  {
    name: "write with createDirs: a refused write leaves no directory",
    needs: ["read"],
    run: async ({ backend, at, root }) => {
      const options: WriteOptions = { createDirs: true };
      await assertFails(
        () => backend.writeText(at("a/b/f"), "x", { ...options, ifVersion: "none" }),
        ["CONFLICT", "NOT_FOUND"],
        "a condition that does not hold",
      );
      await assertFails(
        () => backend.writeText(at(`a/b/${"n".repeat(256)}`), "x", options),
        "NAME_TOO_LONG",
        "a long name",
      );
      assertEqual(await backend.listDir(root), [], "the root is still empty");
    },
  },
  {
    name: "write: a name of 255 bytes works, one of 256 is NAME_TOO_LONG",
    run: async ({ backend, at }) => {
      const longest = `${"é".repeat(127)}x`;
      await backend.writeText(at(longest), "x");
      assertEqual(await backend.readText(at(longest)), "x", "the content");
      for (const path of [at(`${longest}y`), at(`${"n".repeat(256)}/f`)]) {
        await assertFails(() => backend.writeText(path, "x"), "NAME_TOO_LONG", "256 bytes");
      }
    },
  },
  {
    name: "write: an unpaired surrogate in the text is ENCODING_ERROR and writes nothing",
    run: async ({ backend, at }) => {
      await assertFails(() => backend.writeText(at("f"), "a\ud800b"), "ENCODING_ERROR", "a lone surrogate");
      assertEqual(await backend.exists(at("f")), false, "no file");
    },
  },
  {
    name: "paths: a NUL or an unpaired surrogate is INVALID_ARGUMENT",
    run: async ({ backend, at }) => {
      for (const path of [at("a\0b"), at("a\ud800b")]) {
        await assertFails(() => backend.writeText(path, "x"), "INVALID_ARGUMENT", "write");
        await assertFails(() => backend.readText(path), "INVALID_ARGUMENT", "read");
        assertEqual(await backend.exists(path), false, "exists");
      }
    },
  },
  {
    name: "write with mode: sets the permission bits; without, keeps them",
    needs: ["read", "chmod"],
    run: async ({ backend, at }) => {
      await backend.writeText(at("f"), "1", { mode: 0o640 });
      assertEqual((await backend.stat(at("f"))).mode, 0o640, "the mode that was asked for");
      await backend.writeText(at("f"), "2");
      assertEqual((await backend.stat(at("f"))).mode, 0o640, "the mode after a second write");
      await backend.chmod?.(at("f"), 0o755);
      await backend.writeText(at("f"), "3");
      assertEqual((await backend.stat(at("f"))).mode, 0o755, "the mode after chmod and a third write");
    },
  },
  {
    name: "write: a file without any write bit is PERMISSION_DENIED",
    needs: ["chmod"],
    run: async ({ backend, at, seed }) => {
      await seed({ f: "kept" });
      await backend.chmod?.(at("f"), 0o444);
      await assertFails(() => backend.writeText(at("f"), "x"), "PERMISSION_DENIED", "a read-only file");
      assertEqual(await backend.readText(at("f")), "kept", "the content");
    },
  },
  {
    name: "write: after a cancelled signal CANCELLED, and nothing is written",
    needs: ["read"],
    run: async ({ backend, at }) => {
      const signal = AbortSignal.abort();
      await assertFails(() => backend.writeText(at("f"), "x", { signal }), "CANCELLED", "an aborted signal");
      assertEqual(await backend.exists(at("f")), false, "no file");
    },
  },
  {
    name: "delete: a file, an empty directory; not a full one, not what is absent",
    run: async ({ backend, at, seed }) => {
      await seed({ "d/f": "1", g: "2" });
      await assertFails(() => backend.delete(at("d")), "NOT_EMPTY", "a full directory");
      await assertFails(() => backend.delete(at("gone")), "NOT_FOUND", "a missing name");
      await assertFails(() => backend.delete(at("g/x")), ["NOT_DIRECTORY", "NOT_FOUND"], "below a file");
      await backend.delete(at("d/f"));
      await backend.delete(at("d"));
      assertEqual(await backend.exists(at("d")), false, "the directory is gone");
      assertEqual(await backend.readText(at("g")), "2", "the other file is there");
    },
  },
  {
    name: "delete: a file without write bits goes too; its directory decides",
    needs: ["chmod"],
    run: async ({ backend, at, seed }) => {
      await seed({ f: "x" });
      await backend.chmod?.(at("f"), 0o444);
      await backend.delete(at("f"));
      assertEqual(await backend.exists(at("f")), false, "the file is gone");
    },
  },
  {
    name: "failures name the path they are about",
    run: async ({ backend, at }) => {
      const error = await assertFails(() => backend.readText(at("gone")), "NOT_FOUND", "a missing file");
      assertEqual(error.path, at("gone"), "the path of the error");
    },
  },
];

/** The case that is run on a read-only backend in place of those that change something. */
export const readOnlyCase: ContractCase = {
  name: "read-only: every change is READ_ONLY, and changes nothing",
  run: async ({ backend, at, seed, root }) => {
    await seed({ f: "kept", "d/g": "1" });
    await assertFails(() => backend.writeText(at("f"), "x"), "READ_ONLY", "replacing a file");
    await assertFails(() => backend.writeBytes(at("new"), new Uint8Array([1])), "READ_ONLY", "a new file");
    await assertFails(() => backend.delete(at("f")), "READ_ONLY", "deleting a file");
    await assertFails(() => backend.mkdir(at("e")), "READ_ONLY", "a new directory");
    assertEqual(await backend.readText(at("f")), "kept", "the content");
    assertEqual(
      (await backend.listDir(root)).map(({ name }) => name),
      ["d", "f"],
      "the listing",
    );
  },
};
