import { describe, it } from "vitest";
import { MemoryBackend, SandboxedBackend, SandboxPolicy } from "../js/index.node.ts";
import { backendContract } from "../js/testing/index.ts";
import { minimalBackend } from "./minimal.ts";

const FULL = [
  "read",
  "rename",
  "copyFile",
  "lstat",
  "readLink",
  "symlink",
  "realpath",
  "chmod",
  "removeTree",
] as const;

// Until the engine exports its globs.
const except = [
  "glob: one rule for all: no slash means any depth",
  "glob: directories are no files; a broken pattern is INVALID_GLOB",
  "glob: gives no links and nothing behind them",
];

describe("contract: memory", () => {
  backendContract(() => ({ backend: new MemoryBackend({ "/ws": { type: "dir" } }), root: "/ws" }), {
    test: it,
    except,
    requires: [...FULL, "copyTree"],
  });
});

describe("contract: sandboxed memory", () => {
  const make = () => {
    const inner = new MemoryBackend({ "/ws": { type: "dir" }, "/outside/secret": "s" });
    return { backend: new SandboxedBackend(inner, SandboxPolicy.workspaceOnly("/ws")), root: "/ws" };
  };
  backendContract(make, { test: it, except, requires: FULL });
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
  backendContract(make, { test: it, except, requires: FULL });
});

describe("contract: eleven methods alone", () => {
  backendContract(() => ({ backend: minimalBackend({ "/ws": { type: "dir" } }), root: "/ws" }), {
    test: it,
    except,
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
  backendContract(make, { test: it, except });
});
