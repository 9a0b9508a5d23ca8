/**
 * The optional packages that this package imports, each when it is first needed. npm may install any version of them
 * beside this package, so an import checks it and names the one that works.
 */
import { FilewrightError } from "../engine/errors.ts";

/** One optional package. */
interface OptionalPackage {
  /** The feature that it adds, in the third person. */
  readonly adds: string;
  /** The lowest version that the tests pass with. */
  readonly least: string;
  /** Names that the package exports since that major version. A package without them is too old. */
  readonly exports: readonly string[];
}

/** The name of an optional package. */
export type OptionalPackageName =
  | "sharp"
  | "unpdf"
  | "yaml"
  | "@opentelemetry/api"
  | "prom-client"
  | "pg"
  | "aws4fetch";

/** The optional packages by name. */
export const OPTIONAL_PACKAGES: Readonly<Record<OptionalPackageName, OptionalPackage>> = {
  sharp: { adds: "shrinks images that are too large for a model", least: "0.33.0", exports: ["default"] },
  unpdf: { adds: "reads the text of PDF files", least: "1.4.0", exports: ["getDocumentProxy"] },
  yaml: { adds: "reads single values of YAML files", least: "2.4.0", exports: ["LineCounter"] },
  "@opentelemetry/api": { adds: "sends spans", least: "1.4.0", exports: ["trace", "context"] },
  "prom-client": {
    adds: "serves metrics for Prometheus",
    least: "15.0.0",
    exports: ["Registry", "Histogram"],
  },
  pg: { adds: "connects to Postgres", least: "8.11.0", exports: ["Pool"] },
  aws4fetch: { adds: "signs requests to an object store", least: "1.0.20", exports: ["AwsClient"] },
};

/** Returns the package with the major version that works, as `npm install` takes it: `yaml@2`. */
export function installableName(name: OptionalPackageName): string {
  const [major] = OPTIONAL_PACKAGES[name].least.split(".");
  return `${name}@${major}`;
}

/** The reason why an optional package cannot be used. */
export class PackageProblem {
  readonly name: OptionalPackageName;
  /** For programs. */
  readonly reason: "missing_package" | "old_package";
  /** The error of the import, for a package that could not be imported. */
  readonly cause: unknown;

  constructor(name: OptionalPackageName, cause?: unknown) {
    this.name = name;
    this.reason = cause === undefined ? "old_package" : "missing_package";
    this.cause = cause;
  }

  /** What is wrong, as a clause about the package. */
  get clause(): string {
    return this.reason === "missing_package"
      ? "is not installed"
      : `is installed, but too old: ${OPTIONAL_PACKAGES[this.name].least} or later is needed`;
  }

  /** The command that installs a version that works. */
  get remedy(): string {
    return this.reason === "missing_package"
      ? `npm install ${this.name}`
      : `npm install ${installableName(this.name)}`;
  }
}

/**
 * Imports an optional package. `load` is the `import` itself, because bundlers must see its name or must not, depending
 * on the package. Returns the module, or what is wrong.
 */
export async function importOptional<M extends object>(
  name: OptionalPackageName,
  load: () => Promise<M>,
): Promise<M | PackageProblem> {
  let module: M & { readonly default?: unknown };
  try {
    module = await load();
  } catch (cause) {
    return new PackageProblem(name, cause ?? "no reason");
  }
  const { default: own } = module;
  const isIn = (part: string): boolean =>
    part in module || (typeof own === "object" && own !== null && part in own);
  return OPTIONAL_PACKAGES[name].exports.every(isIn) ? module : new PackageProblem(name);
}

/** Imports an optional package as {@link importOptional} does. @throws FilewrightError UNSUPPORTED_OPERATION */
export async function importRequired<M extends object>(
  name: OptionalPackageName,
  load: () => Promise<M>,
): Promise<M> {
  const module = await importOptional(name, load);
  if (!(module instanceof PackageProblem)) return module;
  throw new FilewrightError("UNSUPPORTED_OPERATION", `the package ${name} ${module.clause}`, {
    hint: module.remedy,
    cause: module.cause,
  });
}
