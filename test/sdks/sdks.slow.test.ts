import { describe, expect, test } from "vitest";
import { share } from "../support/share.ts";
import { nodeOf, play, prepare, show } from "./prepare.ts";

// Every adapter under the SDK's own agent loop: list, read, refused edit, corrected
// edit, approval, cancel, on real files. Each loop runs on the oldest Node that its
// SDK supports and on the newest that is tested; by day on one of them, in turn.
const LOOPS: readonly { readonly loop: string; readonly nodes: readonly number[] }[] = [
  { loop: "ai-sdk", nodes: [22, 24] },
  { loop: "openai-agents", nodes: [20, 24] },
  { loop: "anthropic", nodes: [20, 24] },
  { loop: "claude-agent", nodes: [20, 24] },
  { loop: "gemini", nodes: [22, 24] },
  { loop: "adk", nodes: [20, 24] },
  { loop: "langchain", nodes: [20, 24] },
  { loop: "deepagents", nodes: [20, 24] },
  { loop: "mastra", nodes: [22, 24] },
  { loop: "node-fs", nodes: [24] },
];

const prepared = prepare();

test("the SDKs are installed", ({ skip }) => {
  if (prepared.ready) return;
  if (process.env["CI"] === "true") expect.fail(prepared.why);
  skip(prepared.why);
});

describe.skipIf(!prepared.ready)("loops", () => {
  const complaints = prepared.ready ? prepared.complaints : {};

  test("what they share compiles", () => {
    const names = LOOPS.map(({ loop }) => loop);
    expect(Object.entries(complaints).filter(([file]) => !names.includes(file))).toEqual([]);
  });

  describe.each(LOOPS)("$loop", ({ loop, nodes }) => {
    test("types fit those that the SDK publishes", () => {
      expect(complaints[loop] ?? []).toEqual([]);
    });

    const turn = LOOPS.findIndex((one) => one.loop === loop);
    test.for(share(nodes, nodes.length, turn))("on Node %i", (major, { skip }) => {
      const node = nodeOf(major);
      if (node === undefined) skip(`no Node ${major} here`);
      const { steps, said } = play(loop, node as string);
      expect(steps.at(-1), said).toBe("done");
      for (const step of ["list", "read", "refused edit", "corrected edit", "approval", "cancel"]) {
        expect(steps).toContain(step);
      }
    });
  });

  test.for(["ai-sdk-agent.mjs", "deepagents-backend.mjs"])("the example %s", (example, { skip }) => {
    const node = nodeOf(24);
    if (node === undefined) skip("no Node 24 here");
    const said = show(example, node as string);
    expect(said).toContain("model: Done.");
    expect(said).toContain("export const retries = 5;");
  });
});
