/** Servers over HTTP without a port, and requests of the modern era as a client writes them. */
import type { WorkspaceOptions } from "../../js/index.node.ts";
import { elicitApprovals } from "../../js/mcp/protocol/approvals.ts";
import {
  type ApprovalState,
  type ApprovalStateOptions,
  openApprovalState,
} from "../../js/mcp/protocol/approval-state.ts";
import { makeMcpHandler } from "../../js/mcp/transport/handler.ts";
import { localWorkspaceHost } from "../../js/mcp/host.ts";

/** A question that a server puts, and what comes back with its answer. */
export interface Asked {
  readonly message: string;
  /** The outcomes that its form offers. */
  readonly offered: readonly string[];
  readonly requestState: string;
}

/** The reply of a server to a call. */
interface Reply {
  readonly asked?: Asked;
  readonly text: string;
  readonly isError: boolean;
  /** Of an error of the protocol. */
  readonly protocolError?: string;
}

/** One server of several that serve the same directory. */
export interface Replica {
  call(name: string, args: object, more?: { requestState: string; decision: string }): Promise<Reply>;
  close(): Promise<void>;
}

const META = "io.modelcontextprotocol";
const VERSION = "2026-07-28";

/** Starts a server in this process. */
export function replica(
  root: string,
  options: Partial<ApprovalStateOptions> & {
    readonly lasting?: boolean;
    /** Default: that of the state directory and the key. */
    readonly state?: ApprovalState;
    readonly workspace?: WorkspaceOptions;
  },
): Replica {
  const approvals = elicitApprovals({
    lasting: options.lasting ?? false,
    state: options.state ?? openApprovalState({ stateDir: options.stateDir, key: options.key }),
  });
  const host = localWorkspaceHost([root], {
    preset: "canonical",
    confirm: approvals.confirm,
    ...(options.workspace === undefined ? {} : { workspace: options.workspace }),
    ...(options.stateDir === undefined ? {} : { stateDir: options.stateDir }),
  });
  const handler = makeMcpHandler({ host, structured: "none", approvals, version: "0" });
  return {
    async call(name, args, more) {
      const body = {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: {
          name,
          arguments: args,
          _meta: {
            [`${META}/protocolVersion`]: VERSION,
            [`${META}/clientInfo`]: { name: "test", version: "1" },
            [`${META}/clientCapabilities`]: { elicitation: { form: {} } },
          },
          ...(more === undefined
            ? {}
            : {
                requestState: more.requestState,
                inputResponses: {
                  approval: { action: "accept", content: { decision: more.decision } },
                },
              }),
        },
      };
      const response = await handler.fetch(
        new Request("http://localhost/mcp", {
          method: "POST",
          headers: {
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            "mcp-protocol-version": VERSION,
            "mcp-method": "tools/call",
            "mcp-name": name,
          },
          body: JSON.stringify(body),
        }),
      );
      return parseReply(await response.text());
    },
    async close() {
      await handler.close();
      await host.close();
    },
  };
}

function parseReply(text: string): Reply {
  const data = /^data: (.*)$/mu.exec(text)?.[1] ?? text;
  const { result, error } = JSON.parse(data) as {
    readonly result?: {
      readonly content?: readonly { readonly text?: string }[];
      readonly isError?: boolean;
      readonly requestState?: string;
      readonly inputRequests?: Record<string, { readonly params: ElicitParams }>;
    };
    readonly error?: { readonly message: string };
  };
  if (result === undefined) return { text: "", isError: true, protocolError: error?.message ?? text };
  const question = result.inputRequests?.["approval"]?.params;
  return {
    text: (result.content ?? []).map((block) => block.text ?? "").join(""),
    isError: result.isError === true,
    ...(question === undefined
      ? {}
      : {
          asked: {
            message: question.message,
            offered: question.requestedSchema.properties.decision.oneOf.map((one) => one.const),
            requestState: result.requestState as string,
          },
        }),
  };
}

interface ElicitParams {
  readonly message: string;
  readonly requestedSchema: {
    readonly properties: { readonly decision: { readonly oneOf: readonly { readonly const: string }[] } };
  };
}
