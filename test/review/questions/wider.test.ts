/** Wider answers: what they offer, what they cover, and who may give them. */
import { describe, expect, it } from "vitest";
import { narrowestDraft, sentenceOf, wideningOfDraft } from "../../../js/review/questions/wider-draft.ts";
import type {
  ReviewQuestion,
  ReviewSnapshot,
  TakenAnswer,
  WiderChoice,
} from "../../../js/review/protocol.ts";
import { openWorkspace } from "../../../js/index.node.ts";
import { reviewHub } from "../../../js/review/hub.ts";
import { type Client, firstQuestion, logIn, openPlace, type Place } from "../place.ts";

/** The question that waits. */
async function asked(place: Place, client: Client): Promise<ReviewQuestion & { readonly kind: "change" }> {
  await firstQuestion(place.hub);
  const { state } = (await (await client.get("state")).json()) as ReviewSnapshot;
  return state.waiting[0] as ReviewQuestion & { readonly kind: "change" };
}

/** Starts a write and allows it with a wider answer. Returns the status of the request. */
async function allowWider(
  place: Place,
  client: Client,
  path: string,
  wider: WiderChoice,
): Promise<{ readonly status: number; readonly ok: boolean }> {
  const call = place.ws.call("write_file", { path, content: `${Math.random()}\n` });
  const { id, digest } = await asked(place, client);
  const response = await client.post(`approvals/${id}`, { outcome: "allow", digest, wider });
  const { status } = response;
  const { scope } = (await response.json()) as Partial<TakenAnswer>;
  if (status !== 200) await client.post(`approvals/${id}`, { outcome: "refuse", digest });
  const { ok } = await call;
  // The answer names the approval as the policy lists it.
  if (status === 200) expect((await place.ws.approvals.list()).map((one) => one.scope)).toContainEqual(scope);
  return { status, ok };
}

/** Returns true when a write is made without a question. */
async function writesUnasked(place: Place, path: string): Promise<boolean> {
  const stop = new AbortController();
  const call = place.ws.call("write_file", { path, content: `${Math.random()}\n` }, { signal: stop.signal });
  const first = await Promise.race([call.then(() => "done"), firstQuestion(place.hub)]);
  stop.abort();
  await call;
  return first === "done";
}

/** Returns a patch that adds files below src/pay. */
const addedFiles = (names: readonly string[]): string =>
  `*** Begin Patch\n${names.map((name) => `*** Add File: src/pay/${name}\n+x\n`).join("")}*** End Patch\n`;

const FILES = { "src/pay/a.txt": "1\n", "src/pay/b.txt": "2\n", "src/c.txt": "3\n" };

describe("a wider answer", () => {
  it("offers the file, its directory and the tool, and the ends that the workspace has", async () => {
    const place = await openPlace(FILES);
    const client = await logIn(place.page, "answer", "ana");
    void place.ws.call("write_file", { path: "src/pay/a.txt", content: "x\n" });
    const { wider, turn } = await asked(place, client);
    expect(wider).toEqual({
      places: ["files", "directory", "everywhere"],
      files: ["/w/src/pay/a.txt"],
      dir: "/w/src/pay",
      ends: ["turn", "time", "session"],
      sessionEnd: "until this workspace is closed",
    });
    expect(turn).toMatch(/^begun /u);
  });

  it("covers each of the files that its question names, and no other", async () => {
    const place = await openPlace(FILES);
    const client = await logIn(place.page, "manage", "ana");
    const names = ["d,e.txt", "f{g}.txt"];
    const call = place.ws.call("apply_patch", { patch: addedFiles(names) });
    const { id, digest } = await asked(place, client);
    const wider = { place: "files", isAgentOnly: false, until: "session" } as const;
    expect((await client.post(`approvals/${id}`, { outcome: "allow", digest, wider })).status).toBe(200);
    expect((await call).ok).toBe(true);
    const again = async (name: string): Promise<boolean> => {
      const stop = new AbortController();
      const patch = `*** Begin Patch\n*** Update File: src/pay/${name}\n@@\n-x\n+x\n+y\n*** End Patch\n`;
      const patched = place.ws.call("apply_patch", { patch }, { signal: stop.signal });
      const first = await Promise.race([
        patched.then(({ ok }) => ok),
        firstQuestion(place.hub).then(() => false),
      ]);
      stop.abort();
      await patched;
      return first;
    };
    expect([await again("d,e.txt"), await again("f{g}.txt")]).toEqual([true, true]);
    const other = place.ws.call("apply_patch", { patch: addedFiles(["d"]) });
    const question = await asked(place, client);
    await client.post(`approvals/${question.id}`, { outcome: "refuse", digest: question.digest });
    expect((await other).ok).toBe(false);
  });

  it.each([
    [20, ["files", "directory", "everywhere"]],
    [21, ["directory", "everywhere"]],
  ] as const)("offers a place for %i files", async (count, places) => {
    const place = await openPlace(FILES);
    const client = await logIn(place.page, "answer", "ana");
    const stop = new AbortController();
    const names = Array.from({ length: count }, (_, n) => `n${n}.txt`);
    const call = place.ws.call("apply_patch", { patch: addedFiles(names) }, { signal: stop.signal });
    expect((await asked(place, client)).wider?.places).toEqual(places);
    stop.abort();
    await call;
  });

  it.each([
    [{ place: "files" }, [true, false, false]],
    [{ place: "directory" }, [true, true, false]],
    [{ place: "directory", dir: "/w/src" }, [true, true, true]],
    [{ place: "everywhere" }, [true, true, true]],
  ] as const)("on %o covers these and no others: %o", async (where, covered) => {
    const place = await openPlace(FILES);
    const client = await logIn(place.page, "answer", "ana");
    const wider = { ...where, isAgentOnly: false, until: "session" };
    expect(await allowWider(place, client, "src/pay/a.txt", wider)).toEqual({ status: 200, ok: true });
    const unasked: boolean[] = [];
    for (const path of Object.keys(FILES)) unasked.push(await writesUnasked(place, path));
    expect(unasked).toEqual(covered);
    const [approval] = await place.ws.approvals.list();
    expect([approval?.by, approval?.scope.tool]).toEqual(["ana", "write_file"]);
    const { state } = (await (await client.get("state")).json()) as ReviewSnapshot;
    expect(state.settled[0]).toMatchObject({ outcome: "allow", by: "ana", isWider: true });
  });

  it.each([
    [
      "a directory that does not contain the file",
      { place: "directory", dir: "/w/other", isAgentOnly: false, until: "turn" },
    ],
    ["a directory above the root", { place: "directory", dir: "/", isAgentOnly: false, until: "turn" }],
    [
      "a directory with the place of the file",
      { place: "files", dir: "/w/src", isAgentOnly: false, until: "turn" },
    ],
    ["an agent, though none asks", { place: "files", isAgentOnly: true, until: "turn" }],
    ["a time that has passed", { place: "files", isAgentOnly: false, until: "2020-01-01T00:00:00Z" }],
    ["an end that is none", { place: "files", isAgentOnly: false, until: "forever" }],
    ["an unknown member", { place: "files", isAgentOnly: false, until: "turn", path: "/**" }],
    ["a glob in place of a directory", { place: "directory", dir: "/**", isAgentOnly: false, until: "turn" }],
  ])("for %s is refused, and nothing is written or remembered", async (_, wider) => {
    const place = await openPlace(FILES);
    const client = await logIn(place.page, "manage", "ana");
    expect(await allowWider(place, client, "src/pay/a.txt", wider as WiderChoice)).toEqual({
      status: 400,
      ok: false,
    });
    expect(await place.ws.approvals.list()).toEqual([]);
    expect(await place.backend.readText("/w/src/pay/a.txt")).toBe("1\n");
  });

  it("that is kept needs the role manage, and that it is offered", async () => {
    const place = await openPlace(FILES);
    const wider = { place: "files", isAgentOnly: false, until: "kept" } as const;
    const ana = await logIn(place.page, "answer", "ana");
    expect((await allowWider(place, ana, "src/c.txt", wider)).status).toBe(403);
    // A workspace in memory keeps nothing, so even a login that may manage cannot.
    const boss = await logIn(place.page, "manage", "boss");
    expect((await allowWider(place, boss, "src/c.txt", wider)).status).toBe(400);
  });

  it("is counted against the last calls that needed an answer", async () => {
    const place = await openPlace(FILES);
    const client = await logIn(place.page, "answer", "ana");
    const once = { place: "files", isAgentOnly: false, until: "turn" } as const;
    await allowWider(place, client, "src/pay/a.txt", once);
    await allowWider(place, client, "src/c.txt", once);
    const call = place.ws.call("write_file", { path: "src/pay/b.txt", content: "x\n" });
    const { id, digest } = await asked(place, client);
    const counts: unknown[] = [];
    for (const where of [{ place: "files" }, { place: "directory" }, { place: "everywhere" }]) {
      const wider = { ...where, isAgentOnly: false, until: "turn" };
      counts.push(await (await client.post("scopes", { id, wider })).json());
    }
    expect(counts).toEqual([
      { covered: 1, calls: 3 },
      { covered: 2, calls: 3 },
      { covered: 3, calls: 3 },
    ]);
    expect((await client.post("scopes", { id: "none", wider: once })).status).toBe(404);
    expect((await client.post("scopes", { id, wider: once, more: 1 })).status).toBe(400);
    const guest = await logIn(place.page, "watch", "guest");
    expect((await guest.post("scopes", { id, wider: once })).status).toBe(403);
    await client.post(`approvals/${id}`, { outcome: "refuse", digest });
    await call;
  });

  it("on a name with characters of globs covers that name alone", async () => {
    const place = await openPlace({ "a[1],b*.txt": "1\n", "a1.txt": "2\n" });
    const client = await logIn(place.page, "answer", "ana");
    const wider = { place: "files", isAgentOnly: false, until: "session" } as const;
    expect((await allowWider(place, client, "a[1],b*.txt", wider)).ok).toBe(true);
    expect(await writesUnasked(place, "a[1],b*.txt")).toBe(true);
    expect(await writesUnasked(place, "a1.txt")).toBe(false);
  });
});

describe("a wider answer about a directory", () => {
  it.each([
    [
      { access: "read", until: "session" },
      { access: "read", remember: false },
    ],
    [
      { access: "write", until: "session" },
      { access: "write", remember: false },
    ],
    [
      { access: "read", until: "kept" },
      { access: "read", remember: true },
    ],
    [
      { access: "read", until: "2099-01-01T00:00:00Z" },
      { access: "read", remember: false, expires: new Date("2099-01-01T00:00:00Z") },
    ],
  ] as const)("with %o grants %o", async (grant, reply) => {
    const place = await openPlace();
    const client = await logIn(place.page, "manage", "ana");
    const about = { dir: "/data", access: "read", tool: "grep" } as Parameters<typeof place.hub.ask>[2];
    const answer = place.hub.ask("Read below /data?", ["yes", "no"], about);
    const id = await firstQuestion(place.hub);
    const [guest, watcher] = [
      await logIn(place.page, "answer", "ben"),
      await logIn(place.page, "watch", "eve"),
    ];
    expect((await watcher.post(`approvals/${id}`, { outcome: "allow", grant })).status).toBe(403);
    if (grant.until === "kept")
      expect((await guest.post(`approvals/${id}`, { outcome: "allow", grant })).status).toBe(403);
    for (const wrong of [
      { ...grant, until: "turn" },
      { ...grant, until: "2020-01-01T00:00:00Z" },
    ])
      expect((await client.post(`approvals/${id}`, { outcome: "allow", grant: wrong })).status).toBe(400);
    expect((await client.post(`approvals/${id}`, { outcome: "allow", grant })).status).toBe(200);
    expect(await answer).toEqual({ answer: "yes", by: "ana", ...reply });
  });
});

describe("the dialog", () => {
  const question = {
    id: "q",
    askedAt: 0,
    title: "Edit a.txt",
    tool: "edit_file",
    agent: "main",
    kind: "change",
    digest: "sha256:0",
    risk: "low",
    changes: [],
    hasParts: false,
    wider: {
      places: ["files", "directory", "everywhere"],
      files: ["/w/src/a.txt"],
      dir: "/w/src",
      ends: ["turn", "time", "session"],
      sessionEnd: "for 8 hours, at every replica",
    },
  } as const;

  it("begins with the narrowest answer, and says in words what each covers", () => {
    const draft = narrowestDraft(question, 0);
    expect(wideningOfDraft(question, draft, 0)).toEqual({
      wider: { place: "files", isAgentOnly: true, until: "turn" },
    });
    const wordsOf = (one: typeof draft) =>
      sentenceOf(question, wideningOfDraft(question, one, 0) as { readonly wider: WiderChoice });
    expect(wordsOf(draft)).toBe(
      "Later calls of edit_file by main are allowed without a question on /w/src/a.txt, until the end of the turn.",
    );
    const wide = { ...draft, place: "everywhere", isAgentOnly: false, end: "session" } as const;
    expect(wordsOf(wide)).toBe(
      "Later calls of edit_file by any agent are allowed without a question on every path of this workspace, for 8 hours, at every replica.",
    );
  });

  it("takes a time that is to come, and no other", () => {
    const now = Date.now();
    const draft = { ...narrowestDraft(question, now), end: "time" } as const;
    const widening = wideningOfDraft(question, draft, now) as { readonly wider: WiderChoice };
    expect(Math.abs(Date.parse(widening.wider.until) - now - 3_600_000)).toBeLessThan(60_000);
    for (const time of ["", "never", "2020-01-01T00:00"])
      expect(wideningOfDraft(question, { ...draft, time }, now)).toBeUndefined();
  });
});

it("an answer that is kept is a rule of the workspace after a restart, in the name of who gave it", async () => {
  const { mkdtemp, rm, writeFile } = await import("node:fs/promises");
  const { join } = await import("node:path");
  const { tmpdir } = await import("node:os");
  const dir = await mkdtemp(join(tmpdir(), "filewright-wider-"));
  const root = join(dir, "repo");
  await (await import("node:fs/promises")).mkdir(root);
  await writeFile(join(root, "a.txt"), "1\n");
  const open = (hub: ReturnType<typeof reviewHub>) =>
    openWorkspace({ root, stateDir: join(dir, "state"), guard: "off", confirm: hub.confirm });
  const hub = reviewHub();
  try {
    const ws = await open(hub);
    const call = ws.call("write_file", { path: "a.txt", content: "2\n" });
    const id = await firstQuestion(hub);
    const pending = hub.queue.pending()[0];
    const digest = pending?.kind === "change" ? pending.details.digest : "";
    const wider = { place: "files", isAgentOnly: false, until: "kept" } as const;
    expect(hub.answer(id, { outcome: "allow", digest, wider }, "boss")).toEqual({ effect: "taken" });
    expect((await call).ok).toBe(true);
    await ws.close();
    const again = await open(reviewHub());
    expect((await again.call("write_file", { path: "a.txt", content: "3\n" })).ok).toBe(true);
    expect((await again.approvals.list()).map(({ by }) => by)).toEqual(["boss"]);
    await again.close();
  } finally {
    hub.close();
    await rm(dir, { recursive: true, force: true });
  }
});
