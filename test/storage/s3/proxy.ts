/**
 * A proxy before a real S3 server, on loopback: it counts round trips and makes faults. It is a mock of faults alone;
 * whatever it does not spoil is answered by the server behind it.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as the proxy sees it. */
interface SeenRequest {
  readonly method: string;
  readonly key: string;
  /** When it arrived and when it was answered, in milliseconds. */
  readonly begin: number;
  end: number;
}

/** What the proxy does to a request. Without anything it is passed on. */
interface Fault {
  /** Answers with this status instead of asking the server. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Cuts the connection: before the server is asked, or after it has answered. */
  readonly cut?: "before" | "after";
  /** Answers with this after the server has done what was asked. */
  readonly spoil?: { readonly status: number } | { readonly body: (body: Buffer) => Buffer };
  /** Does not answer at all. */
  readonly hang?: true;
  /** Takes these headers out of the request. */
  readonly drop?: readonly string[];
}

/** Decides about a request; undefined passes it on. */
type FaultRule = (
  seen: SeenRequest,
  message: IncomingMessage,
) => Fault | undefined | Promise<Fault | undefined>;

/** An answer of the server behind. */
interface ServerAnswer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** A running proxy. */
export interface FaultProxy {
  readonly endpoint: string;
  /** The requests since the last `reset`. */
  readonly seen: readonly SeenRequest[];
  /** Sets the rule of all later requests. */
  rule: FaultRule | undefined;
  /** Is told each answer of the server. */
  onAnswer: ((seen: SeenRequest, answer: ServerAnswer) => void) | undefined;
  /** Forgets the requests so far. */
  reset(): void;
  /** The number of round trips since the last `reset`: how often requests that were sent together were passed on. */
  trips(): number;
  stop(): Promise<void>;
}

/**
 * How long no further request may come before those under way are passed on, in milliseconds. Requests that are sent
 * together are passed on together, also on a busy machine.
 */
const QUIET_MS = 100;
/** How late the end of that time may be noticed. */
const MAX_LATE_MS = 20;

/** Holds requests until no further one comes, and counts how often it let some through. */
class Gate {
  trips = 0;
  #waiting: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  pass(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#wait();
    });
  }

  #wait(): void {
    clearTimeout(this.#timer);
    const due = performance.now() + QUIET_MS;
    this.#timer = setTimeout(() => {
      // The event loop was busy with something else, so requests may be there that it has not seen.
      if (performance.now() > due + MAX_LATE_MS) return this.#wait();
      this.trips += 1;
      for (const go of this.#waiting.splice(0)) go();
    }, QUIET_MS);
  }
}

/** Starts a proxy before a server. */
export async function startProxy(target: string, gate?: Gate): Promise<FaultProxy> {
  const { hostname, port } = new URL(target);
  let seen: SeenRequest[] = [];
  const proxy: Pick<FaultProxy, "rule" | "onAnswer"> = { rule: undefined, onAnswer: undefined };

  const handle = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "", url = "" } = message;
    const one: SeenRequest = {
      method,
      key: decodeURIComponent(url),
      begin: performance.now(),
      end: Number.POSITIVE_INFINITY,
    };
    seen.push(one);
    const pieces: Buffer[] = [];
    for await (const piece of message) pieces.push(piece as Buffer);
    await gate?.pass();
    const fault = (await proxy.rule?.(one, message)) ?? {};
    const done = (): void => {
      one.end = performance.now();
    };
    if (fault.hang) return;
    if (fault.cut === "before") {
      message.socket.destroy();
      return done();
    }
    if (fault.status !== undefined) {
      response.writeHead(fault.status, { ...fault.headers }).end(fault.body ?? "");
      return done();
    }
    const headers = { ...message.headers };
    for (const name of fault.drop ?? []) delete headers[name];
    const answer = await new Promise<ServerAnswer>((resolve, reject) => {
      const sent = request({ hostname, port, method, path: url, headers }, (reply) => {
        const parts: Buffer[] = [];
        reply.on("data", (part: Buffer) => parts.push(part));
        reply.on("end", () =>
          resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: Buffer.concat(parts) }),
        );
        reply.on("error", reject);
      });
      sent.on("error", reject);
      sent.end(Buffer.concat(pieces));
    });
    proxy.onAnswer?.(one, answer);
    if (fault.cut === "after") {
      message.socket.destroy();
      return done();
    }
    const { spoil } = fault;
    if (spoil !== undefined && "status" in spoil) {
      response.writeHead(spoil.status).end();
      return done();
    }
    const body = spoil === undefined ? answer.body : spoil.body(answer.body);
    const { "transfer-encoding": _, ...kept } = answer.headers;
    const length = method === "HEAD" || spoil === undefined ? {} : { "content-length": body.length };
    response.writeHead(answer.status, { ...kept, ...length });
    response.end(method === "HEAD" ? undefined : body);
    done();
  };

  const server = createServer((message, response) => {
    handle(message, response).catch(() => message.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get seen() {
      return seen;
    },
    get rule() {
      return proxy.rule;
    },
    set rule(rule) {
      proxy.rule = rule;
    },
    get onAnswer() {
      return proxy.onAnswer;
    },
    set onAnswer(told) {
      proxy.onAnswer = told;
    },
    reset() {
      seen = [];
      if (gate !== undefined) gate.trips = 0;
    },
    trips() {
      if (gate === undefined) throw new Error("only the proxy of startCounter counts round trips");
      return gate.trips;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Starts a proxy that counts round trips. */
export const startCounter = (target: string): Promise<FaultProxy> => startProxy(target, new Gate());
