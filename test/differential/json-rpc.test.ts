/**
 * The three transports share one handler of JSON-RPC. Each is held to recorded answers, also to messages on which
 * the transports differed when each had a handler of its own.
 */
import { describe, expect, test } from "vitest";
import { COUNT, messages, SEED } from "./json-rpc.ts";
import { digestOf, readRecording, TRANSPORTS, type Transport } from "./record.ts";
import { type Answering, essence, OPEN } from "./transports.ts";

const { header, disagreements, rows } = readRecording();

/** Sends a text to an open server. Returns its answers in the short form of recordings; empty for none. */
async function answersTo({ ask }: Answering, text: string): Promise<string> {
  return (await ask(text)).map(essence).join(" & ");
}

test("the recorded messages are those of the seed", () => {
  const all = messages();
  expect(header).toMatchObject({ seed: SEED, count: COUNT, messages: digestOf(all) });
  for (const { row, text } of rows) expect(all[row]).toBe(text);
  for (const { rows: indexes, example } of disagreements) expect(all[indexes[0] as number]).toBe(example);
  expect(rows).toHaveLength(500);
});

describe.for(TRANSPORTS)("over %s", (transport) => {
  test("recorded messages get the recorded answers", async () => {
    await using server = await OPEN[transport]();
    for (const { text, now } of rows) expect(await answersTo(server, text), text).toBe(now[transport]);
    for (const { example, now } of disagreements)
      expect(await answersTo(server, example), example).toBe(now[transport]);
  });

  const call = (name: string, more: object = {}): object => ({
    method: "tools/call",
    params: { name, ...more },
  });
  test.for<[title: string, message: object, answer: string]>([
    [
      "another version of JSON-RPC is an invalid request",
      { jsonrpc: "1.0", method: "ping" },
      "5 error -32600",
    ],
    [
      "no version of JSON-RPC is an invalid request",
      { jsonrpc: undefined, method: "ping" },
      "5 error -32600",
    ],
    ["the identifier null is an invalid request", { id: null, method: "ping" }, "null error -32600"],
    [
      "an identifier that is no integer is an invalid request",
      { id: 1.5, method: "ping" },
      "1.5 error -32600",
    ],
    ["an object as identifier is an invalid request", { id: {}, method: "ping" }, "null error -32600"],
    ["a method that is no text is an invalid request", { method: 7 }, "null error -32600"],
    ["parameters in a list are an invalid request", { method: "ping", params: [] }, "5 error -32600"],
    ["a request with a result is an invalid request", { method: "ping", result: {} }, "5 error -32600"],
    [
      "a token of progress that is no text or integer is an invalid request",
      call("echo", { _meta: { progressToken: {} } }),
      "5 error -32600",
    ],
    ["an unknown method is not found", { method: "tools/Call" }, "5 error -32601"],
    ["toString is not found as a method", { method: "toString" }, "5 error -32601"],
    ["constructor is not found as a method", { method: "constructor" }, "5 error -32601"],
    ["__proto__ is not found as a method", { method: "__proto__" }, "5 error -32601"],
    ["an unknown tool is an invalid parameter", call("ecko"), "5 error -32602"],
    ["arguments in a list are invalid parameters", call("echo", { arguments: [] }), "5 error -32602"],
    ["a task that is no object is an invalid parameter", call("echo", { task: "text" }), "5 error -32602"],
    [
      "a cursor that is no text is an invalid parameter",
      { method: "tools/list", params: { cursor: 7 } },
      "5 error -32602",
    ],
    ["a tool that throws is an internal error", call("throw"), "5 error -32603"],
    ["a tool that fails is a result", call("fail"), '5 failed [{"type":"text","text":"Error: NOT_FOUND"}]'],
    [
      "a call with an unknown parameter is answered",
      call("echo", { more: 1 }),
      '5 done [{"type":"text","text":"{}"}]',
    ],
    ["a notification gets no answer", { id: undefined, method: "tools/call" }, ""],
  ])("%s", async ([, message, answer]) => {
    await using server = await OPEN[transport]();
    expect(await answersTo(server, JSON.stringify({ jsonrpc: "2.0", id: 5, ...message }))).toBe(answer);
  });

  test.for([
    ["without the name of a client", { clientInfo: { version: "1" } }],
    ["without capabilities", { capabilities: undefined }],
    ["with a capability that is no object", { capabilities: { roots: true } }],
    ["without a revision", { protocolVersion: undefined }],
  ] as const)("a handshake %s has invalid parameters", async ([, more]) => {
    await using server = await OPEN[transport]({ isGreeted: false });
    const clientInfo = { name: "c", version: "1" };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo, ...more };
    const message = { jsonrpc: "2.0", id: 5, method: "initialize", params };
    expect(await answersTo(server, JSON.stringify(message))).toBe("5 error -32602");
  });
});

test.for(["stdio", "inProcess"] as const)("a batch over %s is an invalid request", async (transport) => {
  await using server = await OPEN[transport]();
  const ping = { jsonrpc: "2.0", id: 5, method: "ping" };
  expect(await answersTo(server, JSON.stringify([ping]))).toBe("null error -32600");
  expect(await answersTo(server, "[]")).toBe("null error -32600");
});

test("a batch over http is answered: the revision 2025-03-26 has batches", async () => {
  await using server = await OPEN.http();
  const ping = { jsonrpc: "2.0", method: "ping" };
  const answer = await answersTo(
    server,
    JSON.stringify([
      { id: 5, ...ping },
      { id: 6, ...ping },
    ]),
  );
  expect(answer).toBe("5 {} & 6 {}");
});

test.for(["stdio", "http"] as const)("a text over %s that is no JSON is a parse error", async (transport) => {
  await using server = await OPEN[transport]();
  expect(await answersTo(server, '{"jsonrpc":"2.0",')).toBe("null error -32700");
});

test.for(["stdio", "inProcess"] as const)("a broken response over %s gets no answer", async (transport) => {
  await using server = await OPEN[transport]();
  expect(await answersTo(server, '{"jsonrpc":"2.0","id":5,"result":7}')).toBe("");
  expect(await answersTo(server, '{"jsonrpc":"2.0","id":{},"error":7}')).toBe("");
});

/** Methods that not all transports answer alike, with those that do. */
const OWN: ReadonlyMap<unknown, readonly Transport[]> = new Map(
  Object.entries<readonly Transport[]>({
    // No session over HTTP keeps a level, and a host in the process has no client to log to.
    "logging/setLevel": ["stdio"],
    "prompts/list": ["stdio", "http"],
    "resources/list": ["stdio", "http"],
    // A second handshake over standard input is left to the SDK.
    initialize: ["http", "inProcess"],
  }),
);

test("the transports answer recorded messages alike, apart from what only some of them have", () => {
  let compared = 0;
  for (const { now, text } of [
    ...rows,
    ...disagreements.map(({ now, example }) => ({ now, text: example })),
  ]) {
    if (!text.startsWith("{") || !isJson(text)) continue;
    const { method, result, error } = JSON.parse(text) as Record<string, unknown>;
    // A response of the client is left out: over HTTP its POST must get an answer, over the others it gets none.
    if (method === undefined && (result !== undefined || error !== undefined)) continue;
    const isRefused = now.inProcess.endsWith("-32600");
    const among = isRefused ? TRANSPORTS : (OWN.get(method) ?? TRANSPORTS);
    expect(new Set(among.map((transport) => now[transport])).size, text).toBe(1);
    compared += 1;
  }
  expect(compared).toBeGreaterThan(500);
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
