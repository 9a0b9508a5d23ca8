/**
 * Parking: an approver for callers that do not wait long. A question that takes longer than the caller waits stays open
 * without its call; the call is answered that a person is looking, and the same call made again meets the question or
 * its answer.
 */
import { integer, optionChecker, type Options, options, type Option, callback } from "../../schema/option.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { type Confirm, type Confirmation, type ConfirmReply, denied } from "../confirm.ts";

/** The options of {@link parking}. */
export interface ParkingOptions {
  /**
   * How long a call waits for the reviewer before it is parked, in milliseconds. Default 45,000, because MCP clients end
   * a call after 60 seconds by default.
   */
  readonly reviewWait?: number | undefined;
}

/**
 * The options of {@link parking}.
 *
 * @printed
 */
export const PARKING_OPTIONS: Options<ParkingOptions> = options("ParkingOptions", {
  reviewWait: integer(1, 2 ** 31 - 1),
});

const checkOptions = optionChecker("parking", PARKING_OPTIONS);
const checkApprover = optionChecker("parking", callback() as Option<Confirm>);

/** How long a parked call waits for longer than its caller by default, in milliseconds. */
const DEFAULT_REVIEW_WAIT_MS = 45_000;
/** How long a parked question waits for its answer, and the answer for the call, in milliseconds. */
const PARKED_MS = 60 * 60 * 1000;
/** The number of parked questions. With more, the oldest is withdrawn. */
const MAX_PARKED = 1000;

/** A question that was put to the approver. */
interface OpenQuestion {
  readonly key: string;
  readonly reply: Promise<ConfirmReply | undefined>;
  /** Withdraws the question. */
  withdraw(): void;
  timer?: ReturnType<typeof setTimeout>;
}

/**
 * Wraps an approver so that no call waits for longer than `reviewWait`: it is answered with APPROVAL_DENIED, whose
 * `details.reason` is `pending`. The same call by the same agent meets the question again, or its answer, which is kept
 * for an hour and spent by one call. A call whose caller follows its progress waits for as long as the person takes.
 *
 * @example
 * const queue = approvalQueue();
 * const ws = await openWorkspace({ root: "/repo", confirm: parking(queue.confirm) });
 */
export function parking(given: Confirm, settings: ParkingOptions = {}): Confirm {
  const approver = checkApprover(given);
  const { reviewWait = DEFAULT_REVIEW_WAIT_MS } = checkOptions(settings);
  const parked = new Set<OpenQuestion>();

  const ask = (key: string, details: Confirmation): OpenQuestion => {
    const withdrawn = new AbortController();
    const reply = new Promise<ConfirmReply | undefined>((resolve, reject) => {
      const own: Confirmation = {
        ...details,
        signal: withdrawn.signal,
        onConfirm: (outcome, payload) => resolve(withoutUndefined({ outcome, payload })),
      };
      Promise.resolve(approver(own)).then((answer) => {
        if (answer !== undefined && answer !== null) resolve(answer);
      }, reject);
    });
    reply.catch(() => {}); // The call that meets the question reports it.
    return { key, reply, withdraw: () => withdrawn.abort() };
  };
  const forget = (question: OpenQuestion): void => {
    clearTimeout(question.timer);
    parked.delete(question);
  };
  const expireLater = (question: OpenQuestion): void => {
    clearTimeout(question.timer);
    question.timer = setTimeout(() => {
      forget(question);
      question.withdraw();
    }, PARKED_MS);
    (question.timer as { unref?(): void }).unref?.();
  };
  const park = (question: OpenQuestion): void => {
    parked.add(question);
    expireLater(question);
    const answered = (): void => {
      if (parked.has(question)) expireLater(question);
    };
    question.reply.then(answered, answered);
    const [oldest] = parked;
    if (parked.size <= MAX_PARKED || oldest === undefined) return;
    forget(oldest);
    oldest.withdraw();
  };

  return async (details) => {
    const key = `${details.agent ?? ""}\0${details.digest}`;
    const met = [...parked].find((question) => question.key === key);
    if (met !== undefined) forget(met);
    const question = met ?? ask(key, details);
    const { signal } = details;
    if (signal?.aborted === true) question.withdraw();
    signal?.addEventListener("abort", question.withdraw, { once: true });
    try {
      if (details.hasProgress === true) return await question.reply;
      const reply = await settledWithin(question.reply, reviewWait);
      if (reply !== WAITS) return reply;
      park(question);
    } finally {
      signal?.removeEventListener("abort", question.withdraw);
    }
    throw denied("A person is looking at this change. Call again with the same arguments.", undefined, {
      reason: "pending",
    });
  };
}

const WAITS: unique symbol = Symbol("the reviewer has not answered yet");

/** Returns the value of a promise; {@link WAITS} if it has none after `ms` milliseconds. */
async function settledWithin<T>(promise: Promise<T>, ms: number): Promise<T | typeof WAITS> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<typeof WAITS>((resolve) => {
    timer = setTimeout(() => resolve(WAITS), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
