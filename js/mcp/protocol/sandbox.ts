/**
 * Runs commands for the sandbox of a workspace on another machine (`remoteSandbox`). Each command is a call of
 * `run_command` by an agent with the narrower policy of the client, so it passes the rules, hooks, approvals and the
 * audit log of this server as any other call.
 */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { resolve } from "node:path";
import type { SandboxOutcome } from "../../backends/sandbox/sandbox.ts";
import { FilewrightError } from "../../engine/errors.ts";
import {
  isSameFileRequest,
  RUN_REQUEST,
  type RunRequest,
  SAME_REQUEST,
  type SameRequest,
  type SandboxAnswer,
  type SandboxOffer,
} from "../../backends/sandbox/remote/protocol.ts";
import { SANDBOX_PROTOCOL } from "../../backends/sandbox/remote/address.ts";
import { optionChecker } from "../../schema/option.ts";
import type { RunCommandData } from "../../tools/generated/internal.ts";
import type { ToolResult } from "../../workspace/index.ts";
import { policyOfWorkspace } from "../../workspace/workspace.ts";
import type { ServedWorkspace } from "../host.ts";
import { callSignal, NO_DIRECTORY_MESSAGE, type SharedRequestParts } from "./call.ts";

const checkRun = optionChecker("run", RUN_REQUEST);
const checkSame = optionChecker("same", SAME_REQUEST);

/** The tool by which commands are run. */
const COMMAND_TOOL = "run_command";
/** The maximum size of the file that a client may ask about, in bytes. */
const MAX_SAME_BYTES = 4_096;

/** Answers a request of a remote sandbox. `agent` names the client, where its token does. */
export async function answerSandboxRequest(
  { host, ending, agent: shared }: SharedRequestParts,
  request: Request,
  agent: string | undefined = shared,
): Promise<Response> {
  try {
    if (host.isDraining()) throw refusal("CANCELLED", "The server is shutting down.");
    const served = await host.workspace();
    if (served === undefined) throw refusal("SANDBOX_SETUP_FAILED", NO_DIRECTORY_MESSAGE);
    const offer = offerOf(served);
    if (request.method === "GET") return Response.json(offer);
    const signal = callSignal(request.signal, ending);
    return Response.json(await answerBody(served, await bodyOf(request), { agent, signal }));
  } catch (error) {
    const known = error instanceof FilewrightError ? error : undefined;
    if (known === undefined) throw error;
    const { code, message, hint } = known;
    const answer: SandboxAnswer = { error: withoutUndefined({ code, message, hint }) };
    return Response.json(answer, { status: code === "INVALID_ARGUMENT" ? 400 : 409 });
  }
}

/** @throws FilewrightError SANDBOX_SETUP_FAILED where this server runs no commands for its clients */
function offerOf({ ws, tools, cwd }: ServedWorkspace): SandboxOffer {
  const { commands: status } = ws.capabilities().sandbox;
  if (status === undefined || !tools.has(COMMAND_TOOL))
    throw refusal("SANDBOX_SETUP_FAILED", "This server runs no commands.");
  const { write, readOnly, protect, secrets, places = [] } = policyOfWorkspace(ws);
  return {
    ...{ protocol: SANDBOX_PROTOCOL, cwd, write: readOnly ? [] : write, status },
    ...{ protect, secrets: secrets === "grant", places },
  };
}

async function answerBody(
  served: ServedWorkspace,
  body: object,
  caller: { readonly agent: string | undefined; readonly signal: AbortSignal },
): Promise<SandboxAnswer> {
  if ("same" in body) return { same: await isSame(served, checkSame(body)) };
  return { outcome: await runFor(served, checkRun(body), caller) };
}

/**
 * Returns true when the file that a client has made is here, too. @throws INVALID_ARGUMENT for any other file, whose
 * content could be guessed
 */
async function isSame({ ws }: ServedWorkspace, { same }: SameRequest): Promise<boolean> {
  if (!isSameFileRequest(same))
    throw refusal("INVALID_ARGUMENT", "'same' must name a file that the client has made for this question.");
  const { path, text } = same;
  try {
    const { size } = await ws.fs.stat(path);
    return size <= MAX_SAME_BYTES && (await ws.fs.readText(path)) === text;
  } catch {
    return false;
  }
}

async function runFor(
  { ws, cwd }: ServedWorkspace,
  { command, policy: { read, write, deny } }: RunRequest,
  { agent: name = "remote", signal }: { readonly agent: string | undefined; readonly signal: AbortSignal },
): Promise<SandboxOutcome> {
  // The policy of an agent is never wider than that of its workspace.
  const agent = await ws.agent(name, { preset: "canonical", access: { read, write, deny } });
  try {
    const args = {
      command: command.argv,
      cwd: command.cwd,
      timeout_ms: command.timeoutMs,
      max_output_bytes: command.maxOutputBytes,
    };
    const result: ToolResult = await agent.call(COMMAND_TOOL, args, { signal });
    if (!result.ok) throw refusal(result.error.code, result.error.message, result.error.hint);
    const data = result.data as RunCommandData;
    const { exceeded, removed, repositories } = data;
    const absolute = (paths: readonly string[]): readonly string[] => paths.map((path) => resolve(cwd, path));
    return withoutUndefined({
      exitCode: data.exit_code,
      signal: data.signal,
      timedOut: data.timed_out,
      truncated: data.truncated,
      stdout: data.stdout,
      stderr: data.stderr,
      exceeded: exceeded === "processes" || exceeded === "memory" ? exceeded : undefined,
      removed: removed === undefined ? undefined : absolute(removed),
      repositories: repositories === undefined ? undefined : absolute(repositories),
    });
  } finally {
    await agent.close();
  }
}

/** @throws FilewrightError INVALID_ARGUMENT where the body is not an object in JSON */
async function bodyOf(request: Request): Promise<object> {
  try {
    const body: unknown = JSON.parse(await request.text());
    if (typeof body === "object" && body !== null) return body;
  } catch {
    // Reported below, as any other body.
  }
  throw refusal("INVALID_ARGUMENT", "The body is not an object in JSON.");
}

function refusal(code: FilewrightError["code"], message: string, hint?: string): FilewrightError {
  return new FilewrightError(code, message, { complete: true, hint });
}
