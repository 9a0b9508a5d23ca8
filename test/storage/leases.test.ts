/** Locks of paths for an engine that has records and no locks of its own. */
import { describe, expect, it } from "vitest";
import "../../js/index.node.ts";
import { memoryStorage, type Storage, toBackend } from "../../js/storage/index.ts";

/** Returns a storage without `lockAll`. */
function withoutLocks(storage: Storage): Storage {
  return new Proxy(storage, {
    get(target, name) {
      const value: unknown = name === "lockAll" ? undefined : Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
const WAIT = { timeoutMs: 10_000 };

describe("locks by records", () => {
  it("one holder at a time, through any connection, in the order in which they came", async () => {
    const storage = memoryStorage();
    const backends = [1, 2, 3].map(() => toBackend(withoutLocks(storage)));
    const held = await backends[0]?.lock?.("/f", WAIT);
    const order: number[] = [];
    let [holders, most] = [0, 0];
    const waiting: Promise<void>[] = [];
    for (let n = 0; n < 6; n += 1) {
      waiting.push(
        (async () => {
          const own = await backends[n % 3]?.lock?.("/f", WAIT);
          order.push(n);
          holders += 1;
          most = Math.max(most, holders);
          await new Promise((resolve) => setTimeout(resolve, 5));
          holders -= 1;
          await own?.release();
        })(),
      );
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
    expect(order).toEqual([]);
    await held?.release();
    await Promise.all(waiting);
    expect([order, most]).toEqual([[0, 1, 2, 3, 4, 5], 1]);
  });

  it("another path is free, a wait ends in time, and one that was cancelled leaves the line", async () => {
    const storage = memoryStorage();
    const [one, two] = [toBackend(withoutLocks(storage)), toBackend(withoutLocks(storage))];
    const long = `/${"é".repeat(120)}/${"é".repeat(120)}/${"é".repeat(120)}/${"é".repeat(120)}/${"é".repeat(120)}`;
    for (const path of ["/f", long]) {
      const held = await one.lock?.(path, WAIT);
      await (await two.lock?.(`${path}x`, WAIT))?.release();
      await expect(two.lock?.(path, { timeoutMs: 60 })).rejects.toMatchObject({ code: "LOCK_TIMEOUT", path });
      const stop = new AbortController();
      const cancelled = two.lock?.(path, { ...WAIT, signal: stop.signal });
      setTimeout(() => stop.abort(), 30);
      await expect(cancelled).rejects.toMatchObject({ code: "CANCELLED" });
      const next = two.lock?.(path, WAIT);
      await held?.release();
      await (await next)?.release();
    }
  });

  it("one whose turn it is and whose process has ended is passed over", async () => {
    const storage = memoryStorage();
    const backend = toBackend(withoutLocks(storage));
    const first = await backend.lock?.("/f", WAIT);
    // One that stands in line and whose process ends: its name is there, and nobody takes the lock for it.
    const record = await storage.records.get("lease", "/f");
    const line = record?.value as { waiting: readonly string[] };
    await storage.records.put("lease", "/f", { ...line, waiting: ["ended"] });
    const next = backend.lock?.("/f", WAIT);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await first?.release();
    const began = performance.now();
    await (await next)?.release();
    expect(performance.now() - began).toBeGreaterThan(1500);
  });
});
