import fc from "fast-check";
import { expect, test } from "vitest";
import { type LockKey, makePathLocker } from "../../js/backends/path-locker.ts";

const WAIT = { timeoutMs: 5000 };
const file = (path: string): LockKey => ({ path, tree: false });
const tree = (path: string): LockKey => ({ path, tree: true });
const turn = () => new Promise((resolve) => setTimeout(resolve, 0));

test("writers of one path are served in the order they came", async () => {
  const locker = makePathLocker();
  const order: number[] = [];
  await Promise.all(
    [1, 2, 3, 4, 5].map(async (n) => {
      const release = await locker.acquire([file("/a")], WAIT);
      await turn();
      order.push(n);
      release();
    }),
  );
  expect(order).toEqual([1, 2, 3, 4, 5]);
  expect(locker.size).toBe(0);
});

const pairs: readonly [name: string, first: LockKey, second: LockKey, waits: boolean][] = [
  ["other paths", file("/a"), file("/b"), false],
  ["a name that begins alike", tree("/a"), file("/ab"), false],
  ["a file in a locked tree", tree("/a"), file("/a/b/c"), true],
  ["a tree around a locked file", file("/a/b/c"), tree("/a"), true],
  ["a directory above, not as a tree", file("/a/b"), file("/a"), false],
  ["the root as a tree", tree("/"), file("/x"), true],
];

test.each(pairs)("%s", async (_, first, second, waits) => {
  const locker = makePathLocker();
  const release = await locker.acquire([first], WAIT);
  let granted = false;
  const other = locker.acquire([second], WAIT).then((free) => {
    granted = true;
    return free;
  });
  await turn();
  expect(granted).toBe(!waits);
  release();
  (await other)();
  expect(locker.size).toBe(0);
});

test("two paths named in opposite order do not wait for each other for ever", async () => {
  const locker = makePathLocker();
  const both = async (keys: readonly LockKey[]) => (await locker.acquire(keys, WAIT))();
  await Promise.all(
    Array.from({ length: 50 }, (_, n) => both(n % 2 ? [file("/a"), file("/b")] : [file("/b"), file("/a")])),
  );
  expect(locker.size).toBe(0);
});

test("a holder that does not move is waited for until the time is up, and the queue goes on", async () => {
  const locker = makePathLocker();
  const release = await locker.acquire([file("/a")], WAIT);
  await expect(locker.acquire([file("/a")], { timeoutMs: 20 })).rejects.toMatchObject({
    code: "LOCK_TIMEOUT",
  });
  const next = locker.acquire([file("/a")], WAIT);
  release();
  (await next)();
  expect(locker.size).toBe(0);
});

test("an abort ends the waiting", async () => {
  const locker = makePathLocker();
  const release = await locker.acquire([file("/a")], WAIT);
  const stop = new AbortController();
  const waiting = locker.acquire([file("/a")], { ...WAIT, signal: stop.signal });
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ code: "CANCELLED" });
  await expect(locker.acquire([file("/a")], { ...WAIT, signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: "CANCELLED",
  });
  release();
  expect(locker.size).toBe(0);
});

test("a request holds the lock exactly when it overlaps no earlier one", async () => {
  const within = (path: string, { path: other, tree: whole }: LockKey): boolean =>
    path === other || (whole && path.startsWith(other === "/" ? "/" : `${other}/`));
  const meet = (a: LockKey, b: LockKey): boolean => within(a.path, b) || within(b.path, a);
  const key = fc.record({
    path: fc.constantFrom("/", "/a", "/a/b", "/ab"),
    tree: fc.boolean(),
  });
  // What arrives, or the number of one of those present that goes.
  const step = fc.oneof(fc.uniqueArray(key, { minLength: 1, maxLength: 3 }), fc.nat({ max: 6 }));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (steps) => {
      const locker = makePathLocker();
      interface Acquired {
        readonly keys: readonly LockKey[];
        readonly stop: AbortController;
        free?: () => void;
      }
      const present: Acquired[] = [];
      for (const next of [...steps, ...steps.map(() => 0)]) {
        if (typeof next === "number") {
          const [gone] = present.splice(next % Math.max(1, present.length), 1);
          // A holder releases its lock, a waiter cancels.
          if (gone?.free === undefined) gone?.stop.abort();
          else gone.free();
        } else {
          const held: Acquired = { keys: next, stop: new AbortController() };
          present.push(held);
          locker.acquire(next, { ...WAIT, signal: held.stop.signal }).then(
            (free) => {
              held.free = free;
            },
            () => undefined,
          );
        }
        // Nothing here waits for more than what was promised already.
        for (let n = 0; n < 10; n += 1) await null;
        const may = present.map(({ keys }, n) =>
          present.slice(0, n).every((earlier) => !earlier.keys.some((a) => keys.some((b) => meet(a, b)))),
        );
        expect(present.map(({ free }) => free !== undefined)).toEqual(may);
      }
      for (const { free } of present) free?.();
      expect(locker.size).toBe(0);
    }),
    { numRuns: 100 },
  );
});

test("the time of a whole wait ends also while the queue moves on", async () => {
  const locker = makePathLocker();
  const pause = () => new Promise((resolve) => setTimeout(resolve, 200));
  const first = await locker.acquire([file("/a")], WAIT);
  const second = locker.acquire([file("/b"), file("/a")], WAIT);
  const moving = locker.acquire([file("/a")], { timeoutMs: 300 });
  const whole = locker.acquire([file("/a")], { timeoutMs: 300, whole: true });
  const ended = whole.catch((error: { readonly code: string }) => error.code);
  await pause();
  first();
  await pause();
  (await second)();
  (await moving)();
  expect(await ended).toBe("LOCK_TIMEOUT");
  expect(locker.isTaken("/a")).toBe(false);
});
