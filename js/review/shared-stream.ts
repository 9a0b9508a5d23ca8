/**
 * One stream of events for all tabs of a browser, which has few connections to a server. The tab that holds a lock of
 * the browser reads the stream, and passes each event on through a channel. When it is closed, the browser gives the
 * lock to another tab, which continues after the last event that it has seen.
 */
import type { ReviewEvent } from "./protocol.ts";

/** The reactions of a page to its stream of events. */
export interface StreamListener {
  /** Called with each event. */
  event(event: ReviewEvent): void;
  /** The stream cannot continue: the page must read the state again. */
  reset(): void;
  /** The connection is lost. The transport tries again by itself unless `isEnded`. */
  lost(isEnded: boolean): void;
  /** The connection is there again. */
  back(): void;
}

/** Opens a stream of the events after the one with the number `seq`. Returns a function that ends it. */
export type OpenStream = (run: string, seq: number, listener: StreamListener) => () => void;

/** A message between tabs. */
type TabMessage =
  | { readonly type: "events"; readonly events: readonly ReviewEvent[] }
  /** A tab has begun to read the stream after the event with the number `seq`. */
  | { readonly type: "reading"; readonly seq: number }
  /** A tab has all events up to the number `seq`, and wants the later ones. */
  | { readonly type: "wants"; readonly seq: number }
  /** The reader has not kept the event after the one with the number `seq`. */
  | { readonly type: "forgotten"; readonly seq: number }
  | { readonly type: "reset" | "lost" | "back" };

/** The number of events that each tab keeps for tabs that come later. */
const MAX_KEPT_EVENTS = 1000;

/** The number of characters of a run that the name of a lock has. */
const SHOWN_RUN_LENGTH = 8;

/** The parts of a browser by which tabs share a stream. */
interface SharingApis {
  readonly locks: LockManager;
  readonly Channel: typeof BroadcastChannel;
}

/**
 * Returns a function that opens a stream which all tabs of this browser share under `name`; `open` itself where the
 * browser has no locks or no channels.
 */
export function shareStream(name: string, open: OpenStream): OpenStream {
  const apis = sharingApis();
  return apis === undefined
    ? open
    : (run, seq, listener) => joinStream(apis, namesOf(name, run), open, { run, seq, listener });
}

/** The names by which tabs share a stream. */
interface StreamNames {
  readonly channel: string;
  readonly lock: string;
}

/**
 * Returns the names for a run. A run is known to tabs with a login alone, so a page that another program has served at
 * this address cannot name the channel. The browser tells every page of the address the names of locks: that of ours
 * has only a part of the run.
 */
function namesOf(name: string, run: string): StreamNames {
  return { channel: `${name} ${run}`, lock: `${name} ${run.slice(0, SHOWN_RUN_LENGTH)}` };
}

function sharingApis(): SharingApis | undefined {
  const locks = (globalThis.navigator as Navigator | undefined)?.locks;
  const Channel = globalThis.BroadcastChannel as typeof BroadcastChannel | undefined;
  return locks === undefined || Channel === undefined ? undefined : { locks, Channel };
}

function joinStream(
  { locks, Channel }: SharingApis,
  names: StreamNames,
  open: OpenStream,
  { run, seq, listener }: { readonly run: string; readonly seq: number; readonly listener: StreamListener },
): () => void {
  const channel = new Channel(names.channel);
  const leaving = new AbortController();
  const kept: ReviewEvent[] = [];
  let last = seq;
  let isReader = false;
  let isLost = false;
  let closeStream = (): void => {};
  const post = (message: TabMessage): void => {
    if (!leaving.signal.aborted) channel.postMessage(message);
  };

  const take = (event: ReviewEvent): void => {
    if (event.seq <= last || leaving.signal.aborted) return;
    last = event.seq;
    kept.push(event);
    if (kept.length > MAX_KEPT_EVENTS * 1.25) kept.splice(0, kept.length - MAX_KEPT_EVENTS);
    listener.event(event);
  };
  const takeAll = (events: readonly ReviewEvent[]): void => {
    for (const event of events) {
      if (event.seq > last + 1) {
        post({ type: "wants", seq: last });
        return;
      }
      take(event);
    }
  };
  const supply = (after: number): void => {
    if (isLost) post({ type: "lost" });
    if (after >= last) return;
    const events = kept.filter((event) => event.seq > after);
    if (events[0]?.seq === after + 1) post({ type: "events", events });
    else post({ type: "forgotten", seq: after });
  };

  channel.onmessage = ({ data }: MessageEvent) => {
    const message = data as TabMessage;
    if (leaving.signal.aborted) return;
    if (message.type === "wants") {
      if (isReader) supply(message.seq);
      return;
    }
    if (isReader) return;
    if (message.type === "events") takeAll(message.events);
    else if (message.type === "reading") {
      if (message.seq > last) post({ type: "wants", seq: last });
    } else if (message.type === "forgotten") {
      if (message.seq === last) listener.reset();
    } else if (message.type === "reset") listener.reset();
    else if (message.type === "lost") listener.lost(false);
    else listener.back();
  };

  const read = (): void => {
    isReader = true;
    post({ type: "reading", seq: last });
    closeStream = open(run, last, {
      event(event) {
        post({ type: "events", events: [event] });
        take(event);
      },
      reset() {
        post({ type: "reset" });
        listener.reset();
      },
      lost(isEnded) {
        isLost = true;
        post({ type: "lost" });
        listener.lost(isEnded);
      },
      back() {
        isLost = false;
        post({ type: "back" });
        listener.back();
      },
    });
  };

  // Events may have come between the state that this tab has read and now.
  post({ type: "wants", seq });
  locks
    .request(names.lock, { signal: leaving.signal }, () => {
      if (leaving.signal.aborted) return undefined;
      read();
      return new Promise<void>((resolve) => {
        leaving.signal.addEventListener("abort", () => resolve(), { once: true });
      });
    })
    // The tab has left before it was its turn.
    .catch(() => {});
  return () => {
    if (leaving.signal.aborted) return;
    closeStream();
    leaving.abort();
    channel.close();
  };
}
