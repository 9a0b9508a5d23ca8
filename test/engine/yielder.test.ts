import { afterEach, describe, expect, it, vi } from "vitest";
import { MIN_THREAD_BYTES, untilAborted } from "../../js/engine/threads.ts";
import { Yielder } from "../../js/engine/yielder.ts";
import { makeDiffEngine } from "../../js/engine/text/diff.ts";
import { makeEditEngine, type EditBinding } from "../../js/engine/text/edit.ts";
import { makePatchEngine } from "../../js/engine/text/patch.ts";
import { makeReadEngine } from "../../js/engine/read.ts";
import type { FileExports, TextExports } from "../../js/engine/generated/exports.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Replaces the clock by one that only `work` moves. */
function manualClock(): { work(ms: number): void } {
  let now = performance.now();
  vi.spyOn(performance, "now").mockImplementation(() => now);
  return { work: (ms) => (now += ms) };
}

afterEach(() => vi.restoreAllMocks());

describe("Yielder", () => {
  it("gives no turn before the work has held the event loop for long", async () => {
    const clock = manualClock();
    await turn();
    let turns = 0;
    const immediate = setImmediate(() => turns++);
    const yielder = new Yielder({});
    for (let step = 0; step < 9; step++) {
      clock.work(1);
      await yielder.yieldIfDue();
    }
    expect(turns).toBe(0);
    clearImmediate(immediate);
  });

  it("counts the work of all calls of a turn together", async () => {
    const clock = manualClock();
    await turn();
    /** How long the calls worked in each turn. */
    const turns = [0];
    let isOver = false;
    const count = () => {
      turns.push(0);
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const call = async (): Promise<void> => {
      const yielder = new Yielder({});
      for (let step = 0; step < 5; step++) {
        clock.work(4);
        turns[turns.length - 1]! += 4;
        await yielder.yieldIfDue();
      }
    };
    await Promise.all(Array.from({ length: 10 }, call));
    isOver = true;
    expect(turns.reduce((sum, ms) => sum + ms)).toBe(200);
    // The calls that start together do their first step in one turn: nothing can pause them before it.
    expect(Math.max(...turns.slice(1))).toBeLessThanOrEqual(20);
  });

  it("does work of one step at once, however long others have worked", async () => {
    const clock = manualClock();
    await turn();
    let turns = 0;
    const immediate = setImmediate(() => turns++);
    new Yielder({});
    clock.work(19);
    for (let call = 0; call < 64; call++) await new Yielder({}).yieldIfDue();
    expect(turns).toBe(0);
    // Many small pieces of one call pause as one long one does.
    for (let piece = 0; piece < 64; piece++) {
      clock.work(1);
      await new Yielder({}).yieldIfDue();
    }
    expect(turns).toBe(1);
    clearImmediate(immediate);
  });

  it("resumes the small work of many calls in one turn", async () => {
    const clock = manualClock();
    await turn();
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const call = async (): Promise<void> => {
      const yielder = new Yielder({});
      await yielder.yieldIfDue();
      clock.work(0.1);
      await yielder.yieldIfDue();
    };
    new Yielder({});
    clock.work(100);
    await Promise.all(Array.from({ length: 64 }, call));
    isOver = true;
    expect(turns).toBeLessThanOrEqual(3);
  });

  it("continues paused work in the order in which it paused", async () => {
    const clock = manualClock();
    await turn();
    const order: number[] = [];
    const call = async (id: number): Promise<void> => {
      const yielder = new Yielder({});
      for (let step = 0; step < 3; step++) {
        clock.work(20);
        await yielder.yieldIfDue();
        order.push(id);
      }
    };
    await Promise.all([call(1), call(2), call(3)]);
    expect(order).toEqual([1, 2, 3, 1, 2, 3, 1, 2, 3]);
  });

  it("ends cancelled work in the next turn, before the work that paused earlier", async () => {
    const clock = manualClock();
    await turn();
    const cancel = new AbortController();
    const ended: string[] = [];
    const call = async (name: string, signal?: AbortSignal): Promise<void> => {
      const yielder = new Yielder({ signal });
      try {
        for (let step = 0; step < 3; step++) {
          clock.work(20);
          await yielder.yieldIfDue();
        }
      } catch (error) {
        expect(error).toMatchObject({ code: "CANCELLED" });
      }
      ended.push(name);
    };
    const calls = [call("first"), call("second"), call("cancelled", cancel.signal)];
    cancel.abort();
    await Promise.all(calls);
    expect(ended).toEqual(["cancelled", "first", "second"]);
  });
});

describe("a cancelled call on a thread", () => {
  const never = (): Promise<never> => new Promise(() => {});
  const bytes = new Uint8Array(1);
  const large = new Uint8Array(MIN_THREAD_BYTES);

  it.each<[string, (signal: AbortSignal) => Promise<unknown>]>([
    [
      "a diff",
      (signal) =>
        makeDiffEngine({ diffAsync: never } as unknown as TextExports).diffAsync(bytes, bytes, { signal }),
    ],
    [
      "edits",
      (signal) =>
        makeEditEngine({ planEditsAsync: never } as unknown as EditBinding).planEditsBytesAsync(bytes, [], {
          signal,
        }),
    ],
    [
      "edits with a hash",
      (signal) =>
        makeEditEngine({
          planEditsAsync: never,
          planEditsHashed: never,
        } as unknown as EditBinding).planEditsBytesAsync(bytes, [], { signal, hash: true }),
    ],
    [
      "a patch",
      (signal) =>
        makePatchEngine({ applyPatchAsync: never } as unknown as TextExports).applyPatchAsync({}, "", {
          signal,
        }),
    ],
    [
      "a page",
      (signal) =>
        makeReadEngine({ readPageAsync: never } as unknown as FileExports).reading.readPage(large, {}, "", {
          signal,
        }),
    ],
  ])("%s ends before the thread does", async (_, call) => {
    const cancel = new AbortController();
    const result = call(cancel.signal);
    setImmediate(() => cancel.abort());
    await expect(result).rejects.toMatchObject({ code: "CANCELLED" });
  });

  it("gives the result of work that ends first, and leaves no listener", async () => {
    const { signal } = new AbortController();
    const remove = vi.spyOn(signal, "removeEventListener");
    await expect(untilAborted(signal, Promise.resolve(1))).resolves.toBe(1);
    await turn();
    expect(remove).toHaveBeenCalledOnce();
  });
});
