/** Connects the state of the page with its server: logs in, follows the events, loads rows and sends answers. */
import { messageOf } from "../../engine/thrown.ts";
import type { Cell } from "./state/cell.ts";
import { isAllChosen } from "./state/answers.ts";
import { chosenParts, chosenQuestion } from "./state/choice.ts";
import { reducePage } from "./state/reduce.ts";
import type { PageAction, PageState } from "./state/store.ts";
import type { PageEffects } from "./screens/props.ts";
import { connectToHub } from "../hub-connection.ts";
import type { ReviewAnswer, ReviewQuestion, TakenAnswer } from "../protocol.ts";
import { isUnanswered, type ReviewTransport } from "../transport.ts";
import { readRows } from "./read-rows.ts";

/** Returns the permission that an answer gives beyond its call; undefined for an answer without one. */
function lastingPart(
  question: ReviewQuestion,
  { wider, grant }: Pick<ReviewAnswer, "wider" | "grant"> = {},
  { scope }: TakenAnswer,
): (PageAction & { readonly type: "sent" })["wider"] {
  if (question.kind === "change") return wider === undefined ? undefined : { wider, scope };
  const { access, dir } = question;
  return { grant: grant ?? { access, until: "session" }, dir };
}

/** Returns the functions that read files of the server. */
function filesOf(transport: ReviewTransport): Pick<PageEffects, "script" | "file"> {
  return { script: (path) => transport.script?.(path), file: transport.file?.bind(transport) };
}

/** Starts the session of a page, which ends when `signal` is aborted. Returns what the screens can do. */
export function startSession(
  state: Cell<PageState>,
  transport: ReviewTransport,
  signal?: AbortSignal,
): PageEffects {
  /** The ids of questions whose rows were asked for, and whether with secrets. */
  const asked = new Map<string, boolean>();

  const dispatch = (action: PageAction): void => {
    state.value = reducePage(state.value, action);
    loadRows();
  };

  /** Loads the rows of the chosen question. */
  const loadRows = (): void => {
    const question = chosenQuestion(state.value);
    if (question?.kind !== "change") return;
    const { id, replaces = "" } = question;
    const { rows } = state.value;
    const isShown = (rows.get(id) ?? rows.get(replaces))?.isShown === true;
    if (asked.get(id) === isShown) return;
    asked.set(id, isShown);
    void readRows(transport, question, isShown, (read) => {
      if (asked.get(id) !== isShown) return;
      if (read.failure !== undefined) asked.delete(id);
      state.value = reducePage(state.value, { type: "rows", id, rows: read });
    });
  };

  const connectAgain = connectToHub(
    transport,
    {
      snapshot(snapshot) {
        if (snapshot.run !== state.value.run) asked.clear();
        dispatch({ type: "snapshot", snapshot, now: performance.now() });
      },
      event: (event) => dispatch({ type: "event", event, now: performance.now() }),
      connection: (connection) => dispatch({ type: "connection", connection }),
    },
    signal,
  );

  const answer = async (
    outcome: "allow" | "refuse" | "look_again",
    widening: Parameters<PageEffects["answer"]>[1],
  ): Promise<void> => {
    const now = state.value;
    const question = chosenQuestion(now);
    if (question === undefined) return;
    const isPart = outcome === "allow" && !isAllChosen(now);
    const given = isPart ? "allow_parts" : outcome;
    const reason = now.reason.trim();
    dispatch({ type: "sending", id: question.id });
    try {
      const taken = (await transport.request(`approvals/${encodeURIComponent(question.id)}`, {
        outcome: given,
        ...(question.kind === "change" ? { digest: question.digest } : {}),
        ...(isPart ? { parts: chosenParts(now) } : {}),
        ...widening,
        ...(outcome === "refuse" && reason !== "" ? { reason } : {}),
      })) as TakenAnswer;
      const wider = given === "allow" ? lastingPart(question, widening, taken) : undefined;
      dispatch({
        type: "sent",
        id: question.id,
        outcome: given,
        now: performance.now(),
        isEdited: widening?.edits !== undefined,
        ...(wider === undefined ? {} : { wider }),
      });
    } catch (error) {
      if (isUnanswered(error)) {
        dispatch({ type: "unknown", id: question.id });
        return connectAgain(); // The state says whether the question still waits.
      }
      const text = messageOf(error);
      dispatch({ type: "failed", text: `Not answered: ${text}.` });
    }
  };

  /** Returns a path with a workspace, by default the chosen one. */
  const withWorkspace = (path: string, workspace = state.value.workspace): string => {
    if (workspace === undefined) return path;
    return `${path}${path.includes("?") ? "&" : "?"}workspace=${encodeURIComponent(workspace)}`;
  };

  return {
    dispatch,
    answer: (outcome, widening) => void answer(outcome, widening),
    ...filesOf(transport),
    load: <T>(path: string, workspace?: string) =>
      transport.request(withWorkspace(path, workspace)) as Promise<T>,
    send: <T>(path: string, body: object) => transport.request(withWorkspace(path), body) as Promise<T>,
  };
}
