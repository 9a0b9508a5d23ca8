/** `filewright mcp` over standard input and output, in both eras of the protocol. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { COMMAND, connect, ERAS, scratch } from "./harness.ts";

describe.each(ERAS)("in the %s era", (era) => {
  test("the tools of the filesystem server, without schemas of answers", async () => {
    await using at = await scratch();
    await using server = await connect([COMMAND, "mcp", at.dir, "--preset", "mcp"], { era });
    const { tools } = await server.client.listTools();
    expect(tools.map(({ name }) => name)).toContain("read_text_file");
    expect(tools).toHaveLength(14);
    expect(tools.filter(({ outputSchema }) => outputSchema !== undefined)).toEqual([]);
    expect(server.client.getInstructions()).toContain("search_files finds names");
  });

  test("reads, writes, edits and refuses", async () => {
    await using at = await scratch();
    await using server = await connect([COMMAND, "mcp", at.dir, "--preset", "mcp"], { era });
    const path = join(at.dir, "a.txt");
    expect(await server.call("write_file", { path, content: "one\ntwo\n" })).toMatchObject({
      isError: false,
      text: `Successfully wrote to ${path}`,
      structured: undefined,
    });
    const read = await server.call("read_text_file", { path: "a.txt", head: 1 });
    expect(read).toMatchObject({ text: "one", meta: { encoding: "utf-8", next_start_line: 2 } });
    const edit = { path, edits: [{ oldText: "two", newText: "2" }] };
    expect((await server.call("edit_file", edit)).text).toContain("-two\n+2");
    expect(await readFile(path, "utf8")).toBe("one\n2\n");
    expect(await server.call("edit_file", edit)).toMatchObject({
      isError: true,
      meta: { code: "MATCH_NOT_FOUND" },
    });
    expect(await server.call("read_text_file", { path: "/etc/passwd" })).toMatchObject({
      isError: true,
      text: expect.stringContaining("outside allowed directories"),
    });
    await expect(server.call("read_txt_file", {})).rejects.toThrow(
      /Unknown tool.*did you mean read_text_file/u,
    );
  });

  test("roots replace the directories, and follow the client", async () => {
    await using first = await scratch();
    await using second = await scratch();
    await writeFile(join(second.dir, "b.txt"), "b");
    let root = second.dir;
    await using server = await connect(
      [COMMAND, "mcp", first.dir],
      { era, capabilities: { roots: { listChanged: true } } },
      (client) =>
        client.setRequestHandler("roots/list", () => ({ roots: [{ uri: pathToFileURL(root).href }] })),
    );
    expect((await server.call("list_allowed_directories")).text).toBe(`Allowed directories:\n${second.dir}`);
    expect((await server.call("read_text_file", { path: "b.txt" })).text).toBe("b");
    if (era === "modern") return;
    root = first.dir;
    await server.client.sendRootsListChanged();
    expect((await server.call("list_allowed_directories")).text).toBe(`Allowed directories:\n${first.dir}`);
  });

  test("files are resources: listed, read, completed, watched", async () => {
    await using at = await scratch();
    await mkdir(join(at.dir, "sub"));
    await writeFile(join(at.dir, "a b\u202e.txt"), "text é\n");
    await writeFile(join(at.dir, "sub", "x.bin"), Buffer.from([0, 1, 2, 255]));
    await using server = await connect([COMMAND, "mcp", at.dir], { era });
    const { client } = server;
    const { resources } = await client.listResources();
    expect(resources.map(({ name }) => name)).toEqual([at.dir.split("/").at(-1), "a b\\u{202e}.txt"]);
    const uri = resources[1]?.uri as string;
    expect(uri).toBe(`${pathToFileURL(at.dir).href}/a%20b%E2%80%AE.txt`);
    expect((await client.readResource({ uri })).contents).toEqual([
      { uri, mimeType: "text/plain", text: "text é\n" },
    ]);
    const binary = `${pathToFileURL(at.dir).href}/sub/x.bin`;
    expect((await client.readResource({ uri: binary })).contents[0]).toMatchObject({ blob: "AAEC/w==" });
    const directory = await client.readResource({ uri: resources[0]?.uri as string });
    expect(directory.contents[0]).toMatchObject({ text: "[DIR] sub\n[FILE] a b\\u{202e}.txt" });
    for (const lost of ["file:///etc/passwd", "file:///no/such", "http://a/b", `${uri}x`])
      await expect(client.readResource({ uri: lost })).rejects.toMatchObject({ code: -32602 });
    const { resourceTemplates } = await client.listResourceTemplates();
    const ref = { type: "ref/resource" as const, uri: resourceTemplates[0]?.uriTemplate as string };
    const complete = async (value: string): Promise<readonly string[]> =>
      (await client.complete({ ref, argument: { name: "path", value } })).completion.values;
    expect(await complete("su")).toEqual([`${at.dir.slice(1)}/sub/`]);
    expect(await complete(`${at.dir}/sub/`)).toEqual([`${at.dir}/sub/x.bin`]);
    expect(await complete("/etc/pass")).toEqual([]);
  });
});

test("calls at the same time end without a warning of Node", async () => {
  const warnings: Error[] = [];
  const hear = (warning: Error): void => void warnings.push(warning);
  process.on("warning", hear);
  try {
    await using at = await scratch();
    await writeFile(
      join(at.dir, "a.txt"),
      Array.from({ length: 40 }, (_, line) => `line-${line}\n`).join(""),
    );
    await using server = await connect([COMMAND, "mcp", at.dir, "--preset", "canonical"]);
    const edits = Array.from({ length: 40 }, (_, line) =>
      server.call("edit_file", { path: "a.txt", old_text: `line-${line}\n`, new_text: `row-${line}\n` }),
    );
    expect((await Promise.all(edits)).filter(({ isError }) => isError)).toEqual([]);
    const searches = Array.from({ length: 40 }, (_, line) =>
      server.call("grep", { pattern: `row-${line}$` }),
    );
    expect((await Promise.all(searches)).filter(({ isError }) => isError)).toEqual([]);
    const paths = Array.from({ length: 40 }, () => "a.txt");
    expect((await server.call("read_many_files", { paths })).isError).toBe(false);
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
  } finally {
    process.off("warning", hear);
  }
});
