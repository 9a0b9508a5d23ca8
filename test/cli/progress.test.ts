/** What a terminal shows of running work, and when it shows nothing. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { showProgress } from "../../js/cli/progress.ts";

let drawn: string[] = [];
beforeEach(() => {
  vi.useFakeTimers();
  drawn = [];
});
afterEach(() => void vi.useRealTimers());

/** A program whose standard error is a terminal, or is none. */
const programAt = (isTTY: boolean) => ({
  env: { TERM: "xterm" },
  stderr: { isTTY, write: (text: string) => drawn.push(text) } as unknown as NodeJS.WriteStream,
});

const LINE = "\r\u001b[Kgrep · 7 files · 2 matches · 1 s";
const counts = { done: 7, message: "2 matches" };

describe("the progress of a search", () => {
  test("is drawn with its counts, and removed", () => {
    const progress = showProgress(programAt(true), "grep", false);
    progress.onProgress?.(counts);
    vi.advanceTimersByTime(1050);
    expect(drawn.at(-1)).toBe(LINE);
    progress.end();
    expect(drawn.at(-1)).toBe("\r\u001b[K");
    vi.advanceTimersByTime(1000);
    expect(drawn.at(-1)).toBe("\r\u001b[K");
  });

  test.each([
    ["with --quiet", true, true],
    ["where standard error is no terminal", false, false],
  ])("is not drawn %s", (_, isTTY, quiet) => {
    const progress = showProgress(programAt(isTTY), "grep", quiet);
    expect(progress.onProgress).toBeUndefined();
    vi.advanceTimersByTime(2000);
    progress.end();
    expect(drawn).toEqual([]);
  });

  test("is not drawn while a person is asked", async () => {
    const progress = showProgress(programAt(true), "grep", false);
    progress.onProgress?.(counts);
    vi.advanceTimersByTime(1050);
    let answer = (): void => {};
    const asked = progress.quietly(
      () =>
        new Promise<void>((resolve) => {
          answer = resolve;
        }),
    );
    const before = drawn.length;
    vi.advanceTimersByTime(1000);
    expect(drawn.length).toBe(before);
    expect(drawn.at(-1)).toBe("\r\u001b[K");
    answer();
    await asked;
    vi.advanceTimersByTime(150);
    expect(drawn.at(-1)?.startsWith("\r\u001b[Kgrep · 7 files")).toBe(true);
    progress.end();
  });
});
