/** Large contents are prepared in slices, and a cancelled write ends between them: nothing here is timed. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { Yielder } from "../../js/engine/yielder.ts";
import { MemoryBackend, openWorkspace } from "../../js/index.node.ts";
import { countLines, countLinesYielding, encodeUtf8, encodeUtf8Yielding } from "../../js/tools/lib/text.ts";

afterEach(() => vi.restoreAllMocks());

const line = "a line of a text that is written\n";
const large = line.repeat(300_000);

describe("write_file with 10 MB", () => {
  it("gives turns while it prepares the content", async () => {
    const ws = await openWorkspace({ root: "/ws", backend: new MemoryBackend({ "/ws/a.txt": line }) });
    const slices = vi.spyOn(Yielder.prototype, "yieldIfDue");
    const { ok, data } = await ws.call("write_file", { path: "a.txt", content: large });
    await ws.close();
    expect(ok).toBe(true);
    expect(data).toMatchObject({ lines_written: 300_000, bytes_written: large.length });
    // The lines are counted, and looked at, in slices of 4096.
    expect(slices.mock.calls.length).toBeGreaterThan(140);
  });

  it("answers CANCELLED and writes nothing when it is cancelled between two slices", async () => {
    const backend = new MemoryBackend({ "/ws/a.txt": line });
    const ws = await openWorkspace({ root: "/ws", backend });
    const cancel = new AbortController();
    const yieldIfDue = Reflect.get(Yielder.prototype, "yieldIfDue") as () => Promise<void>;
    let slices = 0;
    vi.spyOn(Yielder.prototype, "yieldIfDue").mockImplementation(function (this: Yielder) {
      slices++;
      if (slices === 100) cancel.abort();
      return yieldIfDue.call(this);
    });
    const { ok, error } = await ws.call(
      "write_file",
      { path: "a.txt", content: large },
      { signal: cancel.signal },
    );
    await ws.close();
    expect([ok, error?.code]).toEqual([false, "CANCELLED"]);
    expect(await backend.readText("/ws/a.txt")).toBe(line);
  });
});

describe("text in slices", () => {
  const yielder = new Yielder({});
  // Pairs of surrogates at every second unit: one stands on the border of each slice.
  const texts = ["", "\n", "a", "a\nb", `${"é😀".repeat(1_000_000)}\n`, `a${"😀".repeat(1_500_000)}`, large];

  it("has the bytes and the lines of the whole text", async () => {
    for (const text of texts) {
      const bytes = encodeUtf8(text);
      expect(Buffer.compare(await encodeUtf8Yielding(text, yielder), bytes)).toBe(0);
      expect(await countLinesYielding(text, yielder)).toBe(countLines(text));
      expect(await countLinesYielding(bytes, yielder)).toBe(countLines(text));
    }
  });
});
