/** A call that a signal cancels ends at once, also where the engine does not look at its token. */
import { expect, test } from "vitest";
import { runCancellable } from "../../js/engine/threads.ts";

class Token {
  static cancelled = 0;
  cancel(): void {
    Token.cancelled += 1;
  }
}
const CANCELLED = expect.objectContaining({ code: "CANCELLED" });

test("an aborted call ends although the engine never answers, and the engine is told", async () => {
  const abort = new AbortController();
  const call = runCancellable(abort.signal, Token, () => new Promise<never>(() => {}));
  abort.abort();
  await expect(call).rejects.toEqual(CANCELLED);
  expect(Token.cancelled).toBe(1);
});

test("an engine that fails after the call was aborted causes no unhandled rejection", async () => {
  const abort = new AbortController();
  let fail: (error: Error) => void = () => {};
  const call = runCancellable(abort.signal, Token, () => new Promise<never>((_, reject) => (fail = reject)));
  abort.abort();
  await expect(call).rejects.toEqual(CANCELLED);
  fail(new Error("late"));
  await new Promise((resolve) => setImmediate(resolve));
});
