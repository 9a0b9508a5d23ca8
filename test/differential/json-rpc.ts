/**
 * 20,000 messages of JSON-RPC from a seed, and what each transport of our servers answers to them. Valid and
 * broken messages, identifiers of every type, batches, texts that are no JSON.
 */
import fc from "fast-check";

export const SEED = 20_261_125;
export const COUNT = 20_000;

const latest = "2025-11-25";
const revisions = [latest, "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];
const unknownRevisions = ["1999-01-01", "2026-07-28", "", "latest", "2025-11-25 "];

const id: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 1_000_000 }) },
  { weight: 4, arbitrary: fc.stringMatching(/^[a-z0-9-]{1,12}$/) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<unknown>(0, -7, Number.MAX_SAFE_INTEGER, 2 ** 53, 1.5, "", "é \u2028", null),
  },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(true, [], [1], {}, { id: 1 }, "x".repeat(300)) },
);
const json: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, 1.5, "", "text", [], {}, [1, "a"]),
  fc.dictionary(fc.constantFrom("name", "arguments", "_meta", "cursor", "level", "x"), fc.integer(), {
    maxKeys: 3,
    noNullPrototype: true,
  }),
);
const meta = fc.constantFrom<unknown>(
  {},
  { progressToken: 1 },
  { progressToken: "p" },
  { "example.com/key": "value" },
  { progressToken: 1.5 },
  { progressToken: null },
  { progressToken: {} },
  "text",
  null,
  [],
);

const calls = fc.record(
  {
    name: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom<unknown>("echo", "fail", "throw") },
      {
        weight: 2,
        arbitrary: fc.constantFrom<unknown>("ecko", "", "__proto__", "constructor", 7, null, ["echo"]),
      },
    ),
    arguments: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom<unknown>({}, { text: "a" }, { text: "\u0000\ud800" }) },
      { weight: 2, arbitrary: json },
    ),
    _meta: meta,
    task: fc.constantFrom<unknown>({}, { ttl: 1 }, "text"),
    more: fc.constantFrom<unknown>(1, "x", null),
  },
  { requiredKeys: [], noNullPrototype: true },
);
const usualCalls = fc.record(
  { name: fc.constantFrom("echo", "fail", "throw", "other"), arguments: fc.constant({ text: "a" }) },
  { requiredKeys: ["name"], noNullPrototype: true },
);
const handshakes = fc.record(
  {
    protocolVersion: fc.oneof(
      fc.constantFrom<unknown>(...revisions),
      fc.constantFrom<unknown>(...unknownRevisions, 7, null, [latest]),
    ),
    capabilities: fc.constantFrom<unknown>({}, { roots: {} }, { sampling: {}, x: {} }, { roots: true }, 1),
    clientInfo: fc.constantFrom<unknown>({ name: "c", version: "1" }, { name: "c" }, { version: "1" }, "c"),
    _meta: meta,
    more: fc.constant(1),
  },
  { requiredKeys: [], noNullPrototype: true },
);
const usualHandshakes = fc.record(
  {
    protocolVersion: fc.constantFrom(...revisions, ...unknownRevisions),
    capabilities: fc.constant({}),
    clientInfo: fc.constant({ name: "c", version: "1" }),
  },
  { noNullPrototype: true },
);

const unknownMethods = [
  "",
  "tools/Call",
  "tools",
  "rpc.discover",
  "__proto__",
  "constructor",
  "toString",
  "sampling/createMessage",
  "notifications/unknown",
];
const methodAndParams: fc.Arbitrary<readonly [unknown, unknown]> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant("tools/call"), calls) },
  { weight: 4, arbitrary: fc.tuple(fc.constant("tools/call"), usualCalls) },
  { weight: 2, arbitrary: fc.tuple(fc.constant("initialize"), handshakes) },
  { weight: 2, arbitrary: fc.tuple(fc.constant("initialize"), usualHandshakes) },
  {
    weight: 4,
    arbitrary: fc.tuple(
      fc.constantFrom("ping", "tools/list"),
      fc.oneof(fc.constant(undefined), fc.constant({}), json, fc.record({ _meta: meta })),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(
      fc.constant("logging/setLevel"),
      fc.oneof(fc.record({ level: fc.constantFrom<unknown>("info", "loud", 7, null) }), json),
    ),
  },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom("resources/list", "prompts/list"), json) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom<unknown>(...unknownMethods, 7, null, true, []), json) },
  {
    weight: 1,
    arbitrary: fc.tuple(
      fc.constant("notifications/cancelled"),
      fc.oneof(fc.record({ requestId: id }), fc.constant(undefined), json),
    ),
  },
  { weight: 1, arbitrary: fc.tuple(fc.constant("notifications/initialized"), fc.constant(undefined)) },
);

/** Members that are undefined are left out of the text. */
const request = fc
  .tuple(
    fc.oneof(
      { weight: 12, arbitrary: fc.constant<unknown>("2.0") },
      { weight: 1, arbitrary: fc.constantFrom<unknown>("1.0", 2, null, undefined) },
    ),
    fc.oneof({ weight: 8, arbitrary: id }, { weight: 1, arbitrary: fc.constant(undefined) }),
    methodAndParams,
    fc.oneof(
      { weight: 14, arbitrary: fc.constant<object>({}) },
      { weight: 1, arbitrary: fc.constantFrom<object>({ more: 1 }, { result: {} }, { error: null }) },
    ),
  )
  .map(([jsonrpc, given, [method, params], more]) => {
    const isNotification = typeof method === "string" && method.startsWith("notifications/");
    return { jsonrpc, ...(isNotification ? {} : { id: given }), method, params, ...more };
  });
const notificationWithId = fc
  .tuple(id, fc.constantFrom("notifications/initialized", "notifications/cancelled"))
  .map(([given, method]) => ({ jsonrpc: "2.0", id: given, method }));
const response = fc
  .tuple(id, fc.constantFrom<object>({ result: {} }, { result: 1 }, { error: { code: 1, message: "m" } }, {}))
  .map(([given, rest]) => ({ jsonrpc: "2.0", id: given, ...rest }));
const anyMessage: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 20, arbitrary: request },
  { weight: 1, arbitrary: notificationWithId },
  { weight: 1, arbitrary: response },
  { weight: 1, arbitrary: fc.array(request, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(null, true, 7, "ping", {}, { jsonrpc: "2.0" }) },
);
const text = fc.oneof(
  { weight: 40, arbitrary: anyMessage.map((message) => JSON.stringify(message)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("{", "nope", '{"jsonrpc":"2.0","id":1', "{'id':1}", "[", "\u0000"),
  },
);

/** Returns the messages as texts without line ends. */
export function messages(count: number = COUNT): readonly string[] {
  return fc.sample(text, { seed: SEED, numRuns: count });
}
