/** Notifications: what they say, and what is no news. */
import { expect, it } from "vitest";
import { noticeOf } from "../../../js/review/page/notifications/notification.ts";
import { STATES } from "./catalogue/all-states.ts";

const WAITING = STATES["waiting"]?.review.waiting ?? [];
const [first] = WAITING;

it("a notification says that something waits, and nothing of what it is", () => {
  expect(noticeOf(new Set(), WAITING.slice(0, 1))).toBe("A question waits for an answer.");
  expect(noticeOf(new Set([String(first?.id)]), WAITING)).toBe("3 questions wait for an answer.");
});

it("what waited before is no news, also when another question was answered", () => {
  const known = new Set(WAITING.map(({ id }) => id));
  expect(noticeOf(known, WAITING)).toBeUndefined();
  expect(noticeOf(known, WAITING.slice(1))).toBeUndefined();
  expect(noticeOf(known, [])).toBeUndefined();
});
