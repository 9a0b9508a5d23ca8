/**
 * Attacks of one tenant on another's workspace, through one server over a real engine: by the claims of its token, by
 * arguments, paths, cursors, ids of calls, answers to questions and the number of its requests.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { nameFault } from "../../js/mcp/tenants/claims.ts";
import { OpenWorkspaces } from "../../js/mcp/tenants/open-workspaces.ts";
import { LACKS_VERSITYGW, startVersitygw } from "../storage/s3/versitygw.mjs";
import { missingServer, startPostgres } from "../storage/postgres/server.mjs";
import { afterThisTest } from "../support/cleanups.ts";
import { type Issuer, RESOURCE, startIssuer } from "./issuer.mjs";
import { call, postgresUrl, type Served, type ServingOptions, startServing, TOKEN } from "./server.ts";

const CHOICE = { workspace: "main", tenantClaim: "org", workspaceClaim: "repo" };

describe("the name of a tenant or a workspace", () => {
  test.each(["a", "Ä b", "a/b", "..", "x".repeat(200), "default"])("%j is one", (name) => {
    expect(nameFault(name)).toBeUndefined();
  });

  test.each(["", " a", "a ", "*", "a\0", "a\nb", "a\u202eb", "\ud800", "x".repeat(201), "ü".repeat(101)])(
    "%j is none",
    (name) => {
      expect(nameFault(name)).toBeDefined();
    },
  );
});

describe("open workspaces", () => {
  const TIMES = { openMs: 60_000, idleMs: Number.POSITIVE_INFINITY };
  const open = (name: string, log: string[]) => async () => ({
    close: async () => void log.push(`close ${name}`),
  });

  test("the one that was idle for longest is closed for a new one, and never one in use", async () => {
    const log: string[] = [];
    const workspaces = new OpenWorkspaces({ workspaces: 2, requests: 9, ...TIMES });
    const take = async (name: string): Promise<() => void> => {
      const lease = await workspaces.lease(name, open(name, log));
      if (typeof lease === "string") throw new Error(lease);
      return lease.release;
    };
    const releaseA = await take("a");
    (await take("b"))();
    (await take("c"))();
    await expect.poll(() => log).toEqual(["close b"]);
    const releaseC = await take("c");
    await expect(take("d")).rejects.toThrow("too many workspaces");
    releaseA();
    releaseA();
    (await take("d"))();
    await expect.poll(() => log).toEqual(["close b", "close a"]);
    releaseC();
    await workspaces.close();
    expect(log.toSorted()).toEqual(["close a", "close b", "close c", "close d"]);
  });

  test("one that could not be opened is opened again by the next request, and its requests are limited", async () => {
    const workspaces = new OpenWorkspaces({ workspaces: 2, requests: 2, ...TIMES });
    const broken = (): Promise<never> => Promise.reject(new Error("away"));
    await expect(workspaces.lease("a", broken)).rejects.toThrow("away");
    expect(typeof (await workspaces.lease("a", open("a", [])))).toBe("object");
    expect(typeof (await workspaces.lease("a", open("a", [])))).toBe("object");
    expect(await workspaces.lease("a", open("a", []))).toBe("too many requests");
  });
});

/** An engine that the attacks are tried on. */
interface Engine {
  readonly name: string;
  readonly missing: boolean;
  start(): Promise<{ readonly url: string; stop(): Promise<void> }>;
}

const ENGINES: readonly Engine[] = [
  {
    name: "Postgres",
    missing: missingServer() !== undefined,
    async start() {
      const server = await startPostgres();
      return { url: postgresUrl(server.host), stop: server.stop };
    },
  },
  {
    name: "versitygw",
    missing: LACKS_VERSITYGW,
    async start() {
      const { endpoint, bucket, credentials, stop } = await startVersitygw();
      process.env["AWS_ACCESS_KEY_ID"] = credentials.accessKeyId;
      process.env["AWS_SECRET_ACCESS_KEY"] = credentials.secretAccessKey;
      return {
        url: `s3+${endpoint}/${bucket}/here`,
        async stop() {
          delete process.env["AWS_ACCESS_KEY_ID"];
          delete process.env["AWS_SECRET_ACCESS_KEY"];
          await stop();
        },
      };
    },
  },
];

let runs = 0;

describe.each(ENGINES.filter(({ missing }) => !missing))("tenants of one server over $name", ({ start }) => {
  let engine: Awaited<ReturnType<Engine["start"]>>;
  let issuer: Issuer;
  let served: Served;
  /** Makes the names of each test new, because the tests share one engine. */
  let run: string;
  beforeAll(async () => {
    engine = await start();
    issuer = await startIssuer();
  });
  afterAll(async () => {
    issuer.close();
    await engine.stop();
  });
  beforeEach(() => {
    run = `${runs++}`;
  });
  const serve = async (more: ServingOptions = {}): Promise<void> => {
    const oauth = { issuer: issuer.url, resource: RESOURCE, scopes: [] };
    served = await startServing(engine.url, {
      choice: CHOICE,
      oauth,
      preset: "lean",
      tools: ["all"],
      ...more,
    });
  };
  const tokenOf = (org: unknown, repo: unknown = "repo"): string =>
    issuer.token({ org: typeof org === "string" ? `${org}${run}` : org, repo });
  const callAs = (token: string, name: string, args: object, headers: Record<string, string> = {}) =>
    call(served.url, name, args, { token, headers });

  test("a token without the claims, or with names that are none, is refused, and so is the fixed token", async () => {
    await serve();
    const tokens = [
      issuer.token({}),
      issuer.token({ org: "a" }),
      issuer.token({ repo: "r" }),
      ...[1, true, null, "", " a", "*", ["a"], { a: 1 }, "a\0b", "x".repeat(201)].map((org) =>
        issuer.token({ org, repo: "r" }),
      ),
      issuer.token({ org: "a", repo: "" }),
    ];
    for (const token of tokens) {
      const { status, body } = await callAs(token, "list_directory", { path: "/" });
      expect([status, body]).toEqual([403, expect.stringContaining("names no workspace")]);
    }
    expect((await callAs(TOKEN, "list_directory", { path: "/" })).status).not.toBe(200);
    expect((await callAs("no-token-of-anybody", "list_directory", { path: "/" })).status).toBe(401);
  });

  test("nothing of another tenant is read, listed, found, changed, undone or seen in a history", async () => {
    await serve();
    const [ann, bob] = [tokenOf("ann"), tokenOf("bob")];
    const secret = `secret-of-ann-${run}`;
    const written = await callAs(ann, "write_file", { path: "/dir/secret.txt", content: `${secret}\n` });
    expect(written.isError).toBe(false);
    const callId = String(
      (JSON.parse(written.body) as { result: { _meta?: Record<string, Record<string, unknown>> } }).result
        ._meta?.["filewright/call"]?.["call_id"] ?? written.data["call_id"],
    );
    expect((await callAs(ann, "history", {})).body).toContain("secret.txt");
    const attempts: readonly (readonly [tool: string, args: object])[] = [
      ["read_file", { path: "/dir/secret.txt" }],
      ["read_file", { path: "dir/secret.txt" }],
      ["read_file", { path: `/../ann${run}/repo/dir/secret.txt` }],
      ["read_many_files", { paths: ["/dir/secret.txt"] }],
      ["list_directory", { path: "/" }],
      ["list_directory", { path: "/dir" }],
      ["glob", { pattern: "**/*" }],
      ["grep", { pattern: "secret", path: "/" }],
      ["stat", { path: "/dir/secret.txt" }],
      ["history", {}],
      ["undo", {}],
      ["undo", { call_id: callId }],
      ["delete", { path: "/dir/secret.txt" }],
      ["move", { source: "/dir/secret.txt", destination: "/mine.txt" }],
      ["read_file", { path: "/dir/secret.txt", tenant: `ann${run}`, workspace: "repo" }],
    ];
    for (const [tool, args] of attempts) {
      const { body } = await callAs(bob, tool, args);
      expect(body, `${tool} ${JSON.stringify(args)}`).not.toContain(secret);
      if (!JSON.stringify(args).includes("secret")) expect(body, tool).not.toContain("secret.txt");
    }
    // Neither a header nor the query of the URL names a tenant.
    const headers = { "x-tenant": `ann${run}`, "x-forwarded-user": "ann", org: `ann${run}` };
    expect((await callAs(bob, "read_file", { path: "/dir/secret.txt" }, headers)).isError).toBe(true);
    const url = `${served.url}?org=ann${run}&tenant=ann${run}&workspace=repo`;
    expect((await call(url, "read_file", { path: "/dir/secret.txt" }, { token: bob })).isError).toBe(true);
    // The same tenant has another workspace, and other tenants have names that look alike.
    for (const [org, repo] of [
      ["ann", "other"],
      ["ann", "Repo"],
      ["an", `n${run}/repo`],
      ["Ann", "repo"],
      ["ann/repo", "repo"],
    ] as const) {
      const { isError } = await callAs(tokenOf(org, repo), "read_file", { path: "/dir/secret.txt" });
      expect(isError, `${org} ${repo}`).toBe(true);
    }
    expect((await callAs(ann, "read_file", { path: "/dir/secret.txt" })).text).toContain(secret);
  });

  test("a cursor of another tenant tells nothing of its files", async () => {
    await serve();
    const [ann, bob] = [tokenOf("ann"), tokenOf("bob")];
    const patchOf = (owner: string): string =>
      Array.from(
        { length: 12 },
        (_, index) => `--- /dev/null\n+++ b/${owner}-${index + 10}.txt\n@@ -0,0 +1 @@\n+word of ${owner}\n`,
      ).join("");
    for (const [token, owner] of [[ann, "ann"] as const, [bob, "bob"] as const]) {
      const { isError, text } = await callAs(token, "apply_patch", { patch: patchOf(owner) });
      expect([isError, text]).toEqual([false, expect.anything()]);
    }
    const searches: readonly (readonly [tool: string, args: object])[] = [
      ["list_directory", { path: "/", limit: 5 }],
      ["glob", { pattern: "*.txt", limit: 5 }],
      ["grep", { pattern: "word", path: "/", limit: 5 }],
    ];
    let cursors = 0;
    for (const [tool, args] of searches) {
      const cursor = (await callAs(ann, tool, args)).data["next_cursor"];
      if (cursor === undefined) continue;
      cursors += 1;
      const { body } = await callAs(bob, tool, { ...args, cursor });
      expect(body).not.toContain("ann-");
    }
    expect(cursors).toBeGreaterThan(0);
  });

  test("an answer to a question of one tenant approves nothing in the workspace of another", async () => {
    process.env["FILEWRIGHT_KEY"] = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("hex");
    afterThisTest(() => delete process.env["FILEWRIGHT_KEY"]);
    await serve({ ask: true });
    const args = { path: "/a.txt", content: "1\n" };
    const asked = await modernCall(served.url, tokenOf("ann"), args);
    expect(asked.requestState).toBeTypeOf("string");
    const forged = await modernCall(served.url, tokenOf("bob"), args, asked.requestState);
    expect(forged.text).not.toContain("Created");
    expect((await callAs(tokenOf("bob"), "read_file", { path: "/a.txt" })).isError).toBe(true);
    const approved = await modernCall(served.url, tokenOf("ann"), args, asked.requestState);
    expect(approved.isError).toBe(false);
    expect((await callAs(tokenOf("ann"), "read_file", { path: "/a.txt" })).text).toContain("1");
  });

  test("no name of a tenant is that of a server without tenants", async () => {
    const workspace = `shared${run}`;
    await serve({ choice: { workspace } });
    const anyone = tokenOf("ann");
    const secret = { path: "/secret.txt", content: "of the server without tenants\n" };
    expect((await callAs(anyone, "write_file", secret)).isError).toBe(false);
    await serve({ choice: { ...CHOICE, workspace } });
    for (const org of ["default", "", "*", " default", "default ", "undefined", "null", "main"]) {
      const token = issuer.token({ org, repo: workspace });
      for (const [tool, args] of [
        ["read_file", { path: "/secret.txt" }],
        ["grep", { pattern: "tenants" }],
        ["list_directory", { path: "/" }],
        ["history", {}],
      ] as const)
        expect((await callAs(token, tool, args)).body, `${org} ${tool}`).not.toMatch(
          /secret\.txt\\n|of the server/u,
        );
      await callAs(token, "write_file", { path: "/secret.txt", content: "by the tenant\n" });
    }
    await serve({ choice: { workspace } });
    expect((await callAs(anyone, "read_file", { path: "/secret.txt" })).text).toContain("of the server");
  });

  test.each([
    ["requests", 10, 200],
    ["more requests than are left", 11, 429],
    ["requests of several minutes", 600, 429],
  ])("each message of a batch is a call of the minute: %s", async (_, count, status) => {
    await serve({ callsPerMinute: 10 });
    const ann = tokenOf("ann");
    const one = { jsonrpc: "2.0", method: "tools/call", params: { name: "list_directory", arguments: {} } };
    const post = async (body: string): Promise<number> => {
      const response = await fetch(served.url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          authorization: `Bearer ${ann}`,
        },
        body,
      });
      await response.body?.cancel();
      return response.status;
    };
    const batch = Array.from({ length: count }, (__, id) => ({ ...one, id }));
    expect(await post(` \n${JSON.stringify(batch)}`)).toBe(status);
    // A batch that is refused takes nothing, and one that is answered takes all of its messages.
    expect((await callAs(ann, "list_directory", { path: "/" })).status).toBe(status === 200 ? 429 : 200);
  });

  test("a tenant that has made its calls of the minute is answered 429, on every replica, and others go on", async () => {
    await serve({ callsPerMinute: 10 });
    const first = served;
    await serve({ callsPerMinute: 10 });
    const ann = tokenOf("ann");
    const statuses: number[] = [];
    for (let index = 0; index < 14; index++) {
      const { url } = index % 2 === 0 ? first : served;
      const { status, headers } = await call(url, "list_directory", { path: "/" }, { token: ann });
      if (status === 429) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      statuses.push(status);
    }
    expect(statuses).toEqual([
      ...Array.from({ length: 10 }, () => 200),
      ...Array.from({ length: 4 }, () => 429),
    ]);
    expect((await callAs(tokenOf("bob"), "list_directory", { path: "/" })).status).toBe(200);
  });
});

/** Writes a file as a client of the newer protocol that can ask its user. */
async function modernCall(
  url: string,
  token: string,
  args: object,
  requestState?: string,
): Promise<{ readonly requestState?: string; readonly isError: boolean; readonly text: string }> {
  const meta = "io.modelcontextprotocol";
  const answer =
    requestState === undefined
      ? {}
      : {
          requestState,
          inputResponses: { approval: { action: "accept", content: { decision: "proceed_once" } } },
        };
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${token}`,
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "write_file",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name: "write_file",
        arguments: args,
        _meta: {
          [`${meta}/protocolVersion`]: "2026-07-28",
          [`${meta}/clientInfo`]: { name: "test", version: "1" },
          [`${meta}/clientCapabilities`]: { elicitation: { form: {} } },
        },
        ...answer,
      },
    }),
  });
  const text = await response.text();
  const { result = {} } = JSON.parse(/^data: (.*)$/mu.exec(text)?.[1] ?? text) as {
    readonly result?: { readonly requestState?: string; readonly isError?: boolean };
  };
  return { ...result, isError: result.isError !== false && result.isError !== undefined, text };
}
