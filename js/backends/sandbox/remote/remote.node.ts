/**
 * A sandbox on another machine: commands run there by `filewright serve`, in the sandbox of its workspace. Both machines
 * must have the same files at the same paths, on a shared disk; that is tried before the first command.
 */
import { randomUUID } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkSignal } from "../../failure.ts";
import { isWithin, literalGlob } from "../../paths.ts";
import { realPathOrNone } from "../sandbox-places.node.ts";
import type {
  CommandPolicy,
  SandboxCommand,
  SandboxOutcome,
  SandboxProvider,
  SandboxStatus,
} from "../sandbox.ts";
import { FilewrightError, isCode, makeError } from "../../../engine/errors.ts";
import {
  callback,
  choice,
  type OptionalOption,
  optionChecker,
  optionReader,
  type Options,
  options as described,
  required,
  text,
} from "../../../schema/option.ts";
import { SANDBOX_PATH, SANDBOX_PROTOCOL } from "./address.ts";
import {
  type NarrowedPolicy,
  SAME_FILE_PREFIX,
  SANDBOX_OFFER,
  SANDBOX_OUTCOME,
  type SandboxOffer,
} from "./protocol.ts";

/** Sends requests: the global `fetch`, or a function of the host. */
export type SendRequest = (url: string, init: RequestInit) => Promise<Response>;

/** How {@link remoteSandbox} is made. */
export interface RemoteSandboxOptions {
  /** The address of `filewright serve`, with or without `/mcp`. */
  readonly url: string;
  /** The token of its clients. Default: none. */
  readonly token?: string | undefined;
  /**
   * The directory that both machines have on a shared disk, at this absolute path. It must be the server's first
   * directory.
   */
  readonly root: string;
  /** The decision about parts of a policy that this sandbox cannot enforce. Default `refuse`. */
  readonly degrade?: "refuse" | "allow" | undefined;
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: SendRequest | undefined;
}

const addressOption: OptionalOption<string> = text({
  test: (url) =>
    /^https:\/\/|^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:|\/|$)/u.test(url)
      ? undefined
      : "must begin with https:// (http:// only for this machine), because a token is sent there",
});

/**
 * The options of {@link remoteSandbox}.
 *
 * @printed
 */
export const REMOTE_SANDBOX_OPTIONS: Options<RemoteSandboxOptions> = described("RemoteSandboxOptions", {
  url: required(addressOption),
  token: text(),
  root: required(text({ test: (path) => (path.startsWith("/") ? undefined : "must be an absolute path") })),
  degrade: choice("refuse", "allow"),
  fetch: callback(),
});

const checkOptions = optionChecker("remoteSandbox", REMOTE_SANDBOX_OPTIONS);
const readOffer = optionReader(SANDBOX_OFFER);
const readOutcome = optionReader(SANDBOX_OUTCOME);

/** How much longer than its command a server may take, in milliseconds. */
const GRACE_MS = 15_000;
/** How long a server may take for an answer without a command, in milliseconds. */
const MAX_ANSWER_MS = 30_000;
/** How much longer an answer may be than the output in it, in bytes. */
const MAX_REST_BYTES = 1024 * 1024;
/** How many bytes of JSON one byte of output can take. */
const MAX_ESCAPED_BYTES = 6;

/** A server that was found to have the same files. */
interface SandboxServer {
  readonly offer: SandboxOffer;
  readonly root: string;
  post(body: object, maxBytes: number, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>>;
}

/**
 * Creates a sandbox whose commands run on another machine, by `filewright serve` with the option `commands` in its
 * config file. The server enforces its own policy and in addition that of this workspace. Both machines must have the
 * directory `root` on a shared disk: a file is made in it for a moment, which the server has to read.
 *
 * @example
 * const commands = await remoteSandbox({ url: "https://runner.example", token, root: "/repo" });
 * const ws = await openWorkspace({ root: "/repo", commands });
 *
 * @throws FilewrightError SANDBOX_SETUP_FAILED where the server cannot be used, or has other files under that path;
 * INVALID_ARGUMENT for invalid options
 */
export async function remoteSandbox(given: RemoteSandboxOptions): Promise<SandboxProvider> {
  const options = checkOptions(given);
  try {
    const server = await connect(options);
    await assertSameFiles(server);
    return remoteProvider(server, options, undefined);
  } catch (error) {
    const why = error instanceof FilewrightError ? error.message : "it cannot be reached";
    throw new FilewrightError("SANDBOX_SETUP_FAILED", `The server cannot run the commands: ${why}.`, {
      complete: true,
      hint: 'start it with: filewright serve ROOT --config FILE, where the file has "commands": true',
    });
  }
}

function remoteProvider(
  server: SandboxServer,
  options: RemoteSandboxOptions,
  policy: CommandPolicy | undefined,
): SandboxProvider {
  const { status } = server.offer;
  return Object.freeze<SandboxProvider>({
    status: policy === undefined ? status : statusWithin(server, policy),
    degrade: options.degrade,
    within: (next) => remoteProvider(server, options, next),
    run: (command) => runRemotely(server, command, narrowedPolicyOf(server, policy)),
  });
}

/**
 * Returns the guarantees for a policy. The server takes roots and denials from its client. The table of protected and
 * secret places is its own, so it has to be the same.
 */
function statusWithin({ offer, root }: SandboxServer, wanted: CommandPolicy): SandboxStatus {
  const { cwd, read, protect, secrets, places = [] } = wanted;
  const isHeld =
    cwd === offer.cwd &&
    (read === null || read.every((one) => isWithin(one, root))) &&
    (!protect || offer.protect) &&
    (!secrets || offer.secrets) &&
    places.join("\n") === offer.places.join("\n");
  const { policy = "none" } = offer.status;
  return Object.freeze({ ...offer.status, policy: policy === "enforced" && !isHeld ? "partial" : policy });
}

function narrowedPolicyOf({ root }: SandboxServer, policy: CommandPolicy | undefined): NarrowedPolicy {
  if (policy === undefined) return { read: [root], write: [root], deny: [] };
  // Outside the root the server may have other files under the same path.
  const inside = (paths: readonly string[]): readonly string[] => [
    ...new Set(paths.flatMap((path) => (isWithin(path, root) ? [path] : isWithin(root, path) ? [root] : []))),
  ];
  const hidden = policy.stateDirs.filter((path) => isWithin(path, root)).map(literalGlob);
  return {
    read: inside([...(policy.read ?? [root]), ...policy.write]),
    write: inside(policy.write),
    deny: [...policy.deny, ...hidden],
  };
}

async function runRemotely(
  server: SandboxServer,
  { argv, cwd, env, timeoutMs, maxOutputBytes, signal }: SandboxCommand,
  policy: NarrowedPolicy,
): Promise<SandboxOutcome> {
  checkSignal(signal, cwd);
  const variables = Object.entries(env ?? {}).map(([name, value]) => `${name}=${value}`);
  const command = {
    argv: variables.length === 0 ? argv : ["/usr/bin/env", ...variables, ...argv],
    ...{ cwd, timeoutMs, maxOutputBytes },
  };
  const late = AbortSignal.timeout(timeoutMs + GRACE_MS);
  const most = 2 * MAX_ESCAPED_BYTES * maxOutputBytes + MAX_REST_BYTES;
  const answer = await server
    .post({ command, policy }, most, signal === undefined ? late : AbortSignal.any([signal, late]))
    .catch((error: unknown) => {
      checkSignal(signal, cwd);
      throw error instanceof FilewrightError ? error : cutOff();
    });
  checkSignal(signal, cwd);
  const outcome = readOutcome(answer["outcome"]);
  if (outcome === undefined) throw garbled("no result of a command");
  // A command ends by an exit code, by a signal or by its time; a result with none of them is none.
  if (
    outcome.exitCode === null &&
    outcome.signal === null &&
    !outcome.timedOut &&
    outcome.exceeded === undefined
  )
    throw cutOff();
  return outcome;
}

async function connect({
  url,
  token,
  root: given,
  fetch: own,
}: RemoteSandboxOptions): Promise<SandboxServer> {
  const root = realPathOrNone(given);
  if (root === undefined) throw makeError("NOT_FOUND", "the root does not exist here", {});
  const send: SendRequest = own ?? ((to, init) => fetch(to, init));
  const address = `${url.replace(/\/+$/u, "").replace(/\/mcp$/u, "")}${SANDBOX_PATH}`;
  const headers = {
    "content-type": "application/json",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const timely = AbortSignal.timeout(MAX_ANSWER_MS);
  const offered = await send(address, { redirect: "error", headers, signal: timely });
  if (!offered.ok) {
    await offered.body?.cancel();
    throw makeError("IO_ERROR", `it answered with the status ${offered.status}`, {});
  }
  const offer = readOffer(parseObject(await readBounded(offered, MAX_REST_BYTES)));
  if (offer === undefined)
    throw makeError("IO_ERROR", "it does not answer as filewright serve with commands", {});
  if (offer.protocol !== SANDBOX_PROTOCOL)
    throw makeError("IO_ERROR", "it is of another version of Filewright", {});
  if (offer.cwd !== root || !offer.write.some((one) => isWithin(root, one)))
    throw makeError(
      "IO_ERROR",
      "its first directory is another one than the root, or may not be changed",
      {},
    );
  return {
    offer: { ...offer, status: { ...offer.status, tier: `remote ${offer.status.tier}` } },
    root,
    async post(body, maxBytes, signal) {
      const response = await send(address, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
        redirect: "error",
        signal,
      });
      const answer = parseObject(await readBounded(response, maxBytes));
      if (answer === undefined) throw garbled(`status ${response.status}`);
      const { error } = answer;
      if (typeof error === "object" && error !== null)
        throw remoteError(error as Readonly<Record<string, unknown>>);
      return answer;
    },
  };
}

/** Returns an error that the server reports, with a code of our list and a bounded message. */
function remoteError({ code, message, hint }: Readonly<Record<string, unknown>>): FilewrightError {
  if (!isCode(code) || typeof message !== "string") return garbled("an error without a code");
  return makeError(code, message.slice(0, MAX_MESSAGE_CHARS), {
    complete: true,
    hint: typeof hint === "string" ? hint.slice(0, MAX_MESSAGE_CHARS) : undefined,
  });
}

const MAX_MESSAGE_CHARS = 1_000;

/** @throws FilewrightError SANDBOX_SETUP_FAILED where the server has other files */
async function assertSameFiles({ root, post }: SandboxServer): Promise<void> {
  const path = join(root, `${SAME_FILE_PREFIX}${randomUUID()}`);
  const own = randomUUID();
  try {
    writeFileSync(path, own, { flag: "wx" });
    const answer = await post(
      { same: { path, text: own } },
      MAX_REST_BYTES,
      AbortSignal.timeout(MAX_ANSWER_MS),
    );
    if (answer["same"] !== true)
      throw makeError("SANDBOX_SETUP_FAILED", "it has other files under the path of the root", {});
  } finally {
    rmSync(path, { force: true });
  }
}

/** Reads the text of an answer. @throws FilewrightError IO_ERROR where it is longer than the limit */
async function readBounded(response: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let size = 0;
  let read = "";
  for await (const chunk of (response.body ?? []) as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > maxBytes) throw garbled("more than was asked for");
    read += decoder.decode(chunk, { stream: true });
  }
  return read + decoder.decode();
}

/** Returns the object in a JSON text, or undefined. */
function parseObject(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the error for an answer that is not of the protocol. Its text is not repeated: anyone may have written it. */
function garbled(what: string): FilewrightError {
  return makeError(
    "IO_ERROR",
    `the server answered what its protocol does not have (${what}), so the command was ended`,
    { hint: "look at what it changed before you run it again" },
  );
}

/** Returns the error for an answer that ended before the command. */
function cutOff(): FilewrightError {
  return makeError("IO_ERROR", "the server did not say how the command ended, so it was ended", {
    hint: "look at what it changed before you run it again",
  });
}
