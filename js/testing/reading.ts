/** Test cases for reading: exists, stat, readText, readBytes. */
import { assertEqual, assertFails, assertFrozen, assertTrue, type ContractCase } from "./case.ts";

const UNUSUAL_NAMES = [
  "é.txt",
  "日本.txt",
  "\u{1f600}.txt",
  "a b'c\"d.txt",
  "back\\slash",
  "%2e%2e",
  "~",
  "-rf",
  "a:b",
  "e\u0301",
];

/** The cases about reading. */
export const readingCases: readonly ContractCase[] = [
  {
    name: "exists: files and directories, and never an error for what is absent",
    reads: true,
    run: async ({ backend, at, seed }) => {
      await seed({ "d/f": "1" });
      assertEqual(await backend.exists(at("d/f")), true, "a file");
      assertEqual(await backend.exists(at("d")), true, "a directory");
      assertEqual(await backend.exists(at("gone")), false, "a missing name");
      assertEqual(await backend.exists(at("gone/deep/er")), false, "below a missing directory");
      assertEqual(await backend.exists(at("d/f/x")), false, "below a file");
    },
  },
  {
    name: "stat: the facts of a file and of a directory, frozen",
    reads: true,
    run: async ({ backend, at, seed }) => {
      await seed({ "d/f": "héllo" });
      const file = await backend.stat(at("d/f"));
      assertEqual(
        [file.path, file.type, file.isFile, file.isDir, file.size],
        [at("d/f"), "file", true, false, 6],
        "the facts of a file",
      );
      assertTrue(Number.isFinite(file.mtime), "mtime must be a number of milliseconds");
      assertFrozen(file, "the facts of a file");
      const dir = await backend.stat(at("d"));
      assertEqual(
        [dir.path, dir.type, dir.isFile, dir.isDir],
        [at("d"), "dir", false, true],
        "the facts of a directory",
      );
      assertFrozen(dir, "the facts of a directory");
    },
  },
  {
    name: "stat and reads of what is absent: NOT_FOUND",
    reads: true,
    run: async ({ backend, at, seed }) => {
      await seed({ "d/f": "" });
      for (const path of [at("gone"), at("gone/x")]) {
        await assertFails(() => backend.stat(path), "NOT_FOUND", "stat");
        await assertFails(() => backend.readText(path), "NOT_FOUND", "readText");
        await assertFails(() => backend.readBytes(path), "NOT_FOUND", "readBytes");
      }
      await assertFails(() => backend.readBytes(at("d/f/x")), ["NOT_DIRECTORY", "NOT_FOUND"], "below a file");
    },
  },
  {
    name: "reading a directory: IS_DIRECTORY",
    run: async ({ backend, at }) => {
      await backend.mkdir(at("d"));
      await assertFails(() => backend.readText(at("d")), "IS_DIRECTORY", "readText");
      await assertFails(() => backend.readBytes(at("d")), "IS_DIRECTORY", "readBytes");
    },
  },
  {
    name: "readText and readBytes: every byte, an empty file too",
    run: async ({ backend, at }) => {
      const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
      await backend.writeBytes(at("bytes"), bytes);
      assertEqual(await backend.readBytes(at("bytes")), bytes, "all byte values");
      const text = "\ufeffone\r\ntwo\rthree\u{1f600}\0end";
      await backend.writeText(at("text"), text);
      assertEqual(await backend.readText(at("text")), text, "the text with its mark and line ends");
      await backend.writeText(at("empty"), "");
      assertEqual(await backend.readText(at("empty")), "", "an empty file as text");
      assertEqual((await backend.readBytes(at("empty"))).length, 0, "an empty file as bytes");
    },
  },
  {
    name: "readText: bytes that are no text give ENCODING_ERROR, an unknown encoding INVALID_ARGUMENT",
    run: async ({ backend, at }) => {
      await backend.writeBytes(at("f"), new Uint8Array([0x61, 0xff, 0xfe, 0x62]));
      await assertFails(() => backend.readText(at("f")), "ENCODING_ERROR", "invalid UTF-8");
      await assertFails(
        () => backend.readText(at("f"), { encoding: "no-such" }),
        "INVALID_ARGUMENT",
        "unknown encoding",
      );
    },
  },
  {
    name: "names: whatever a name is made of, it is the same name again",
    run: async ({ backend, at, root }) => {
      for (const name of UNUSUAL_NAMES) await backend.writeText(at(name), name);
      for (const name of UNUSUAL_NAMES)
        assertEqual(await backend.readText(at(name)), name, `the content of ${name}`);
      const listed = (await backend.listDir(root)).map((entry) => entry.name).sort();
      assertEqual(listed, [...UNUSUAL_NAMES].sort(), "the names in the listing");
    },
  },
  {
    name: "names: upper and lower case are two names, as are composed and decomposed letters",
    run: async ({ backend, at, seed }) => {
      await seed({ a: "lower", A: "upper", "\u00e9": "composed", "e\u0301": "decomposed" });
      assertEqual(await backend.readText(at("a")), "lower", "a");
      assertEqual(await backend.readText(at("A")), "upper", "A");
      assertEqual(await backend.readText(at("\u00e9")), "composed", "composed");
    },
  },
  {
    name: "bytes handed out and taken in are nobody else's",
    run: async ({ backend, at }) => {
      const bytes = new Uint8Array([1, 2, 3]);
      await backend.writeBytes(at("f"), bytes);
      bytes[0] = 9;
      const read = await backend.readBytes(at("f"));
      read[1] = 9;
      assertEqual(await backend.readBytes(at("f")), new Uint8Array([1, 2, 3]), "the content");
    },
  },
  {
    name: "big files: 8 MiB come back as they were written",
    run: async ({ backend, at }) => {
      const bytes = new Uint8Array(8 << 20);
      for (let i = 0; i < bytes.length; i += 4093) bytes[i] = i % 251;
      await backend.writeBytes(at("big"), bytes);
      assertEqual((await backend.stat(at("big"))).size, bytes.length, "the size");
      assertEqual(await backend.readBytes(at("big")), bytes, "the content");
    },
  },
];
