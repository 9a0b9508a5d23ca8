/** What a terminal shows of running work, and when it shows nothing. */
import process from "node:process";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { showProgress } from "../../js/cli/progress.ts";

let drawn: string[] = [];
beforeEach(() => {
  vi.useFakeTimers();
  vi.stubEnv("TERM", "xterm");
  drawn = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    drawn.push(String(text));
    return true;
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  Object.assign(process.stderr, { isTTY: wasTerminal });
});
const wasTerminal = process.stderr.isTTY;
const atTerminal = (isTTY: boolean): void => {
  Object.assign(process.stderr, { isTTY });
};

const LINE = "\r\u001b[Kgrep · 7 files · 2 matches · 1 s";
const counts = { done: 7, message: "2 matches" };

describe("the progress of a search", () => {
  test("is drawn with its counts, and removed", () => {
    atTerminal(true);
    const progress = showProgress("grep", false);
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
    atTerminal(isTTY);
    const progress = showProgress("grep", quiet);
    expect(progress.onProgress).toBeUndefined();
    vi.advanceTimersByTime(2000);
    progress.end();
    expect(drawn).toEqual([]);
  });

  test("is not drawn while a person is asked", async () => {
    atTerminal(true);
    const progress = showProgress("grep", false);
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
