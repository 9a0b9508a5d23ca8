/** A client of a review page without any interface, to build one of your own. The wrappers for React and Vue use it. */
import { type ConnectionState, connectToHub } from "./hub-connection.ts";
import type {
  ReviewAnswer,
  ReviewCall,
  ReviewEvent,
  ReviewOutcome,
  ReviewQuestion,
  ReviewRole,
  ReviewState,
  SettledQuestion,
} from "./protocol.ts";
import { UnprovenError } from "./proof/prover.ts";
import { applyEvent, EMPTY_STATE } from "./state.ts";
import { type ReviewTransport, serverTransport, statusOf } from "./transport.ts";

/** The data of a hub, as far as this connection knows it. */
export interface ReviewView {
  /** `signed-out`: there is no login, or it has ended. `offline`: the data is that of the last connection. */
  readonly connection: ConnectionState;
  /** True while `connection` is `live`. A connection that is cut is no error: it is false until it is back. */
  readonly connected: boolean;
  readonly role: ReviewRole;
  /** The name under which this login answers. */
  readonly by: string;
  /** The questions that wait, the oldest first. */
  readonly pending: readonly ReviewQuestion[];
  /** The last questions that do not wait any more, the oldest first. */
  readonly settled: readonly SettledQuestion[];
  /** The last calls, the oldest first. */
  readonly calls: readonly ReviewCall[];
  /** The last events of this connection, the oldest first, 200 at most. */
  readonly events: readonly ReviewEvent[];
}

/** The parts of an answer besides its outcome. */
export type ReviewAnswerDetails = Pick<ReviewAnswer, "parts" | "reason">;

/** The options of a rewind. */
export interface ReviewRewindOptions {
  /** Only these absolute paths. Default: all. */
  readonly paths?: readonly string[];
  /** Only says what would change. Default false. */
  readonly dryRun?: boolean;
  /** The name of the workspace. Default: the first one of the hub. */
  readonly workspace?: string;
}

/** The actions of an interface. Each function rejects with an Error that says why it failed. */
export interface ReviewActions {
  /** Answers a question, with the digest of the change that it shows. */
  answer(question: ReviewQuestion, outcome: ReviewOutcome, details?: ReviewAnswerDetails): Promise<void>;
  /** Rewinds the files to a mark or to the time before a call, by its name or id. Returns what has changed. */
  rewind(to: string, options?: ReviewRewindOptions): Promise<unknown>;
  /** Reads data of the hub by the path below `/review`, such as `approvals/ID/changes/0`. */
  load(path: string): Promise<unknown>;
}

/** A connection that keeps its view up to date. */
export interface ReviewClient extends ReviewActions {
  /** The present data. Each change replaces the object, so that two views can be compared by identity. */
  readonly view: ReviewView;
  /** Calls `listener` after each change. Returns a function that ends it. */
  subscribe(listener: () => void): () => void;
  /** Connects; nothing happens before. */
  open(): void;
  /** Ends the connection. It can be opened again. */
  close(): void;
}

/** The maximum length of {@link ReviewView.events}. */
const MAX_EVENTS = 200;

const FIRST_VIEW: ReviewView = {
  connection: "connecting",
  connected: false,
  role: "watch",
  by: "",
  pending: [],
  settled: [],
  calls: [],
  events: [],
};

/**
 * Creates the client of a hub.
 *
 * @param source the address of the review page, as the elements take it, or a transport
 */
export function reviewClient(source: string | ReviewTransport): ReviewClient {
  const transport = typeof source === "string" ? serverTransport(source) : source;
  const listeners = new Set<() => void>();
  let view = FIRST_VIEW;
  let state: ReviewState = EMPTY_STATE;
  let connection: AbortController | undefined;
  let connectAgain = (): void => {};

  /** Sends a request. One without any answer says that the connection is cut, before its stream of events does. */
  const request = async (path: string, body?: object): Promise<unknown> => {
    try {
      return await transport.request(path, body);
    } catch (error) {
      const isLost = statusOf(error) === undefined || error instanceof UnprovenError;
      if (isLost && connection !== undefined) {
        show({ connection: "offline" });
        connectAgain();
      }
      throw error;
    }
  };

  const show = (changed: Partial<ReviewView>): void => {
    const { waiting: pending, settled, calls } = state;
    const { connection: how = view.connection } = changed;
    view = { ...view, pending, settled, calls, ...changed, connected: how === "live" };
    for (const listener of listeners) listener();
  };

  return {
    get view(): ReviewView {
      return view;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    open() {
      if (connection !== undefined) return;
      const opened = new AbortController();
      connection = opened;
      connectAgain = connectToHub(
        transport,
        {
          snapshot(snapshot) {
            state = snapshot.state;
            show({ connection: "live", role: snapshot.role, by: snapshot.by });
          },
          event(event) {
            state = applyEvent(state, event);
            show({ events: [...view.events.slice(1 - MAX_EVENTS), event] });
          },
          connection: (changed) => show({ connection: changed }),
        },
        opened.signal,
      );
    },
    close() {
      connection?.abort();
      connection = undefined;
    },
    async answer(question, outcome, details = {}) {
      const digest = question.kind === "change" ? { digest: question.digest } : {};
      await request(`approvals/${encodeURIComponent(question.id)}`, {
        outcome,
        ...digest,
        ...details,
      });
    },
    rewind(to, { workspace, ...options } = {}) {
      const query = workspace === undefined ? "" : `?workspace=${encodeURIComponent(workspace)}`;
      return request(`rewind${query}`, { to, ...options });
    },
    load: (path) => request(path),
  };
}
