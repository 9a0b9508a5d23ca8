/** `tools/list` and `tools/call`: the tools of a workspace as the protocol offers them. */
import { nearest } from "../schema/nearest.ts";
import { shuttingDown } from "../workspace/drain.ts";
import type { ToolResult } from "../workspace/index.ts";
import type { Approvals, Round } from "./approvals.ts";
import { answerOf, type CallAnswer, refusal, type Structured, toolFacts } from "./content.ts";
import type { Host, Room } from "./host.ts";
import { mediaOf } from "./media.ts";
import { reporter } from "./progress.ts";
import { placed } from "./relative.ts";
import type { inputRequired } from "./sdk.ts";

/** What every request of a server shares. */
export interface Serving {
  readonly host: Host;
  readonly structured: Structured;
  /** Asks the client's user; undefined where nobody is to be asked. */
  readonly approvals?: Approvals | undefined;
  /** Who calls, where the transport knows it. */
  readonly agent?: string | undefined;
  /** Aborted once a server that ends waits no longer for the calls that run. */
  readonly ending?: AbortSignal | undefined;
}

/** What a call needs of the request that it is. */
export interface Caller {
  readonly mcpReq: {
    readonly signal: AbortSignal;
    readonly _meta?: { readonly progressToken?: string | number | undefined } | undefined;
    notify(notification: { method: string; params: Record<string, unknown> }): Promise<void>;
  };
}

/** The signal of a call: aborted with its request, or once an ending server waits no longer. */
export function callSignal(request: AbortSignal, ending: AbortSignal | undefined): AbortSignal {
  return ending === undefined ? request : AbortSignal.any([request, ending]);
}

/** What is said where no directory is allowed. */
export const NO_DIRECTORY =
  "No directory is allowed: start the server with directories as its arguments, or name roots in the client.";

/** Where no directory is allowed yet, the list is told all the same: it does not depend on one. */
export async function listTools({ host, structured }: Serving): Promise<Record<string, unknown>[]> {
  const room = await host.room();
  const tools = room === undefined ? await host.offered() : room.listed;
  const { preset } = host;
  // Loaded only where it is wanted.
  const strictSchema = host.strictSchemas ? (await import("../presets/strict.ts")).strictSchema : undefined;
  return tools.map((tool) => toolFacts(tool, { preset, structured, strictSchema }));
}

/** There is no such tool. Its code is the protocol's for wrong parameters. */
export class UnknownTool extends Error {
  override name = "UnknownTool";
  readonly code = -32_602;
}

/** Runs one call. @param round where somebody may be asked @throws UnknownTool */
export async function callTool(
  serving: Serving,
  name: string,
  args: Readonly<Record<string, unknown>>,
  { mcpReq: { signal, _meta: meta, notify } }: Caller,
  round?: Round,
): Promise<CallAnswer | ReturnType<typeof inputRequired>> {
  const { host, structured } = serving;
  const { preset } = host;
  if (host.isDraining()) return answerOf(shuttingDown(), undefined, { preset, structured, cwd: "/" });
  const room = await host.room();
  if (room === undefined) return refusal(`Error: ${NO_DIRECTORY}`);
  const tool = room.tools.get(name);
  if (tool === undefined) throw unknown(name, room);
  const report = reporter(meta?.progressToken, notify);
  try {
    const given = await placed(tool, args);
    const result = await tool.execute(given, {
      signal,
      ...(report === undefined ? {} : { onProgress: report.onProgress }),
      ...(serving.agent === undefined ? {} : { agent: serving.agent }),
    });
    const asked = await pending(round, result);
    if (asked !== undefined) return asked;
    const isMedia = (preset === "mcp" || preset === "lean") && name === "read_media_file";
    const media = isMedia ? await mediaOf(room, given, result, structured === "full") : undefined;
    return answerOf(result, media, { preset, structured, cwd: room.cwd });
  } finally {
    report?.end();
  }
}

/** The question that a refused call is waiting for, or that what was agreed to is gone. */
async function pending(
  round: Round | undefined,
  result: ToolResult,
): Promise<CallAnswer | ReturnType<typeof inputRequired> | undefined> {
  if (round === undefined || result.ok) return undefined;
  if (round.stale())
    return refusal(
      "Error: CONFLICT: the change is no longer the one that was approved. Nothing was written; read again and call again.",
    );
  return round.question();
}

function unknown(name: string, { tools }: Room): UnknownTool {
  const close = nearest(name, [...tools.keys()]);
  const hint = close === undefined ? "tools/list names them" : `did you mean ${close}?`;
  return new UnknownTool(`Unknown tool: ${name.slice(0, 80)}; ${hint}`);
}
