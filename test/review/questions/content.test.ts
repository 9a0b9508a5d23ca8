/** What a question says about its contents besides lines: what alone has changed, binary contents and images. */
import { expect, it } from "vitest";
import type { ChangeRows } from "../../../js/review/protocol.ts";
import { firstQuestion, logIn, openPlace, type Place } from "../place.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const GIF = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

/** Returns the rows of the only change of the question that waits. */
async function rowsOf(place: Place): Promise<ChangeRows> {
  const client = await logIn(place.page, "watch");
  const id = await firstQuestion(place.hub);
  return (await (await client.get(`approvals/${id}/changes/0`)).json()) as ChangeRows;
}

it.each([
  ["line ends", "one\r\ntwo\r\n", "one\ntwo\n"],
  ["line ends", "one\ntwo\n", "one\ntwo"],
  ["line ends", "one\r\ntwo", "one\ntwo\n"],
  ["white space", "one\ntwo\n", "one\n\ttwo\n"],
  ["white space", "one two\n", "one\u00a0two\n"],
  ["white space", "one\n\n", "one\n"],
  ["white space", "# one\rtwo\n", "# one\ntwo\n"],
  [undefined, "one\r\ntwo\r\n", "one\ntwO\n"],
  [undefined, "one\n", "one\u200b\n"],
  [undefined, "one\n", "\ufeff one\n"],
])("says that only %s have changed from %j to %j", async (only, before, after) => {
  const place = await openPlace({ "a.txt": before });
  // Bytes are written as they are given; a text would get the line ends of the file.
  const content = Buffer.from(after).toString("base64");
  const call = place.ws.call("write_file", {
    path: "a.txt",
    content,
    content_encoding: "base64",
    whole_file: true,
  });
  expect((await rowsOf(place)).change.only).toBe(only);
  place.hub.queue.close();
  await call;
});

it("names type, size and hash of binary contents, by their bytes", async () => {
  const place = await openPlace();
  // The name says that it is a picture; the bytes say that it is an archive.
  await place.backend.writeBytes("/w/logo.png", new Uint8Array([0x50, 0x4b, 0x03, 0x04, 0, 0, 0, 0, 1, 2]));
  const call = place.ws.call("write_file", {
    path: "logo.png",
    content: PNG.toString("base64"),
    content_encoding: "base64",
    whole_file: true,
  });
  const { details, change } = await rowsOf(place);
  expect(details[0]).toMatch(/^before: application\/zip, 10 bytes, sha256:[0-9a-f]{64}$/u);
  expect(details[1]).toMatch(new RegExp(`^after: image/png, ${PNG.length} bytes, sha256:[0-9a-f]{64}$`, "u"));
  expect(change.images).toEqual(["after"]);
  place.hub.queue.close();
  await call;
});

it("serves images with the type of their bytes, to logins only, and no other content", async () => {
  const place = await openPlace();
  await place.backend.writeBytes("/w/logo.png", GIF);
  const call = place.ws.call("write_file", {
    path: "logo.png",
    content: PNG.toString("base64"),
    content_encoding: "base64",
    whole_file: true,
  });
  const id = await firstQuestion(place.hub);
  const client = await logIn(place.page, "watch");
  for (const [side, type, bytes] of [
    ["before", "image/gif", GIF],
    ["after", "image/png", PNG],
  ] as const) {
    const path = `approvals/${id}/changes/0/image/${side}`;
    const response = await client.get(path);
    expect(response.headers.get("content-type")).toBe(type);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("content-security-policy")).toContain("img-src 'self'");
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    expect((await fetch(`${place.page.url}/${path}`)).status).toBe(401);
  }
  for (const path of ["0/image/other", "1/image/after", "9/image/before"])
    expect((await client.get(`approvals/${id}/changes/${path}`)).status, path).toBe(404);
  place.hub.queue.close();
  await call;
  expect((await client.get(`approvals/${id}/changes/0/image/after`)).status).toBe(404);
});

it("serves no SVG, which can contain scripts, and no image of too many pixels", async () => {
  const place = await openPlace({ "a.svg": "<svg xmlns='http://www.w3.org/2000/svg'></svg>" });
  const client = await logIn(place.page);
  const svg = place.ws.call("write_file", {
    path: "a.svg",
    content: "<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>",
    whole_file: true,
  });
  const first = await firstQuestion(place.hub);
  const { change: shown, digest } = await rowsOf(place);
  expect(shown.images).toBeUndefined();
  expect((await client.get(`approvals/${first}/changes/0/image/after`)).status).toBe(404);
  await client.post(`approvals/${first}`, { outcome: "refuse", digest });
  await svg;
  // The head of a PNG of 60,000 by 60,000 pixels.
  const bomb = Buffer.from(PNG);
  bomb.writeUInt32BE(60_000, 16);
  bomb.writeUInt32BE(60_000, 20);
  const call = place.ws.call("write_file", {
    path: "b.png",
    content: bomb.toString("base64"),
    content_encoding: "base64",
    whole_file: true,
  });
  const second = await firstQuestion(place.hub);
  const { change, details } = await rowsOf(place);
  expect([change.images, details[0]?.split(",")[0]]).toEqual([undefined, "after: image/png"]);
  expect((await client.get(`approvals/${second}/changes/0/image/after`)).status).toBe(404);
  place.hub.queue.close();
  await call;
});
