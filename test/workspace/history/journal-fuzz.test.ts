/**
 * Whatever becomes of a record of the journal, what is read of it is what was
 * written, up to a point; nothing else is ever believed, and nothing breaks.
 *
 * The seed is fixed, so that a run repeats; `FILEWRIGHT_FUZZ=<runs>` takes another
 * one each time and as many runs as it says.
 */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FileJournal } from "../../../js/log/store.node.ts";
import { type RecordEntry, fromFrame, toFrame } from "../../../js/backends/transaction/step.ts";

const wished = Number(process.env["FILEWRIGHT_FUZZ"] ?? 0);
const settings = wished > 0 ? { numRuns: wished } : { numRuns: 500, seed: 20_261_122 };

const ID = "20261122-01";
const GROUP = "/ws";
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const ENTRIES: readonly RecordEntry[] = [
  { entry: "begin", header: { callId: ID, tool: "batch", time: 1, cwd: GROUP } },
  {
    entry: "steps",
    steps: [
      {
        id: 0,
        kind: "write",
        path: "/ws/a",
        before: { type: "file", size: 3, bytes: bytes("old") },
        after: { type: "file", size: 3 },
      },
      {
        id: 1,
        kind: "move",
        from: "/ws/b",
        to: "/ws/c",
        moved: { type: "file", size: 2 },
        over: { type: "file", size: 1, bytes: bytes("x") },
      },
    ] as never,
  },
  { entry: "commit", finals: [["/ws/a", null]], undoable: true },
];

let base: string;
let record: Buffer;
let path: string;
/** A journal whose writers all count as gone. */
const journal = (): FileJournal => new FileJournal(base, () => ({ release: () => undefined }));

beforeAll(async () => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-journal-fuzz-")));
  const writer = journal();
  const log = writer.begin(ID);
  for (const entry of ENTRIES) await log.append(entry, false);
  log.close(GROUP);
  // Everybody's history has it at once; who wrote it puts it away by the next look at the latest.
  expect(journal().history(GROUP)).toMatchObject([{ damaged: false, entries: { length: 3 } }]);
  expect((await journal().find(GROUP, ID))?.entries).toHaveLength(3);
  expect(writer.history(GROUP)).toHaveLength(1);
  const done = join(base, "journal/done");
  path = join(done, fs.readdirSync(done)[0] as string, ID);
  record = fs.readFileSync(path);
});
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

/** Kinds of damage to a file: positions are fractions of its length. */
const damage = fc.oneof(
  fc.record({ what: fc.constant("flip" as const), at: fc.nat(1e6), bit: fc.nat(7) }),
  fc.record({ what: fc.constant("cut" as const), at: fc.nat(1e6) }),
  fc.record({ what: fc.constant("drop" as const), at: fc.nat(1e6), length: fc.nat(200) }),
  fc.record({ what: fc.constant("put" as const), at: fc.nat(1e6), bytes: fc.uint8Array({ maxLength: 60 }) }),
  fc.record({
    what: fc.constant("copy" as const),
    at: fc.nat(1e6),
    from: fc.nat(1e6),
    length: fc.nat(300),
  }),
);
type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;

function damaged(file: Buffer, how: Damage): Buffer {
  const at = how.at % (file.length + 1);
  if (how.what === "cut") return file.subarray(0, at);
  if (how.what === "drop") return Buffer.concat([file.subarray(0, at), file.subarray(at + how.length)]);
  if (how.what === "put") return Buffer.concat([file.subarray(0, at), how.bytes, file.subarray(at)]);
  if (how.what === "copy") {
    const from = how.from % (file.length + 1);
    return Buffer.concat([file.subarray(0, at), file.subarray(from, from + how.length), file.subarray(at)]);
  }
  const flipped = Buffer.from(file);
  if (at < file.length) flipped[at] = (flipped[at] as number) ^ (1 << how.bit);
  return flipped;
}

test("of a damaged record the part before the damage is read, and nothing else", async () => {
  expect((await journal().find(GROUP, ID))?.entries.map(plain)).toEqual(ENTRIES.map(plain));
  const store = journal();
  await fc.assert(
    fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 4 }), async (all) => {
      fs.writeFileSync(path, all.reduce(damaged, record));
      const found = await store.find(GROUP, ID);
      for (const read of [found, store.history(GROUP)[0]]) expect(read).toBeDefined();
      const entries = found?.entries ?? [];
      expect(entries.map(plain)).toEqual(ENTRIES.slice(0, entries.length).map(plain));
    }),
    settings,
  );
  fs.writeFileSync(path, record);
});

test("any bytes are no record", async () => {
  const store = journal();
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), async (noise) => {
      fs.writeFileSync(path, noise);
      expect((await store.find(GROUP, ID))?.entries).toEqual([]);
    }),
    settings,
  );
  fs.writeFileSync(path, record);
});

test("any text is an entry or none, and an entry comes back as it was", () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), fc.uint8Array({ maxLength: 30 }), (json, blob) => {
      const entry = fromFrame(json, blob);
      if (entry !== null) expect(["begin", "steps", "commit"]).toContain(entry.entry);
    }),
    settings,
  );
  for (const entry of ENTRIES) {
    const { json, blobs } = toFrame(entry);
    expect(plain(fromFrame(json, Buffer.concat(blobs)) as RecordEntry)).toEqual(plain(entry));
  }
});

/** Without the difference between kinds of byte arrays. */
function plain(entry: RecordEntry): unknown {
  return JSON.parse(
    JSON.stringify(entry, function (this: Readonly<Record<string, unknown>>, key, value: unknown) {
      // `this[key]`: a Buffer's own JSON form would come as the value.
      const given = this[key];
      return given instanceof Uint8Array ? [...given] : value;
    }),
  );
}
