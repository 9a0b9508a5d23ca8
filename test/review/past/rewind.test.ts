/** Ways back over HTTP: previews, the rewind that was shown, and versions of a file. */
import { describe, expect, it } from "vitest";
import type { CallEnd } from "../../../js/hooks/observer.ts";
import type { RewindAnswer, RowsPage } from "../../../js/review/past/history-protocol.ts";
import { firstQuestion, logIn, openPlace, type Place } from "../place.ts";

/** Opens a place whose changes are made without a question. */
const openUnasked = (files?: Readonly<Record<string, string>>): Promise<Place> =>
  openPlace(files, { confirm: undefined });

const bodyOf = async <T>(response: Promise<Response>): Promise<T> => (await (await response).json()) as T;

/** UTF-16 with a BOM, CR LF and no last line end. */
const UTF16 = new Uint8Array([0xff, 0xfe, ...Buffer.from("one\r\ntwo", "utf16le")]);

describe("a rewind", () => {
  it("is previewed, made as it was shown, and undone", async () => {
    const { ws, backend, page } = await openUnasked({ "b.txt": "one\n" });
    await backend.writeBytes("/w/a.txt", UTF16);
    const client = await logIn(page, "manage", "ana");
    await client.post("marks", { name: "before tests" });
    await ws.call("edit_file", { path: "a.txt", old_text: "two", new_text: "2" });
    await ws.call("delete", { path: "b.txt" });
    await ws.call("write_file", { path: "new/c.txt", content: "c\n" });
    const changed = await backend.readBytes("/w/a.txt");

    const preview = await bodyOf<RewindAnswer>(client.post("rewind", { to: "before tests", dryRun: true }));
    expect(preview.callId).toBeUndefined();
    expect(preview.calls).toBe(3);
    expect(
      preview.changes.map(({ display, kind, added, removed }) => [display, kind, added, removed]),
    ).toEqual([
      ["a.txt", "edit", 1, 1],
      ["b.txt", "create", 1, 0],
      ["new", "delete", 0, 0],
      ["new/c.txt", "delete", 0, 1],
    ]);
    expect(await backend.readBytes("/w/a.txt")).toEqual(changed);
    const rows = await bodyOf<RowsPage>(client.get(`previews/rows?digest=${preview.digest}&change=1&last=1`));
    expect(rows.pages.map(({ hunks }) => hunks[0]?.lines)).toEqual(["+one"]);

    const { digest } = preview;
    const done = await bodyOf<RewindAnswer>(client.post("rewind", { to: "before tests", digest }));
    expect(await backend.readBytes("/w/a.txt")).toEqual(UTF16);
    expect(await backend.readText("/w/b.txt")).toBe("one\n");
    await expect(backend.stat("/w/new")).rejects.toMatchObject({ code: "NOT_FOUND" });

    expect((await client.post(`history/${done.callId}/undo`, {})).status).toBe(200);
    expect(await backend.readBytes("/w/a.txt")).toEqual(changed);
    expect(await backend.readText("/w/new/c.txt")).toBe("c\n");
  });

  it("changes the chosen paths only, and leaves what another program has changed unless it is chosen", async () => {
    const { ws, backend, page } = await openUnasked({ "a.txt": "one\n", "b.txt": "one\n" });
    const client = await logIn(page);
    await ws.mark("m");
    await ws.call("write_file", { path: "a.txt", content: "two\n" });
    await ws.call("write_file", { path: "b.txt", content: "two\n" });
    await backend.writeBytes("/w/b.txt", new TextEncoder().encode("mine\n"));
    const all = await bodyOf<RewindAnswer>(client.post("rewind", { to: "m", dryRun: true }));
    expect(all.changes.map(({ display }) => display)).toEqual(["a.txt"]);
    expect(all.left).toEqual([
      { path: "b.txt", why: "a person or another program has changed it since", canChoose: true },
    ]);
    const paths = ["b.txt"];
    const chosen = await bodyOf<RewindAnswer>(client.post("rewind", { to: "m", dryRun: true, paths }));
    await client.post("rewind", { to: "m", paths, digest: chosen.digest });
    expect(await backend.readText("/w/a.txt")).toBe("two\n");
    expect(await backend.readText("/w/b.txt")).toBe("one\n");
  });

  it("of one agent leaves the calls of others, and its observers and those of undos are told who wanted it", async () => {
    const told: (readonly [string, string | undefined])[] = [];
    const end = ({ tool, by }: CallEnd): void => void told.push([tool, by]);
    const { ws, backend, page } = await openPlace(
      { "a.txt": "one\n", "b.txt": "one\n" },
      { confirm: undefined, observers: [{ end }] },
    );
    const client = await logIn(page, "manage", "ana");
    await ws.mark("m");
    await ws.call("write_file", { path: "a.txt", content: "two\n" }, { agent: "helper" });
    await ws.call("write_file", { path: "b.txt", content: "two\n" }, { agent: "other" });
    const wanted = { to: "m", agent: "helper" };
    const { digest, changes } = await bodyOf<RewindAnswer>(
      client.post("rewind", { ...wanted, dryRun: true }),
    );
    expect(changes.map(({ display }) => display)).toEqual(["a.txt"]);
    const done = await bodyOf<RewindAnswer>(client.post("rewind", { ...wanted, digest }));
    expect(await backend.readText("/w/a.txt")).toBe("one\n");
    expect(await backend.readText("/w/b.txt")).toBe("two\n");
    await client.post(`history/${done.callId}/undo`, {});
    expect(told.slice(2)).toEqual([
      ["rewind", "ana"],
      ["undo", "ana"],
    ]);
    expect((await client.post("rewind", { ...wanted, dryRun: true, by: "ben" })).status).toBe(400);
  });

  it("is refused when anything has changed since the preview, and without a digest", async () => {
    const { ws, backend, page } = await openUnasked({ "a.txt": "one\n" });
    const client = await logIn(page);
    await ws.mark("m");
    await ws.call("write_file", { path: "a.txt", content: "two\n" });
    const { digest } = await bodyOf<RewindAnswer>(client.post("rewind", { to: "m", dryRun: true }));
    await ws.call("write_file", { path: "a.txt", content: "three\n" });
    const refused = await client.post("rewind", { to: "m", digest });
    expect([refused.status, (await refused.json()).code]).toEqual([409, "CONFLICT"]);
    expect((await client.post("rewind", { to: "m" })).status).toBe(400);
    expect((await client.post("rewind", { to: "m", digest: "sha256:0" })).status).toBe(400);
    expect((await client.post("rewind", { to: "m", dryRun: true, force: true })).status).toBe(400);
    expect((await client.post("rewind", { to: "nothing", dryRun: true })).status).toBe(404);
    expect((await client.post("rewind", { to: "m", dryRun: true, paths: ["../x"] })).status).toBe(422);
    expect((await client.get(`previews/rows?digest=sha256:${"0".repeat(64)}`)).status).toBe(404);
    expect(await backend.readText("/w/a.txt")).toBe("three\n");
    for (const role of ["watch", "answer"] as const) {
      const other = await logIn(page, role);
      expect((await other.post("rewind", { to: "m", dryRun: true })).status).toBe(403);
      expect((await other.get(`previews/rows?digest=${digest}`)).status).toBe(403);
    }
  });

  it("that a person has seen is not asked about again, and another one waits", async () => {
    const { ws, hub, backend, page } = await openPlace({ "a.txt": "one\n" });
    const client = await logIn(page, "manage", "ana");
    await ws.mark("m");
    const call = ws.call("write_file", { path: "a.txt", content: "two\n" });
    const id = await firstQuestion(hub);
    const [pending] = hub.queue.pending();
    const digest = pending?.kind === "change" ? pending.details.digest : "";
    await client.post(`approvals/${id}`, { outcome: "allow", digest });
    expect((await call).ok).toBe(true);
    const preview = await bodyOf<RewindAnswer>(client.post("rewind", { to: "m", dryRun: true }));
    const done = await client.post("rewind", { to: "m", digest: preview.digest });
    expect(done.status).toBe(200);
    expect(await backend.readText("/w/a.txt")).toBe("one\n");
    const settled = hub.snapshot({ role: "watch", by: "ben" }).state.settled.at(-1);
    expect([settled?.question.tool, settled?.outcome, settled?.by]).toEqual(["rewind", "allow", "ana"]);
    // One that the program begins waits for an answer.
    const [last] = await ws.history();
    const own = ws.rewind(last?.callId ?? "");
    const asked = await firstQuestion(hub);
    expect(hub.queue.answer(asked, { outcome: "cancel" })).toBe(true);
    await expect(own).rejects.toMatchObject({ code: "APPROVAL_DENIED" });
  });
});

describe("versions of a file", () => {
  it("are compared, and an earlier one is restored byte for byte as one change that can be undone", async () => {
    const { ws, backend, page } = await openUnasked({ "other.txt": "x\n" });
    await backend.writeBytes("/w/a.txt", UTF16);
    await ws.call("edit_file", { path: "a.txt", old_text: "two", new_text: "2" });
    await ws.call("write_file", { path: "other.txt", content: "y\n" });
    await ws.call("edit_file", { path: "a.txt", old_text: "one", new_text: "1" });
    const latest = await backend.readBytes("/w/a.txt");
    const [third, , first] = await ws.history();
    const client = await logIn(page);
    const compared = async (before: string | undefined, after: string | undefined): Promise<unknown> => {
      const answer = await bodyOf<RowsPage>(
        client.get(`files/compare?path=a.txt&before=${before}&after=${after}`),
      );
      return answer.pages[0]?.hunks.map(({ lines }) => lines);
    };
    expect(await compared(`before:${first?.callId}`, first?.callId)).toEqual([
      " one\r\n-two\n\\ No newline at end of file\n+2\n\\ No newline at end of file",
    ]);
    expect(await compared(third?.callId, "now")).toEqual([]);
    expect(await compared("now", `before:${first?.callId}`)).toEqual([
      "-1\r\n-2\n\\ No newline at end of file\n+one\r\n+two\n\\ No newline at end of file",
    ]);
    expect((await client.get(`files/compare?path=x.txt&before=${first?.callId}&after=now`)).status).toBe(404);
    expect((await client.get("files/compare?path=a.txt&before=now&after=now")).status).toBe(400);
    expect((await client.get("files/compare?path=a.txt")).status).toBe(400);

    const to = first?.callId;
    const { digest } = await bodyOf<RewindAnswer>(
      client.post("rewind", { to, paths: ["a.txt"], dryRun: true }),
    );
    const done = await bodyOf<RewindAnswer>(client.post("rewind", { to, paths: ["a.txt"], digest }));
    expect(await backend.readBytes("/w/a.txt")).toEqual(UTF16);
    expect(await backend.readText("/w/other.txt")).toBe("y\n");
    await client.post(`history/${done.callId}/undo`, {});
    expect(await backend.readBytes("/w/a.txt")).toEqual(latest);
  });

  it("say where a content is not known any more", async () => {
    const { ws, backend, page } = await openUnasked({ "a.txt": "one\n" });
    await ws.call("write_file", { path: "a.txt", content: "two\n" });
    await backend.writeBytes("/w/a.txt", new TextEncoder().encode("mine\n"));
    const [call] = await ws.history();
    const client = await logIn(page, "watch");
    const { pages } = await bodyOf<RowsPage>(
      client.get(`files/compare?path=a.txt&before=${call?.callId}&after=now`),
    );
    expect(pages[0]?.hunks).toEqual([]);
    expect(pages[0]?.details).toEqual(["The content before the change is not known any more."]);
  });
});
