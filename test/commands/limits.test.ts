/** The resource limits of a command in each tier; none of its processes survives it. */
import * as fs from "node:fs";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { marked } from "./rows.mjs";
import { run, TIERS, World } from "./world.ts";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.close());

const MIB = 1024 * 1024;

describe.skipIf(process.platform !== "linux").each(TIERS)(
  "a command of the %s tier",
  { timeout: 120_000 },
  (_tier, options) => {
    test("is ended with all its processes when it makes too many", async () => {
      const ws = await world.open({ commands: { ...options, limits: { processes: 60 } } });
      const marker = `4${process.pid}.1`;
      // Nine times two, not without end: a limit that does not hold must not take the machine.
      const bomb = `f() { [ $1 = 9 ] || { f $(($1 + 1)) & f $(($1 + 1)) & }; sleep ${marker}; }; f 0`;
      const ran = await run(ws, bomb, { timeout_ms: 30_000 });
      // Either it was ended, or the kernel refused it further processes first; then those that it has sleep on.
      const isEnded = ran.exceeded === "processes";
      expect(isEnded || /fork/iu.test(ran.stderr), JSON.stringify(ran)).toBe(true);
      expect([isEnded && ran.timed_out, ran.exit_code === 0]).toEqual([false, false]);
      expect(marked(marker)).toEqual([]);
    });

    test("is ended when processes in sessions of their own make too many", async () => {
      const ws = await world.open({ commands: { ...options, limits: { processes: 60 } } });
      const marker = `4${process.pid}.2`;
      world.put(
        "bomb",
        `#!/bin/sh\n[ $1 = 9 ] || { setsid "$0" $(($1 + 1)) & setsid "$0" $(($1 + 1)) & }\nexec sleep ${marker}\n`,
      );
      fs.chmodSync(`${world.root}/bomb`, 0o755);
      const ran = await run(ws, "./bomb 0; sleep 90", { timeout_ms: 90_000 });
      expect(ran.exceeded === "processes" || /fork/iu.test(ran.stderr), JSON.stringify(ran)).toBe(true);
      expect(marked(marker)).toEqual([]);
    });

    test("is ended when its processes together take too much memory", async () => {
      const ws = await world.open({ commands: { ...options, limits: { memoryBytes: 150 * MIB } } });
      const take = `"${process.execPath}" -e "const kept = []; setInterval(() => console.log(kept.push(Buffer.alloc(10 * 1024 * 1024, 1))), 20)"`;
      const ran = await run(ws, take, { timeout_ms: 60_000 });
      // It is counted every 20 ms, so it may have some more; without a limit it takes half of the machine's.
      expect(Number(ran.stdout.trim().split("\n").at(-1)) * 10).toBeLessThan(600);
      // On a busy machine the kernel's bound on one process may come before the count of all.
      expect(ran.exceeded === "memory" || /allocation failed/u.test(ran.stderr), JSON.stringify(ran)).toBe(
        true,
      );
      expect([ran.timed_out, ran.exit_code === 0]).toEqual([false, false]);
    });

    test("cannot write a file beyond the limit", async () => {
      const ws = await world.open({ commands: { ...options, limits: { fileBytes: MIB } } });
      const ran = await run(ws, "exec head -c 5000000 /dev/zero > big");
      expect(ran.exit_code).not.toBe(0);
      expect(fs.statSync(`${world.root}/big`).size).toBe(MIB);
      const told = await ws.call("run_command", {
        command: ["dd", "if=/dev/zero", "of=big", "bs=1M", "count=3"],
      });
      expect(told.ok && (told.data as { exit_code: number | null }).exit_code).not.toBe(0);
    });

    test("uses a processor for as long as the limit says", async () => {
      const ws = await world.open({ commands: { ...options, limits: { cpuSeconds: 1 } } });
      const ran = await run(ws, "while :; do :; done", { timeout_ms: 60_000 });
      expect([ran.timed_out, ran.exit_code === 0]).toEqual([false, false]);
    });

    test("leaves nothing when its time is up, and the call waits for that", async () => {
      const ws = await world.open({ commands: options });
      const marker = `4${process.pid}.3`;
      const ran = await run(ws, `setsid sleep ${marker} & (setsid sleep ${marker} &); sleep 60`, {
        timeout_ms: 500,
      });
      expect(ran).toMatchObject({ timed_out: true, exit_code: null });
      expect(marked(marker)).toEqual([]);
    });

    test("leaves nothing when the call is cancelled", async () => {
      const ws = await world.open({ commands: options });
      const marker = `4${process.pid}.4`;
      const stop = new AbortController();
      const running = ws.call(
        "run_command",
        { command: `setsid sleep ${marker} & touch began; sleep 60`, shell: true },
        { signal: stop.signal },
      );
      while (!world.has("began")) await new Promise((resolve) => setTimeout(resolve, 5));
      stop.abort();
      expect(await running).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
      expect(marked(marker)).toEqual([]);
    });

    test("ends its output when a process that it left held it open", async () => {
      const ws = await world.open({ commands: options });
      const ran = await run(ws, "echo one; setsid sh -c 'sleep 60; echo two' &");
      expect(ran).toMatchObject({ stdout: "one\n", truncated: false, exit_code: 0 });
    });
  },
);
