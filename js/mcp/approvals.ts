/**
 * Approvals by the client's user: a change is put as a question (an elicitation),
 * and the call is made again with the answer.
 *
 * A call never waits here. It runs until somebody must be asked, is refused, and
 * its request is answered with the question; the client sends the request again
 * with the answer, and what was agreed to is recognised by a fingerprint of what
 * was shown. So the same code serves connections that last and requests that
 * stand alone, and a change that became another one meanwhile is not made.
 */
import { createHash, randomBytes } from "node:crypto";
import type { Confirm, Confirmation, ConfirmReply, Outcome, Scope } from "../hooks/confirm.ts";
import { createRequestStateCodec, inputRequired, inputResponse, type ServerContext } from "./sdk.ts";

/** What was agreed to until now. Signed, since it travels through the client. */
interface State {
  readonly agreed: readonly (readonly [fingerprint: string, outcome: Outcome])[];
  readonly asked: string;
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

const KEY = "approval";
const DECISION = "decision";
/** How much of a diff a question shows. */
const SHOWN_LINES = 60;
const SHOWN_CHARS = 6000;

/** @param lasting whether answers may hold beyond their call: not where several clients share a workspace */
export function elicitApprovals({ lasting }: { readonly lasting: boolean }): Approvals {
  const codec = createRequestStateCodec<State>({
    key: randomBytes(32),
    bind: (context) => `${context.mcpReq.method}\0${context.http?.authInfo?.clientId ?? ""}`,
  });
  const rounds = new WeakMap<AbortSignal, (details: Confirmation) => ConfirmReply>();
  return {
    confirm: (details) =>
      rounds.get(details.signal as AbortSignal)?.(details) ?? refusedBecause("nobody can be asked here"),
    verify: codec.verify,
    begin(context, canAsk) {
      const { mcpReq } = context;
      const state = mcpReq.requestState<State>();
      const reply = inputResponse(mcpReq.inputResponses, KEY);
      const agreed = new Map(state?.agreed ?? []);
      let refused: ConfirmReply | undefined;
      if (state !== undefined && reply.kind === "elicit") {
        const outcome = reply.action === "accept" ? outcomeOf(reply.content) : undefined;
        if (outcome === undefined) refused = refusedBecause();
        else agreed.set(state.asked, outcome);
      }
      let shown: Confirmation | undefined;
      let [met, stale] = [state === undefined, false];
      rounds.set(mcpReq.signal, (details) => {
        const print = fingerprint(details);
        const outcome = agreed.get(print);
        if (print === state?.asked) met = true;
        if (outcome !== undefined) return { outcome };
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
          const next: State = { agreed: [...agreed], asked: fingerprint(shown) };
          return inputRequired({
            inputRequests: { [KEY]: inputRequired.elicit(questionOf(shown, lasting)) },
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

/** Of everything that the answer rests upon. */
function fingerprint({ tool, title, paths, hash, fileDiff, newContent, args }: Confirmation): string {
  const parts = [
    tool,
    title,
    paths,
    hash ?? null,
    fileDiff,
    hash === undefined ? newContent : null,
    args ?? null,
  ];
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}

function outcomeOf(content: Readonly<Record<string, unknown>> | undefined): Outcome | undefined {
  const decision = content?.[DECISION];
  const known: readonly unknown[] = ["proceed_once", "proceed_always", "proceed_always_tool"];
  return known.includes(decision) ? (decision as Outcome) : undefined;
}

/** The form that the client's user fills in. */
function questionOf(
  { title, fileDiff, risk, scopes }: Confirmation,
  lasting: boolean,
): Parameters<typeof inputRequired.elicit>[0] {
  const offered = scopes.filter(({ outcome }) => isOffered(outcome, lasting));
  return {
    message: `${title} (risk: ${risk})${fileDiff === "" ? "" : `\n\n${shorten(fileDiff)}`}`,
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

function shorten(diff: string): string {
  const lines = diff.split("\n");
  const cut = lines.slice(0, SHOWN_LINES).join("\n").slice(0, SHOWN_CHARS);
  const rest = lines.length - cut.split("\n").length;
  return rest > 0 ? `${cut}\n[and ${rest} more lines]` : cut;
}
