/** The requests about the audit log of a workspace: whether it keeps one, and its lines as a file. */
import { auditLogOfWorkspace } from "../../workspace/workspace.ts";
import { extractOfLog } from "../activity/audit-extract.ts";
import { json, refusal, type ReviewRoute, type RouteRequest, workspaceOf } from "./route.ts";

/** The requests about the audit log. It also has calls of other runs and pages, so it needs the role `manage`. */
export const AUDIT_ROUTES: readonly ReviewRoute[] = [
  { method: "GET", path: /^audit$/u, role: "watch", run: auditState },
  { method: "GET", path: /^audit\.jsonl$/u, role: "manage", run: auditLines },
];

function logOf(request: RouteRequest): (() => AsyncIterable<Uint8Array>) | undefined {
  const ws = workspaceOf(request);
  return ws && auditLogOfWorkspace(ws);
}

function auditState(request: RouteRequest): Response {
  return json(200, { isKept: logOf(request) !== undefined });
}

/** Sends the whole log, or the part of a time. Its lines are those of the file, so their hash chains can be verified. */
function auditLines(request: RouteRequest): Response {
  const exportLog = logOf(request);
  if (exportLog === undefined) return refusal(404, "this workspace keeps no audit log");
  const { searchParams } = request.url;
  const [from, to] = [searchParams.get("from"), searchParams.get("to")];
  const isWhole = (from ?? "") === "" && (to ?? "") === "";
  const range = { from: timeOf(from, 0), to: timeOf(to, Number.POSITIVE_INFINITY) };
  if (Number.isNaN(range.from) || Number.isNaN(range.to))
    return refusal(400, "from and to are times in ISO 8601, such as 2030-01-31T18:00:00Z");
  const blocks = isWhole ? exportLog() : extractOfLog(exportLog, range);
  const name = isWhole ? "audit.jsonl" : "audit-extract.jsonl";
  return new Response(streamOf(blocks), {
    headers: { "content-type": "application/jsonl", "content-disposition": `attachment; filename="${name}"` },
  });
}

function timeOf(text: string | null, otherwise: number): number {
  return text === null || text === "" ? otherwise : Date.parse(text);
}

function streamOf(blocks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reading = blocks[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reading.next();
      if (done === true) controller.close();
      else controller.enqueue(new Uint8Array(value));
    },
    async cancel() {
      await reading.return?.();
    },
  });
}
