/** The drop-in for the filesystem server, as a client starts it: its greeting, and files as bytes. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { connectToProcess, DROP_IN, scratch } from "./harness.ts";

const BYTES = Buffer.from([0, 1, 2, 255, 254, 0, 7]);

test("read_media_file gives any file byte for byte, as the block of its kind", async () => {
  await using at = await scratch();
  await writeFile(join(at.dir, "sound.wav"), Buffer.concat([Buffer.from("RIFF\0\0\0\0WAVEfmt "), BYTES]));
  await writeFile(join(at.dir, "some.bin"), BYTES);
  await using server = await connectToProcess([DROP_IN, at.dir]);
  // The greeting comes through another pipe than the answers, so it may arrive after them.
  await expect.poll(() => server.errors()).toContain("Secure MCP Filesystem Server running on stdio");
  const sound = await server.call("read_media_file", { path: join(at.dir, "sound.wav") });
  expect(sound.content).toMatchObject([{ type: "audio", mimeType: expect.stringMatching(/^audio\//u) }]);
  const [block] = (await server.call("read_media_file", { path: join(at.dir, "some.bin") })).content;
  expect(block).toMatchObject({
    type: "resource",
    resource: { uri: `file://${at.dir}/some.bin`, blob: BYTES.toString("base64") },
  });
  const missing = await server.call("read_media_file", { path: join(at.dir, "none") });
  expect(missing.isError).toBe(true);
});
