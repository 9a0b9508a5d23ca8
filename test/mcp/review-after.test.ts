/** `--review-after`: changes of a client are made at once, and a person reviews them on the command line. */
import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type CliFixture, place } from "../cli/running.ts";
import { COMMAND, connectToProcess } from "./harness.ts";

const START =
  "Changes are made at once and stay unreviewed until a person keeps them: filewright history unreviewed";

/** Makes a directory whose commands and servers have the same state directory. */
async function workspace(files: Readonly<Record<string, string>>) {
  const at = await place(files);
  const env = { XDG_STATE_HOME: join(at.root, "..", "state") };
  return { ...at, env, [Symbol.asyncDispose]: at.remove };
}

/** Returns the paths of the unreviewed changes, the newest first. */
async function unreviewed(at: CliFixture): Promise<readonly string[]> {
  const { out } = await at.run(["history", "unreviewed", "--json"]);
  const { calls } = JSON.parse(out) as { readonly calls: readonly { readonly paths: readonly string[] }[] };
  return calls.map(({ paths }) => paths.join());
}

test.each(["the flag", "a config file"])(
  "mcp with %s: changes are made, rules still ask, a person keeps them",
  async (how) => {
    await using at = await workspace({ "a.txt": "one\n", "asked.txt": "one\n" });
    const [rules, config] = ["rules.json", "config.json"].map((name) => join(at.root, "..", name)) as [
      string,
      string,
    ];
    await writeFile(rules, JSON.stringify([{ path: "asked.txt", decision: "ask" }]));
    await writeFile(config, JSON.stringify({ review: "after" }));
    const after = how === "the flag" ? ["--review-after"] : ["--config", config];
    await using server = await connectToProcess(
      [COMMAND, "mcp", at.root, "--rules", rules, "--guard", "off", ...after],
      {
        env: at.env,
      },
    );
    const change = (path: string) => server.call("edit_file", { path, old_text: "one", new_text: "two" });
    expect(await change("a.txt")).toMatchObject({ isError: false });
    expect(await change("asked.txt")).toMatchObject({ isError: true, meta: { code: "APPROVAL_DENIED" } });
    expect(await readFile(join(at.root, "a.txt"), "utf8")).toBe("two\n");
    expect(await readFile(join(at.root, "asked.txt"), "utf8")).toBe("one\n");
    expect(server.errors()).toContain(`${START}, filewright history keep ID or --all (in ${at.root})\n`);
    expect(await unreviewed(at)).toEqual(["a.txt"]);
    expect((await at.run(["history", "keep", "--all"])).out).toBe("Kept 1 change.\n");
    expect(await unreviewed(at)).toEqual([]);
  },
);

test("serve --approve: what a rule asks about waits, everything else is made", async () => {
  await using at = await workspace({ "a.txt": "one\n" });
  const env = { ...at.env, FILEWRIGHT_TOKEN: "a-token-of-this-test-alone" };
  const args = [COMMAND, "serve", at.root, "--approve", "--review-after", "--guard", "off", "--port", "0"];
  const server = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  try {
    let said = "";
    await new Promise<void>((resolve, reject) => {
      server.once("close", () => reject(new Error(said)));
      server.stderr.on("data", (chunk) => {
        said += chunk;
        if (said.includes("wait for: filewright approve")) resolve();
      });
    });
    expect(said).toContain(START);
    expect(said).toContain("Changes about which a rule asks wait for: filewright approve --watch");
    const [, url = ""] = /at (http:\S+)\s/u.exec(said) ?? [];
    const params = { name: "edit_file", arguments: { path: "a.txt", old_text: "one", new_text: "two" } };
    const response = await fetch(url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${env.FILEWRIGHT_TOKEN}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    });
    expect(await response.text()).not.toContain('"isError":true');
    expect(await readFile(join(at.root, "a.txt"), "utf8")).toBe("two\n");
    expect(await unreviewed(at)).toEqual(["a.txt"]);
  } finally {
    server.kill();
  }
});

test.each<[readonly string[], object, RegExp]>([
  [["--ask", "--review-after"], {}, /--ask and --review-after exclude each other/u],
  [["--ask"], { review: "after" }, /--ask and --review-after exclude each other/u],
  [["--review-after", "--no-history"], {}, /'history': is needed to review changes after they are made/u],
  [["--review-after"], { requireApproval: true }, /give review: "after" or requireApproval, not both/u],
  [[], { review: "aftr" }, /'review'.*"after"/u],
  [["--review-afer"], {}, /--review-after/u],
])("mcp %j with the config file %j is refused", async (flags, config, message) => {
  await using at = await workspace({});
  const file = join(at.root, "..", "config.json");
  await writeFile(file, JSON.stringify(config));
  const { status, err } = await at.run(["mcp", at.root, "--config", file, ...flags]);
  expect([status, err]).toEqual([2, expect.stringMatching(message)]);
});

test("the help of both servers and the completion have the option", async () => {
  await using at = await workspace({});
  for (const command of ["mcp", "serve"])
    expect((await at.run([command, "--help"])).out).toContain("--review-after");
  expect((await at.run(["completion", "bash"])).out).toContain("--review-after");
});
