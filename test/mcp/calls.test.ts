/** Calls over the protocol: approvals, cancellation, progress, large answers, subscriptions, structured content. */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Transport } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { answerOf, COMMAND, connect, ERAS, scratch } from "./harness.ts";

describe.each(ERAS)("approvals in the %s era", (era) => {
  const asking = { era, capabilities: { elicitation: { form: {} } } } as const;

  test("a change is shown, and made as it was shown", async () => {
    await using at = await scratch();
    const path = join(at.dir, "a.txt");
    await writeFile(path, "one\n");
    const shown: string[] = [];
    let decision: Record<string, unknown> | undefined;
    await using server = await connect(
      [COMMAND, "mcp", "--preset", "mcp", at.dir, "--ask"],
      asking,
      (client) =>
        client.setRequestHandler("elicitation/create", ({ params }) => {
          shown.push(params.message);
          return decision === undefined
            ? { action: "decline" }
            : { action: "accept", content: decision as { decision: string } };
        }),
    );
    const edit = { path, edits: [{ oldText: "one", newText: "two" }] };
    expect(await server.call("edit_file", edit)).toMatchObject({
      isError: true,
      meta: { code: "APPROVAL_DENIED" },
    });
    decision = { decision: "anything" };
    expect((await server.call("edit_file", edit)).isError).toBe(true);
    expect(await readFile(path, "utf8")).toBe("one\n");
    decision = { decision: "proceed_once" };
    expect((await server.call("edit_file", edit)).isError).toBe(false);
    expect(await readFile(path, "utf8")).toBe("two\n");
    expect(shown).toHaveLength(3);
    expect(shown[0]).toContain("-one\n+two");
    // Reading is not asked about, and what holds for longer is not asked again.
    expect((await server.call("read_text_file", { path })).isError).toBe(false);
    decision = { decision: "proceed_always" };
    for (const content of ["3", "4"])
      expect((await server.call("write_file", { path, content })).isError).toBe(false);
    expect(shown).toHaveLength(4);
  });

  test("what became another change meanwhile is not made", async () => {
    await using at = await scratch();
    const path = join(at.dir, "a.txt");
    await writeFile(path, "one\nx\n");
    await using server = await connect(
      [COMMAND, "mcp", "--preset", "mcp", at.dir, "--ask"],
      asking,
      (client) =>
        client.setRequestHandler("elicitation/create", async () => {
          await writeFile(path, "one\ny\n");
          return { action: "accept", content: { decision: "proceed_once" } };
        }),
    );
    const answer = await server.call("edit_file", { path, edits: [{ oldText: "one", newText: "two" }] });
    expect(answer).toMatchObject({ isError: true, text: expect.stringContaining("CONFLICT") });
    expect(await readFile(path, "utf8")).toBe("one\ny\n");
  });

  test("without anybody to ask, nothing is changed", async () => {
    await using at = await scratch();
    await using server = await connect([COMMAND, "mcp", "--preset", "mcp", at.dir, "--ask"], { era });
    const answer = await server.call("write_file", { path: "a", content: "" });
    expect(answer.text).toContain("cannot ask its user");
  });
});

describe.each(ERAS)("in the %s era", (era) => {
  test("a subscriber gets notifications of changes until it unsubscribes", async () => {
    await using at = await scratch();
    const path = join(at.dir, "a.txt");
    await writeFile(path, "1");
    await using server = await connect([COMMAND, "mcp", "--preset", "mcp", at.dir], { era });
    const { client } = server;
    const uri = pathToFileURL(path).href;
    let told = 0;
    let wake = (): void => {};
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      expect(params.uri).toBe(uri);
      told += 1;
      wake();
    });
    const next = (): Promise<void> =>
      new Promise((resolve) => {
        wake = resolve;
      });
    if (era === "legacy") await client.subscribeResource({ uri });
    else await client.listen({ resourceSubscriptions: [uri] });
    const first = next();
    // In one step: a file that is emptied and then written may be seen in between.
    await writeFile(`${path}.new`, "22");
    await rename(`${path}.new`, path);
    await first;
    const second = next();
    await server.call("write_file", { path, content: "333" });
    await second;
    expect(told).toBe(2);
  });

  test("a subscriber is told nothing of what a rule denies", async () => {
    await using at = await scratch();
    await mkdir(join(at.dir, "ws/vault"), { recursive: true });
    const rules = join(at.dir, "rules.json");
    await writeFile(rules, JSON.stringify([{ path: "vault/**", decision: "deny" }]));
    const paths = ["ws/vault/secret.txt", "ws/open.txt"].map((path) => join(at.dir, path));
    for (const path of paths) await writeFile(path, "1");
    const command = [COMMAND, "mcp", "--preset", "mcp", "--rules", rules, join(at.dir, "ws")];
    await using server = await connect(command, { era });
    const { client } = server;
    const told: string[] = [];
    let wake = (): void => {};
    const open = new Promise<void>((resolve) => {
      wake = resolve;
    });
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      told.push(params.uri);
      if (params.uri.endsWith("open.txt")) wake();
    });
    const uris = paths.map((path) => pathToFileURL(path).href);
    if (era === "legacy") for (const uri of uris) await client.subscribeResource({ uri });
    else await client.listen({ resourceSubscriptions: uris });
    for (const path of paths) await writeFile(path, "22");
    // They are looked at in order, so the denied one came first.
    await open;
    expect(told).toEqual([uris[1]]);
  });

  test("a cut answer names what was cut as a resource, where it is large", async () => {
    await using at = await scratch();
    const path = join(at.dir, "long.txt");
    await writeFile(path, "0123456789abcde\n".repeat(100_000));
    await using server = await connect([COMMAND, "mcp", "--preset", "mcp", at.dir], { era });
    const { content, meta } = await server.call("read_text_file", { path });
    const uri = pathToFileURL(path).href;
    expect(content[1]).toMatchObject({ type: "resource_link", uri, size: 1_600_000, name: "long.txt" });
    expect(meta["truncated"]).toBe(true);
    const whole = await server.client.readResource({ uri });
    expect((whole.contents[0] as { text: string }).text).toHaveLength(1_600_000);
    const short = join(at.dir, "short.txt");
    await writeFile(short, "a\nb\n");
    const head = await server.call("read_text_file", { path: short, head: 1 });
    expect(head.content).toEqual([{ type: "text", text: "a" }]);
  });

  test("a cancelled call is not answered, and the server lives on", async () => {
    await using at = await scratch();
    await mkdir(join(at.dir, "d"));
    await writeFile(join(at.dir, "d/big.txt"), `${"ab".repeat(40)}\n`.repeat(400_000));
    await using server = await connect([COMMAND, "mcp", at.dir, "--preset", "canonical"], { era });
    await server.call("stat", { path: "." });
    const stop = new AbortController();
    // As soon as it was sent: whatever the server is doing then, no answer can have been read.
    const transport = server.client.transport as Transport;
    const send = transport.send.bind(transport);
    transport.send = async (message, options) => {
      await send(message, options);
      if ("method" in message && message.method === "tools/call") stop.abort();
    };
    const call = server.client.callTool(
      { name: "grep", arguments: { pattern: "(a|b|ab){1,40}c" } },
      { signal: stop.signal },
    );
    await expect(call).rejects.toThrow();
    expect(stop.signal.aborted).toBe(true);
    transport.send = send;
    expect((await server.call("stat", { path: "d" })).isError).toBe(false);
  });
});

test("a relative path is looked for in every directory, in their order", async () => {
  await using first = await scratch();
  await using second = await scratch();
  await writeFile(join(second.dir, "only.txt"), "second");
  await writeFile(join(first.dir, "both.txt"), "first");
  await writeFile(join(second.dir, "both.txt"), "second");
  await using server = await connect([COMMAND, "mcp", "--preset", "mcp", first.dir, second.dir]);
  expect((await server.call("read_text_file", { path: "only.txt" })).text).toBe("second");
  expect((await server.call("read_text_file", { path: "both.txt" })).text).toBe("first");
  await server.call("write_file", { path: "new.txt", content: "x" });
  expect(await readFile(join(first.dir, "new.txt"), "utf8")).toBe("x");
});

test("structured content by switch", async () => {
  await using at = await scratch();
  await writeFile(join(at.dir, "a.txt"), "one\ntwo\n");
  const read = { name: "read_text_file", arguments: { path: "a.txt" } };
  for (const [mode, expected] of [
    ["none", undefined],
    ["compact", expect.objectContaining({ encoding: "utf-8", lines_read: 2, truncated: false })],
    ["full", { content: "one\ntwo\n" }],
  ] as const) {
    await using server = await connect([COMMAND, "mcp", "--preset", "mcp", at.dir, "--structured", mode]);
    expect(answerOf(await server.client.callTool(read)).structured, mode).toEqual(expected);
  }
  await using own = await connect([COMMAND, "mcp", at.dir, "--structured", "full", "--preset", "canonical"]);
  // The client checks the data against the schema that was listed.
  await own.client.listTools();
  const { structured } = await own.call("read_file", { path: "a.txt" });
  expect(structured).toMatchObject({ content: "one\ntwo\n", total_lines: 2 });
});

test("a read-only server offers nothing that it would refuse", async () => {
  await using at = await scratch();
  await using server = await connect([COMMAND, "mcp", "--preset", "mcp", at.dir, "--read-only"]);
  const { tools } = await server.client.listTools();
  expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
  await expect(server.call("write_file", { path: "a", content: "" })).rejects.toThrow(/Unknown tool/u);
});
