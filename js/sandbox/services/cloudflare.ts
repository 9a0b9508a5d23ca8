/**
 * The driver of Cloudflare Sandboxes. It speaks the documented HTTP interface of the sandbox bridge, a worker that runs
 * in the account of its user: JSON, and the output of a command as server-sent events.
 */
import {
  callback,
  choice,
  optionChecker,
  type Options,
  options as described,
  required,
  text,
} from "../../schema/option.ts";
import {
  addressOption,
  ask,
  bytesOfBase64,
  checkId,
  cutOff,
  garbled,
  MAX_MESSAGE_BYTES,
  openService,
  parseObject,
  readObject,
  type SendRequest,
  type ServiceCommand,
  type ServiceDriver,
  type ServiceSandbox,
  throughShell,
} from "./service.ts";

/** How {@link cloudflareSandbox} is made. */
export interface CloudflareSandboxOptions {
  /** The address of the bridge, such as `https://sandbox-bridge.example.workers.dev`. */
  readonly url: string;
  /** The bridge's secret `SANDBOX_API_KEY`. */
  readonly apiKey: string;
  /** The directory in which commands start, in `/workspace`. Default `/workspace`. */
  readonly directory?: string | undefined;
  /** The decision about parts of a policy that this sandbox cannot enforce. Default `refuse`. */
  readonly degrade?: "refuse" | "allow" | undefined;
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: SendRequest | undefined;
}

/**
 * The options of {@link cloudflareSandbox}.
 *
 * @printed
 */
export const CLOUDFLARE_SANDBOX_OPTIONS: Options<CloudflareSandboxOptions> = described(
  "CloudflareSandboxOptions",
  {
    url: required(addressOption),
    apiKey: required(text()),
    directory: text(),
    degrade: choice("refuse", "allow"),
    fetch: callback(),
  },
);

const checkOptions = optionChecker("cloudflareSandbox", CLOUDFLARE_SANDBOX_OPTIONS);

/**
 * Creates a sandbox behind a bridge of Cloudflare, in which the commands of a workspace run. It has files of its own,
 * without those of the workspace, and the bridge cannot keep it off the network. Close it when the workspace is closed.
 *
 * @example
 * await using commands = await cloudflareSandbox({ url: "https://bridge.example.workers.dev", apiKey });
 * const ws = await openWorkspace({ root: "/repo", commands });
 *
 * @throws FilewrightError SANDBOX_SETUP_FAILED where the bridge makes no sandbox, INVALID_ARGUMENT
 */
export async function cloudflareSandbox(given: CloudflareSandboxOptions): Promise<ServiceSandbox> {
  const options = checkOptions(given);
  return openService(cloudflareDriver(options), options.degrade);
}

function cloudflareDriver(options: CloudflareSandboxOptions): ServiceDriver<string> {
  const { fetch: send = (to, init) => fetch(to, init), directory = "/workspace" } = options;
  const base = `${options.url.replace(/\/+$/u, "")}/v1/sandbox`;
  const headers = { authorization: `Bearer ${options.apiKey}`, "content-type": "application/json" };
  return {
    tier: "cloudflare",
    network: "none",
    directory,
    async create() {
      const { id } = await readObject(await ask(send, base, { method: "POST", headers }));
      return checkId(id);
    },
    async remove(id) {
      // A sandbox that is gone is what is wanted.
      const response = await send(`${base}/${id}`, { method: "DELETE", headers });
      await response.body?.cancel();
      if (!response.ok && response.status !== 404) throw new Error(`status ${response.status}`);
    },
    async run(id, command, signal) {
      const variables = Object.entries(command.env ?? {}).map(([name, value]) => `${name}=${value}`);
      const argv = throughShell(command.argv);
      const response = await ask(send, `${base}/${id}/exec`, {
        method: "POST",
        headers: { ...headers, accept: "text/event-stream" },
        body: JSON.stringify({
          argv: variables.length === 0 ? argv : ["/usr/bin/env", ...variables, ...argv],
          timeout_ms: command.timeoutMs,
          cwd: directory,
        }),
        signal,
      });
      return readEvents(response, command);
    },
  };
}

/** Reads the events of a command until its end. @returns the exit code */
async function readEvents(response: Response, command: ServiceCommand): Promise<number> {
  for await (const { event, data } of eventsIn(response)) {
    if (event === "stdout" || event === "stderr") {
      const bytes = bytesOfBase64(data);
      if (bytes === undefined) throw garbled("cloudflare", "output that is not base64");
      command[event](bytes);
    } else if (event === "exit") {
      const code = parseObject(data)?.["exit_code"];
      if (!Number.isSafeInteger(code)) throw garbled("cloudflare", "an end without an exit code");
      return code as number;
    } else if (event === "error") throw cutOff("cloudflare");
    else throw garbled("cloudflare", "an unknown event");
  }
  throw cutOff("cloudflare");
}

/** Reads server-sent events. Comments, and events without data, are left out. */
async function* eventsIn(response: Response): AsyncGenerator<{ event: string; data: string }> {
  if (response.body === null) return;
  const decoder = new TextDecoder();
  // Pieces of a line that is not whole yet: joining them with every chunk would take quadratic time.
  let pieces: string[] = [];
  let size = 0;
  let event = "message";
  let data: string[] = [];
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    const piece = decoder.decode(chunk, { stream: true });
    pieces.push(piece);
    size += piece.length;
    if (size > MAX_MESSAGE_BYTES) throw garbled("cloudflare", "a line without an end");
    if (!/[\r\n]/u.test(piece)) continue;
    const lines = pieces.join("").split(/\r\n|\n|\r(?!$)/u);
    const rest = lines.pop() ?? "";
    pieces = [rest];
    size = rest.length;
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0) yield { event, data: data.join("\n") };
        [event, data] = ["message", []];
        continue;
      }
      const [, name, value = ""] = /^([^:]*)(?:: ?(.*))?$/su.exec(line) ?? [];
      if (name === "event") event = value;
      if (name === "data") data.push(value);
    }
  }
}
