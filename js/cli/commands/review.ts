/** `filewright review`: opens the review page of a server that runs. */
import { type Command, FLAG_OPTION, VALUE_OPTION } from "../command.ts";
import { approverTokenFor, requestJson } from "../approver-requests.ts";
import { DEFAULT_PORT } from "../../mcp/command.ts";
import { openInBrowser } from "../open-in-browser.ts";
import { type ParsedCommandLine, UsageError } from "../../schema/command-line.node.ts";
import { printJson, printText } from "../streams.ts";

/** The command `review`. */
export const REVIEW_COMMAND: Command = {
  name: "review",
  summary: "open the review page of a server that was started with --review",
  usage: "filewright review [--open] [--url URL] [--token-file FILE]",
  about:
    "Prints a link that opens the page once, within two minutes. On the page a person sees each change before it is made, and allows it, some of its hunks, or refuses it. The server must have been started with filewright serve --review.",
  options: { url: VALUE_OPTION, "token-file": VALUE_OPTION, open: FLAG_OPTION },
  help: [
    ["--open", "open the link in the browser"],
    ["--url URL", `the address of the server (http://127.0.0.1:${DEFAULT_PORT})`],
    [
      "--token-file FILE",
      "the token for approvals; default: FILEWRIGHT_APPROVE_TOKEN, or the file that the server wrote",
    ],
  ],
  examples: [
    ["filewright review --open", "the page of the server on this machine"],
    ["filewright review --url http://127.0.0.1:5000", "a link to that of another port"],
  ],
  takes: [0, 0],
  run: runReview,
};

async function runReview({ values }: ParsedCommandLine): Promise<number> {
  const base = String(values["url"] ?? `http://127.0.0.1:${DEFAULT_PORT}`);
  if (!URL.canParse(base)) throw new UsageError(`'${base}' is no URL`);
  const headers = {
    authorization: `Bearer ${approverTokenFor(base, values)}`,
    "content-type": "application/json",
  };
  const made = await requestJson(new URL("/review/tickets", base), { method: "POST", headers, body: "{}" });
  const { fragment } = made as { readonly fragment: string };
  const link = `${new URL("/review", base).href}${fragment}`;
  if (values["json"] === true) printJson({ link });
  else printText(link);
  if (values["open"] === true) openInBrowser(link);
  return 0;
}
