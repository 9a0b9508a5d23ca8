/** Keeps a connection with a hub: reads its state, follows its events, and does both again after an interruption. */
import type { ReviewEvent, ReviewSnapshot } from "./protocol.ts";
import { MissingEventsError } from "./state.ts";
import { UnprovenError } from "./proof/prover.ts";
import { type ReviewTransport, statusOf } from "./transport.ts";

/**
 * The state of a connection. `signed-out`: there is no login, or it has ended. `offline`: the hub cannot be reached, and
 * what is shown is that of the last connection. `foreign`: a program answers at the address that cannot prove that it is
 * the server; nothing was sent to it.
 */
export type ConnectionState = "connecting" | "live" | "offline" | "signed-out" | "foreign";

/** The reactions to a connection with a hub. */
export interface ConnectionListener {
  /** Called with the state of the hub when the connection begins, and when it begins again. The connection is live. */
  snapshot(snapshot: ReviewSnapshot): void;
  /** Called with each event after the state. @throws MissingEventsError to have the state read again */
  event(event: ReviewEvent): void;
  /** Called when the state of the connection may have changed. */
  connection(state: ConnectionState): void;
}

/** The time in milliseconds after which the state is read again where the hub was not reached. */
const RETRY_MS = 1000;
/** The status of a request without a login. */
const UNAUTHORIZED = 401;
/** The lowest status with which a server, or a proxy before it, says that it has failed. */
const SERVER_ERROR = 500;

function stateOfFailure(error: unknown): ConnectionState {
  const status = statusOf(error);
  if (status === UNAUTHORIZED) return "signed-out";
  return error instanceof UnprovenError && error.status < SERVER_ERROR ? "foreign" : "offline";
}

/**
 * Logs in and connects to a hub until `signal` is aborted. Without a login it says so and ends.
 *
 * @returns a function that connects again at once, for a request that got no answer
 */
export function connectToHub(
  transport: ReviewTransport,
  listener: ConnectionListener,
  signal?: AbortSignal,
): () => void {
  /** The number of the last attempt to connect. Earlier ones that are still under way do nothing. */
  let attempts = 0;
  let stopListening = (): void => {};
  let retry: ReturnType<typeof setTimeout> | undefined;

  const connect = async (): Promise<void> => {
    stopListening();
    clearTimeout(retry);
    if (signal?.aborted === true) return;
    attempts += 1;
    const attempt = attempts;
    const isOver = (): boolean => signal?.aborted === true || attempt !== attempts;
    const later = (): void => {
      clearTimeout(retry);
      retry = setTimeout(again, RETRY_MS);
    };
    try {
      const snapshot = (await transport.request("state")) as ReviewSnapshot;
      if (isOver()) return;
      listener.snapshot(snapshot);
      stopListening = transport.listen(snapshot.run, snapshot.state.seq, {
        event(event) {
          try {
            listener.event(event);
          } catch (error) {
            if (!(error instanceof MissingEventsError)) throw error;
            again();
          }
        },
        reset: again,
        back: () => listener.connection("live"),
        lost(isEnded) {
          if (isOver()) return;
          listener.connection("offline");
          if (isEnded) later();
        },
      });
    } catch (error) {
      if (isOver()) return;
      const failure = stateOfFailure(error);
      listener.connection(failure);
      if (failure !== "signed-out") later();
    }
  };
  const again = (): void => void connect();

  signal?.addEventListener(
    "abort",
    () => {
      clearTimeout(retry);
      stopListening();
    },
    { once: true },
  );
  transport
    .logIn()
    .catch(() => {}) // Without a login the next request is refused, and the listener hears of it.
    .finally(again);
  return again;
}
