/** `filewright review`: opens the review page of the servers that run, or shows directories on it. */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { resolve } from "node:path";
import { MAX_PORT } from "../../mcp/command.ts";
import { expandHome } from "../../mcp/directories.ts";
import { onFirstSignal } from "../../mcp/program.ts";
import { effectiveSettingsOf } from "../../mcp/settings.ts";
import { nameFault, REVIEW_ROLES } from "../../review/login.ts";
import type { ReviewRole } from "../../review/protocol.ts";
import {
  DEFAULT_REVIEW_PORT,
  type ParsedCommandLine,
  parseIntegerOption,
  UsageError,
} from "../../schema/command-line.node.ts";
import { nearest } from "../../schema/nearest.ts";
import { connectApprover } from "../approver-requests.ts";
import { assertNarrowRoot, type Command } from "../command.ts";
import { openInBrowser } from "../open-in-browser.ts";
import type { Shell } from "../person/style.ts";
import { tryRunningPages } from "../running-pages.ts";
import { printJson, printNote, printText } from "../streams.ts";

const MAX_SHOWN_DIRECTORIES = 1000;

/** The command `review`. */
export const REVIEW_COMMAND: Command = {
  name: "review",
  summary:
    "open the review page of the servers that were started with --review, or look at directories on it",
  usage:
    "filewright review [DIR...] [--open] [--role watch|answer|manage] [--by NAME] [--url URL | --port N]",
  about:
    "Prints a link that opens the page once, within two minutes. On the page a person sees each change before it is made, and allows it, some of its hunks, or refuses it. There is one page for all servers of a person that were started with filewright mcp --review or filewright serve --review. With directories it shows those until it is interrupted: their history, searches and undo, for no agent.",
  help: [
    ["--open", "open the link in the browser"],
    ["--role watch|answer|manage", "what the person may do: look, also answer, or everything (manage)"],
    ["--by NAME", "the name under which the person answers (reviewer); it is in the audit log"],
    [
      "--url URL",
      `the address of the page (default: the page of this machine, at port ${DEFAULT_REVIEW_PORT} or another, else that of filewright serve)`,
    ],
    ["--port N", `with directories: the port of the page (${DEFAULT_REVIEW_PORT}); 0 takes any free one`],
    [
      "--token-file FILE",
      "the token for approvals; default: FILEWRIGHT_APPROVE_TOKEN, or the key of this user in the state directory",
    ],
  ],
  examples: [
    ["filewright review --open", "the page of the servers on this machine"],
    ["filewright review ~/project --open", "look at a directory and take changes back, without an agent"],
    ["filewright review --role watch --by ana", "a link for somebody who only looks"],
  ],
  takes: [0, MAX_SHOWN_DIRECTORIES],
  run: (parsed, shell) =>
    parsed.positionals.length === 0 ? printLink(parsed, shell) : showDirectories(parsed, shell),
};

/** The login for which a link is made. */
interface LinkLogin {
  readonly role?: ReviewRole;
  readonly by?: string;
}

type Values = ParsedCommandLine["values"];

/** Prints a link to the page of a server that runs. */
async function printLink({ values }: ParsedCommandLine, shell: Shell): Promise<number> {
  if (values["port"] !== undefined) throw new UsageError("--port goes with directories; use --url");
  announce(await linkOfRunningPage(values, linkLoginOf(values), shell), values, shell);
  return 0;
}

/** Returns the login that the command line describes. @throws UsageError */
function linkLoginOf({ role, by }: Values): LinkLogin {
  if (role !== undefined && !REVIEW_ROLES.includes(role as ReviewRole)) {
    const close = nearest(String(role), REVIEW_ROLES);
    throw new UsageError(
      `--role takes one of ${REVIEW_ROLES.join(", ")}${close === undefined ? "" : `; did you mean ${close}?`}`,
    );
  }
  const fault = by === undefined ? undefined : nameFault(String(by));
  if (fault !== undefined) throw new UsageError(`--by ${fault}`);
  return withoutUndefined({
    role: role === undefined ? undefined : (role as ReviewRole),
    by: by === undefined ? undefined : String(by),
  });
}

/** Prints a link, and opens it if that is wanted. */
function announce(link: string, values: Values, shell: Shell): void {
  if (values["json"] === true) printJson(shell, { link });
  else printText(shell, link);
  if (values["open"] === true) openInBrowser(shell, link);
}

/**
 * Returns a link to the page of the given address, or to that of all servers, or else to that of `filewright serve`.
 * @throws FilewrightError when no page can be reached, or the token is not the one for it
 */
async function linkOfRunningPage(values: Values, login: LinkLogin, shell: Shell): Promise<string> {
  const { url } = values;
  if (url !== undefined) return requestLink(String(url), values, login, shell);
  return tryRunningPages(
    (base) => requestLink(base, values, login, shell),
    "No review page runs on this machine. Start a server with --review, or name directories: filewright review DIR.",
  );
}

/** Asks a page for a link. */
async function requestLink(
  base: string,
  values: Values,
  login: LinkLogin,
  { program }: Shell,
): Promise<string> {
  if (!URL.canParse(base)) throw new UsageError(`'${base}' is no URL`);
  const connection = connectApprover(base, "review", { values, program });
  const made = await connection.json("tickets", { body: JSON.stringify(login) });
  const { fragment } = made as { readonly fragment: string };
  return `${connection.origin}/review${fragment}`;
}

/** Shows directories on the page until the person interrupts the command. */
async function showDirectories(parsed: ParsedCommandLine, shell: Shell): Promise<number> {
  const { positionals: dirs, values } = parsed;
  for (const name of ["url", "token-file", "root"])
    if (values[name] !== undefined) throw new UsageError(`--${name} does not go with directories`);
  for (const dir of dirs) assertNarrowRoot(dir, parsed);
  const roots = dirs.map((dir) => resolve(expandHome(dir)));
  const port = parseIntegerOption(values["port"], "port") ?? DEFAULT_REVIEW_PORT;
  if (port < 0 || port > MAX_PORT) throw new UsageError(`--port must be from 0 to ${MAX_PORT}, not ${port}`);
  const login = linkLoginOf(values);
  const { config, rules, agent } = values;
  const { workspace } = effectiveSettingsOf({ config, rules, agent });
  const [{ openWorkspace }, { reviewHub }, { showReview }] = await Promise.all([
    import("../../workspace/index.node.ts"),
    import("../../review/hub.ts"),
    import("../../mcp/review.ts"),
  ]);
  const hub = reviewHub({ subject: roots.join(", ") });
  const ws = await openWorkspace({
    ...workspace,
    roots,
    knows: workspace.knows ?? "names",
    // No agent has read anything here, and the person sees each file before changing it.
    guard: workspace.guard ?? "off",
    observers: [...(workspace.observers ?? []), hub.observer],
  });
  hub.attach(ws);
  let isFirst = true;
  let settleFailed: (error: unknown) => void = () => {};
  let unhear: () => void = () => {};
  /** Settled with nothing when the person interrupts the command. */
  const ended = new Promise<void>((resolve, reject) => {
    unhear = onFirstSignal(shell.program, ["SIGINT", "SIGTERM"], resolve);
    settleFailed = reject;
  });
  const page = showReview(hub, {
    port,
    onPlace(place) {
      if (!isFirst) return printNote(shell, `The page is at ${place.url}.`);
      isFirst = false;
      const link =
        place.kind === "served"
          ? Promise.resolve(place.link(login.role, login.by))
          : requestLink(new URL(place.url).origin, {}, login, shell);
      link.then((found) => {
        announce(found, values, shell);
        if (place.kind === "served" && place.alone !== undefined)
          printNote(shell, `The page shows these directories alone: ${place.alone}.`);
      }, settleFailed);
    },
    onFailure: settleFailed,
  });
  try {
    await ended;
  } finally {
    unhear();
    await page.close();
    hub.close();
    await ws.close();
  }
  return 0;
}
