/** The requests about wider answers: how many of the last calls one would have covered. */
import {
  choice,
  flag,
  type OptionalOption,
  type Options,
  optionReader,
  options,
  required,
  text,
} from "../../schema/option.ts";
import { endOfScope } from "../../hooks/scope/scope.ts";
import type { GrantChoice, WiderChoice } from "../protocol.ts";
import { bodyOf, json, refusal, type ReviewRoute, type RouteRequest, workspaceOf } from "./route.ts";

const END: OptionalOption<string> = text({
  test: (until) =>
    endOfScope({ until }) === undefined ? "must be turn, session, kept or a time in ISO 8601" : undefined,
});

/** The members of a wider answer about a change. */
export const WIDER_CHOICE: Options<WiderChoice> = options("WiderChoice", {
  place: required(choice("files", "directory", "everywhere", "command")),
  dir: text(),
  isAgentOnly: required(flag()),
  until: required(END),
});

/** The members of a wider answer about a directory. */
export const GRANT_CHOICE: Options<GrantChoice> = options("GrantChoice", {
  access: required(choice("read", "write")),
  until: required(END),
});

/** The body of `POST /review/scopes`. */
interface CoveredRequest {
  /** The id of the question. */
  readonly id: string;
  readonly wider: WiderChoice;
}

const readRequest = optionReader(
  options<CoveredRequest>("CoveredRequest", { id: required(text()), wider: required(WIDER_CHOICE) }),
);

/** The requests about wider answers. */
export const SCOPE_ROUTES: readonly ReviewRoute[] = [
  { method: "POST", path: /^scopes$/u, role: "answer", run: countCovered },
];

async function countCovered(given: RouteRequest): Promise<Response> {
  const body = await bodyOf(given.request);
  const read = body === undefined ? undefined : readRequest(body);
  if (read === undefined) return refusal(400, "the request is not understood");
  const scope = given.hub.scopeOf(read.id, read.wider);
  if (scope === undefined) return refusal(404, "no question that waits offers this");
  const workspace = workspaceOf(given);
  if (workspace === undefined) return refusal(404, "no workspace is attached to this page");
  return json(200, workspace.approvals.wouldHaveCovered(scope));
}
