/** Secrets, by their names and by what they hold: no tool reads or shows them, wherever they are taken. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { MemoryBackend, openWorkspace, type Workspace, type WorkspaceOptions } from "../../js/index.node.ts";
import { share } from "../support/share.ts";

const WORD = "hunter2-SECRET-VALUE";
/** Files that are secrets by their names. */
// biome-ignore format: a list
const NAMED = [
  ".env", ".env.local", ".env.production", "apps/web/.env.development.local", ".envrc",
  ".dev.vars", ".dev.vars.production", "terraform.tfvars", "prod.auto.tfvars", "x.tfvars.json",
  "terraform.tfstate", "terraform.tfstate.backup", "id_ed25519", "id_rsa", "ssh_host_rsa_key",
  "server.pem", "tls.key", "store.p12", "vault.kdbx", "app.jks", "AuthKey.p8", "keys/x.agekey",
  ".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".qwen/oauth_creds.json",
  ".local/share/opencode/auth.json", ".config/gh/hosts.yml", ".config/gcloud/credentials.db",
  ".config/doctl/config.yaml", ".fly/config.yml", ".azure/accessTokens.json", ".aws/credentials",
  ".kube/config", "kubeconfig", ".docker/config.json", ".npmrc", ".pypirc", ".cargo/credentials.toml",
  ".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties", ".composer/auth.json",
  ".terraformrc", ".terraform.d/credentials.tfrc.json", ".netrc", ".pgpass", ".my.cnf",
  ".git-credentials", ".config/stripe/config.toml", ".config/wrangler/default.toml",
  ".config/sops/age/keys.txt", "service-account-key.json", "application_default_credentials.json",
  "prod.env", "deploy/app.env", "config/secrets.yml", "secrets.yaml", "secrets.json", "credentials.json",
  "client_secret_1.json", ".streamlit/secrets.toml", ".aider.conf.yml",
  "auth.json", ".local/state/filewright/serve-4747.approve.token", "serve-4747.token",
  ".local/share/uv/credentials/credentials.toml", ".cache/huggingface/stored_tokens", ".databrickscfg",
  ".dbt/profiles.yml", ".snowflake/connections.toml", ".bundle/config", ".config/configstore/x.json",
  "wallet.dat", ".env~", "prod.env~", "..env.swp", "#.env#", ".local/share/fish/fish_history",
  "claude_desktop_config.json", ".cursor/mcp.json", ".copilot/mcp-config.json", "office.ovpn",
  ".DATABRICKSCFG", "Auth.JSON",
  ".htpasswd", ".vault-token", ".ENV", ".Dev.Vars.x", "sub/TERRAFORM.TFSTATE",
];
const PEM = `-----BEGIN PRIVATE KEY-----\nMII${WORD}\n-----END PRIVATE KEY-----\n`;
/** Files with plain names that are secrets by what they hold. */
const HELD: Readonly<Record<string, string>> = {
  "deploy/production": PEM,
  "notes.txt": `\n  ${PEM}`,
  "bundle.crt": `-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n${PEM}`,
  "gcp.json": JSON.stringify({ project: WORD, type: "service_account", private_key: "-----BEGIN" }, null, 1),
  "age.txt": `# created: today\nAGE-SECRET-KEY-1${WORD}\n`,
};
/** Files that speak of such things. */
const OPEN: Readonly<Record<string, string>> = {
  ".env.example": `KEY=${WORD}\n`,
  "example.env": `KEY=${WORD}\n`,
  "prod.sample.env": `KEY=${WORD}\n`,
  "chart/templates/secrets.yaml": `kind: Secret # ${WORD}\n`,
  "src/secrets.ts": `export const name = "${WORD}";\n`,
  "src/credentials.py": `NAME = "${WORD}"\n`,
  "secrets.example.yml": `key: ${WORD}\n`,
  "guide.md": `# Keys\n\n\`\`\`\n${PEM}\`\`\`\n`,
  "key.ts": `const key = "${WORD}"; // -----BEGIN PRIVATE KEY-----\n`,
  "src/locales/en/auth.json": `{ "login": "${WORD}" }\n`,
  "src/auth.ts": `export const name = "${WORD}";\n`,
  "id_rsa.pub": `ssh-rsa ${WORD}\n`,
};

const base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-secrets-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const FILES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(NAMED.map((path) => [path, `TOKEN=${WORD}\nNEXT=1\n`])),
  ...HELD,
  plain: "nothing\n",
};

type Storage = (files: Readonly<Record<string, string>>) => Pick<WorkspaceOptions, "root" | "backend">;
const STORAGE: readonly (readonly [string, Storage])[] = [
  [
    "the disk",
    (files) => {
      const root = mkdtempSync(join(base, "w-"));
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        writeFileSync(join(root, path), content);
      }
      return { root };
    },
  ],
  [
    "memory",
    (files) => ({
      root: "/w",
      backend: new MemoryBackend(
        Object.fromEntries(Object.entries(files).map(([path, content]) => [`/w/${path}`, content])),
      ),
    }),
  ],
];

/** By day each secret is tried on one of the storages. */
const secretsOn = (name: string): readonly string[] =>
  share(
    [...NAMED, ...Object.keys(HELD)],
    STORAGE.length,
    STORAGE.findIndex(([storage]) => storage === name),
  );

/** Everything that an answer says. */
async function told(ws: Workspace, tool: string, args: Record<string, unknown>): Promise<string> {
  return JSON.stringify(await ws.call(tool, args));
}

describe.each(STORAGE)("secrets on %s", (name, storage) => {
  test("are not read by any tool", async () => {
    const ws = await openWorkspace(storage(FILES));
    for (const path of secretsOn(name)) {
      for (const [tool, args] of [
        ["read_file", { path }],
        ["read_file", { path, start_line: 2 }],
        ["read_file", { path, force_text: true, start_byte: 3 }],
        ["grep", { pattern: "SECRET", path }],
        ["grep", { pattern: "SECRET-VALUE", glob: path }],
        ["read_many_files", { paths: [path] }],
        ["diff", { a: path, content_b: "" }],
        ["diff", { a: "plain", b: path }],
        ["edit_file", { path, old_text: "TOKEN=wrong", new_text: "x" }],
        ["edit_file", { path, old_text: "MII", new_text: "x", dry_run: true }],
        ["apply_patch", { patch: `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-TOKEN=guess\n+x\n` }],
        ["stat", { path, hash: true }],
        ["batch", { operations: [{ tool: "read_file", args: { path } }], dry_run: true }],
      ] as const) {
        expect(await told(ws, tool, args), `${tool} ${path}`).not.toContain(WORD);
      }
    }
    for (let round = 0; round < 3; round++) {
      expect(await told(ws, "grep", { pattern: "SECRET.VALUE" })).not.toContain(WORD);
      expect(await told(ws, "grep", { pattern: "SECRET.VALUE", context: 2, output: "files" })).not.toContain(
        "notes.txt",
      );
    }
    expect(await told(ws, "read_many_files", { paths: ["**/*"], respect_ignore: false })).not.toContain(WORD);
    await ws.close();
  });

  test("are not read where they are copied or moved to", async () => {
    for (const path of secretsOn(name)) {
      const ws = await openWorkspace(storage({ [path]: FILES[path] as string, plain: "x\n" }));
      const steps: readonly (readonly [string, Record<string, unknown>])[] = [
        ["copy", { source: path, destination: "out1" }],
        ["batch", { operations: [{ tool: "copy", args: { source: path, destination: "out2" } }] }],
        [
          "apply_patch",
          {
            patch: `diff --git a/${path} b/out3\nsimilarity index 100%\nrename from ${path}\nrename to out3\n`,
          },
        ],
        ["move", { source: path, destination: "out4" }],
        ["copy", { source: path.split("/")[0], destination: "tree" }],
      ];
      for (const [tool, args] of steps) {
        expect(await told(ws, tool, args), `${tool} ${path}`).not.toContain(WORD);
        for (const out of ["out1", "out2", "out3", "out4", "tree"])
          expect(await told(ws, "read_file", { path: out }), `${tool} ${path} ${out}`).not.toContain(WORD);
        expect(await told(ws, "grep", { pattern: "SECRET" }), `${tool} ${path}`).not.toContain(WORD);
      }
      await ws.close();
    }
  });

  test("that are appended to stay secrets", async () => {
    const ws = await openWorkspace(storage(FILES));
    await ws.call("write_file", { path: "notes.txt", content: "x".repeat(200_000), append: true });
    expect(await told(ws, "read_file", { path: "notes.txt" })).toContain("GRANT_DENIED");
    await ws.close();
  });

  test("are told from what only speaks of them", async () => {
    const ws = await openWorkspace(storage(OPEN));
    for (const path of Object.keys(OPEN)) {
      const read = await ws.call("read_file", { path });
      expect(read.ok ? read.text : read.error.code, path).toContain("SECRET-VALUE");
    }
    const found = await ws.call("grep", { pattern: "SECRET-VALUE", output: "files" });
    expect(found.ok && (found.data as { readonly files?: readonly unknown[] }).files).toHaveLength(
      Object.keys(OPEN).length,
    );
    await ws.close();
  });

  test("are read when the host says so, by row or place", async () => {
    const ws = await openWorkspace({
      ...storage(FILES),
      access: { places: { readable: [".env.*", "*.pem"], secret: ["plain"] } },
    });
    expect(await told(ws, "read_file", { path: ".env.local" })).toContain(WORD);
    expect(await told(ws, "read_file", { path: "server.pem" })).toContain(WORD);
    expect(await told(ws, "read_file", { path: ".env" })).not.toContain(WORD);
    expect(await told(ws, "read_file", { path: "plain" })).toContain("GRANT_DENIED");
    await ws.close();
    const free = await openWorkspace({ ...storage(FILES), access: { secrets: "allow" } });
    for (const path of [".env", "notes.txt"]) expect(await told(free, "read_file", { path })).toContain(WORD);
    await free.close();
  });
});

describe("the system's own secrets", () => {
  test.each([
    "/proc/self/environ",
    "/proc/thread-self/environ",
    `/proc/${process.pid}/environ`,
    `/proc/${process.pid}/task/${process.pid}/environ`,
    "/proc/self/cmdline",
    "/proc/self/maps",
    "/proc/self/mem",
    "/etc/shadow",
  ])("%s is not read with access.read: null", async (path) => {
    const ws = await openWorkspace({ root: mkdtempSync(join(base, "p-")), access: { read: null } });
    for (const more of [{}, { force_text: true }, { force_text: true, start_byte: 1 }]) {
      const read = await ws.call("read_file", { path, ...more });
      expect(read.ok ? read.text : read.error.code, path).toMatch(
        /^(?:GRANT_DENIED|NOT_FOUND|OUTSIDE_ALLOWED|PERMISSION_DENIED)$/,
      );
    }
    const found = await ws.call("grep", { pattern: "PATH=|root:", path });
    expect(found.ok, path).toBe(false);
    await ws.close();
  });
});
