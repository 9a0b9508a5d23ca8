/**
 * Approvals by the client's user: a change is put as a question (an elicitation),
 * and the call is made again with the answer.
 *
 * A call never waits here. It runs until somebody must be asked, is refused, and
 * its request is answered with the question; the client sends the request again
 * with the answer, and what was agreed to is recognised by the digest of what was
 * shown. So the same code serves connections that last and requests that stand
 * alone, and a change that became another one meanwhile is not made. An answer
 * serves one request, and no longer than ten minutes.
 */
import { randomBytes } from "node:crypto";
import process from "node:process";
import { defaultStateDir } from "../backends/lock.node.ts";
import type { Confirm, Confirmation, ConfirmReply, Outcome, Scope } from "../hooks/confirm.ts";
import { printable, questionLines } from "../hooks/question.ts";
import { callerSignal } from "../workspace/call-signal.ts";
import { ANSWER_SECONDS, type ApprovalState, KEY_VARIABLE, openApprovalState } from "./approval-state.ts";
import { createRequestStateCodec, inputRequired, inputResponse, type ServerContext } from "./sdk.ts";

/** What was agreed to until now. Signed, since it travels through the client. */
interface State {
  readonly agreed: readonly (readonly [digest: string, outcome: Outcome])[];
  /** The digest of what the question showed. */
  readonly asked: string;
  /** The outcomes that the question offered. */
  readonly offered: readonly Outcome[];
  /** Told apart from every other question. */
  readonly nonce: string;
}

/** One request, with what its user said before. */
export interface Round {
  /** The question that is to be put; undefined where there is none. */
  question(): Promise<ReturnType<typeof inputRequired> | undefined>;
  /** Whether what was agreed to is not what would be done now. */
  stale(): boolean;
}

/** Puts the questions of a workspace to the users of its clients. */
export interface Approvals {
  readonly confirm: Confirm;
  /** Checks what comes back. */
  readonly verify: (state: string, context: ServerContext) => Promise<unknown>;
  /** Begins a request. Its signal tells its questions from others'. */
  begin(context: ServerContext, canAsk: boolean): Round;
}

/** How the users of clients are asked. */
export interface ElicitOptions {
  /** Whether answers may hold beyond their call: not where several clients share a workspace. */
  readonly lasting: boolean;
  /** Default: of the user's state directory and of `FILEWRIGHT_KEY`. */
  readonly state?: ApprovalState | undefined;
}

const KEY = "approval";
const DECISION = "decision";
/** How much of a change a question shows. A longer one cannot be allowed by its form. */
const MAX_LINES = 60;
const MAX_CHARS = 6000;

/** Makes the approvals of a server. @throws FilewrightError INVALID_ARGUMENT for a key that is none */
export function elicitApprovals({ lasting, state: given }: ElicitOptions): Approvals {
  const { key, spend, keep } =
    given ?? openApprovalState({ stateDir: defaultStateDir(), key: process.env[KEY_VARIABLE] });
  const codec = createRequestStateCodec<State>({
    key,
    ttlSeconds: ANSWER_SECONDS,
    bind: (context) => `${context.mcpReq.method}\0${context.http?.authInfo?.clientId ?? ""}`,
  });
  const rounds = new WeakMap<AbortSignal, (details: Confirmation) => ConfirmReply>();
  return {
    confirm: (details) =>
      rounds.get(callerSignal(details.signal) as AbortSignal)?.(details) ??
      refusedBecause("nobody can be asked here"),
    verify: codec.verify,
    begin(context, canAsk) {
      const { mcpReq } = context;
      const state = mcpReq.requestState<State>();
      const reply = inputResponse(mcpReq.inputResponses, KEY);
      const agreed = new Map(state?.agreed ?? []);
      let refused: ConfirmReply | undefined;
      if (state !== undefined && reply.kind === "elicit") {
        const outcome = reply.action === "accept" ? outcomeOf(reply.content, state.offered) : undefined;
        if (!spend(state.nonce)) {
          agreed.clear();
          refused = refusedBecause("this answer was used before");
        } else if (outcome === undefined) refused = refusedBecause();
        else agreed.set(state.asked, outcome);
      }
      let shown: Confirmation | undefined;
      let [met, stale] = [state === undefined, false];
      rounds.set(mcpReq.signal, (details) => {
        const { digest } = details;
        const outcome = agreed.get(digest);
        if (digest === state?.asked) met = true;
        if (outcome !== undefined) return { outcome, payload: { digest } };
        if (refused !== undefined) return refused;
        if (!canAsk) return refusedBecause("this client cannot ask its user (no elicitation)");
        // What was agreed to is no longer what would be done: that is not asked twice.
        stale = !met;
        if (!stale) shown = details;
        return refusedBecause("it changed after it was shown");
      });
      return {
        stale: () => stale,
        async question() {
          if (shown === undefined) return undefined;
          const view = viewOf(shown, keep);
          const offered = shown.scopes.filter(
            ({ outcome }) => isOffered(outcome, lasting) && (view.isWhole || outcome === "cancel"),
          );
          const next: State = {
            agreed: [...agreed],
            asked: shown.digest,
            offered: offered.map(({ outcome }) => outcome),
            nonce: randomBytes(18).toString("base64url"),
          };
          return inputRequired({
            inputRequests: { [KEY]: inputRequired.elicit(formOf(view.message, offered)) },
            requestState: await codec.mint(next, context),
          });
        },
      };
    },
  };
}

function refusedBecause(reason?: string): ConfirmReply {
  return { outcome: "cancel", ...(reason === undefined ? {} : { payload: { reason } }) };
}

/** What was answered, where that was offered. */
function outcomeOf(
  content: Readonly<Record<string, unknown>> | undefined,
  offered: readonly Outcome[],
): Outcome | undefined {
  const decision = content?.[DECISION];
  return decision === "cancel" ? undefined : offered.find((outcome) => outcome === decision);
}

/** The form that the client's user fills in. */
function formOf(message: string, offered: readonly Scope[]): Parameters<typeof inputRequired.elicit>[0] {
  return {
    message,
    requestedSchema: {
      type: "object",
      properties: {
        [DECISION]: {
          type: "string",
          title: "Decision",
          oneOf: offered.map(({ outcome, label }: Scope) => ({
            const: outcome,
            title: said(outcome, label),
          })),
          default: "cancel",
        },
      },
      required: [DECISION],
    },
  };
}

function isOffered(outcome: Outcome, lasting: boolean): boolean {
  if (outcome === "proceed_once" || outcome === "cancel") return true;
  return lasting && (outcome === "proceed_always" || outcome === "proceed_always_tool");
}

function said(outcome: Outcome, label: string): string {
  return outcome === "cancel" ? "Refuse" : `Allow: ${label}`;
}

/** A question in words. One that is not shown as a whole says where the whole is, and can only be refused. */
function viewOf(
  details: Confirmation,
  keep: ApprovalState["keep"],
): { readonly message: string; readonly isWhole: boolean } {
  const head = `${details.title} (risk: ${details.risk})`;
  const lines = questionLines(details).map(({ text }) => printable(text));
  const shown = lines.slice(0, MAX_LINES).join("\n").slice(0, MAX_CHARS);
  const left = lines.length - (shown === "" ? 0 : shown.split("\n").length);
  const isCut = left > 0 || shown.length < lines.join("\n").length;
  if (!isCut && details.complete)
    return { message: [head, shown].filter(Boolean).join("\n\n"), isWhole: true };
  const why = details.complete
    ? `it is too long for this form${left > 0 ? `: ${left} more ${left === 1 ? "line" : "lines"}` : ""}`
    : (details.incomplete ?? "it is too large");
  const path = details.complete ? keep(details.digest, `${[head, ...lines].join("\n")}\n`) : undefined;
  const notice = [
    `[This is not all of the change (${why}), so it can only be refused here.`,
    ...(path === undefined ? [] : [`All of it is in ${path}`]),
    "To have it made, split it into smaller changes, allow it by a rule, or answer with `filewright approve`.]",
  ];
  return { message: [head, shown, notice.join("\n")].filter(Boolean).join("\n\n"), isWhole: false };
}
