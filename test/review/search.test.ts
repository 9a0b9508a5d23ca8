/** The searches and files of the page: what the policy of the workspace allows, for logins of every role. */
import { describe, expect, it } from "vitest";
import type { Blame } from "../../js/index.node.ts";
import type { FileLines, FoundPlaces } from "../../js/review/protocol.ts";
import { logIn, openPlace } from "./place.ts";

describe("a search of the page", () => {
  it("finds texts and names, and nothing that the policy denies", async () => {
    const { page } = await openPlace({
      "src/a.ts": "one\nNeedle two\n",
      "src/needle.md": "x",
      ".env": "Needle=1\n",
    });
    const client = await logIn(page, "watch");
    const find = async (body: object): Promise<FoundPlaces> => (await client.post("search", body)).json();
    expect(await find({ kind: "text", query: "Needle" })).toEqual({
      places: [{ path: "src/a.ts", line: 2, text: "Needle two" }],
      total: 1,
      isComplete: true,
    });
    expect(
      (await find({ kind: "text", query: "^ne+dle", regex: true, glob: "*.ts", path: "src" })).places,
    ).toHaveLength(1);
    expect((await find({ kind: "names", query: "needle" })).places).toEqual([{ path: "src/needle.md" }]);
  });

  it("refuses unknown members, wrong types, unknown workspaces and paths outside of the roots", async () => {
    const { page } = await openPlace({ "a.ts": "x" });
    const client = await logIn(page, "watch");
    const status = async (body: object, path = "search"): Promise<number> =>
      (await client.post(path, body)).status;
    expect(await status({ kind: "text", query: "x", max_results: 9 })).toBe(400);
    expect(await status({ kind: "text", query: 1 })).toBe(400);
    expect(await status({ kind: "other", query: "x" })).toBe(400);
    expect(await status({ kind: "text", query: "x" }, "search?workspace=other")).toBe(404);
    const outside = await client.post("search", { kind: "text", query: "x", path: "/etc" });
    expect([outside.status, await outside.json()]).toEqual([
      422,
      expect.objectContaining({ code: "OUTSIDE_ALLOWED" }),
    ]);
    const broken = await client.post("search", { kind: "text", query: "(", regex: true });
    expect([broken.status, await broken.json()]).toEqual([
      expect.any(Number),
      expect.objectContaining({ code: "INVALID_REGEX" }),
    ]);
  });
});

describe("a file of the page", () => {
  it("has its lines, and the agents that wrote them", async () => {
    const { page, ws, hub } = await openPlace({ "a.ts": "one\r\ntwo\r\n" });
    const agent = await ws.agent("ana");
    const edit = agent.call("edit_file", { path: "a.ts", old_text: "two", new_text: "TWO" });
    const { id, details } = await new Promise<{ id: string; details: { digest: string } }>((resolve) => {
      hub.watch(() => {
        const [one] = hub.queue.pending();
        if (one?.kind === "change") resolve(one);
      });
    });
    hub.answer(id, { outcome: "allow", digest: details.digest }, "test");
    expect((await edit).ok).toBe(true);
    const client = await logIn(page, "watch");
    const file = (await (await client.get("files?path=a.ts")).json()) as FileLines;
    expect(file).toMatchObject({
      path: "a.ts",
      content: "one\r\nTWO\r\n",
      from: 1,
      total: 2,
      encoding: "utf-8, crlf",
    });
    const blame = (await (await client.get("files/blame?path=a.ts")).json()) as Blame;
    expect(blame.hash).toBe(file.hash);
    expect(blame.lines).toEqual([
      { line: 1, count: 1, origin: "older" },
      expect.objectContaining({ line: 2, count: 1, origin: "call", agent: "ana", tool: "edit_file" }),
    ]);
  });

  it("is refused where an agent could not read it", async () => {
    const { page } = await openPlace({ ".env": "A=1\n" });
    const client = await logIn(page, "manage");
    for (const path of ["files?path=.env", "files/blame?path=.env", "files?path=%2Fetc%2Fpasswd"])
      expect((await client.get(path)).status, path).toBe(422);
    expect((await client.get("files?path=none")).status).toBe(404);
    expect((await client.get("files")).status).toBe(400);
    expect((await client.get("files?path=keep&from=0")).status).toBe(400);
  });
});
