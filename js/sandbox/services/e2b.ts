/**
 * The driver of E2B. It speaks the documented HTTP interface: JSON to make and delete sandboxes, and the Connect
 * protocol with JSON messages for the process service inside a sandbox.
 */
import { concatBytes } from "../../engine/wire/bytes.ts";
import {
  callback,
  choice,
  flag,
  integer,
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

/** How {@link e2bSandbox} is made. */
export interface E2bSandboxOptions {
  /** The key of the account. */
  readonly apiKey: string;
  /** The template of sandboxes. Default `base`. */
  readonly template?: string | undefined;
  /** The directory in which commands start. Default `/home/user`. */
  readonly directory?: string | undefined;
  /** With true, commands may use the network. Default false. */
  readonly network?: boolean | undefined;
  /** The time in seconds after which the service ends a sandbox in any case. Default 3,600. */
  readonly lifetimeSeconds?: number | undefined;
  /** The address of the interface for sandboxes. Default `https://api.e2b.app`. */
  readonly url?: string | undefined;
  /** The address of the interface inside sandboxes. Default `https://sandbox.e2b.app`. */
  readonly sandboxUrl?: string | undefined;
  /** The decision about parts of a policy that this sandbox cannot enforce. Default `refuse`. */
  readonly degrade?: "refuse" | "allow" | undefined;
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: SendRequest | undefined;
}

/**
 * The options of {@link e2bSandbox}.
 *
 * @printed
 */
export const E2B_SANDBOX_OPTIONS: Options<E2bSandboxOptions> = described("E2bSandboxOptions", {
  apiKey: required(text()),
  template: text(),
  directory: text(),
  network: flag(),
  lifetimeSeconds: integer(1),
  url: addressOption,
  sandboxUrl: addressOption,
  degrade: choice("refuse", "allow"),
  fetch: callback(),
});

const checkOptions = optionChecker("e2bSandbox", E2B_SANDBOX_OPTIONS);

const DEFAULT_LIFETIME_S = 3_600;
/** The port of the process service in every sandbox. */
const SERVICE_PORT = "49983";
/** How often the service sends something while a command is silent, in seconds, so that no proxy ends the answer. */
const KEEP_ALIVE_S = "50";
/** The bit of an envelope that ends the stream. */
const END_OF_STREAM = 2;
const ENVELOPE_HEAD_BYTES = 5;

interface E2bInstance {
  readonly id: string;
  readonly token: string | undefined;
}

/**
 * Creates a sandbox of E2B, in which the commands of a workspace run. It has files of its own, without those of the
 * workspace. Close it when the workspace is closed.
 *
 * @example
 * await using commands = await e2bSandbox({ apiKey: process.env.E2B_API_KEY });
 * const ws = await openWorkspace({ root: "/repo", commands });
 *
 * @throws FilewrightError SANDBOX_SETUP_FAILED where the service makes no sandbox, INVALID_ARGUMENT
 */
export async function e2bSandbox(given: E2bSandboxOptions): Promise<ServiceSandbox> {
  const options = checkOptions(given);
  return openService(e2bDriver(options), options.degrade);
}

function e2bDriver(options: E2bSandboxOptions): ServiceDriver<E2bInstance> {
  const { url = "https://api.e2b.app", sandboxUrl = "https://sandbox.e2b.app", network = false } = options;
  const { fetch: send = (to, init) => fetch(to, init), directory = "/home/user" } = options;
  const account = { "x-api-key": options.apiKey };
  return {
    tier: "e2b",
    network: network ? "none" : "enforced",
    directory,
    async create() {
      const response = await ask(send, `${url}/sandboxes`, {
        method: "POST",
        headers: { ...account, "content-type": "application/json" },
        body: JSON.stringify({
          templateID: options.template ?? "base",
          timeout: options.lifetimeSeconds ?? DEFAULT_LIFETIME_S,
          secure: true,
          allow_internet_access: network,
        }),
      });
      const { sandboxID, envdAccessToken: token } = await readObject(response);
      return { id: checkId(sandboxID), token: typeof token === "string" ? token : undefined };
    },
    async remove({ id }) {
      // A sandbox that is gone is what is wanted.
      const response = await send(`${url}/sandboxes/${id}`, { method: "DELETE", headers: account });
      await response.body?.cancel();
      if (!response.ok && response.status !== 404) throw new Error(`status ${response.status}`);
    },
    async run({ id, token }, command, signal) {
      const [cmd, ...args] = throughShell(command.argv);
      const process = { cmd, args, envs: command.env ?? {}, cwd: directory };
      const response = await ask(send, `${sandboxUrl}/process.Process/Start`, {
        method: "POST",
        headers: {
          "content-type": "application/connect+json",
          "connect-protocol-version": "1",
          "connect-timeout-ms": String(command.timeoutMs),
          "keepalive-ping-interval": KEEP_ALIVE_S,
          "e2b-sandbox-id": id,
          "e2b-sandbox-port": SERVICE_PORT,
          ...(token === undefined ? {} : { "x-access-token": token }),
        },
        body: envelopeOf(JSON.stringify({ process, stdin: false })),
        signal,
      });
      return readEvents(response, command);
    },
  };
}

function envelopeOf(json: string): Uint8Array<ArrayBuffer> {
  const message = new TextEncoder().encode(json);
  const envelope = new Uint8Array(ENVELOPE_HEAD_BYTES + message.length);
  new DataView(envelope.buffer).setUint32(1, message.length);
  envelope.set(message, ENVELOPE_HEAD_BYTES);
  return envelope;
}

/** Reads the events of a command until its end. @returns the exit code */
async function readEvents(response: Response, command: ServiceCommand): Promise<number> {
  for await (const { flags, json } of envelopesIn(response)) {
    const message = parseObject(json);
    if (message === undefined) throw garbled("e2b", "no JSON");
    if ((flags & END_OF_STREAM) !== 0) throw cutOff("e2b");
    const event = Object(message["event"]) as Readonly<Record<string, unknown>>;
    const { data, end } = event;
    if (typeof data === "object" && data !== null) {
      const { stdout, stderr } = data as Readonly<Record<string, unknown>>;
      const [out, err] = [bytesOfBase64(stdout ?? ""), bytesOfBase64(stderr ?? "")];
      if (out === undefined || err === undefined) throw garbled("e2b", "output that is not base64");
      command.stdout(out);
      command.stderr(err);
    } else if (typeof end === "object" && end !== null) {
      return exitCodeOf(end as Readonly<Record<string, unknown>>);
    } else if (!("start" in event || "keepalive" in event)) throw garbled("e2b", "an unknown event");
  }
  throw cutOff("e2b");
}

/**
 * Returns the exit code of an end event. JSON of protocol buffers leaves out a code of 0, so `exited` decides whether
 * there is one, and the text of the status has to agree.
 */
function exitCodeOf({ exitCode = 0, exited, status }: Readonly<Record<string, unknown>>): number {
  const isCode = Number.isSafeInteger(exitCode);
  if (exited !== true || !isCode) throw garbled("e2b", "an end without an exit code");
  const said = typeof status === "string" ? /^exit status (\d+)$/u.exec(status)?.[1] : undefined;
  if (said !== undefined && Number(said) !== exitCode) throw garbled("e2b", "two different exit codes");
  return exitCode as number;
}

async function* envelopesIn(response: Response): AsyncGenerator<{ flags: number; json: string }> {
  if (response.body === null) return;
  const decoder = new TextDecoder();
  let rest = new Uint8Array();
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    const joined = concatBytes([rest, chunk]);
    let start = 0;
    while (joined.length - start >= ENVELOPE_HEAD_BYTES) {
      const length = new DataView(joined.buffer, start + 1, 4).getUint32(0);
      const flags = joined[start] as number;
      if (length > MAX_MESSAGE_BYTES || (flags & ~END_OF_STREAM) !== 0) throw garbled("e2b", "no envelope");
      const end = start + ENVELOPE_HEAD_BYTES + length;
      if (end > joined.length) break;
      yield { flags, json: decoder.decode(joined.subarray(start + ENVELOPE_HEAD_BYTES, end)) };
      start = end;
    }
    rest = joined.slice(start);
  }
}
