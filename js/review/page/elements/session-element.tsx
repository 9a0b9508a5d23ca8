/** The elements that are connected to a hub. Each draws the whole page, and hides what it does not show. */
import { render } from "preact";
import type {
  FilewrightApprovalElement,
  FilewrightReviewElement,
  FilewrightTimelineElement,
} from "../../elements.ts";
import { type ReviewTransport, serverTransport } from "../../transport.ts";
import { type Cell, cell, useCell } from "../state/cell.ts";
import { listenToKeys } from "../keys/listen-keys.ts";
import { App } from "../screens/app.tsx";
import type { PageEffects } from "../screens/props.ts";
import { startSession } from "../session.ts";
import { FIRST_STATE, type PageState, type Screen } from "../state/store.ts";
import { BaseElement, shadowOf, takeEarlyProperties } from "./base.ts";

/** A running session of an element. */
interface Session {
  readonly ending: AbortController;
  readonly effects: PageEffects;
}

/** The session is started again in the next microtask when something has changed that it depends on. */
abstract class SessionElement extends BaseElement {
  static readonly observedAttributes: readonly string[] = ["src"];
  /** The part of the page that is shown. */
  abstract readonly shows: "all" | "question" | "timeline";
  readonly state: Cell<PageState> = cell<PageState>(FIRST_STATE);
  #transport: ReviewTransport | undefined;
  #server: { readonly src: string; readonly transport: ReviewTransport } | undefined;
  #session: Session | undefined;
  #shadow: ReturnType<typeof shadowOf> | undefined;
  #isDue = false;

  get src(): string {
    return this.getAttribute("src") ?? "";
  }
  set src(address: string) {
    this.setAttribute("src", address);
  }

  get transport(): ReviewTransport | undefined {
    return this.#transport;
  }
  set transport(transport: ReviewTransport | undefined) {
    if (transport === this.#transport) return;
    this.#transport = transport;
    this.#restartSoon();
  }

  connectedCallback(): void {
    takeEarlyProperties(this, ["src", "transport", "question"]);
    this.#restartSoon();
  }

  disconnectedCallback(): void {
    this.#restartSoon();
  }

  attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (name === "src" && before !== now) this.#restartSoon();
  }

  /** Called after each change of the state, while there is a session. */
  protected changed(_effects: PageEffects): void {}

  /** Returns the transport to `src`. It is created once, because it uses up the ticket in the address. */
  #ofServer(): ReviewTransport | undefined {
    const { src } = this;
    if (src === "") return undefined;
    if (this.#server?.src !== src) this.#server = { src, transport: serverTransport(src) };
    return this.#server.transport;
  }

  #restartSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.#end();
      const transport = this.#transport ?? this.#ofServer();
      if (this.isConnected && transport !== undefined) this.#begin(transport);
    });
  }

  #begin(transport: ReviewTransport): void {
    const { state, shows } = this;
    const screen: Screen = shows === "timeline" ? "timeline" : "review";
    state.value = { ...FIRST_STATE, screen };
    this.#shadow ??= shadowOf(this, `only-${shows}`);
    const { root, node } = this.#shadow;
    const ending = new AbortController();
    const effects = { ...startSession(state, transport, ending.signal), keyTarget: root };
    this.#session = { ending, effects };
    const View = () => <App state={useCell(state)} effects={effects} isEmbedded />;
    render(<View />, node);
    listenToKeys(root, state, effects, ending.signal);
    let { waiting, settled } = state.value.review;
    const stop = state.watch(({ review }) => {
      const known = { waiting, settled };
      ({ waiting, settled } = review);
      if (waiting !== known.waiting) this.#tell("waiting", waiting);
      for (const one of settled) if (!known.settled.includes(one)) this.#tell("settled", one);
      this.changed(effects);
    });
    ending.signal.addEventListener("abort", stop);
  }

  #end(): void {
    this.#session?.ending.abort();
    this.#session = undefined;
    if (this.#shadow !== undefined) render(null, this.#shadow.node);
  }

  #tell(type: string, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

/** `<filewright-review>`. */
export class FilewrightReview extends SessionElement implements FilewrightReviewElement {
  readonly shows = "all";
}

/** `<filewright-timeline>`. */
export class FilewrightTimeline extends SessionElement implements FilewrightTimelineElement {
  readonly shows = "timeline";
}

/** `<filewright-approval>`. */
export class FilewrightApproval extends SessionElement implements FilewrightApprovalElement {
  static override readonly observedAttributes: readonly string[] = ["src", "question"];
  readonly shows = "question";

  get question(): string {
    return this.getAttribute("question") ?? "";
  }
  set question(id: string) {
    this.setAttribute("question", id);
  }

  protected override changed({ dispatch }: PageEffects): void {
    const { question } = this;
    const { chosen, review } = this.state.value;
    if (question === "" || chosen === question || !review.waiting.some(({ id }) => id === question)) return;
    // Not in the listener of the state, because it changes the state.
    queueMicrotask(() => dispatch({ type: "choose", id: question, now: performance.now() }));
  }
}
