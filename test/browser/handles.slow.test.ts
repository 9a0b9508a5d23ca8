/**
 * Storage in the browser beyond the contract: several tabs, a full disk, a
 * signal, what dead tabs leave behind, and a user who has not allowed it.
 */
import { beforeAll, expect, it } from "vitest";
import { bundled } from "./bundle.ts";
import { describeChromium, type Opened, withChromium } from "./chromium.ts";
import type { Lab } from "./pages/lab.ts";

declare const lab: Lab;

describeChromium("files in the browser", () => {
  const chromium = withChromium(() => bundled("lab"));
  let first: Opened;
  let second: Opened;

  beforeAll(async () => {
    first = await chromium.open("lab.html");
    second = await chromium.open("lab.html", first.context);
    for (const { page } of [first, second]) await page.evaluate(() => lab.loadEngine());
  }, 60_000);

  /** Runs the same in both tabs at once. */
  const both = <T>(run: (tab: string) => Promise<T>): Promise<[T, T]> =>
    Promise.all([first.page.evaluate(run, "one"), second.page.evaluate(run, "two")]);

  it("two tabs: of forty writers on one version one wins", async () => {
    await first.page.evaluate(() => new lab.OpfsBackend({ directory: "race" }).writeText("/f", "start"));
    const results = await both(async (tab) => {
      const backend = new lab.OpfsBackend({ directory: "race" });
      const { version } = await backend.stat("/f");
      // Both tabs know the version before either writes.
      const channel = new BroadcastChannel("ready");
      await new Promise<void>((go) => {
        channel.onmessage = ({ data }) => {
          if (data === "hello") channel.postMessage("welcome");
          go();
        };
        channel.postMessage("hello");
      });
      channel.close();
      const tries = Array.from({ length: 20 }, (_, i) =>
        backend.writeText("/f", `${tab} ${i}`, { ifVersion: version }).then(
          () => `${tab} ${i}`,
          (error: { readonly code?: string }) => error.code,
        ),
      );
      return Promise.all(tries);
    });
    const winners = results.flat().filter((result) => result !== "CONFLICT");
    expect(winners.length).toBe(1);
    const content = await second.page.evaluate(() =>
      new lab.OpfsBackend({ directory: "race" }).readText("/f"),
    );
    expect(content).toBe(winners[0]);
  });

  it("two tabs: appends of both are all there", async () => {
    await both(async (tab) => {
      const ws = await lab.openWorkspace({ backend: new lab.OpfsBackend({ directory: "log" }), root: "/" });
      for (let i = 0; i < 10; i++) {
        const { ok, text } = await ws.call("write_file", {
          path: "log.txt",
          content: `${tab} ${i}\n`,
          append: true,
        });
        if (!ok) throw new Error(text);
      }
      await ws.close();
    });
    const lines = await first.page.evaluate(() =>
      new lab.OpfsBackend({ directory: "log" }).readText("/log.txt"),
    );
    expect(lines.trimEnd().split("\n").sort()).toEqual(
      ["one", "two"].flatMap((tab) => Array.from({ length: 10 }, (_, i) => `${tab} ${i}`)),
    );
  });

  it("a directory that another tab has made anew is found again", async () => {
    const seen = await first.page.evaluate(async () => {
      const backend = new lab.OpfsBackend({ directory: "anew" });
      await backend.writeText("/d/e/f", "old", { createDirs: true });
      const other = new lab.OpfsBackend({ directory: "anew" });
      await other.removeTree("/d");
      const gone = await lab.outcome(() => backend.readText("/d/e/f"));
      await other.writeText("/d/e/f", "new", { createDirs: true });
      const found = await backend.readText("/d/e/f");
      await other.removeTree("/d");
      await other.writeText("/d", "a file now");
      return [gone, found, await lab.outcome(() => backend.listDir("/d/e"))];
    });
    expect(seen).toEqual([{ code: "NOT_FOUND" }, "new", { code: "NOT_DIRECTORY" }]);
  });

  it("no space: NO_SPACE with the figures, the old content whole, nothing left over", async () => {
    const origin = chromium.served.url;
    const session = await first.context.newCDPSession(first.page);
    const seen = await first.page.evaluate(async () => {
      await new lab.OpfsBackend({ directory: "full" }).writeText("/old", "whole");
      return (await navigator.storage.estimate()).usage ?? 0;
    });
    await session.send("Storage.overrideQuotaForOrigin", { origin, quotaSize: seen + (1 << 20) });
    try {
      const [replaced, created, old, names] = await first.page.evaluate(async () => {
        const backend = new lab.OpfsBackend({ directory: "full" });
        const big = new Uint8Array(8 << 20);
        return [
          await lab.outcome(() => backend.writeBytes("/old", big)),
          await lab.outcome(() => backend.writeBytes("/new/dir/f", big, { createDirs: true })),
          await backend.readText("/old"),
          await lab.raw("full"),
        ] as const;
      });
      for (const refused of [replaced, created])
        expect(refused).toMatchObject({
          code: "NO_SPACE",
          details: { usage: expect.any(Number), quota: expect.any(Number) },
        });
      expect([old, names]).toEqual(["whole", ["old"]]);
    } finally {
      await session.send("Storage.overrideQuotaForOrigin", { origin });
      await session.detach();
    }
  });

  it("a signal while it is written: CANCELLED, the old content whole, nothing left over", async () => {
    const seen = await first.page.evaluate(async () => {
      const backend = new lab.OpfsBackend({ directory: "cancel" });
      await backend.writeText("/f", "whole");
      const big = new Uint8Array(4 << 20);
      const outcomes: unknown[] = [];
      const streams = FileSystemWritableFileStream.prototype;
      const { write } = streams;
      try {
        for (const path of ["/f", "/new"]) {
          const stop = new AbortController();
          // When the first piece is under way, however fast the disk is.
          streams.write = function (...piece) {
            stop.abort();
            return write.apply(this, piece);
          };
          outcomes.push(await lab.outcome(() => backend.writeBytes(path, big, { signal: stop.signal })));
        }
      } finally {
        streams.write = write;
      }
      return [outcomes, await backend.readText("/f"), await lab.raw("cancel")];
    });
    expect(seen).toEqual([[{ code: "CANCELLED" }, { code: "CANCELLED" }], "whole", ["f"]]);
  });

  it("what a dead tab left is not listed, is swept, and is not in the way; a living one's stays", async () => {
    const temp = (digit: string) => `.filewright-web-${digit.repeat(16)}`;
    // Resolves when the lock is held; the page calls `release` to end it.
    await first.page.evaluate(
      (name) =>
        new Promise<void>((held) => {
          const until = new Promise((release) => Object.assign(globalThis, { release }));
          void navigator.locks.request(`filewright/temp/${name}`, () => {
            held();
            return until;
          });
        }),
      temp("b"),
    );
    const seen = await second.page.evaluate(
      async ([dead, alive]) => {
        const backend = new lab.OpfsBackend({ directory: "left" });
        await backend.mkdir("/d");
        const top = await (await navigator.storage.getDirectory()).getDirectoryHandle("left");
        for (const name of [dead, alive]) await top.getFileHandle(name, { create: true });
        await (await top.getDirectoryHandle("d")).getFileHandle(dead, { create: true });
        const listed = (await backend.listDir("/")).map(({ name }) => name);
        await backend.sweep("/");
        await backend.delete("/d");
        return [listed, await lab.raw("left")];
      },
      [temp("a"), temp("b")] as const,
    );
    await first.page.evaluate(() => (globalThis as unknown as { release(): void }).release());
    expect(seen).toEqual([["d"], [temp("b")]]);
  });

  it("nothing above the directory can be named", async () => {
    const seen = await first.page.evaluate(async () => {
      await new lab.OpfsBackend({ directory: "inside/out" }).writeText("/secret", "s");
      const backend = new lab.OpfsBackend({ directory: "inside/box" });
      return Promise.all(
        [
          "/../out/secret",
          "/../../inside/out/secret",
          "/..\\out\\secret",
          "/%2e%2e/out/secret",
          "/\uf05c",
        ].map((path) => lab.outcome(() => backend.readText(path))),
      );
    });
    expect(seen.slice(0, 4)).toEqual(Array.from({ length: 4 }, () => ({ code: "NOT_FOUND" })));
    expect(seen[4]).toEqual({ code: "INVALID_ARGUMENT" });
  });

  it("a version tells a change that leaves size and time as they were", async () => {
    const versions = await first.page.evaluate(async () => {
      const backend = new lab.OpfsBackend({ directory: "same" });
      const found: (string | undefined)[] = [];
      for (const text of ["aaaa", "bbbb", "aaab"]) {
        await backend.writeText("/f", text);
        found.push((await backend.stat("/f")).version);
      }
      return found;
    });
    expect(new Set(versions).size).toBe(3);
  });

  it("a picked directory that the user has not allowed to change: PERMISSION_DENIED, reads go on", async () => {
    const seen = await first.page.evaluate(async () => {
      const top = await (await navigator.storage.getDirectory()).getDirectoryHandle("asked", {
        create: true,
      });
      await new lab.OpfsBackend({ directory: "asked" }).writeText("/f", "kept");
      // No user is here to say no, so the handle itself says what Chromium says then.
      const no = () => Promise.reject(new DOMException("denied", "NotAllowedError"));
      const reader = new Proxy(top, {
        get(target, name) {
          if (name === "queryPermission" || name === "requestPermission") return async () => "denied";
          if (name === "removeEntry") return no;
          if (name === "getFileHandle")
            return async (file: string, options?: FileSystemGetFileOptions) => {
              if (options?.create === true) return no();
              return Object.assign(await target.getFileHandle(file), { createWritable: no });
            };
          const value: unknown = Reflect.get(target, name);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
      const backend = new lab.FileSystemAccessBackend(reader);
      return [
        await backend.permission(),
        await backend.request("read"),
        await lab.outcome(() => backend.writeText("/f", "changed")),
        await lab.outcome(() => backend.writeText("/new", "x")),
        await lab.outcome(() => backend.delete("/f")),
        await backend.readText("/f"),
      ];
    });
    const denied = { code: "PERMISSION_DENIED", hint: expect.stringContaining("click") };
    expect(seen).toEqual(["denied", "denied", denied, denied, denied, "kept"]);
  });

  it("left nothing in the consoles", () => {
    expect([...first.complaints, ...second.complaints]).toEqual([]);
  });
});
