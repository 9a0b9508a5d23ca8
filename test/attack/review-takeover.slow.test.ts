/**
 * A program of another user waits for the port of the review page, and has it when the server that serves the page is
 * killed: it is told nothing and can answer nothing, and the open tabs say what to do. Real servers, a real Chromium.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { copyFile, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeChromium, withChromium } from "../browser/chromium.ts";
import { openDesk, saidBy, watcherOf } from "../review/reviewing.ts";
import { ticketOf } from "../support/proving.mjs";

const WAITER = fileURLToPath(new URL("port-waiter.mjs", import.meta.url));
const NOBODY = 65_534;
const LINK = /Changes wait at (http:\S+#t=[0-9a-f]{64})/u;

/** A request that the program got. */
interface Stolen {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** A program that waits for a port. */
interface Waiter extends AsyncDisposable {
  /** Resolves when it has the port. */
  hasPort(): Promise<void>;
  /** Returns the requests that it has got. */
  stolen(): readonly Stolen[];
  end(): Promise<void>;
}

/** Starts the program, as another user where this one may. */
async function waitForPort(port: number, manner: string): Promise<Waiter> {
  // The other user may not read this checkout.
  const script = join("/tmp", `filewright-waiter-${process.pid}-${port}.mjs`);
  await copyFile(WAITER, script);
  const isRoot = process.getuid?.() === 0;
  const child: ChildProcess = spawn(process.execPath, [script, String(port), manner], {
    cwd: "/",
    stdio: ["ignore", "pipe", "inherit"],
    ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
  });
  let out = "";
  child.stdout?.on("data", (chunk) => {
    out += chunk;
  });
  const said = async (word: string): Promise<void> => {
    while (!out.includes(`"${word}"`)) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  await said("waiting");
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const end = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
  };
  return {
    hasPort: () => said("listening"),
    stolen: () => {
      const lines = out.split("\n").slice(0, -1);
      return lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as Stolen);
    },
    end,
    async [Symbol.asyncDispose]() {
      await end();
      await rm(script, { force: true });
    },
  };
}

/** Sends what the program got again, as it was. */
function replay({ method, url, rawHeaders, body }: Stolen, origin: string): Promise<number> {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    if (!/^(?:host|connection|content-length|accept-encoding|transfer-encoding)$/iu.test(name))
      headers.set(name, value.replaceAll(/http:\/\/127\.0\.0\.1:\d+/gu, origin));
  }
  return fetch(`${origin}${url}`, { method, headers, body: method === "POST" ? body : null }).then(
    (response) => response.status,
  );
}

describeChromium("another user's program at the port of the page", () => {
  const chromium = withChromium(async () => ({}));

  /** Presses what allows the question, by mouse and by key, whether or not the page offers it. */
  async function tryToAllow(page: Page): Promise<void> {
    await page.keyboard.press("a");
    const allow = page.getByRole("button", { name: "Allow once" });
    await allow.click({ force: true, timeout: 500 }).catch(() => {});
  }

  // At once: each waits for seconds until a tab or a server gives up.
  it.concurrent.each(["agreeing", "refusing", "silent"])(
    "is told nothing and answers nothing: %s",
    async (manner) => {
      await using desk = await openDesk();
      const first = await desk.agent("first");
      const anasLink = await saidBy(first.server, LINK);
      const second = await desk.agent("second");
      await saidBy(second.server, /Changes wait at (\S+), the page of another server/u);
      const shared = `http://127.0.0.1:${desk.port}`;
      const { out } = await desk.cli.run(
        ["review", "--url", shared, "--role", "answer", "--by", "ben"],
        "",
        desk.env,
      );
      const bensLink = out.trim();
      const ana = (await chromium.open(anasLink)).page;
      const ben = (await chromium.open(bensLink)).page;
      const write = second.write("two\n");
      for (const page of [ana, ben]) await page.getByRole("gridcell", { name: "added: two" }).waitFor();

      await using waiter = await waitForPort(desk.port, manner);
      // The second server takes a port that it finds free, as it should: it looks when the program has it.
      process.kill(second.server.pid, "SIGSTOP");
      process.kill(first.server.pid, "SIGKILL");
      await waiter.hasPort();
      process.kill(second.server.pid, "SIGCONT");
      for (const page of [ana, ben]) {
        await tryToAllow(page);
        await page.getByText("filewright review", { exact: true }).waitFor();
        await tryToAllow(page);
      }
      if (manner === "agreeing")
        await ana.getByText("What answers at its address now cannot prove that it is that server").waitFor();

      // What came there: first messages, which prove nothing, and at most requests of the session that has ended.
      const stolen = waiter.stolen();
      expect(stolen.length).toBeGreaterThan(1);
      const keys = [anasLink, bensLink].map((link) => ticketOf(link).key.toString("hex"));
      for (const { rawHeaders, url, body } of stolen) {
        const text = JSON.stringify([rawHeaders, url, body]);
        expect(text).not.toMatch(/cookie|authorization/iu);
        for (const key of keys) expect(text).not.toContain(key);
        // A tab names its login, and the other server its key.
        if (url.endsWith("/hello"))
          expect((JSON.parse(body) as { kind: string }).kind).toMatch(/^(?:login|owner)$/u);
      }
      for (const page of [ana, ben]) {
        expect(await page.context().cookies()).toEqual([]);
        expect(await page.evaluate(() => localStorage.length + sessionStorage.length)).toBe(0);
      }

      // The other server shows the change on a page of its own, which filewright review finds; nothing has answered it.
      await saidBy(second.server, /(This server shows the review page now)/u);
      const found = await desk.cli.run(["review", "--by", "ana"], "", desk.env);
      expect([found.status, found.err]).toEqual([0, ""]);
      const own = new URL(found.out.trim());
      expect(own.port).not.toBe(String(desk.port));
      const page = await watcherOf(found.out.trim());
      const another = await desk.cli.run(["review", "--by", "ana"], "", desk.env);
      await page.until(({ state }) => state.waiting[0]);
      // Sent again, there and at the next server that has the port, all of it counts for nothing.
      for (const one of stolen)
        if (!one.url.endsWith("/hello")) expect(await replay(one, own.origin)).toBe(401);
      await waiter.end();
      const third = await desk.agent("third");
      await saidBy(third.server, LINK);
      for (const one of stolen) if (!one.url.endsWith("/hello")) expect(await replay(one, shared)).toBe(401);
      expect(await readFile(join(second.root, "a.txt"), "utf8")).toBe("one\n");

      // The person goes on by the new link.
      const next = (await chromium.open(another.out.trim())).page;
      await next.getByRole("gridcell", { name: "added: two" }).waitFor();
      await next.getByRole("button", { name: "Allow once" }).click();
      expect((await write).isError).toBe(false);
      expect(await readFile(join(second.root, "a.txt"), "utf8")).toBe("two\n");
      for (const one of [ana, ben, next]) await one.context().close();
    },
    120_000,
  );
});
