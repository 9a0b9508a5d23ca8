/** A proxy before the server of a page, which cuts connections as a network does. */
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { ReviewPage } from "../../js/review/index.node.ts";

/** What the proxy does with an answer of a person: `drop` does not pass it on, `cut` loses what the server says to it. */
type Cut = "none" | "drop" | "cut" | "cut-all";

/** A running proxy. */
export interface CuttingProxy extends AsyncDisposable {
  /** Returns an address of the page as it is reached through the proxy. */
  through(address: string): string;
  /** What happens to answers. `cut-all` also ends every other connection, and refuses new ones. */
  cut: Cut;
  /** The number of answers that were passed on. */
  readonly answers: number;
  /** Passes everything on to another server from now on. */
  moveTo(page: Pick<ReviewPage, "url">): void;
}

/** Starts a proxy before a page. */
export async function openProxy(page: Pick<ReviewPage, "url">): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let upstream = new URL(page.url);
  let answers = 0;
  const state = { cut: "none" as Cut };

  const pass = (from: IncomingMessage, to: ServerResponse): void => {
    const isAnswer = from.method === "POST" && (from.url ?? "").startsWith("/review/approvals/");
    if (isAnswer && state.cut === "drop") return void from.socket.destroy();
    if (isAnswer) answers += 1;
    const { host, origin } = upstream;
    const headers = { ...from.headers, host };
    if (headers.origin !== undefined) headers.origin = origin;
    const { method, url: path } = from;
    const passed = request(new URL(path ?? "/", origin), { method, headers }, (answer) => {
      if (isAnswer && state.cut !== "none") {
        answer.resume();
        if (state.cut === "cut-all") for (const socket of sockets) socket.destroy();
        else from.socket.destroy();
        return;
      }
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      // From the moment of the cut on, streams that are open are silent: an event says as much as an answer.
      answer.on("data", (chunk) => void (state.cut !== "cut-all" && to.write(chunk)));
      answer.on("end", () => to.end());
      answer.on("error", () => to.destroy());
    });
    passed.on("error", () => to.destroy());
    to.on("close", () => passed.destroy());
    from.pipe(passed);
  };

  const server = createServer(pass);
  server.on("connection", (socket) => {
    // What is refused is not answered at all, as from a machine that is gone.
    if (state.cut === "cut-all" && answers > 0) return void socket.destroy();
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    return undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const own = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    through(address) {
      const url = new URL(address);
      url.host = own;
      return url.href;
    },
    get cut() {
      return state.cut;
    },
    set cut(cut) {
      state.cut = cut;
    },
    get answers() {
      return answers;
    },
    moveTo(next) {
      upstream = new URL(next.url);
      for (const socket of sockets) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
