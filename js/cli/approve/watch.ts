/** `filewright approve --watch`: asks each question of a server as it comes, or prints it as a line of JSON. */
import { setTimeout } from "node:timers/promises";
import { FilewrightError } from "../../engine/errors.ts";
import { readAnyKey, withRawMode } from "../../hooks/terminal/keys.node.ts";
import { onFirstSignal } from "../../mcp/program.ts";
import { hasColours, type Shell } from "../person/style.ts";
import { printText } from "../streams.ts";
import { type AskingTerminal, askQuestion, type NextStep } from "./ask.ts";
import type { ApprovalServer, ServerEvent } from "./server.ts";
import { answeredElsewhere, WITHDRAWN_WORDS } from "./words.ts";

/** The time in milliseconds after which a lost connection is tried again. */
const RETRY_MS = 1000;
/** The time in milliseconds after which a failed request is tried again. It doubles with each further failure. */
const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 4000;

/** The functions that receive the events of a server. */
interface EventTarget {
  event(event: ServerEvent): void;
  /** Called when the connection is lost. It is tried again until the watch ends. */
  lost(): void;
}

/** Follows the events of a server until `signal` fires. @throws FilewrightError when the server refuses the token */
async function followEvents(
  server: ApprovalServer,
  { event, lost }: EventTarget,
  signal: AbortSignal,
): Promise<void> {
  let last: string | undefined;
  while (!signal.aborted) {
    try {
      for await (const named of server.events(last, signal)) {
        last = named.id ?? last;
        event(named.event);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof FilewrightError && error.code === "PERMISSION_DENIED") throw error;
    }
    if (signal.aborted) return;
    lost();
    await setTimeout(RETRY_MS, undefined, { signal }).catch(() => {});
  }
}

/**
 * Runs a function with a signal that fires when the person ends the command by Ctrl-C or the system does, or when the
 * function aborts it.
 */
async function untilInterrupted(
  { program }: Shell,
  run: (stop: AbortController) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const unhear = onFirstSignal(program, ["SIGINT", "SIGTERM"], () => stop.abort());
  try {
    await run(stop);
  } finally {
    unhear();
  }
}

/** Prints each question once, as a line of JSON, until the command is interrupted. */
export function printQuestions(server: ApprovalServer, shell: Shell): Promise<void> {
  return untilInterrupted(shell, ({ signal }) => printUntil(signal, server, shell));
}

async function printUntil(signal: AbortSignal, server: ApprovalServer, shell: Shell): Promise<void> {
  const printed = new Set<string>();
  let printing: Promise<void> = Promise.resolve();
  const print = async (id: string): Promise<void> => {
    const question = await server.question(id);
    if (question !== undefined) printText(shell, JSON.stringify(question));
  };
  const add = (id: string): void => {
    if (printed.has(id)) return;
    printed.add(id);
    printing = printing.then(() => print(id)).catch(() => void printed.delete(id));
  };
  await server.waiting();
  await followEvents(
    server,
    {
      event(event) {
        if (event.type === "state") for (const { id } of event.pending) add(id);
        else if (event.type === "asked") add(event.question.id);
      },
      lost: () => {},
    },
    signal,
  );
  await printing;
}

/** Asks each question at the terminal as it comes, until the person ends it. */
export async function watchAtTerminal(server: ApprovalServer, shell: Shell): Promise<void> {
  // A server that cannot be reached, or refuses the token, is an error at once.
  await server.waiting();
  await untilInterrupted(shell, (stop) => new Watch(server, shell, stop).run());
}

/** The questions that wait, and the one that is asked. */
class Watch {
  readonly #server: ApprovalServer;
  readonly #terminal: AskingTerminal;
  readonly #stop: AbortController;
  /** The ids of the questions that wait; the value is true when a file of the question has changed since it was asked. */
  readonly #waiting = new Map<string, boolean>();
  /** The ids of the questions that were shown. The bell rings only when a question is shown for the first time. */
  readonly #seen = new Set<string>();
  /** True from the end of the stream of events until it begins again. No question is asked in that time. */
  #isStreamLost = false;
  /**
   * Present from the failure of a request until one succeeds. Questions are asked again when `isDue`, although the
   * stream of events may not have been interrupted.
   */
  #failure: { readonly count: number; isDue: boolean } | undefined;
  /** The question that is asked now, with the controllers that report its end and a change of its files. */
  #asked:
    | { readonly id: string; readonly ended: AbortController; readonly stale: AbortController }
    | undefined;
  /** Is aborted and replaced at each event, so that {@link #idle} stops waiting for a key. */
  #changed = new AbortController();

  constructor(server: ApprovalServer, shell: Shell, stop: AbortController) {
    const { stdin, stdout, env } = shell.program;
    this.#server = server;
    this.#stop = stop;
    this.#terminal = {
      input: stdin,
      output: stdout,
      env,
      colour: hasColours(shell),
      server,
      shownParts: new Map(),
    };
  }

  async run(): Promise<void> {
    this.#say(`Waiting for questions of ${this.#server.origin}; ? lists the keys, q ends.`);
    const { signal } = this.#stop;
    let failure: unknown;
    const following = followEvents(
      this.#server,
      { event: (event) => this.#apply(event), lost: () => this.#lose() },
      signal,
    ).catch((error: unknown) => {
      failure = error;
      this.#stop.abort();
    });
    signal.addEventListener("abort", () => {
      this.#asked?.ended.abort(new QuestionEnd(""));
      this.#changed.abort();
    });
    try {
      // Raw mode is on during the whole watch, not only while a key is read: otherwise the terminal would hold keys that
      // are typed in between until the end of a line.
      await withRawMode(this.#terminal.input, () => this.#askAll(signal));
    } finally {
      this.#stop.abort();
      await following;
    }
    if (failure !== undefined) throw failure;
  }

  async #askAll(signal: AbortSignal): Promise<void> {
    let last: string | undefined;
    let step: NextStep = "next";
    while (!signal.aborted && step !== "quit") {
      const canAsk: boolean = !this.#isStreamLost && this.#failure?.isDue !== false;
      const id: string | undefined = canAsk ? this.#neighbour(last, step) : undefined;
      // When nothing waits any more, nothing is left to try again.
      if (canAsk && id === undefined) this.#connect({ failure: undefined });
      if (id === undefined) step = await this.#idle();
      else {
        step = await this.#ask(id);
        last = id;
      }
    }
  }

  #say(line: string): void {
    this.#terminal.output.write(`${line}\n`);
  }

  /**
   * The ids of all questions, the oldest first. An id stays after the question has ended, so that the next and the
   * previous question can be found from there.
   */
  readonly #order: string[] = [];

  /** Returns the waiting question after or before `last`, which may be `last` itself; undefined when none waits. */
  #neighbour(last: string | undefined, step: NextStep): string | undefined {
    const order = this.#order;
    const by = step === "previous" ? -1 : 1;
    const from = last === undefined ? -by : order.indexOf(last);
    for (let moves = 1; moves <= order.length; moves++) {
      const at = (((from + by * moves) % order.length) + order.length) % order.length;
      const id = order[at] as string;
      if (this.#waiting.has(id)) return id;
    }
    return undefined;
  }

  /** Waits until an event arrives or the person ends the watch by a key. */
  async #idle(): Promise<NextStep> {
    const { signal } = this.#changed;
    try {
      for (;;) {
        const key = await readAnyKey(this.#terminal.input, signal);
        if (key === undefined || key === "q" || key === "\u0003" || key === "\u0004") return "quit";
        if (key === "?") this.#say("Nothing waits. q ends; the keys are listed with a question.");
      }
    } catch (error) {
      if (!signal.aborted) throw error;
      return "next";
    }
  }

  async #ask(id: string): Promise<NextStep> {
    const asked = { id, ended: new AbortController(), stale: new AbortController() };
    this.#asked = asked;
    try {
      const question = await this.#server.question(id);
      const changes = question && (await this.#server.changes(question));
      this.#connect({ failure: undefined });
      if (question === undefined || changes === undefined) {
        this.#waiting.delete(id);
        return "next";
      }
      if (this.#waiting.get(id) === true) asked.stale.abort();
      // Rings the terminal's bell for a person who looks at another window.
      if (!this.#seen.has(id)) this.#terminal.output.write("\u0007");
      this.#seen.add(id);
      const { ended, stale } = asked;
      const step = await askQuestion(
        { question, changes, ended: ended.signal, stale: stale.signal },
        this.#terminal,
      );
      // The event of the answer may come after the next question is chosen.
      if (step === "ended") this.#waiting.delete(id);
      return step;
    } catch (error) {
      if (error instanceof QuestionEnd) {
        if (error.message !== "") this.#say(`\n${error.message}`);
      } else if (error instanceof FilewrightError && error.code === "IO_ERROR") {
        const { reason }: { reason: unknown } = asked.ended.signal;
        // The events may have ended the question while it was requested; then the reason has not been printed yet.
        if (reason instanceof QuestionEnd && reason.message !== "") this.#say(reason.message);
        this.#asked = undefined;
        this.#fail();
      } else if (error instanceof FilewrightError) {
        // This question cannot be read, such as one that is too large to reach the page of another process.
        this.#waiting.delete(id);
        this.#say(error.message);
      } else throw error;
      return "next";
    } finally {
      this.#asked = undefined;
    }
  }

  #lose(): void {
    this.#connect({ isStreamLost: true });
  }

  /** Notes that a request has failed, and tries again after a while. */
  #fail(): void {
    const failure = { count: (this.#failure?.count ?? 0) + 1, isDue: false };
    this.#connect({ failure });
    const backoff = Math.min(FIRST_BACKOFF_MS * 2 ** (failure.count - 1), MAX_BACKOFF_MS);
    void setTimeout(backoff, undefined, { signal: this.#stop.signal })
      .then(() => {
        failure.isDue = true;
        this.#wake();
      })
      .catch(() => {});
  }

  /** Notes what is known of the connection, and says when it is lost and when it is back. */
  #connect({
    isStreamLost = this.#isStreamLost,
    ...rest
  }: {
    readonly isStreamLost?: boolean;
    readonly failure?: { readonly count: number; isDue: boolean } | undefined;
  }): void {
    const failure = "failure" in rest ? rest.failure : this.#failure;
    const wasLost = this.#isStreamLost || this.#failure !== undefined;
    const isLost = isStreamLost || failure !== undefined;
    this.#isStreamLost = isStreamLost;
    this.#failure = failure;
    if (wasLost === isLost) return;
    if (!isLost) {
      this.#say("The connection is back.");
      return;
    }
    const told = `The connection to ${this.#server.origin} is lost: nothing can be answered until it is back.`;
    const { ended } = this.#asked ?? {};
    if (ended === undefined || ended.signal.aborted) this.#say(told);
    else ended.abort(new QuestionEnd(told));
  }

  /** Ends the wait of {@link #idle}. */
  #wake(): void {
    this.#changed.abort();
    this.#changed = new AbortController();
  }

  #apply(event: ServerEvent): void {
    this.#connect({ isStreamLost: false });
    const asked = this.#asked;
    switch (event.type) {
      case "state":
        this.#waiting.clear();
        for (const { id, stale = false } of event.pending) this.#add(id, stale);
        if (asked !== undefined && !this.#waiting.has(asked.id))
          asked.ended.abort(new QuestionEnd(WITHDRAWN_WORDS));
        break;
      case "asked":
        this.#add(event.question.id, false);
        break;
      case "stale":
        this.#waiting.set(event.id, true);
        if (asked?.id === event.id) asked.stale.abort();
        break;
      case "answered":
      case "withdrawn": {
        this.#waiting.delete(event.id);
        const told = event.type === "answered" ? answeredElsewhere(event.outcome, event.by) : WITHDRAWN_WORDS;
        if (asked?.id === event.id) asked.ended.abort(new QuestionEnd(told));
        break;
      }
    }
    this.#wake();
  }

  #add(id: string, isStale: boolean): void {
    if (!this.#order.includes(id)) this.#order.push(id);
    this.#waiting.set(id, isStale);
  }
}

/** The reason with which a question is aborted. Its message is printed unless it is empty. */
class QuestionEnd extends Error {}
