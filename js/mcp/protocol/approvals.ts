/**
 * Approvals by the client's user. The server sends a change as a question (an elicitation), and the client
 * repeats the call with the answer.
 *
 * A call never waits for an answer. It runs until the workspace asks for an approval, is refused, and the
 * server answers its request with the question. The client then sends the request again with the answer, and
 * the server matches the answer to the change by the digest of the shown text. So the same code serves
 * lasting connections and single requests, and a change that differs from the approved one is not made. An
 * answer is valid for one request and for at most ten minutes.
 */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { randomBytes } from "node:crypto";
import { defaultStateDir } from "../../backends/state-directory.node.ts";
import type { Confirm, Confirmation, ConfirmReply, Outcome, Scope } from "../../hooks/confirm.ts";
import { escapeForPrinting, questionLines } from "../../hooks/question.ts";
import { callerSignal } from "../../pipeline/scheduling/running.ts";
import {
  MAX_ANSWER_SECONDS,
  type ApprovalState,
  SIGNING_KEY_VARIABLE,
  openApprovalState,
} from "./approval-state.ts";
import { createRequestStateCodec, inputRequired, inputResponse, type ServerContext } from "./sdk.ts";
import { plural } from "../../engine/escape.ts";

/**
 * The state that the server must remember until the answer comes. The client keeps it and sends it back, so it is
 * signed.
 */
interface SignedState {
  readonly agreed: readonly (readonly [digest: string, outcome: Outcome])[];
  /** The digest of the change that the question showed. */
  readonly asked: string;
  /** The outcomes among which the user could choose. */
  readonly offered: readonly Outcome[];
  /** A random value for each question, by which a second use of the answer is recognised. */
  readonly nonce: string;
}

/** One request, together with the answers that its user has given before. */
export interface ApprovalRound {
  /** Returns the question to send to the user; undefined when the call does not need one. */
  question(): Promise<ReturnType<typeof inputRequired> | undefined>;
  /** Returns true when the change differs from the one that the user has approved. */
  stale(): boolean;
}

/** Asks the users of clients about changes. */
export interface ElicitedApprovals {
  readonly confirm: Confirm;
  /** Verifies the signature of the state that a client sends back. */
  readonly verify: (state: string, context: ServerContext) => Promise<unknown>;
  /**
   * Begins a request. Questions of the workspace are assigned to the request by its abort signal. `canAsk` is
   * false when the client cannot ask its user.
   * @throws FilewrightError when it cannot be found out whether an answer was used before
   */
  begin(context: ServerContext, canAsk: boolean): Promise<ApprovalRound>;
}

/** The options of {@link elicitApprovals}. */
export interface ElicitOptions {
  /**
   * True when an answer may also apply to later calls. Must be false when several clients share a workspace,
   * because the answer would apply to all of them.
   */
  readonly lasting: boolean;
  /** The key and the record to use. Default: those of the user's state directory and of `FILEWRIGHT_KEY`. */
  readonly state?: ApprovalState | undefined;
}

const INPUT_REQUEST_KEY = "approval";
const DECISION_FIELD = "decision";
/**
 * The maximum size of the text in a question, in lines and UTF-16 units. A longer change can only be refused
 * by the form.
 */
const MAX_QUESTION_LINES = 60;
const MAX_QUESTION_CHARS = 6000;

/**
 * Creates the object by which a server asks the person at its client for approval.
 * @throws FilewrightError INVALID_ARGUMENT for an invalid signing key
 */
export function elicitApprovals({ lasting, state: given }: ElicitOptions): ElicitedApprovals {
  const { keys, spend, keep } =
    given ?? openApprovalState({ stateDir: defaultStateDir(), key: process.env[SIGNING_KEY_VARIABLE] });
  const codecs = keys.map((key) =>
    createRequestStateCodec<SignedState>({
      key,
      ttlSeconds: MAX_ANSWER_SECONDS,
      bind: (context) => `${context.mcpReq.method}\0${context.http?.authInfo?.clientId ?? ""}`,
    }),
  );
  const [codec] = codecs as [(typeof codecs)[number]];
  const verify = async (state: string, context: ServerContext): Promise<unknown> => {
    for (const older of codecs.slice(0, -1)) {
      try {
        return await older.verify(state, context);
      } catch {
        // It is signed by another of the keys, or by none: the last one tells.
      }
    }
    return (codecs.at(-1) as typeof codec).verify(state, context);
  };
  const rounds = new WeakMap<AbortSignal, (details: Confirmation) => ConfirmReply>();
  return {
    confirm: (details) =>
      rounds.get(callerSignal(details.signal) as AbortSignal)?.(details) ??
      refusalReply("nobody can be asked here"),
    verify,
    async begin(context, canAsk) {
      const { mcpReq } = context;
      const state = mcpReq.requestState<SignedState>();
      const reply = inputResponse(mcpReq.inputResponses, INPUT_REQUEST_KEY);
      const agreed = new Map(state?.agreed ?? []);
      let refused: ConfirmReply | undefined;
      if (state !== undefined && reply.kind === "elicit") {
        const outcome = reply.action === "accept" ? chosenOutcome(reply.content, state.offered) : undefined;
        if (!(await spend(state.nonce))) {
          agreed.clear();
          refused = refusalReply("this answer was used before");
        } else if (outcome === undefined) refused = refusalReply();
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
        if (!canAsk) return refusalReply("this client cannot ask its user (no elicitation)");
        // The change differs from the approved one: the call is ended, and the user is not asked a second
        // time.
        stale = !met;
        if (!stale) shown = details;
        return refusalReply("it changed after it was shown");
      });
      return {
        stale: () => stale,
        async question() {
          if (shown === undefined) return undefined;
          const view = questionText(shown, keep);
          const offered = shown.scopes.filter(
            ({ outcome }) => isOutcomeOffered(outcome, lasting) && (view.isWhole || outcome === "cancel"),
          );
          const next: SignedState = {
            agreed: [...agreed],
            asked: shown.digest,
            offered: offered.map(({ outcome }) => outcome),
            nonce: randomBytes(18).toString("base64url"),
          };
          return inputRequired({
            inputRequests: { [INPUT_REQUEST_KEY]: inputRequired.elicit(approvalForm(view.message, offered)) },
            requestState: await codec.mint(next, context),
          });
        },
      };
    },
  };
}

function refusalReply(reason?: string): ConfirmReply {
  return withoutUndefined({ outcome: "cancel", payload: reason === undefined ? undefined : { reason } });
}

/** Returns the outcome that the user chose; undefined if the user refused, or chose one that was not offered. */
function chosenOutcome(
  content: Readonly<Record<string, unknown>> | undefined,
  offered: readonly Outcome[],
): Outcome | undefined {
  const decision = content?.[DECISION_FIELD];
  return decision === "cancel" ? undefined : offered.find((outcome) => outcome === decision);
}

/** Returns the form that the client's user fills in. */
function approvalForm(
  message: string,
  offered: readonly Scope[],
): Parameters<typeof inputRequired.elicit>[0] {
  return {
    message,
    requestedSchema: {
      type: "object",
      properties: {
        [DECISION_FIELD]: {
          type: "string",
          title: "Decision",
          oneOf: offered.map(({ outcome, label }: Scope) => ({
            const: outcome,
            title: outcomeTitle(outcome, label),
          })),
          default: "cancel",
        },
      },
      required: [DECISION_FIELD],
    },
  };
}

function isOutcomeOffered(outcome: Outcome, lasting: boolean): boolean {
  if (outcome === "proceed_once" || outcome === "cancel") return true;
  return lasting && (outcome === "proceed_always" || outcome === "proceed_always_tool");
}

function outcomeTitle(outcome: Outcome, label: string): string {
  return outcome === "cancel" ? "Refuse" : `Allow: ${label}`;
}

/**
 * Returns the text of a question. If the change does not fit, the text is truncated, the user can only
 * refuse, and a file with the whole change is named.
 */
function questionText(
  details: Confirmation,
  keep: ApprovalState["keep"],
): { readonly message: string; readonly isWhole: boolean } {
  const head = `${details.title} (risk: ${details.risk})`;
  const lines = questionLines(details).map(({ text }) => escapeForPrinting(text));
  const shown = lines.slice(0, MAX_QUESTION_LINES).join("\n").slice(0, MAX_QUESTION_CHARS);
  const left = lines.length - (shown === "" ? 0 : shown.split("\n").length);
  const isCut = left > 0 || shown.length < lines.join("\n").length;
  if (!isCut && details.complete)
    return { message: [head, shown].filter(Boolean).join("\n\n"), isWhole: true };
  const why = details.complete
    ? `it is too long for this form${left > 0 ? `: ${plural(left, "more line")}` : ""}`
    : (details.incomplete ?? "it is too large");
  const path = details.complete ? keep(details.digest, `${[head, ...lines].join("\n")}\n`) : undefined;
  const notice = [
    `[This is not all of the change (${why}), so it can only be refused here.`,
    ...(path === undefined ? [] : [`All of it is in ${path}`]),
    "To have it made, split it into smaller changes, allow it by a rule, or answer with `filewright approve`.]",
  ];
  return { message: [head, shown, notice.join("\n")].filter(Boolean).join("\n\n"), isWhole: false };
}
