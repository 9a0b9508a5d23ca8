/** `known_hash` and `known_hashes`: a content that the caller has is left out, and only while it is that. */
import { describe, expect, test } from "vitest";
import { KINDS, place } from "./harness.ts";

const OTHER = `sha256:${"0".repeat(64)}`;
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

describe.each(KINDS)("known_hash on %s", (kind) => {
  test("leaves out a content that is still there", async () => {
    const { ws } = await place(kind, { "a.txt": "one\ntwo\n" });
    const { hash } = await ws.readFile({ path: "a.txt" });
    const again = await ws.call("read_file", { path: "a.txt", known_hash: hash as string });
    expect(again.text).toBe("[unchanged]");
    expect(again.data).toMatchObject({ unchanged: true, content: "", lines_read: 0, total_lines: 2, hash });
    expect(again.display).toBe("Read a.txt: unchanged");
  });

  test("gives a content that is another one, also of the same size", async () => {
    const { ws, foreign } = await place(kind, { "a.txt": "one\n" });
    const { hash } = await ws.readFile({ path: "a.txt" });
    await foreign("a.txt", "two\n");
    const data = await ws.readFile({ path: "a.txt", known_hash: hash as string });
    expect(data).toMatchObject({ content: "two\n" });
    expect(data).not.toHaveProperty("unchanged");
  });

  test("hashes a file of which a page has no hash", async () => {
    const { ws, foreign } = await place(kind, { "large.txt": "some line\n".repeat(1_000_000) });
    const { hash } = await ws.stat({ path: "large.txt", hash: true });
    const args = { path: "large.txt", known_hash: hash as string };
    expect(await ws.readFile(args)).toMatchObject({ unchanged: true });
    await foreign("large.txt", `${"some line\n".repeat(999_999)}same line\n`);
    expect(await ws.readFile(args)).toMatchObject({ lines_read: 2000 });
  });

  test("leaves out an image that the caller has", async () => {
    const { ws } = await place(kind, { "a.png": new Uint8Array(PIXEL) });
    const { hash } = await ws.stat({ path: "a.png", hash: true });
    const result = await ws.call("read_file", { path: "a.png", known_hash: hash as string });
    expect(result.text).toBe(
      "[unchanged; its lines do not count as read for a change; leave out known_hash to see the lines]",
    );
    expect(result.content).toBeUndefined();
  });

  test("does not count as a read", async () => {
    const { ws } = await place(kind, { "a.txt": "one\n" }, { guard: "refuse" });
    const { hash } = await ws.stat({ path: "a.txt", hash: true });
    const result = await ws.call("read_file", { path: "a.txt", known_hash: hash as string });
    expect(result.text).toContain("leave out known_hash to see the lines");
    const written = await ws.call("write_file", { path: "a.txt", content: "two\n" });
    expect(written.error?.code).toBe("CONFLICT");
  });

  test("names the files of read_many_files that the caller has", async () => {
    const { ws, foreign } = await place(kind, { "a.txt": "one\n", "b.txt": "two\n", "c.txt": "three\n" });
    const first = await ws.readManyFiles({ paths: ["*.txt"] });
    const known = first.files.map(({ hash }) => hash as string);
    await foreign("b.txt", "new\n");
    const again = await ws.call("read_many_files", { paths: ["*.txt"], known_hashes: known });
    expect(again.text).toBe(
      "--- a.txt ---\n\n[unchanged]\n\n--- b.txt ---\n\nnew\n\n--- c.txt ---\n\n[unchanged]\n",
    );
    const { files } = again.data as typeof first;
    expect(files.map(({ unchanged }) => unchanged)).toEqual([true, undefined, true]);
  });
});

describe("known_hash", () => {
  test("of no file's content reads as without it", async () => {
    const { ws } = await place("memory", { "a.txt": "one\n" });
    expect(await ws.readFile({ path: "a.txt", known_hash: OTHER })).toMatchObject({ content: "one\n" });
  });

  test("is refused where it is no hash", async () => {
    const { ws } = await place("memory", { "a.txt": "one\n" });
    const result = await ws.call("read_file", { path: "a.txt", known_hash: "abc" });
    expect(result.error).toMatchObject({ code: "INVALID_ARGUMENT", details: { argument: "known_hash" } });
  });
});
