import { describe, expect, test } from "vitest";
import {
  allOf,
  APPROVAL_MIME,
  approvalBundle,
  approvalQueue,
  approvalHook,
  type Confirm,
  type Confirmation,
  type ConfirmReply,
  type QueueEvent,
  headlessApprover,
  type MimeBundle,
  notebookApprover,
  type Outcome,
  quorum,
  serveApprovals,
  withHooks,
  within,
  type WorkspaceEvent,
} from "../../js/index.node.ts";
import { confirmedChange } from "../../js/hooks/changed-files.ts";
import { place } from "../tools/harness.ts";

const SCOPES = (
  [
    "proceed_once",
    "proceed_always",
    "proceed_always_tool",
    "proceed_always_server",
    "modify_with_editor",
    "cancel",
  ] as const
).map((outcome) => ({ outcome, label: outcome }));

const details = (more: Partial<Confirmation> = {}): Confirmation => ({
  type: "edit",
  title: "Edit f",
  tool: "edit_file",
  fileName: "f",
  fileDiff: "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n",
  originalContent: "a\n",
  newContent: "b\n",
  path: "/repo/src/f",
  paths: ["/repo/src/f"],
  risk: "low",
  scopes: SCOPES,
  changes: [
    confirmedChange(
      { path: "/repo/src/f", display: "src/f", kind: "edit", type: "file" },
      { before: new TextEncoder().encode("a\n"), after: new TextEncoder().encode("b\n") },
    ),
  ],
  digest: "sha256:0",
  complete: true,
  onConfirm: () => {},
  ...more,
});

/** An approver who answers so, and how often they were asked. */
function says(outcome: Outcome | Error | undefined, payload?: ConfirmReply["payload"]) {
  const approver = {
    asked: 0,
    signals: [] as (AbortSignal | undefined)[],
    confirm: undefined as unknown as Confirm,
  };
  approver.confirm = async ({ signal }) => {
    approver.asked += 1;
    approver.signals.push(signal);
    if (outcome instanceof Error) throw outcome;
    if (outcome === undefined) return new Promise(() => {});
    return { outcome, payload };
  };
  return approver;
}

describe("everybody must agree", () => {
  const cases: readonly [
    name: string,
    outcomes: readonly (Outcome | Error)[],
    answer: Outcome,
    asked: readonly number[],
  ][] = [
    ["both agree", ["proceed_once", "proceed_once"], "proceed_once", [1, 1]],
    ["the first refuses", ["cancel", "proceed_once"], "cancel", [1, 0]],
    ["the second refuses", ["proceed_once", "cancel"], "cancel", [1, 1]],
    ["one fails", [new Error("x"), "proceed_once"], "cancel", [1, 0]],
    ["one says something unknown", ["sure" as Outcome, "proceed_once"], "cancel", [1, 0]],
    [
      "the narrowest lasts",
      ["proceed_always_server", "proceed_always", "proceed_always_tool"],
      "proceed_always",
      [1, 1, 1],
    ],
    ["once is narrower than always", ["proceed_always", "proceed_once"], "proceed_once", [1, 1]],
    ["nobody", [], "cancel", []],
  ];
  test.each(cases)("%s", async (_, outcomes, answer, asked) => {
    const approvers = outcomes.map((outcome) => says(outcome));
    const reply = await allOf(approvers.map(({ confirm }) => confirm))(details());
    expect(reply?.outcome).toBe(answer);
    expect(approvers.map((one) => one.asked)).toEqual(asked);
  });

  const scope = (path: string) => ({ tool: "edit_file", path, until: "session" });

  test.each([
    ["two different scopes last for one call", [scope("/repo/src/**"), scope("/repo/**")], undefined],
    ["a scope and none last for one call", [scope("/repo/src/**"), undefined], undefined],
    ["equal scopes last", [scope("/repo/src/**"), scope("/repo/src/**")], scope("/repo/src/**")],
  ] as const)("%s", async (_, scopes, agreed) => {
    const approvers = scopes.map((one) =>
      says("proceed_always", { by: "Ann", ...(one === undefined ? {} : { scope: one }) }),
    );
    const reply = await allOf(approvers.map(({ confirm }) => confirm))(details());
    expect(reply).toEqual({
      outcome: agreed === undefined ? "proceed_once" : "proceed_always",
      payload: { by: "Ann", ...(agreed === undefined ? {} : { scope: agreed }) },
    });
  });

  test("what one of them wrote is shown to the others", async () => {
    const { confirm } = says("modify_with_editor", { newContent: "x", final: true });
    const reply = await allOf([confirm, says("proceed_once").confirm])(details());
    expect(reply).toEqual({ outcome: "modify_with_editor", payload: { newContent: "x", final: false } });
    expect(await allOf([confirm])(details())).toEqual({
      outcome: "modify_with_editor",
      payload: { newContent: "x", final: true },
    });
  });
});

describe("a quorum", () => {
  const cases: readonly [
    name: string,
    needed: number,
    outcomes: readonly (Outcome | Error | undefined)[],
    answer: Outcome,
  ][] = [
    ["two of three", 2, ["proceed_once", "cancel", "proceed_once"], "proceed_once"],
    ["one of three is not two", 2, ["proceed_once", "cancel", "cancel"], "cancel"],
    [
      "the silent are not waited for when enough agree",
      2,
      ["proceed_once", undefined, "proceed_once"],
      "proceed_once",
    ],
    ["nor when too many refuse", 2, ["cancel", undefined, "cancel"], "cancel"],
    ["a failure is a refusal", 2, ["proceed_once", new Error("x")], "cancel"],
    ["a changed content is no agreement", 1, ["modify_with_editor"], "cancel"],
    ["always is once", 1, ["proceed_always_server"], "proceed_once"],
  ];
  test.each(cases)("%s", async (_, needed, outcomes, answer) => {
    const approvers = outcomes.map((outcome) => says(outcome));
    const reply = await quorum(
      needed,
      approvers.map(({ confirm }) => confirm),
    )(details());
    expect(reply?.outcome).toBe(answer);
    for (const { asked, signals } of approvers) {
      expect(asked).toBe(1);
      expect(signals[0]?.aborted).toBe(true);
    }
  });

  test("offers nothing that lasts, and tells why not", async () => {
    let scopes: readonly Outcome[] = [];
    const looking: Confirm = (shown) => {
      scopes = shown.scopes.map(({ outcome }) => outcome);
      return { outcome: "cancel", payload: { reason: "too early" } };
    };
    const reply = await quorum(1, [looking])(details());
    expect(scopes).toEqual(["proceed_once", "cancel"]);
    expect(reply?.payload?.reason).toBe("1 of 1 approvers refused; too early");
  });

  test("that cannot be reached is refused", () => {
    for (const needed of [0, 3, 1.5])
      expect(() => quorum(needed, [says("cancel").confirm, says("cancel").confirm])).toThrow("cannot agree");
  });
});

describe("a time limit", () => {
  test("silence denies, and the question is taken back", async () => {
    const silent = says(undefined);
    const reply = await within(20, silent.confirm)(details());
    expect(reply).toMatchObject({
      outcome: "cancel",
      payload: { reason: "there was no answer within 20 ms" },
    });
    expect(silent.signals[0]?.aborted).toBe(true);
  });
  test("an answer in time counts", async () => {
    expect(await within(5000, says("proceed_once").confirm)(details())).toMatchObject({
      outcome: "proceed_once",
    });
  });
  test("a call that is cancelled ends it", async () => {
    const stop = new AbortController();
    const reply = within(5000, says(undefined).confirm)(details({ signal: stop.signal }));
    stop.abort();
    expect((await reply)?.outcome).toBe("cancel");
  });
});

describe("alone, by rules", () => {
  const cases: readonly [
    name: string,
    options: Parameters<typeof headlessApprover>[0],
    shown: Partial<Confirmation>,
    yes: boolean,
  ][] = [
    ["nothing is allowed by default", {}, {}, false],
    ["everything, said explicitly", { rules: [{ decision: "allow" }] }, {}, true],
    ["a tool", { rules: [{ tool: "edit_file", decision: "allow" }] }, {}, true],
    ["another tool", { rules: [{ tool: "edit_file", decision: "allow" }] }, { tool: "delete" }, false],
    ["a path", { rules: [{ path: "/repo/src/**", decision: "allow" }] }, {}, true],
    ["another path", { rules: [{ path: "/repo/doc/**", decision: "allow" }] }, {}, false],
    [
      "one of two paths",
      { rules: [{ path: "/repo/src/**", decision: "allow" }] },
      { paths: ["/repo/src/f", "/etc/x"] },
      false,
    ],
    [
      "one denied of two",
      { rules: [{ path: "/etc/**", decision: "deny" }, { decision: "allow" }] },
      { paths: ["/repo/src/f", "/etc/x"] },
      false,
    ],
    [
      "the first that matches",
      { rules: [{ tool: "edit_file", decision: "deny" }, { decision: "allow" }] },
      {},
      false,
    ],
    ["a test", { rules: [{ when: ({ risk }) => risk === "low", decision: "allow" }] }, {}, true],
    [
      "a test that fails",
      { rules: [{ when: ({ risk }) => risk === "low", decision: "allow" }] },
      { risk: "high" },
      false,
    ],
    [
      "a test that throws permits nothing",
      {
        rules: [
          {
            when: () => {
              throw new Error("x");
            },
            decision: "allow",
          },
        ],
      },
      {},
      false,
    ],
    [
      "a test that throws denies",
      {
        rules: [
          {
            when: () => {
              throw new Error("x");
            },
            decision: "deny",
          },
          { decision: "allow" },
        ],
      },
      {},
      false,
    ],
  ];
  test.each(cases)("%s", async (_, options, shown, yes) => {
    const reply = await headlessApprover(options).confirm(details(shown));
    expect(reply?.outcome).toBe(yes ? "proceed_once" : "cancel");
  });

  test("directories are granted where it was said", async () => {
    const { ask } = headlessApprover({ grant: ["/repo/"] });
    const about = { access: "read" as const, tool: "stat", path: "x", signal: new AbortController().signal };
    const answers = await Promise.all(
      ["/repo", "/repo/a", "/repo2", "/"].map((dir) => ask("?", ["yes", "no"], { ...about, dir })),
    );
    expect(answers).toEqual(["yes", "yes", "no", "no"]);
    expect(() => headlessApprover({ grant: ["repo"] })).toThrow("absolute");
    expect(() => headlessApprover({ rules: [{ decision: "maybe" as "allow" }] })).toThrow("decision");
  });
});

describe("a hook of two functions", () => {
  const ran: unknown[] = [];
  const bash = {
    name: "bash",
    description: "A shell.",
    execute: (args: unknown) => [ran.push(args), "done"][1],
  };
  test("asks about what is dangerous, and follows the answer", async () => {
    const answers = [
      { approved: false, message: "Not that." },
      { approved: false },
      { approved: true, modified_args: { command: "rm -i x" } },
      { approved: true },
      { approved: "yes" as never },
    ];
    const hook = approvalHook({
      when: ({ args }) => String(args["command"]).startsWith("rm"),
      ask: () => answers.shift()!,
    });
    const guarded = withHooks(bash, [hook]);
    expect(guarded.description).toBe("A shell.");
    expect((await guarded.execute({ command: "ls" })).text).toBe("done");
    expect((await guarded.execute({ command: "rm x" })).text).toBe("Not that.");
    expect((await guarded.execute({ command: "rm x" })).text).toBe("Error: blocked by hook");
    expect((await guarded.execute({ command: "rm x" })).ok).toBe(true);
    expect((await guarded.execute({ command: "rm x" })).ok).toBe(true);
    expect((await guarded.execute({ command: "rm x" })).ok).toBe(false);
    expect(ran).toEqual([{ command: "ls" }, { command: "rm -i x" }, { command: "rm x" }]);
  });
});

describe("tools that are not ours", () => {
  const tool = (run: (args: unknown, ...more: unknown[]) => unknown = () => "done") => ({
    name: "bash",
    execute: run,
  });

  test("are asked about with their arguments, and an answer may last", async () => {
    const shown: Confirmation[] = [];
    const confirm: Confirm = (question) => {
      shown.push(question);
      return { outcome: "proceed_always_tool" };
    };
    const guarded = withHooks(tool(), [], { confirm });
    expect((await guarded.execute({ command: "ls" })).ok).toBe(true);
    expect((await guarded.execute({ command: "ls" })).ok).toBe(true);
    expect(shown).toHaveLength(1);
    expect(shown[0]).toMatchObject({ type: "exec", tool: "bash", args: { command: "ls" }, risk: "high" });
    expect(shown[0]!.scopes.map(({ outcome }) => outcome)).toEqual([
      "proceed_once",
      "proceed_always_tool",
      "proceed_always_server",
      "cancel",
    ]);
  });

  test("are refused by rules, by a no, and without an approver", async () => {
    const events: string[] = [];
    const notify = ({ type }: { readonly type: string }): void => void events.push(type);
    const rules = [
      { args: { command: "rm" }, decision: "deny" },
      { args: { command: "ls" }, decision: "allow" },
      { decision: "ask" },
    ] as const;
    const confirm: Confirm = () => ({ outcome: "cancel", payload: { reason: "no" } });
    const asked = withHooks(tool(), [], { rules, confirm, notify });
    expect((await asked.execute({ command: "rm" })).error?.code).toBe("APPROVAL_DENIED");
    expect((await asked.execute({ command: "ls" })).ok).toBe(true);
    expect((await asked.execute({ command: "cp" })).text).toContain("no. Nothing");
    const alone = withHooks(tool(), [], { rules });
    expect((await alone.execute({ command: "cp" })).error?.code).toBe("APPROVAL_DENIED");
    expect(events).toEqual(["call_denied", "approval_asked", "approval_answered", "call_denied"]);
  });

  test("tell who answered the question about a call", async () => {
    const events: WorkspaceEvent[] = [];
    const notify = (event: WorkspaceEvent): void => void events.push(event);
    const confirm: Confirm = () => ({ outcome: "proceed_once", payload: { by: "Ann" } });
    await withHooks(tool(), [], { confirm, notify }).execute({ command: "ls" });
    expect(events).toEqual([
      { type: "approval_asked", tool: "bash", path: "", title: "bash" },
      { type: "approval_answered", tool: "bash", path: "", outcome: "proceed_once", by: "Ann" },
    ]);
  });

  test("are stopped by what a hook raises, and by one that fails", async () => {
    const mine = new Error("mine");
    const raising = { stage: "before" as const, tool: "*", run: () => ({ raise_exception: mine }) };
    await expect(withHooks(tool(), [raising]).execute({})).rejects.toBe(mine);
    const failing = { stage: "before" as const, tool: "*", run: () => Promise.reject(mine) };
    expect((await withHooks(tool(), [failing]).execute({})).error?.code).toBe("HOOK_BLOCKED");
    const late = { stage: "before" as const, tool: "*", run: () => new Promise(() => {}) };
    const slow = await withHooks(tool(), [late], { timeoutMs: 20 }).execute({});
    expect(slow.text).toContain("no answer within 20 ms");
  });

  test("keep their own failures, and pass on what else they are given", async () => {
    const seen: unknown[] = [];
    const after = {
      stage: "after" as const,
      tool: "*",
      run: ({ result }: { result?: { ok: boolean; text: string } }) => void seen.push(result?.text),
    };
    const failing = withHooks(
      tool(() => {
        throw new Error("boom");
      }),
      [after],
    );
    await expect(failing.execute({})).rejects.toThrow("boom");
    expect(seen).toEqual(["Error: boom"]);
    const context = withHooks(
      tool((...all) => JSON.stringify(all)),
      [],
    );
    expect((await context.execute({ a: 1 }, { session: 2 })).text).toBe('[{"a":1},{"session":2}]');
    const own = withHooks(
      tool(() => ({ ok: false, text: "mine" })),
      [],
    );
    expect(await own.execute({})).toEqual({ ok: false, text: "mine" });
    const nothing = withHooks(
      tool(() => undefined),
      [],
    );
    expect((await nothing.execute({})).text).toBe("");
  });
});

describe("in a notebook", () => {
  test("the bundle is text, HTML without a trace of markup from content, and data", () => {
    const hostile = details({
      title: "Edit <b>f</b>",
      fileDiff: "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-<script>alert(1)</script>\n+\u001b[2Jb\u202e\n",
    });
    const bundle = approvalBundle(hostile);
    const html = String(bundle["text/html"]);
    for (const raw of ["<script", "<b>", "\u001b", "\u202e"]) expect(html).not.toContain(raw);
    expect(html).toContain('<span class="added">+\\x1b[2Jb\\u{202e}</span>');
    for (const raw of ["\u001b", "\u202e"]) expect(bundle["text/plain"]).not.toContain(raw);
    expect(bundle[APPROVAL_MIME]).toMatchObject({ title: "Edit <b>f</b>", newContent: "b\n" });
    expect(JSON.parse(JSON.stringify(bundle))).toBeTruthy();
  });

  test("answers are keys; whatever else is a no", async () => {
    const shown: MimeBundle[] = [];
    const inputs: (string | null | Error)[] = ["y", " T ", "e", "", null, new Error("no front end")];
    const { confirm } = notebookApprover({
      display: (bundle) => void shown.push(bundle),
      input: async (prompt) => {
        expect(prompt).not.toContain("modify_with_editor");
        const next = inputs.shift()!;
        if (next instanceof Error) throw next;
        return next;
      },
    });
    const outcomes: unknown[] = [];
    for (let at = 0; at < 6; at++) outcomes.push((await confirm(details()))?.outcome);
    expect(outcomes).toEqual(["proceed_once", "proceed_always_tool", "cancel", "cancel", "cancel", "cancel"]);
    expect(shown).toHaveLength(6);
  });

  test("directories", async () => {
    const inputs = ["y", "r", "r", "n"];
    const { ask } = notebookApprover({ display: () => {}, input: async () => inputs.shift() ?? null });
    const about = { dir: "/d", tool: "stat", path: "d", signal: new AbortController().signal };
    const put = (access: "read" | "write") => ask("?", ["yes", "no"], { ...about, access });
    expect(await put("read")).toMatchObject({ answer: "yes" });
    expect(await put("read")).toEqual({ answer: "yes", access: "read" });
    expect(await put("write")).toEqual({ answer: "no" });
    expect(await put("write")).toEqual({ answer: "no" });
  });
});

describe("at a queue", () => {
  const about = (access: "read" | "write" = "read") => ({
    dir: "/d",
    access,
    tool: "stat",
    path: "d",
    signal: new AbortController().signal,
  });

  test("a question waits for one answer that was offered", async () => {
    const queue = approvalQueue();
    const answered = queue.confirm(
      details({ scopes: SCOPES.filter(({ outcome }) => outcome !== "proceed_always_server") }),
    );
    const [question] = queue.pending();
    const { id } = question!;
    expect(question).toMatchObject({ kind: "change", details: { title: "Edit f", newContent: "b\n" } });
    expect(JSON.parse(JSON.stringify(question))).toEqual(question);
    for (const wrong of [
      null,
      "proceed_once",
      {},
      { outcome: "sure" },
      { outcome: "proceed_always_server" },
      { outcome: "modify_with_editor" },
      { outcome: "proceed_once", payload: 3 },
      { outcome: "proceed_always", payload: { expires: "soon" } },
      { outcome: "proceed_always", payload: { expires: 3 } },
      { outcome: "proceed_once", approved: false },
      { outcome: "proceed_once", payload: { digset: "sha256:another" } },
      { outcome: "proceed_once", payload: { digest: 3 } },
      { outcome: "modify_with_editor", payload: { newContent: "x", finel: false } },
      { outcome: "modify_with_editor", payload: { newContent: "x", final: "no" } },
      { outcome: "proceed_once", payload: { newContent: "x" } },
      ["proceed_once"],
    ])
      expect(queue.answer(id, wrong), JSON.stringify(wrong)).toBe(false);
    expect(queue.answer("other", { outcome: "proceed_once" })).toBe(false);
    const payload = {
      newContent: "x",
      final: true,
      by: "Ann",
      reason: "r",
      expires: "2999-01-01T00:00:00Z",
    };
    expect(queue.answer(id, { outcome: "modify_with_editor", payload })).toBe(true);
    expect(queue.answer(id, { outcome: "cancel" })).toBe(false);
    expect(await answered).toEqual({
      outcome: "modify_with_editor",
      payload: { newContent: "x", final: true, by: "Ann", reason: "r", expires: new Date("2999-01-01") },
    });
    expect(queue.pending()).toEqual([]);
  });

  test("a directory", async () => {
    const queue = approvalQueue();
    const answered = queue.ask("Allow?", ["yes", "no"], about());
    const { id } = queue.pending()[0]!;
    for (const wrong of [
      {},
      { answer: true },
      { answer: "yes", access: "admin" },
      { answer: "yes", expires: "x" },
      { answer: "yes", expires: 3 },
      { answer: "yes", acess: "read" },
      { answer: "yes", remember: "false" },
      { answer: "yes", outcome: "cancel" },
      ["yes"],
      3,
    ])
      expect(queue.answer(id, wrong), JSON.stringify(wrong)).toBe(false);
    expect(queue.answer(id, { answer: "yes", access: "read", remember: false, by: "Ann" })).toBe(true);
    expect(await answered).toMatchObject({ answer: "yes", access: "read", remember: false, by: "Ann" });
  });

  test("what is taken back, and what waits when the queue closes, is refused", async () => {
    const queue = approvalQueue();
    const events: QueueEvent[] = [];
    const stop = queue.watch((event) => events.push(event));
    queue.watch(() => {
      throw new Error("a watcher that is gone");
    });
    const cancelled = new AbortController();
    const first = queue.confirm(details({ signal: cancelled.signal }));
    cancelled.abort();
    expect((await first)?.outcome).toBe("cancel");
    stop();
    const second = queue.ask("?", ["yes", "no"], about());
    queue.close();
    expect(await second).toEqual({ answer: "no" });
    expect(await queue.confirm(details())).toEqual({ outcome: "cancel" });
    expect(events).toMatchObject([
      { seq: 1, type: "asked" },
      { seq: 2, type: "withdrawn", why: "cancelled" },
    ]);
    expect(() => approvalQueue({ token: "" })).toThrow("must not be empty");
  });

  test("over HTTP, with the token alone", async () => {
    const queue = approvalQueue();
    const server = await serveApprovals(queue);
    const call = (path: string, init: RequestInit = {}, token = queue.token) =>
      fetch(`${server.url}${path}`, { ...init, headers: { authorization: `Bearer ${token}` } });
    try {
      const { ws, text } = await place("memory", { f: "a\n" }, { confirm: queue.confirm });
      const writing = ws.call("write_file", { path: "f", content: "b\n" });
      await expect.poll(() => queue.pending().length).toBe(1);
      expect((await fetch(server.url)).status).toBe(401);
      expect((await call("", {}, `${queue.token}x`)).status).toBe(401);
      expect((await call("/../other")).status).toBe(404);
      const { pending } = (await (await call("")).json()) as { pending: { id: string }[] };
      const id = pending[0]!.id;
      const stream = (await call("/events")).body!.getReader();
      const { value } = await stream.read();
      expect(new TextDecoder().decode(value)).toMatch(
        /^id: \w+-1\ndata: \{"type":"state","seq":1,"pending":\[\{"id"/u,
      );
      const post = (path: string, body: string) => call(path, { method: "POST", body });
      expect((await post("", "{}")).status).toBe(405);
      expect((await post("/none", '{"outcome":"cancel"}')).status).toBe(404);
      expect((await post(`/${id}`, "{oops")).status).toBe(400);
      expect((await post(`/${id}`, '{"outcome":"sure"}')).status).toBe(400);
      expect((await post(`/${id}`, '{"outcome":"proceed_once","payload":{"by":"Ann"}}')).status).toBe(200);
      expect(await writing).toMatchObject({
        ok: true,
        meta: { approval: { outcome: "proceed_once", by: "Ann" } },
      });
      expect(await text("f")).toBe("b\n");
      expect(new TextDecoder().decode((await stream.read()).value)).toContain('"type":"answered"');
      await stream.cancel();
    } finally {
      await server.close();
    }
  });

  test("over a socket", async () => {
    const queue = approvalQueue({ token: "0123456789abcdef" });
    const sent: Record<string, unknown>[] = [];
    const socket = queue.attach({ send: (text) => sent.push(JSON.parse(text)) });
    const answered = queue.confirm(details());
    socket.receive("{oops");
    socket.receive('{"token":"wrong"}');
    expect(sent.splice(0)).toEqual([{ type: "refused" }, { type: "refused" }]);
    socket.receive('{"token":"0123456789abcdef"}');
    const { id } = (sent[0]!["pending"] as { id: string }[])[0]!;
    socket.receive(JSON.stringify({ get: id }));
    expect(sent.pop()).toMatchObject({ type: "question", question: { id, details: { newContent: "b\n" } } });
    socket.receive(JSON.stringify({ id, reply: { outcome: "sure" } }));
    socket.receive(JSON.stringify({ id, reply: { outcome: "proceed_once" } }));
    expect((await answered)?.outcome).toBe("proceed_once");
    expect(sent.map(({ type }) => type)).toEqual(["state", "refused", "answered"]);
    socket.close();
    void queue.confirm(details());
    expect(sent).toHaveLength(3);
  });
});
