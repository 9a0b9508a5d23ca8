/** A rewind to a mark gives the tree that was copied at the mark, whatever an agent did since; its undo gives the end. */
import process from "node:process";
import { describe, expect, test } from "vitest";
import { KINDS, place } from "../../tools/harness.ts";
import { falseChanges, randomCall, randomFrom, treeOf } from "./sessions.ts";

/** The number of sessions on each kind of storage, and the first seed. The deep run takes more. */
const SESSIONS = Number(process.env["FILEWRIGHT_REWIND_SESSIONS"] ?? 8);
const FIRST_SEED = Number(process.env["FILEWRIGHT_REWIND_SEED"] ?? 1);
const CALLS = 30;

describe.each(KINDS)("a rewind on %s", (kind) => {
  test("equals a copy of the tree after random sessions", { timeout: 600_000 }, async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SESSIONS; seed++) {
      const random = randomFrom(seed * 2_654_435_761);
      const at = await place(kind, { a: "x\n", "d/a": "one\r\n", "d/e/a": "z" });
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
  });
});
