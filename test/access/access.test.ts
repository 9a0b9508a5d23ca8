import { describe, expect, it } from "vitest";
import { createResolver, FilewrightError, SandboxPolicy, SandboxViolation } from "../../js/index.node.ts";

const codeOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof FilewrightError) return error.code;
    throw error;
  }
  return "OK";
};

describe("policies", () => {
  it("are frozen, absolute and without doubles", () => {
    const policy = SandboxPolicy.allowList({
      cwd: "/w/./x/..",
      read: ["a", "/w/a/", "b/../a"],
      write: ["a"],
    });
    expect(policy).toEqual({
      cwd: "/w",
      read: ["/w/a"],
      write: ["/w/a"],
      deny: [],
      protect: false,
      readOnly: false,
      followSymlinks: "inside",
    });
    for (const part of [policy, policy.read, policy.write, policy.deny])
      expect(Object.isFrozen(part)).toBe(true);
  });

  it("come from factories", () => {
    expect(SandboxPolicy.workspaceOnly("/w")).toMatchObject({ cwd: "/w", read: ["/w"], write: ["/w"] });
    expect(SandboxPolicy.readOnly("/w")).toMatchObject({ read: ["/w"], write: [], readOnly: true });
    expect(SandboxPolicy.openRead("/w")).toMatchObject({ read: null, write: ["/w"] });
    expect(SandboxPolicy.amplifier("/w")).toMatchObject({ cwd: "/w", read: null, write: ["/w"] });
    expect(SandboxPolicy.allowList({ write: ["/w"] })).toMatchObject({ read: ["/w"], write: ["/w"] });
    expect(codeOf(() => SandboxPolicy.workspaceOnly("w"))).toBe("INVALID_ARGUMENT");
    expect(codeOf(() => SandboxPolicy.workspaceOnly("/w", { deny: [""] }))).toBe("INVALID_ARGUMENT");
    expect(codeOf(() => SandboxPolicy.workspaceOnly("/w", { maxOutputBytes: 0 }))).toBe("INVALID_ARGUMENT");
  });

  it("combine to what both allow", () => {
    const a = SandboxPolicy.allowList({ cwd: "/w", read: null, write: ["/w", "/x/y"], deny: ["*.key"] });
    const b = SandboxPolicy.allowList({
      cwd: "/x",
      read: ["/w/src", "/x"],
      write: ["/w/src", "/x", "/z"],
      deny: ["sec", "./a/b", "../top", "/abs"],
      protect: true,
      followSymlinks: "never",
      maxOutputBytes: 5,
    });
    expect(SandboxPolicy.intersect(a, b)).toEqual({
      cwd: "/w",
      read: ["/w/src", "/x"],
      write: ["/w/src", "/x/y"],
      deny: ["*.key", "/x/**/sec", "/w/src/**/sec", "/z/**/sec", "/x/a/b", "/top", "/abs"],
      protect: true,
      readOnly: false,
      followSymlinks: "never",
      maxOutputBytes: 5,
    });
    const none = SandboxPolicy.intersect(
      SandboxPolicy.workspaceOnly("/a"),
      SandboxPolicy.workspaceOnly("/ab"),
    );
    expect([none.read, none.write]).toEqual([[], []]);
  });
});

describe("locations", () => {
  const policy = SandboxPolicy.allowList({
    cwd: "/w",
    read: ["/w", "/lib", "/one/file.txt"],
    write: ["/w", "/w/deep"],
    deny: ["sec", "*.key"],
    protect: true,
  });

  it.each([
    ["a/../b", "read", "/w/b", "/w"],
    ["//w//a/./b", "write", "/w/a/b", "/w"],
    ["deep/x", "write", "/w/deep/x", "/w/deep"],
    ["/lib/x", "read", "/lib/x", "/lib"],
    ["/one/file.txt", "read", "/one/file.txt", "/one/file.txt"],
    ["..\\x", "write", "/w/..\\x", "/w"],
    ["%2e%2e/x", "write", "/w/%2e%2e/x", "/w"],
    ["~", "read", "/w/~", "/w"],
    [".", "read", "/w", "/w"],
    [".git/config", "read", "/w/.git/config", "/w"],
    [".git/COMMIT_EDITMSG", "write", "/w/.git/COMMIT_EDITMSG", "/w"],
  ] as const)("%s for %s is %s", async (typed, intent, path, root) => {
    const resolver = await createResolver(policy);
    const location = resolver.resolve(typed, intent);
    expect(location).toMatchObject({ typed, path, intent, root });
    expect(Object.isFrozen(location)).toBe(true);
  });

  it.each([
    ["", "read", "INVALID_ARGUMENT"],
    ["a\0b", "read", "INVALID_ARGUMENT"],
    ["a\ud83d", "read", "INVALID_ARGUMENT"],
    ["x".repeat(70_000), "read", "NAME_TOO_LONG"],
    ["..", "read", "OUTSIDE_ALLOWED"],
    ["../w2/x", "read", "OUTSIDE_ALLOWED"],
    ["/w2", "read", "OUTSIDE_ALLOWED"],
    ["/", "read", "OUTSIDE_ALLOWED"],
    ["../../../../../etc/passwd", "read", "OUTSIDE_ALLOWED"],
    ["/one/file.txt.bak", "read", "OUTSIDE_ALLOWED"],
    ["/lib/x", "write", "OUTSIDE_ALLOWED"],
    ["a/sec/b", "read", "OUTSIDE_ALLOWED"],
    ["/lib/x.key", "read", "OUTSIDE_ALLOWED"],
    [".GIT/hooks/x", "write", "PROTECTED_PATH"],
    ["sub/.gitmodules", "write", "PROTECTED_PATH"],
  ] as const)("%j for %s is %s", async (typed, intent, code) => {
    const resolver = await createResolver(policy);
    expect(codeOf(() => resolver.resolve(typed, intent))).toBe(code);
  });

  it("say whether only a directory can be meant", async () => {
    const resolver = await createResolver(policy);
    for (const typed of ["a/", "a/.", "a/..", "/w/"])
      expect(resolver.resolve(typed, "read").directory).toBe(true);
    for (const typed of ["a", "a/..b", "/w"]) expect(resolver.resolve(typed, "read").directory).toBe(false);
  });

  it("are refused in fixed words, with the path as typed and on one line", async () => {
    const resolver = await createResolver(policy);
    const refusal = (typed: string, intent: "read" | "write"): SandboxViolation => {
      try {
        resolver.resolve(typed, intent);
      } catch (error) {
        if (error instanceof SandboxViolation) return error;
      }
      throw new Error(`${typed} was not refused`);
    };
    expect(refusal("../etc/passwd", "read").message).toBe(
      "path '../etc/passwd' is outside the allowed directories",
    );
    expect(refusal("/etc/x", "write").message).toBe("path '/etc/x' is outside the allowed write directories");
    expect(refusal("/a\nb\u202e", "read").message).toBe(
      "path '/a\\nb\\u{202e}' is outside the allowed directories",
    );
    expect(refusal("/a\nb", "read")).toMatchObject({ path: "/a\nb", errno: "EACCES" });
    expect(refusal(`/${"x".repeat(9000)}`, "write").message.length).toBeLessThan(200);
  });

  it("are all refused for writing under a read-only policy", async () => {
    const resolver = await createResolver(SandboxPolicy.readOnly("/w"));
    expect(codeOf(() => resolver.resolve("a", "write"))).toBe("READ_ONLY");
    expect(codeOf(() => resolver.resolve("a", "read"))).toBe("OK");
  });

  it("may be read anywhere where the policy says so", async () => {
    const resolver = await createResolver(SandboxPolicy.openRead("/w"));
    expect(resolver.resolve("/etc/x", "read")).toMatchObject({ path: "/etc/x", root: "/" });
    expect(codeOf(() => resolver.resolve("/etc/x", "write"))).toBe("OUTSIDE_ALLOWED");
  });

  it("resolve roots once, and the old names of roots still lead there", async () => {
    let target = "/real";
    const realpath = (path: string) => path.replace(/^\/link/, target);
    const resolver = await createResolver(SandboxPolicy.workspaceOnly("/link/w"), realpath);
    target = "/elsewhere";
    expect(resolver.policy).toMatchObject({ cwd: "/real/w", read: ["/real/w"], write: ["/real/w"] });
    expect(resolver.resolve("a", "read").path).toBe("/real/w/a");
    expect(resolver.resolve("/link/w/a", "read").path).toBe("/real/w/a");
    expect(resolver.resolve("/real/w/a", "read").path).toBe("/real/w/a");
    expect(codeOf(() => resolver.resolve("/elsewhere/w/a", "read"))).toBe("OUTSIDE_ALLOWED");
  });

  it("are shown relative to the working directory when inside it", async () => {
    const resolver = await createResolver(policy);
    expect(["/w/a/b", "/w", "/w2", "/lib/x"].map(resolver.display)).toEqual(["a/b", ".", "/w2", "/lib/x"]);
    expect(resolver.display("/w/a\tb")).toBe("a\tb");
    expect(resolver.show("/w/a\tb\u0085\u2066")).toBe("a\\tb\\x85\\u{2066}");
  });
});
