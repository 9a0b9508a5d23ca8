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
    : (run, seq, listener) => {
        const tab = new Tab(apis, namesOf(name, run), {
          open: (after) => open(run, after, tab),
          seq,
          listener,
        });
        tab.join();
        return () => tab.leave();
      };
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

/** The stream that a tab joins. */
interface JoinedStream {
  /** Reads the stream after the event with the number `seq`. Returns a function that ends it. */
  readonly open: (seq: number) => () => void;
  /** The number of the last event that the tab has. */
  readonly seq: number;
  readonly listener: StreamListener;
}

/** A tab: it listens to the tab that reads the stream, or reads it itself and tells the others. */
class Tab implements StreamListener {
  readonly #locks: LockManager;
  readonly #channel: BroadcastChannel;
  readonly #lock: string;
  readonly #stream: JoinedStream;
  readonly #leaving = new AbortController();
  readonly #kept: ReviewEvent[] = [];
  /** The number of the last event that the tab has. */
  #last: number;
  #isReader = false;
  #isLost = false;
  #closeStream = (): void => {};

  constructor({ locks, Channel }: SharingApis, { channel, lock }: StreamNames, stream: JoinedStream) {
    this.#locks = locks;
    this.#channel = new Channel(channel);
    this.#lock = lock;
    this.#stream = stream;
    this.#last = stream.seq;
  }

  /** Begins to listen, and waits for the turn of this tab to read. */
  join(): void {
    const { signal } = this.#leaving;
    this.#channel.onmessage = ({ data }: MessageEvent) => this.#receive(data as TabMessage);
    // Events may have come between the state that this tab has read and now.
    this.#post({ type: "wants", seq: this.#last });
    this.#locks
      .request(this.#lock, { signal }, () => {
        if (signal.aborted) return undefined;
        this.#isReader = true;
        this.#post({ type: "reading", seq: this.#last });
        this.#closeStream = this.#stream.open(this.#last);
        return new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
      })
      // The tab has left before it was its turn.
      .catch(() => {});
  }

  leave(): void {
    if (this.#leaving.signal.aborted) return;
    this.#closeStream();
    this.#leaving.abort();
    this.#channel.close();
  }

  /** An event of the stream that this tab reads. */
  event(event: ReviewEvent): void {
    this.#post({ type: "events", events: [event] });
    this.#take(event);
  }

  reset(): void {
    this.#post({ type: "reset" });
    this.#stream.listener.reset();
  }

  lost(isEnded: boolean): void {
    this.#isLost = true;
    this.#post({ type: "lost" });
    this.#stream.listener.lost(isEnded);
  }

  back(): void {
    this.#isLost = false;
    this.#post({ type: "back" });
    this.#stream.listener.back();
  }

  #post(message: TabMessage): void {
    if (!this.#leaving.signal.aborted) this.#channel.postMessage(message);
  }

  #take(event: ReviewEvent): void {
    if (event.seq <= this.#last || this.#leaving.signal.aborted) return;
    this.#last = event.seq;
    const kept = this.#kept;
    kept.push(event);
    if (kept.length > MAX_KEPT_EVENTS * 1.25) kept.splice(0, kept.length - MAX_KEPT_EVENTS);
    this.#stream.listener.event(event);
  }

  #takeAll(events: readonly ReviewEvent[]): void {
    for (const event of events) {
      if (event.seq > this.#last + 1) {
        this.#post({ type: "wants", seq: this.#last });
        return;
      }
      this.#take(event);
    }
  }

  /** Tells another tab the events after the number `seq`. */
  #supply(seq: number): void {
    if (this.#isLost) this.#post({ type: "lost" });
    if (seq >= this.#last) return;
    const events = this.#kept.filter((event) => event.seq > seq);
    if (events[0]?.seq === seq + 1) this.#post({ type: "events", events });
    else this.#post({ type: "forgotten", seq });
  }

  #receive(message: TabMessage): void {
    if (this.#leaving.signal.aborted) return;
    if (message.type === "wants") {
      if (this.#isReader) this.#supply(message.seq);
    } else if (!this.#isReader) this.#follow(message);
  }

  /** Does what the tab says that reads the stream. */
  #follow(message: Exclude<TabMessage, { readonly type: "wants" }>): void {
    const { listener } = this.#stream;
    if (message.type === "events") this.#takeAll(message.events);
    else if (message.type === "reading") {
      if (message.seq > this.#last) this.#post({ type: "wants", seq: this.#last });
    } else if (message.type === "forgotten") {
      if (message.seq === this.#last) listener.reset();
    } else if (message.type === "reset") listener.reset();
    else if (message.type === "lost") listener.lost(false);
    else listener.back();
  }
}
