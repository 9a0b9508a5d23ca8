/** The time of a deep check begins with its first case. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { timeFromFirstLook } from "../../scripts/lib/deep-kind.mjs";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

test("a share has its seconds from the first look, however long its servers took to start", () => {
  const { isOver, secondsLeft } = timeFromFirstLook(3);
  vi.advanceTimersByTime(10_000);
  expect([secondsLeft(), isOver()]).toEqual([3, false]);
  vi.advanceTimersByTime(2_999);
  expect(isOver()).toBe(false);
  vi.advanceTimersByTime(1);
  expect([secondsLeft(), isOver()]).toEqual([0, true]);
});

test("a run without a limit is never over", () => {
  const { isOver, secondsLeft } = timeFromFirstLook(Infinity);
  expect([isOver(), secondsLeft()]).toEqual([false, Infinity]);
});
