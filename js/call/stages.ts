/**
 * The order of everything that happens in a call. MCP, the command line, adapters and typed methods make every call
 * here. A call returns every failure as a result, and rejects only with an error that a hook raised; `callOfHost`
 * throws failures.
 */
import { lazily } from "../engine/lazy.ts";
import { Facts } from "../pipeline/facts.ts";
import { dataOrThrow } from "../pipeline/result.ts";
import { CallSignal } from "../pipeline/scheduling/running.ts";
import type { Session } from "../pipeline/session.ts";
import type { BatchArgs } from "../tools/index.ts";
import { afterHooks } from "./after-hooks.ts";
import { budget } from "./budget.ts";
import type { Called, CallRequest, Next, RunCall, Stage } from "./call.ts";
import { ending, noteReads, reporting } from "./ending.ts";
import { lookAlikes, words } from "./failures.ts";
import { fairness } from "./fairness.ts";
import { type HostCall, hostStep, withoutText } from "./host.ts";
import { observing } from "./observing.ts";
import { optimism } from "./optimism.ts";
import { type BatchRunner, judge, mean, run } from "./steps.ts";

/**
 * Around the tool, the outermost first. A workspace has only the stages that its options ask for. What retries a call
 * (`lookAlikes`, `optimism`) stands outside `fairness`, so that the first try gives its places back, and inside `words`,
 * which sees the error of the last try. A call that its budget refuses before it begins is none for observers.
 * Hooks before a call are a part of its first step (`mean`), where its arguments are known.
 */
const AROUND: readonly Stage[] = [
  budget, // counts the call, before it or in its commit
  observing, // tells observers of the beginning and the end
  ending, // the call ends when its caller or its workspace says so; closing waits for it
  noteReads, // shared records have what the agent has seen before the answer is returned
  afterHooks, // hooks after the call, and what they change of its files
  reporting, // the waits and the version in the answer, the line for debugging, the caller's own changes
  words, // an error becomes an answer in the words of its reader
  lookAlikes, // once more with a path that looks like a missing one
  optimism, // over a storage: one commit; once more without assumptions
  fairness, // starts in its turn of the event loop; the slot and the place among the walks are released
];

/** The call itself: what it means as its hooks leave it, whether it may, what it does. */
const inside: Next = async (request) => {
  const judged = await judge(await mean(request));
  return await run(judged, runOperations);
};

const batches = lazily("batches", () => import("./batch/batch.ts"));

/** Runs the operations of a batch. They use the slot of the batch and take none of their own. */
const runOperations: BatchRunner = async ({ session, meant }, call) => {
  const { runBatch } = await batches();
  return runBatch({
    session: { ...session, scheduling: { ...session.scheduling, slots: undefined } },
    request: meant.request,
    args: meant.args as Required<BatchArgs>,
    call,
    callsOf,
  });
};

/** Around the own work of a host, such as an undo. A person has decided it: no hook runs, and there is no question. */
const AROUND_HOST: readonly Stage[] = [observing, withoutText, ending, words, optimism];

/** Returns the function that runs the calls of a workspace, through the stages that its options ask for. */
export function callsOf(session: Session): RunCall {
  return callsThrough(AROUND, session, inside);
}

/** Does what a host asks for itself, and returns its data. @throws FilewrightError */
export async function callOfHost<Data>(session: Session, asked: HostCall<Data>): Promise<Data> {
  const { known, by, signal } = asked;
  const own = { ...session, caller: { ...session.caller, by } };
  return dataOrThrow(await callsThrough(AROUND_HOST, own, hostStep(asked))(known, {}, { signal })) as Data;
}

/** Returns the function that runs calls through stages, and at the end through `last`. */
function callsThrough(stages: readonly Stage[], session: Session, last: Next): RunCall<Called> {
  const way = stages
    .filter(({ isNeeded }) => isNeeded?.(session) ?? true)
    .reduceRight<Next>((next, stage) => (request) => stage.run(request, next), last);
  return (known, given, options, presetCall) =>
    way(requestOf({ session, known, given, options, presetCall }));
}

/** Returns a new request for a call. */
export function requestOf({
  session,
  known,
  given,
  options,
  presetCall,
}: Pick<CallRequest, "session" | "known" | "given" | "options" | "presetCall">): CallRequest {
  // Each member by itself: a spread would cost 3 us a call.
  return {
    session,
    known,
    given,
    options,
    presetCall,
    callId: "",
    began: session.gates.permissions?.begin() ?? 0,
    facts: new Facts(),
    limited: new CallSignal(options.signal),
    taken: [],
    replaced: undefined,
    storage: undefined,
  };
}
