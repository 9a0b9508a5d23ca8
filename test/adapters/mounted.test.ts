/** The two systems whose loops mount tools: their tools over a workspace, their callbacks as our hooks. */
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  type AmplifierHookResult,
  type AmplifierTool,
  mount,
  toAmplifierHooks,
} from "../../js/adapters/amplifier.node.ts";
import {
  type TinyAgentCall,
  type TinyAgentTool,
  toTinyAgentHooks,
  toTinyAgentTools,
} from "../../js/adapters/tinyagent.ts";
import { MemoryBackend, openWorkspace, type Workspace, type WorkspaceOptions } from "../../js/index.node.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A loop as its documentation describes it: callbacks, and tools by the name of their metadata. */
class Agent {
  readonly callbacks: ((event: string, agent: Agent, facts: TinyAgentCall) => unknown)[] = [];
  readonly #tools = new Map<string, TinyAgentTool>();

  add_callback(callback: Agent["callbacks"][number]): void {
    this.callbacks.push(callback);
  }

  add_tools(tools: readonly TinyAgentTool[]): void {
    for (const tool of tools) this.#tools.set(tool._tool_metadata.name, tool);
  }

  /** Runs a call of the model as the loop does. */
  use(name: string, args?: object): Promise<string> {
    const tool = this.#tools.get(name);
    return tool === undefined ? Promise.resolve(`Error: Tool '${name}' not found`) : tool(args);
  }
}

async function tinyAgent(
  callback?: Agent["callbacks"][number],
  options: Partial<WorkspaceOptions> = {},
): Promise<{ agent: Agent; ws: Workspace }> {
  const agent = new Agent();
  if (callback !== undefined) agent.add_callback(callback);
  const backend = new MemoryBackend({ "/w/a.txt": "one\ntwo\n" });
  const hooks = toTinyAgentHooks(agent);
  const ws = await openWorkspace({
    backend,
    root: "/w",
    preset: "tinyagent",
    hooks,
    ...options,
  } as WorkspaceOptions);
  agent.add_tools(toTinyAgentTools(ws));
  return { agent, ws };
}

describe("TinyAgent", () => {
  test("tools are functions with its metadata, which answer in text", async () => {
    const { agent, ws } = await tinyAgent();
    const [read] = toTinyAgentTools(ws, { include: ["read_file"] });
    expect(read?._tool_metadata).toMatchObject({ name: "read_file", is_class: false });
    expect(read?._tool_metadata.schema.required).toEqual(["file_path"]);
    expect(await agent.use("read_file", { file_path: "a.txt" })).toBe("one\ntwo\n");
    expect(await agent.use("read_file", { file_path: "none" })).toMatch(/^Error: /u);
    expect(await agent.use("read_file")).toMatch(/^Error: .*file_path/u);
    expect(() => toTinyAgentTools(ws, { include: ["read_fil"] })).toThrow(/did you mean 'read_file'/u);
  });

  test("callbacks receive tool_start and tool_end in the system's own words, also those added later", async () => {
    const events: unknown[] = [];
    const { agent } = await tinyAgent((event, self, { tool_name, tool_args, ok }) => {
      events.push([event, self === agent, tool_name, tool_args["file_path"], ok]);
    });
    await agent.use("read_file", { file_path: "a.txt" });
    agent.add_callback((event) => void events.push(event));
    await agent.use("write_file", { file_path: "n", content: "x" });
    await agent.use("read_file", { file_path: "none" });
    expect(events).toEqual([
      ["tool_start", true, "read_file", "a.txt", undefined],
      ["tool_end", true, "read_file", "a.txt", true],
      ["tool_start", true, "write_file", "n", undefined],
      "tool_start",
      ["tool_end", true, "write_file", "n", true],
      "tool_end",
      ["tool_start", true, "read_file", "none", undefined],
      "tool_start",
      ["tool_end", true, "read_file", "none", false],
      "tool_end",
    ]);
  });

  test("a callback may stop a call, change its arguments in its own words, and replace its result", async () => {
    const { agent, ws } = await tinyAgent((event, _, { tool_name, tool_args, result }) => {
      if (event === "tool_end") return { text: `${result} (seen)` };
      if (tool_name === "search_files") return { proceed: false, alternative_response: "Not now." };
      if (tool_args["content"] === "draft") return { modified_args: { content: "final" } };
      return undefined;
    });
    expect(await agent.use("search_files", { pattern: "x" })).toBe("Not now. (seen)");
    expect(await agent.use("write_file", { file_path: "n", content: "draft" })).toMatch(/ \(seen\)$/u);
    expect(await ws.fs.readText("/w/n")).toBe("final");
  });

  test("a callback that throws at tool_start blocks the call; what it raises rejects it", async () => {
    const { agent, ws } = await tinyAgent((event) => {
      if (event === "tool_start") throw new Error("no");
    });
    expect(await agent.use("write_file", { file_path: "n", content: "x" })).toMatch(
      /^Error: blocked by hook/u,
    );
    expect(await ws.fs.exists("/w/n")).toBe(false);
    const raising = await tinyAgent(() => ({ raise_exception: new RangeError("mine") }));
    await expect(raising.agent.use("read_file", { file_path: "a.txt" })).rejects.toThrow("mine");
  });

  test("a callback sees what a change would do, unless another changed its arguments before", async () => {
    const seen: unknown[] = [];
    const look = async (event: string, _: Agent, { preview }: TinyAgentCall): Promise<void> => {
      if (event === "tool_start")
        seen.push(
          await preview?.().then(
            ({ title }) => title,
            ({ message }) => message,
          ),
        );
    };
    const { agent } = await tinyAgent(look);
    agent.add_callback((event) => (event === "tool_start" ? { modified_args: { content: "y" } } : undefined));
    agent.add_callback(look);
    await agent.use("write_file", { file_path: "n", content: "x" });
    expect(seen).toEqual(["Create n", "there is no preview after a callback changed content"]);
  });

  test("what is no agent, and an option that there is not, are refused", () => {
    expect(() => toTinyAgentHooks({} as never)).toThrow(/callbacks/u);
    expect(() => toTinyAgentHooks({ callbacks: [] }, { onErr: () => {} } as never)).toThrow(/onError/u);
  });
});

/** A coordinator as its contract describes it. */
class Coordinator {
  readonly mounted = new Map<string, AmplifierTool>();
  readonly events: string[] = [];
  readonly #handlers: ((event: string, data: Record<string, unknown>) => AmplifierHookResult)[] = [];
  readonly hooks = {
    register: (handler: (event: string, data: Record<string, unknown>) => AmplifierHookResult) => {
      this.#handlers.push(handler);
    },
    emit: async (event: string, data: Readonly<Record<string, unknown>>): Promise<AmplifierHookResult> => {
      this.events.push(event);
      for (const handler of this.#handlers) {
        const result = handler(event, data);
        if (result.action !== "continue") return result;
      }
      return { action: "continue" };
    },
  };

  readonly #workingDir: string | undefined;

  constructor(workingDir?: string) {
    this.#workingDir = workingDir;
  }

  get_capability(name: string): unknown {
    return name === "session.working_dir" ? this.#workingDir : undefined;
  }

  async mount(point: string, tool: AmplifierTool, name: string): Promise<void> {
    if (point !== "tools") throw new Error(`no mount point ${point}`);
    this.mounted.set(name, tool);
  }

  async unmount(_point: string, name: string): Promise<void> {
    this.mounted.delete(name);
  }

  use(name: string, input: object): ReturnType<AmplifierTool["execute"]> {
    return (this.mounted.get(name) as AmplifierTool).execute(input);
  }
}

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function directory(): Promise<{ root: string; options: { stateDir: string } }> {
  const base = await realpath(await mkdtemp(join(tmpdir(), "filewright-mount-")));
  cleanups.push(() => rm(base, { recursive: true, force: true }));
  const root = join(base, "w");
  await mkdir(join(root, "gen"), { recursive: true });
  await writeFile(join(base, "beside"), "beside\n");
  await writeFile(join(root, "a.txt"), "one\n");
  await writeFile(join(root, "dot.png"), Buffer.from(PNG, "base64"));
  return { root, options: { stateDir: join(base, "state") } };
}

describe("Amplifier", () => {
  test("mount(coordinator, config) mounts the three tools at tools, in the session's directory", async () => {
    const { root, options } = await directory();
    const coordinator = new Coordinator(root);
    const unmount = await mount(coordinator, { options });
    cleanups.push(unmount);
    expect([...coordinator.mounted.keys()]).toEqual(["read_file", "write_file", "edit_file"]);
    for (const tool of coordinator.mounted.values()) {
      expect(tool.description.length).toBeGreaterThan(80);
      expect(tool.get_schema()).toBe(tool.input_schema);
      expect(tool.input_schema.required).toContain("file_path");
    }
    expect(await coordinator.use("read_file", { file_path: "a.txt" })).toEqual({
      success: true,
      output: "     1\tone",
    });
    const { success } = await coordinator.use("edit_file", {
      file_path: "a.txt",
      old_string: "one",
      new_string: "two",
    });
    expect([success, await readFile(join(root, "a.txt"), "utf8")]).toEqual([true, "two\n"]);
    expect(await coordinator.use("read_file", { file_path: "none" })).toEqual({
      success: false,
      error: { message: expect.stringMatching(/^Path not found: none/u), type: "NOT_FOUND" },
    });
    await unmount();
    expect(coordinator.mounted.size).toBe(0);
  });

  test("an image is the block that its providers take", async () => {
    const { root, options } = await directory();
    const coordinator = new Coordinator(root);
    cleanups.push(await mount(coordinator, { options, include: ["read_file"] }));
    const { output } = await coordinator.use("read_file", { file_path: "dot.png" });
    expect(output).toEqual({
      type: "image",
      source: { type: "base64", media_type: "image/png", data: PNG },
      file_path: "dot.png",
      size_bytes: 70,
    });
  });

  test("the config says what may be read and written", async () => {
    const { root, options } = await directory();
    const coordinator = new Coordinator();
    const config = { working_dir: root, denied_write_paths: ["gen"], options };
    cleanups.push(await mount(coordinator, config));
    const write = async (file_path: string): Promise<boolean> =>
      (await coordinator.use("write_file", { file_path, content: "x" })).success;
    expect(await write("n")).toBe(true);
    expect(await write("gen/n")).toBe(false);
    expect(await write("../n")).toBe(false);
    expect((await coordinator.use("read_file", { file_path: "../beside" })).success).toBe(true);
    const narrow = new Coordinator();
    cleanups.push(await mount(narrow, { working_dir: root, allowed_read_paths: ["."], options }));
    expect((await narrow.use("read_file", { file_path: "../beside" })).success).toBe(false);
  });

  test("the config can ask before changes; without an approver the answer is no", async () => {
    const { root, options } = await directory();
    const ask = async (more: object): Promise<unknown> => {
      const coordinator = new Coordinator(root);
      cleanups.push(await mount(coordinator, { require_approval: true, options: { ...options, ...more } }));
      return (await coordinator.use("write_file", { file_path: "n", content: "x" })).error?.type;
    };
    expect(await ask({})).toBe("APPROVAL_DENIED");
    expect(await ask({ confirm: () => ({ outcome: "proceed_once" }) })).toBeUndefined();
  });

  test("handlers of tool:pre and tool:post are hooks: they deny, change, add, and block calls without an answer", async () => {
    const { root, options } = await directory();
    const coordinator = new Coordinator(root);
    cleanups.push(await mount(coordinator, { tool_events: true, options }));
    await coordinator.use("read_file", { file_path: "a.txt" });
    await coordinator.use("read_file", { file_path: "none" });
    expect(coordinator.events).toEqual(["tool:pre", "tool:post", "tool:pre", "tool:error"]);
    coordinator.hooks.register((event, data) => {
      const input = data["tool_input"] as Record<string, unknown>;
      if (event === "tool:post") return { action: "inject_context", context_injection: "[lint: fine]" };
      if (input["content"] === "bad") return { action: "deny", reason: "No bad content." };
      if (input["content"] === "ask") return { action: "ask_user" };
      if (input["content"] === "draft")
        return { action: "modify", data: { ...data, tool_input: { ...input, content: "final" } } };
      return { action: "continue" };
    });
    const write = (content: string) => coordinator.use("write_file", { file_path: "n", content });
    expect((await write("bad")).error).toEqual({ message: "No bad content.", type: "HOOK_BLOCKED" });
    expect((await write("ask")).error?.message).toBe("blocked by hook: nobody here sees to 'ask_user'");
    const { output } = await write("draft");
    expect(output).toMatch(/\[arguments modified by a hook: content\]\n\[lint: fine\]$/u);
    expect(await readFile(join(root, "n"), "utf8")).toBe("final");
  });

  test("a coordinator that sees to what handlers want is asked", async () => {
    const coordinator = new Coordinator();
    coordinator.hooks.register(() => ({ action: "ask_user" }));
    const answers: Record<string, AmplifierHookResult> = {
      yes: { action: "continue" },
      no: { action: "deny", reason: "The user said no." },
    };
    let answer = "yes";
    const hooks = toAmplifierHooks({
      hooks: coordinator.hooks,
      process_hook_result: async () => answers[answer] as AmplifierHookResult,
    });
    const backend = new MemoryBackend({ "/w/a.txt": "one\n" });
    const ws = await openWorkspace({ backend, root: "/w", preset: "amplifier", hooks });
    cleanups.push(() => ws.close());
    const unmount = await mount(coordinator, { workspace: ws });
    expect((await coordinator.use("read_file", { file_path: "a.txt" })).success).toBe(true);
    answer = "no";
    expect((await coordinator.use("read_file", { file_path: "a.txt" })).error?.message).toBe(
      "The user said no.",
    );
    await unmount();
    // The host's workspace stays open.
    expect(await ws.fs.exists("/w/a.txt")).toBe(true);
    expect((await ws.call("read_file", { file_path: "a.txt" })).error?.code).toBe("HOOK_BLOCKED");
  });

  test("what makes no sense is refused, and nothing stays mounted", async () => {
    const coordinator = new Coordinator();
    await expect(mount({} as never)).rejects.toThrow(/mount/u);
    await expect(mount(coordinator, { allowed_write_path: ["."] } as never)).rejects.toThrow(
      /allowed_write_paths/u,
    );
    const ws = await openWorkspace({ backend: new MemoryBackend(), root: "/" });
    cleanups.push(() => ws.close());
    await expect(mount(coordinator, { workspace: ws, working_dir: "/x" })).rejects.toThrow(/working_dir/u);
    coordinator.mount = async (_point, tool, name) => {
      if (name === "write_file") throw new Error("full");
      coordinator.mounted.set(name, tool);
    };
    const { root, options } = await directory();
    await expect(mount(coordinator, { working_dir: root, options })).rejects.toThrow("full");
    expect(coordinator.mounted.size).toBe(0);
  });
});
