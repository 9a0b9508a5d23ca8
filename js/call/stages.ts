/**
 * The order of everything that happens in a call. MCP, the command line, adapters and typed methods make every call
 * here. It returns every failure as a result; it rejects only with an error that a hook raised.
 */
import { runBatch } from "./batch/batch.ts";
import type { CallOptions } from "../pipeline/enter.ts";
import { Facts } from "../pipeline/facts.ts";
import type { ToolResult } from "../pipeline/result.ts";
import { CallSignal } from "../pipeline/scheduling/call-signal.ts";
import type { Session } from "../pipeline/session.ts";
import type { Tool } from "../tools/lib/tool.ts";
import { afterHooks } from "./after-hooks.ts";
import { budget } from "./budget.ts";
import type { CallRequest, Next, PresetCall, Stage } from "./call.ts";
import { ending } from "./ending.ts";
import { fairness } from "./fairness.ts";
import { judge } from "./judge.ts";
import { lookAlikes } from "./look-alikes.ts";
import { mean } from "./mean.ts";
import { noteReads } from "./note-reads.ts";
import { observing } from "./observing.ts";
import { optimism } from "./optimism.ts";
import { reporting } from "./reporting.ts";
import { type BatchRunner, run } from "./run.ts";
import { Places } from "./places.ts";
import { words } from "./words.ts";

/**
 * Around the tool, the outermost first. A workspace has only the stages that its options ask for. What retries a call
 * (`lookAlikes`, `optimism`) stands outside `fairness`, so that the first try gives its places back, and inside `words`,
 * which sees the error of the last try. A call that its budget refuses is none for observers.
 */
const AROUND: readonly Stage[] = [
  budget, // counts the call, before it or in its commit
  observing, // tells observers of the beginning and the end
  ending, // the call ends when its caller or its workspace says so; closing waits for it
  noteReads, // what the agent has seen is kept once it is answered
  afterHooks, // hooks after the call, and what they change of its files
  reporting, // the waits and the version in the answer, the line for debugging, the caller's own changes
  words, // an error becomes an answer in the words of its reader
  lookAlikes, // once more with a path that looks like a missing one
  optimism, // over a storage: one commit; once more without assumptions
  fairness, // starts in its turn of the event loop; slot and place in the queue of walks are given back
];

/** The call itself: what it means, whether it may, what it does. */
const inside: Next = async (request) => {
  const judged = await judge(await mean(request));
  return await run(judged, runOperations);
};

/** Runs the operations of a batch, those that are calls of their own in its slot. */
const runOperations: BatchRunner = ({ session, args, call, options, facts }) =>
  runBatch(
    { ...session, scheduling: { ...session.scheduling, slots: Places.UNLIMITED } },
    { args, call, options, facts, alone: (own, tool, given, asked) => runCall(own, tool, given, asked) },
  );

/** The ways through the stages, by the parts that a workspace has. Made when they are needed first. */
const ways = new Map<number, Next>();

/** Returns the way of the calls of a workspace: the stages that it has, and the tool. */
function wayOf({
  scheduling: { budget: counted },
  observers: { all: observers },
  hooks: { bound: hooks },
  staging: { stages },
}: Session): Next {
  const has = {
    budget: counted !== undefined,
    observers: observers.length > 0,
    hooks: hooks.length > 0,
    storage: stages !== undefined,
  };
  const key =
    Number(has.budget) + 2 * Number(has.observers) + 4 * Number(has.hooks) + 8 * Number(has.storage);
  let way = ways.get(key);
  if (way === undefined) {
    way = AROUND.filter(({ needs }) => needs === undefined || has[needs]).reduceRight<Next>(
      (next, stage) => (request) => stage.run(request, next),
      inside,
    );
    ways.set(key, way);
  }
  return way;
}

/** Runs one call of a canonical tool, or of the tool that a preset's call stands for. */
export function runCall(
  session: Session,
  known: Tool,
  given: unknown,
  options: CallOptions,
  presetCall?: PresetCall,
): Promise<ToolResult> {
  const limited = new CallSignal(options.signal);
  const facts = new Facts();
  const request: CallRequest = {
    session,
    known,
    given,
    options,
    presetCall,
    callId: "",
    began: session.gates.permissions?.begin() ?? 0,
    facts,
    limited,
    places: new Places(session.scheduling.slots, limited, facts),
    replaced: undefined,
  };
  return wayOf(session)(request);
}
