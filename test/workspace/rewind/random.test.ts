/** A rewind to a mark gives the tree that was copied at the mark, whatever an agent did since; its undo gives the end. */
import process from "node:process";
import { describe, expect, test } from "vitest";
import { MemoryBackend, openWorkspace } from "../../../js/index.node.ts";
import { filesOf, type Op, type Storage } from "../../../js/storage/index.ts";
import { mapDriver } from "../../storage/map-driver.ts";
import { afterThisTest } from "../../support/cleanups.ts";
import { isNight } from "../../support/share.ts";
import { type Fixture, KINDS, place } from "../../tools/harness.ts";
import { falseChanges, randomCall, randomFrom, treeOf } from "./sessions.ts";

/** The number of sessions on each kind of storage, and the first seed. The deep run takes more. */
const SESSIONS = Number(process.env["FILEWRIGHT_REWIND_SESSIONS"] ?? (isNight ? 8 : 1));
const FIRST_SEED = Number(process.env["FILEWRIGHT_REWIND_SEED"] ?? 1);
const CALLS = 30;

/** Seeds of sessions that failed once. */
const KNOWN_SEEDS = [5132, 5167, 7001, 7012, 7024, 7099, 40030];

const SEED = { a: "x\n", "d/a": "one\r\n", "d/e/a": "z" };

/** Storages over the files of a host, whose history is the journal of the workspace. */
const OVER_FILES: Readonly<Record<string, () => Storage>> = {
  "a driver": () => filesOf(mapDriver()),
  "a driver of its own": () => filesOf(mapDriver(), { exclusive: true }),
  "a storage over a backend": () => filesOf(new MemoryBackend()),
};

/** A workspace of a session, whose files are those of `SEED`. */
type Place = Pick<Fixture, "ws" | "root">;

async function placeOver(storage: Storage): Promise<Place> {
  const root = "/base/ws";
  const body = (text: string): Uint8Array => new TextEncoder().encode(text);
  const puts = Object.entries(SEED).map(
    ([path, text]): Op => ({ op: "put", path: `${root}/${path}`, body: body(text) }),
  );
  await storage.commit([{ op: "mkdir", path: root }, ...puts]);
  const ws = await openWorkspace({ storage, root, guard: "off" });
  afterThisTest(() => ws.close());
  return { ws, root };
}

const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
  ...Object.fromEntries(KINDS.map((kind) => [kind, () => place(kind, SEED)])),
  ...Object.fromEntries(Object.entries(OVER_FILES).map(([name, make]) => [name, () => placeOver(make())])),
};

async function runSession(at: Place, seed: number): Promise<void> {
  const random = randomFrom(seed * 2_654_435_761);
  const { ws } = at;
  const copies = new Map<string, readonly unknown[]>();
  const note = async (name: string): Promise<void> => {
    await ws.mark(name);
    copies.set(name, await treeOf(at));
  };
  await note("mark 0");
  for (let call = 1; call <= CALLS; call++) {
    await randomCall(ws, random);
    const more = random(20);
    if (more < 3) await note(`mark ${copies.size}`);
    else if (more === 3) {
      const [last] = await ws.history();
      if (last !== undefined) await ws.undo(last.callId);
    } else if (more === 4) {
      const name = `mark ${random(copies.size)}`;
      await ws.rewind(name);
      expect(await treeOf(at), `seed ${seed}, call ${call}, ${name}`).toEqual(copies.get(name));
    }
  }
  const end = await treeOf(at);
  const name = `mark ${random(copies.size)}`;
  const { callId, left, changes } = await ws.rewind(name);
  expect(left, `seed ${seed}`).toEqual([]);
  const rewound = await treeOf(at);
  expect(rewound, `seed ${seed}, ${name}`).toEqual(copies.get(name));
  expect(falseChanges(end, rewound, changes), `seed ${seed}, ${name}`).toEqual([]);
  if (callId !== undefined) await ws.undo(callId);
  else expect(changes).toEqual([]);
  expect(await treeOf(at), `seed ${seed}, undo of the rewind`).toEqual(end);
  await ws.close();
}

describe.each(Object.keys(PLACES))("a rewind on %s", (kind) => {
  const open = PLACES[kind] as () => Promise<Place>;

  test("equals a copy of the tree after random sessions", { timeout: 600_000 }, async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SESSIONS; seed++) await runSession(await open(), seed);
  });

  test.each(KNOWN_SEEDS)("equals a copy of the tree after the session of seed %d", async (seed) => {
    await runSession(await open(), seed);
  });
});
