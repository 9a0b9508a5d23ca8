/**
 * Random sessions of an MCP client: calls, cursors, resources, prompts, completions, subscriptions, undo, and changes
 * that the client's user approves or refuses. Their answers have to be the same whichever replica answers each request.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";
import { randomSession } from "../storage/replica-sessions.mjs";

/** The number of requests besides the calls of a session. */
const REQUESTS_PER_SESSION = 4;
/** The maximum time that a subscriber waits for a change. A server looks once a second. */
const MAX_NEWS_MS = 30_000;

/**
 * One request of a session.
 * @typedef {import("../storage/replica-sessions.mjs").SessionCall
 *   | { readonly request: "resources" | "prompts" | "tools" }
 *   | { readonly request: "read" | "complete" | "watch", readonly path: string }} SessionStep
 */

/**
 * Returns the requests of a session, and the answers of its user.
 * @param {number} seed
 * @returns {{ readonly steps: readonly SessionStep[], readonly decisions: () => string }}
 */
export function randomMcpSession(seed) {
  const random = seededRandom(seed);
  /** @type {SessionStep[]} */
  const steps = [...randomSession(seed)];
  for (let index = 0; index < REQUESTS_PER_SESSION; index++) {
    /** @type {SessionStep} */
    const step = random.pick([
      { request: "resources" },
      { request: "prompts" },
      { request: "tools" },
      { request: "read", path: random.pick(["/a.txt", "/src/b.txt", "/docs", "/gone.txt"]) },
      { request: "complete", path: random.pick(["/", "/src/", "/src/deep/a", "/none/"]) },
      { request: "watch", path: `/watched-${index}.txt` },
    ]);
    // A page and the one after it stay together.
    const places = steps.flatMap((one, at) => ("next" in one && one.next === true ? [] : [at]));
    steps.splice(random.pick([...places, steps.length]), 0, step);
  }
  const user = seededRandom(seed + 1);
  return { steps, decisions: () => (user.chance(0.85) ? "proceed_once" : "cancel") };
}

/**
 * Runs a session at a URL and returns its answers without what differs from run to run.
 * @param {string} url
 * @param {string} token
 * @param {ReturnType<typeof randomMcpSession>} session
 * @returns {Promise<readonly string[]>}
 */
export async function runMcpSession(url, token, { steps, decisions }) {
  const client = new Client(
    { name: "session", version: "1" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  /** @type {string[]} */
  const answers = [];
  client.setRequestHandler("elicitation/create", ({ params }) => {
    const decision = decisions();
    answers.push(`asked ${withoutTimes(params.message)}: ${decision}`);
    return { action: "accept", content: { decision } };
  });
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  try {
    /** @type {unknown} */
    let cursor;
    for (const step of steps) {
      if ("tool" in step) {
        if (step.next === true && cursor === undefined) continue;
        const args = step.next === true ? { ...step.args, cursor } : step.args;
        const result = await client.callTool({ name: step.tool, arguments: args });
        const data = /** @type {Record<string, unknown>} */ (result.structuredContent ?? {});
        cursor = data["next_cursor"];
        const state = result.isError === true ? "failed" : "ok";
        answers.push(`${step.tool} ${JSON.stringify(step.args)}: ${state} ${textOf(result)}`);
      } else answers.push(`${JSON.stringify(step)}: ${await answerOf(client, step)}`);
    }
  } finally {
    await client.close();
  }
  return answers;
}

/**
 * @param {Client} client
 * @param {Exclude<SessionStep, import("../storage/replica-sessions.mjs").SessionCall>} step
 * @returns {Promise<string>}
 */
async function answerOf(client, step) {
  if (step.request === "tools")
    return JSON.stringify((await client.listTools()).tools.map(({ name }) => name));
  if (step.request === "prompts") {
    const names = (await client.listPrompts()).prompts.map(({ name }) => name);
    return withoutTimes(JSON.stringify([names, await client.getPrompt({ name: "access" })]));
  }
  if (step.request === "resources")
    return withoutTimes(JSON.stringify((await client.listResources()).resources));
  const uri = `file://${step.path}`;
  if (step.request === "read")
    return client.readResource({ uri }).then(
      ({ contents }) => withoutTimes(JSON.stringify(contents)),
      (error) => `failed ${withoutTimes(error.message)}`,
    );
  if (step.request === "complete") {
    const ref = /** @type {const} */ ({ type: "ref/resource", uri: "file:///{+path}" });
    const argument = { name: "path", value: step.path };
    return JSON.stringify((await client.complete({ ref, argument })).completion.values);
  }
  return watchedChange(client, uri, step.path);
}

/**
 * Subscribes to a file, creates it, and waits until the subscriber is told.
 * @param {Client} client
 * @param {string} uri
 * @param {string} path
 */
async function watchedChange(client, uri, path) {
  /** @type {Promise<string>} */
  const told = new Promise((resolve) => {
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => resolve(params.uri));
  });
  const subscription = await client.listen({ resourceSubscriptions: [uri] });
  try {
    const result = await client.callTool({ name: "write_file", arguments: { path, content: "new\n" } });
    if (result.isError === true) return `not written: ${textOf(result)}`;
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(() => resolve("nothing"), MAX_NEWS_MS);
    });
    return `told ${await Promise.race([told, late]).finally(() => clearTimeout(timer))}`;
  } finally {
    await subscription.close();
  }
}

/** @param {{ readonly content?: unknown }} result */
function textOf({ content }) {
  const blocks = /** @type {readonly { readonly text?: string }[]} */ (content ?? []);
  return withoutTimes(blocks.map(({ text = "" }) => text).join(""));
}

/** @param {string} text */
function withoutTimes(text) {
  return text
    .replaceAll(/\b[0-9a-z]{6,20}-[0-9a-z]{4,40}\b/gu, "CALL")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/gu, "TIME")
    .replaceAll(/"next_cursor":"[^"]*"/gu, "CURSOR")
    .replaceAll(/cursor=\S+/gu, "CURSOR");
}
