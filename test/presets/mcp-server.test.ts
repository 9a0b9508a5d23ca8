/**
 * Preset `mcp` against the real server over stdio: the same tools, the same
 * parameters. Runs where the benchmarks' packages are installed.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, test } from "vitest";
import { PRESETS } from "../../js/presets/index.ts";
import type { Schema } from "../../js/tools/lib/schema.ts";

const server = resolve(
  import.meta.dirname,
  "../../bench/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
);

interface Listed {
  readonly name: string;
  readonly inputSchema: Schema;
  readonly annotations: { readonly readOnlyHint: boolean };
}

/** Returns the server's answer to `tools/list`. */
async function listed(): Promise<readonly Listed[]> {
  const child = spawn(process.execPath, [server, tmpdir()], { stdio: ["pipe", "pipe", "ignore"] });
  try {
    const send = (message: object): boolean =>
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const clientInfo = { name: "test", version: "0" };
    send({
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo },
    });
    for await (const line of createInterface({ input: child.stdout })) {
      const { id, result } = JSON.parse(line);
      if (id === 1) {
        send({ method: "notifications/initialized" });
        send({ id: 2, method: "tools/list", params: {} });
      }
      if (id === 2) return result.tools;
    }
    throw new Error("the server said nothing");
  } finally {
    child.kill();
  }
}

/** Reduces a schema to what a caller must know: names, types, choices, defaults, and required parameters. */
function shape(schema: Schema): unknown {
  const { type, properties, items, required = [], enum: choices, default: byDefault } = schema;
  return {
    type,
    ...(choices === undefined ? {} : { choices }),
    ...(byDefault === undefined ? {} : { byDefault }),
    ...(items === undefined ? {} : { items: shape(items) }),
    ...(properties === undefined
      ? {}
      : {
          required: [...required].sort(),
          properties: Object.fromEntries(
            Object.keys(properties)
              .sort()
              .map((name) => [name, shape(properties[name] as Schema)]),
          ),
        }),
  };
}

describe.skipIf(!existsSync(server))("preset mcp and the real server", () => {
  test("the same tools with the same parameters", async () => {
    const real = await listed();
    const ours = PRESETS.mcp.tools;
    expect(ours.map(({ name }) => name)).toEqual(real.map(({ name }) => name));
    for (const [index, { name, inputSchema, annotations }] of real.entries()) {
      const tool = ours[index]!;
      expect(shape({ ...tool.inputSchema }), name).toEqual(
        shape({ ...inputSchema, required: inputSchema.required ?? [] }),
      );
      expect(tool.annotations.readOnlyHint, name).toBe(annotations.readOnlyHint);
    }
  }, 60_000);
});
