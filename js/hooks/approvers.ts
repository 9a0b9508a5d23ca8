/**
 * Combinations of several approvers, and approvers with a time limit.
 *
 * Each of these returns a {@link Confirm}. A denial denies, and an approver that throws, is late
 * or returns an unknown answer denies too.
 */
import { callback, optionChecker, integer, list, type Option, wrongOptionError } from "../schema/option.ts";
import { askConfirm, type Confirm, type Confirmation, type ConfirmReply, type Outcome } from "./confirm.ts";

const checkApprovers = optionChecker("allOf", list(callback() as Option<Confirm>));
const checkQuorum = optionChecker("quorum", list(callback() as Option<Confirm>));
const checkTimeLimitMs = optionChecker("within", integer(1, 2 ** 31 - 1));
const checkApprover = optionChecker("within", callback() as Option<Confirm>);

/** The outcomes that approve a call, from the narrowest scope to the widest. */
const APPROVING_OUTCOMES: readonly Outcome[] = [
  "proceed_once",
  "proceed_always",
  "proceed_always_tool",
  "proceed_always_server",
];

/**
 * Requires every approver to agree, asked one after another; the first denial is the answer and no
 * further approver is asked. The narrowest of the scopes applies. When one changes the content,
 * all are asked again about that content.
 *
 * @throws FilewrightError INVALID_ARGUMENT for a value that is no list of functions
 */
export function allOf(given: readonly Confirm[]): Confirm {
  const approvers = checkApprovers(given);
  return async (details) => {
    let narrowest: ConfirmReply | undefined;
    const scopes = new Set<string>();
    for (const approver of approvers) {
      const reply = await askApprover(approver, details);
      if (!isApprovingReply(reply)) return withoutFinalIfSeveral(reply, approvers.length);
      scopes.add(JSON.stringify(reply.payload?.scope ?? null));
      if (narrowest === undefined || scopeWidthRank(reply) < scopeWidthRank(narrowest)) narrowest = reply;
    }
    // Which of two scopes as data is the narrower one cannot be told, so that only this call is approved.
    if (narrowest !== undefined && scopes.size > 1) return onlyThisCall(narrowest);
    return narrowest ?? { outcome: "cancel", payload: { reason: "there is nobody to ask" } };
  };
}

/** Returns an approval of one call by the same person. */
function onlyThisCall({ payload: { scope: _, expires: __, ...payload } = {} }: ConfirmReply): ConfirmReply {
  return { outcome: "proceed_once", payload };
}

/** Returns one approver that stands for all of them, as {@link allOf} does; undefined for an empty list. */
export function oneOf(approvers: readonly Confirm[]): Confirm | undefined {
  return approvers.length > 1 ? allOf(approvers) : approvers[0];
}

/**
 * Requires this number of approvers to agree; they are asked at the same time, and the answer is
 * final as soon as it can no longer change. An approver who does not answer counts neither way, so
 * the question stays open; see {@link within}. Approvers cannot change the content or approve more
 * than the one call. Of several approvals with the same name in `by`, one counts.
 *
 * @throws FilewrightError INVALID_ARGUMENT when the number cannot be reached
 */
export function quorum(needed: number, given: readonly Confirm[]): Confirm {
  const approvers = checkQuorum(given);
  if (!Number.isSafeInteger(needed) || needed < 1 || needed > approvers.length) {
    throw wrongOptionError(
      "quorum",
      "needed",
      `${String(needed)} of ${approvers.length} approvers cannot agree`,
    );
  }
  return (details) => {
    const stop = new AbortController();
    const scopes = details.scopes.filter(({ outcome }) => outcome === "proceed_once" || outcome === "cancel");
    const shown = { ...details, scopes, needed, signal: withSignal(stop.signal, details) };
    const votes = new Votes(needed, approvers.length);
    return new Promise<ConfirmReply>((resolve) => {
      for (const approver of approvers)
        void askApprover(approver, shown).then((reply) => {
          const result = votes.count(reply);
          if (result === undefined) return;
          resolve(result);
          stop.abort(); // The others need not decide any more.
        });
    });
  };
}

/** The answers of several approvers to one question. */
class Votes {
  readonly #needed: number;
  readonly #approvers: number;
  readonly #reasons: string[] = [];
  readonly #names = new Set<string>();
  #yes = 0;
  #no = 0;
  /** The approvals by a person who had approved under the same name before. */
  #repeated = 0;

  constructor(needed: number, approvers: number) {
    this.#needed = needed;
    this.#approvers = approvers;
  }

  /** Counts an answer. Returns the answer of all, as soon as the others cannot change it. */
  count(reply: ConfirmReply): ConfirmReply | undefined {
    if (isApprovingReply(reply)) this.#approve(reply.payload?.by);
    else this.#refuse(reply.payload?.reason);
    if (this.#yes >= this.#needed) return this.#approval();
    const isLost = this.#no + this.#repeated > this.#approvers - this.#needed;
    return isLost ? this.#refusal() : undefined;
  }

  #approve(by: string | undefined): void {
    if (by !== undefined && this.#names.has(by)) this.#repeated += 1;
    else this.#yes += 1;
    if (by !== undefined) this.#names.add(by);
  }

  #refuse(reason: string | undefined): void {
    this.#no += 1;
    if (reason !== undefined) this.#reasons.push(reason);
  }

  #approval(): ConfirmReply {
    const payload = this.#names.size === 0 ? undefined : { by: [...this.#names].join(" and ") };
    return { outcome: "proceed_once", payload };
  }

  #refusal(): ConfirmReply {
    const refused = `${this.#no} of ${this.#approvers} approvers refused`;
    const same = this.#repeated === 0 ? [] : ["several approvals came from the same person"];
    const reason = [refused, ...same, ...this.#reasons].join("; ");
    return { outcome: "cancel", payload: { reason } };
  }
}

/**
 * Returns an approver that denies if `approver` has not answered after `ms` milliseconds.
 *
 * @throws FilewrightError INVALID_ARGUMENT for an invalid time
 */
export function within(ms: number, approver: Confirm): Confirm {
  checkTimeLimitMs(ms);
  checkApprover(approver);
  return async (details) => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      return await Promise.race([
        askApprover(approver, { ...details, signal: withSignal(stop.signal, details) }),
        new Promise<ConfirmReply>((resolve) => {
          const reason = `there was no answer within ${ms} ms`;
          timer = setTimeout(() => resolve({ outcome: "cancel", payload: { reason } }), ms);
        }),
      ]);
    } finally {
      clearTimeout(timer);
      stop.abort();
    }
  };
}

/** Returns the answer of an approver; a refusal if it fails. */
async function askApprover(
  approver: Confirm,
  details: Omit<Confirmation, "onConfirm">,
): Promise<ConfirmReply> {
  const { signal, ...rest } = details;
  try {
    return await askConfirm(approver, rest, signal);
  } catch {
    return { outcome: "cancel", payload: { reason: "an approver failed" } };
  }
}

/** Returns true for an outcome that approves the call. */
function isApprovingReply({ outcome }: ConfirmReply): boolean {
  return APPROVING_OUTCOMES.includes(outcome);
}

/** Returns the rank of an outcome by the width of its scope: -1 for a refusal, 0 for the narrowest. */
function scopeWidthRank({ outcome }: ConfirmReply): number {
  return APPROVING_OUTCOMES.indexOf(outcome);
}

/**
 * Returns a reply that is not final, if there are several approvers: the others must see content that one of them
 * wrote or chose.
 */
function withoutFinalIfSeveral(reply: ConfirmReply, approvers: number): ConfirmReply {
  const changes = reply.outcome === "modify_with_editor" || reply.outcome === "proceed_parts";
  if (!changes || approvers < 2) return reply;
  return { ...reply, payload: { ...reply.payload, final: false } };
}

/** Returns a signal that aborts with `stop`, and with the signal of a question. */
function withSignal(stop: AbortSignal, { signal }: Pick<Confirmation, "signal">): AbortSignal {
  return signal === undefined ? stop : AbortSignal.any([stop, signal]);
}
