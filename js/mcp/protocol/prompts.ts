/**
 * Prompts: short tasks that a person starts from a menu of the client.
 *
 * A prompt names only tools that this server lists, and contains no content of files: the model reads files
 * by calls, so that rules and hooks apply.
 */
import { FilewrightError } from "../../engine/errors.ts";
import { nearest } from "../../schema/nearest.ts";
import type { ServedWorkspace } from "../host.ts";
import { resolveRelative } from "./paths.ts";
import { ProtocolError, ProtocolErrorCode } from "./sdk.ts";
import { DIRECTORY_TOOLS } from "../../presets/served.ts";

/** One argument of a prompt. The protocol allows only string values. */
interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
  /** The name of a tool without which the prompt is not listed. */
  readonly needs?: string;
  /**
   * Returns the text that is sent to the model.
   * @param path the quoted path as the caller typed it, if there is one
   */
  text(offers: (tool: string) => boolean, path: string | undefined): string;
}

/** The maximum length of a path in UTF-16 units. A longer one is refused. */
const MAX_PATH_CHARS = 4096;

const PATH_ARGUMENT: PromptArgument = {
  name: "path",
  description: "A file or directory below the allowed directories; default: everything.",
  required: false,
};

const PROMPTS: readonly Prompt[] = [
  {
    name: "access",
    title: "What may this server touch?",
    description: "Explains which directories can be read and changed, and what is kept from the tools.",
    arguments: [],
    text: (offers) => {
      const tool = DIRECTORY_TOOLS.find(offers);
      const call = tool === undefined ? "" : `Call ${tool} of the Filewright server. `;
      return `${call}Tell me in plain words which directories this server can read, which it can change, what is kept from its tools, and when I am asked first. Change nothing.`;
    },
  },
  {
    name: "review_changes",
    title: "Review my uncommitted changes",
    description: "Reviews what git has not committed yet, with the files around it. Changes nothing.",
    arguments: [PATH_ARGUMENT],
    text: (offers, path) => {
      const where = path === undefined ? "" : ` below ${path}`;
      const history = offers("history")
        ? " The tool history tells what was changed through this server."
        : "";
      return `Review my uncommitted changes${where}. Find them with git status and git diff where you can run commands; where you cannot, say so and ask me for the diff.${history} Read the changed files and what depends on them with this server's tools. Report defects first, each with its file and line, then what has no test. Change nothing.`;
    },
  },
  {
    name: "undo_last_change",
    title: "Undo the last change",
    description: "Takes back the last change that was made through this server, and says what it was.",
    arguments: [],
    needs: "undo",
    text: () =>
      "Take back the last change that you made through the Filewright server: call its tool undo once. Then tell me which files it restored. If it refuses, tell me the reason and change nothing.",
  },
];

function availablePrompts({ listed }: ServedWorkspace): {
  prompts: readonly Prompt[];
  offers: (tool: string) => boolean;
} {
  const names = new Set(listed.map(({ name }) => name));
  const offers = (tool: string): boolean => names.has(tool);
  return { prompts: PROMPTS.filter(({ needs }) => needs === undefined || offers(needs)), offers };
}

/** Returns the prompts of this server in the form of `prompts/list`. */
export function listPrompts(served: ServedWorkspace): Record<string, unknown>[] {
  return availablePrompts(served).prompts.map(({ name, title, description, arguments: takes }) => ({
    name,
    title,
    description,
    arguments: takes,
  }));
}

/**
 * Returns one prompt with its arguments filled in.
 * @throws ProtocolError for unknown names, arguments and paths
 */
export async function getPrompt(
  served: ServedWorkspace,
  name: string,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const { prompts, offers } = availablePrompts(served);
  const prompt = prompts.find((one) => one.name === name);
  if (prompt === undefined) throw unknownNameError("prompt", name, prompts, "prompts/list names them");
  const known = prompt.arguments;
  const unknown = Object.keys(args).find((key) => known.every((one) => one.name !== key));
  const list =
    known.length === 0 ? `${name} takes none` : `known: ${known.map((one) => one.name).join(", ")}`;
  if (unknown !== undefined) throw unknownNameError("argument", unknown, known, list);
  const path = args["path"] === undefined ? undefined : await quotedVisiblePath(served, args["path"], signal);
  const text = prompt.text(offers, path);
  return { description: prompt.description, messages: [{ role: "user", content: { type: "text", text } }] };
}

/**
 * Returns the path in quotes, if it exists and the caller may see it.
 * @throws ProtocolError
 */
async function quotedVisiblePath(
  served: ServedWorkspace,
  path: unknown,
  signal: AbortSignal,
): Promise<string> {
  if (typeof path !== "string" || path === "" || path.length > MAX_PATH_CHARS)
    throw invalidParamsError(`'path' must be a path of at most ${MAX_PATH_CHARS} characters`);
  try {
    const { path: found } = await resolveRelative(served.ws, { path });
    await served.ws.stat({ path: String(found) }, { signal });
  } catch (error) {
    if (!(error instanceof FilewrightError)) throw error;
    throw invalidParamsError(`'path': ${error.message}`);
  }
  return JSON.stringify(path);
}

function unknownNameError(
  kind: string,
  given: string,
  known: readonly { readonly name: string }[],
  otherwise: string,
): ProtocolError {
  const close = nearest(
    given,
    known.map(({ name }) => name),
  );
  const hint = close === undefined ? otherwise : `did you mean ${close}?`;
  return invalidParamsError(`Unknown ${kind}: ${given.slice(0, 80)}; ${hint}`);
}

function invalidParamsError(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
