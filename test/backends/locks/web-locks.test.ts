/** The locks of a page or worker in a browser without Web Locks. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { hasWebLocks, holdName, tryLock, withExclusiveLock } from "../../../js/backends/web/locks.ts";

beforeEach(() => {
  vi.stubGlobal("navigator", {});
});
afterEach(() => {
  vi.unstubAllGlobals();
});

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

it("operations with a name in common run one after the other, in their order", async () => {
  expect(hasWebLocks()).toBe(false);
  const order: string[] = [];
  const run = (names: readonly string[], label: string) =>
    withExclusiveLock(names, "/f", undefined, async () => {
      order.push(`${label} begins`);
      await pause();
      order.push(`${label} ends`);
    });
  await Promise.all([run(["a", "b"], "one"), run(["b"], "two"), run(["b", "a"], "three")]);
  expect(order).toEqual(["one", "two", "three"].flatMap((label) => [`${label} begins`, `${label} ends`]));
});

it("a wait ends with its time or its signal, and the name is free once its holder releases it", async () => {
  const held = await holdName("n", "/f", { timeoutMs: 1000 });
  expect(await tryLock("n", pause)).toBe(false);
  await expect(holdName("n", "/f", { timeoutMs: 20 })).rejects.toMatchObject({ code: "LOCK_TIMEOUT" });
  const { signal, abort } = abortable();
  const waiting = withExclusiveLock(["n"], "/f", signal, pause);
  abort();
  await expect(waiting).rejects.toMatchObject({ code: "CANCELLED", path: "/f" });
  held.release();
  await pause();
  expect(await tryLock("n", pause)).toBe(true);
});

function abortable(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
