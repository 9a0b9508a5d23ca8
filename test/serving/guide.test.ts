/** What the guide on scale shows: its files are YAML, their commands are accepted, and their times fit together. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { SERVER_COMMANDS } from "../../js/cli/commands/server.ts";
import { PROBE_PATHS } from "../../js/mcp/monitoring/health.ts";
import { parseStorageUrl } from "../../js/mcp/storage/url.ts";
import { optionTableOf, parseCommandLine } from "../../js/schema/command-line.node.ts";

const GUIDE = readFileSync(new URL("../../docs/guides/scale.md", import.meta.url), "utf8");
const [COMPOSE = "", KUBERNETES = ""] = [...GUIDE.matchAll(/^```yaml\n(.*?)^```$/gmsu)].map(
  ([, text]) => text,
);
const serve = SERVER_COMMANDS.find(({ name }) => name === "serve");

/** Parses the arguments after `serve`, as the command does. */
function accepted(argv: readonly string[]): Readonly<Record<string, unknown>> {
  return parseCommandLine(argv, optionTableOf(serve?.help ?? [])).values;
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
interface Container {
  readonly args: readonly string[];
  readonly env: readonly { readonly value: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}
interface Deployment {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly containers: readonly [Container];
      };
    };
  };
}
interface Service {
  readonly spec: { readonly ports: readonly [{ readonly targetPort: string }] };
}

describe("the guide on scale", () => {
  test("has a Compose file whose servers are given time to end", () => {
    const { services } = parse(COMPOSE) as {
      readonly services: Record<
        string,
        { readonly command: readonly string[]; readonly stop_grace_period: string }
      >;
    };
    const { command = [], stop_grace_period: period = "" } = services["files"] ?? {};
    const line = command.at(-1) ?? "";
    const argv = line.slice(line.indexOf(" serve ") + " serve ".length).split(/\s+/u);
    const { storage, grace } = accepted(argv);
    expect(parseStorageUrl(String(storage))).toMatchObject({ engine: "postgres" });
    expect(Number.parseInt(period, 10)).toBeGreaterThanOrEqual(Number(grace) + 10);
    // A shell replaces what Compose leaves: one dollar.
    expect(line).toContain("$$(cat");
  });

  test("has a Kubernetes manifest with probes of ours, and time to end after the wait for the routes", () => {
    const documents = parseAllDocuments(KUBERNETES);
    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
    const [deployment, service] = documents.map((one): unknown => one.toJS()) as [Deployment, Service];
    const { terminationGracePeriodSeconds: total, containers } = deployment.spec.template.spec;
    const [{ args, env, lifecycle, ports, startupProbe, livenessProbe, readinessProbe }] = containers;
    const { grace, metrics } = accepted(args.slice(args.indexOf("serve") + 1));
    expect(total).toBeGreaterThanOrEqual(Number(grace) + lifecycle.preStop.sleep.seconds + 10);
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
      expect(PROBE_PATHS).toContain(httpGet.path);
      expect(ports.map(({ name }) => name)).toContain(httpGet.port);
    }
    expect([livenessProbe.httpGet.path, readinessProbe.httpGet.path]).toEqual(["/health", "/ready"]);
    expect(String(metrics)).toMatch(new RegExp(`:${ports[1]?.containerPort}$`, "u"));
    expect(parseStorageUrl(env[0]?.value ?? "")).toMatchObject({ engine: "postgres", secrets: [] });
    expect(service.spec.ports[0].targetPort).toBe(ports[0]?.name);
  });
});
