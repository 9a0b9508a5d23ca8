import type { Files } from "../../js/backends/files.ts";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "vitest";
import { LocalBackend, MemoryBackend, SandboxedBackend, SandboxPolicy } from "../../js/index.node.ts";
import { backendContract } from "../../js/testing/index.ts";
import { minimalBackend } from "./minimal.ts";

const FULL = ["conditions", "ranges", "links", "modes"] as const;

describe("contract: memory", () => {
  backendContract(() => ({ backend: new MemoryBackend({ "/ws": { type: "dir" } }), root: "/ws" }), {
    test: it,

    requires: FULL,
  });
});

describe("contract: memory, whose root is `/`", () => {
  backendContract(() => ({ backend: new MemoryBackend(), root: "/" }), { test: it, requires: FULL });
});

describe("contract: sandboxed memory", () => {
  const make = () => {
    const inner = new MemoryBackend({ "/ws": { type: "dir" }, "/outside/secret": "s" });
    return { backend: new SandboxedBackend(inner, SandboxPolicy.workspaceOnly("/ws")), root: "/ws" };
  };
  backendContract(make, { test: it, requires: FULL });
});

describe("contract: sandboxed memory with rules, below a root named through a link", () => {
  const make = () => {
    const inner = new MemoryBackend({
      "/real/ws": { type: "dir" },
      "/named": { type: "symlink", target: "real" },
    });
    const policy = SandboxPolicy.workspaceOnly("/named", { protect: true });
    return { backend: new SandboxedBackend(inner, policy), root: "/real/ws" };
  };
  backendContract(make, { test: it, requires: FULL });
});

describe("contract: eleven methods alone", () => {
  backendContract(() => ({ backend: minimalBackend({ "/ws": { type: "dir" } }), root: "/ws" }), {
    test: it,
  });
});

describe("contract: eleven methods alone, sandboxed", () => {
  const make = () => ({
    backend: new SandboxedBackend(
      minimalBackend({ "/ws": { type: "dir" } }),
      SandboxPolicy.workspaceOnly("/ws"),
    ),
    root: "/ws",
  });
  backendContract(make, { test: it });
});

/** A fresh directory on the disk, and a backend for it. */
function onDisk(backend: (root: string, base: string) => Files) {
  return () => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), "fw-contract-")));
    const root = join(base, "ws");
    mkdirSync(root);
    return {
      backend: backend(root, base),
      root,
      dispose: () => rmSync(base, { recursive: true, force: true }),
    };
  };
}

const DISK = [...FULL, "asides", "locks"] as const;

describe("contract: the disk", () => {
  backendContract(
    onDisk(() => new LocalBackend()),
    { test: it, requires: DISK },
  );
});

describe("contract: the disk, confined", () => {
  const make = onDisk((root) => new SandboxedBackend(new LocalBackend(), SandboxPolicy.workspaceOnly(root)));
  backendContract(make, { test: it, requires: DISK });
});

describe("contract: the disk, confined with rules and resolved by a walk", () => {
  const make = onDisk((root) => {
    const policy = SandboxPolicy.workspaceOnly(root, { protect: true, deny: ["*.denied"] });
    return new LocalBackend({ policy, resolver: "walk" });
  });
  backendContract(make, { test: it, requires: DISK });
});
