import process from "node:process";
import { afterEach, expect, it } from "vitest";
import { isOursAlone } from "../../js/backends/ownership.node.ts";

const { getuid } = process;
afterEach(() => {
  Object.assign(process, { getuid });
});

it.each([
  [{ uid: 1000, mode: 0o100600 }, 1000, true],
  [{ uid: 1000, mode: 0o100620 }, 1000, false],
  [{ uid: 1001, mode: 0o100600 }, 1000, false],
  [{ uid: 1001, mode: 0o100600 }, 0, true],
  [{ uid: 0, mode: 0o100666 }, 0, false],
  // Windows reports these for each file, whoever may use it, and has no number for the user.
  [{ uid: 0, mode: 0o100666 }, undefined, true],
])("%o is ours alone for the user %s: %s", (facts, own, answer) => {
  Object.assign(process, { getuid: own === undefined ? undefined : () => own });
  expect(isOursAlone(facts, 0o022)).toBe(answer);
});
