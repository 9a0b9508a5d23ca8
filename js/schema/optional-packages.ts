/**
 * The optional packages that this package imports, each when it is first needed. npm may install any version of them
 * beside this package, so an import checks it and names the one that works.
 */
import { FilewrightError } from "../engine/errors.ts";

/** A package that is imported when it is first needed, and that may be missing. */
export interface NeededPackage {
  /** The name of the package. */
  readonly name: string;
  /** The lowest version that works. */
  readonly least: string;
  /** Names that the package exports since that major version. A package without them is too old. */
  readonly exports: readonly string[];
  /** The packages that `npm install` is given in the remedy for a missing one. */
  readonly install: string;
}

/** One optional package of this one. `least` is the lowest version that the tests pass with. */
interface OptionalPackage extends Pick<NeededPackage, "least" | "exports"> {
  /** The feature that it adds, in the third person. */
  readonly adds: string;
}

/** The name of an optional package. */
export type OptionalPackageName = "sharp" | "unpdf" | "yaml" | "@opentelemetry/api" | "prom-client" | "pg";

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
};

/** Returns the package with the major version that works, as `npm install` takes it: `yaml@2`. */
export function installableName({ name, least }: Pick<NeededPackage, "name" | "least">): string {
  const [major] = least.split(".");
  return `${name}@${major}`;
}

/** The reason why an optional package cannot be used. */
export class PackageProblem {
  readonly #needed: NeededPackage;
  /** For programs. */
  readonly reason: "missing_package" | "old_package";
  /** The error of the import, for a package that could not be imported. */
  readonly cause: unknown;

  constructor(needed: NeededPackage, cause?: unknown) {
    this.#needed = needed;
    this.reason = cause === undefined ? "old_package" : "missing_package";
    this.cause = cause;
  }

  /** What is wrong, as a clause about the package. */
  get clause(): string {
    return this.reason === "missing_package"
      ? "is not installed"
      : `is installed, but too old: ${this.#needed.least} or later is needed`;
  }

  /** The command that installs a version that works. */
  get remedy(): string {
    return this.reason === "missing_package"
      ? `npm install ${this.#needed.install}`
      : `npm install ${installableName(this.#needed)}`;
  }
}

/**
 * Imports a package. `load` is the `import` itself, because bundlers must see its name or must not, depending on the
 * package. Returns the module, or what is wrong.
 */
async function importNeeded<M extends object>(
  needed: NeededPackage,
  load: () => Promise<M>,
): Promise<M | PackageProblem> {
  let module: M & { readonly default?: unknown };
  try {
    module = await load();
  } catch (cause) {
    return new PackageProblem(needed, cause ?? "no reason");
  }
  const { default: own } = module;
  const isIn = (part: string): boolean =>
    part in module || (typeof own === "object" && own !== null && part in own);
  return needed.exports.every(isIn) ? module : new PackageProblem(needed);
}

/** Imports an optional package of this one. Returns the module, or what is wrong. */
export function importOptional<M extends object>(
  name: OptionalPackageName,
  load: () => Promise<M>,
): Promise<M | PackageProblem> {
  return importNeeded({ name, ...OPTIONAL_PACKAGES[name], install: name }, load);
}

/**
 * Imports a package that a call needs. `load` is the `import` itself: bundlers see the name of the package.
 * @throws FilewrightError UNSUPPORTED_OPERATION with the command that installs a missing package, or one that is too old
 */
export async function importPackage<M extends object>(
  needed: NeededPackage,
  load: () => Promise<M>,
): Promise<M> {
  const module = await importNeeded(needed, load);
  if (!(module instanceof PackageProblem)) return module;
  throw new FilewrightError("UNSUPPORTED_OPERATION", `the package ${needed.name} ${module.clause}`, {
    hint: module.remedy,
    cause: module.cause,
  });
}

/** Imports an optional package as {@link importOptional} does. @throws FilewrightError UNSUPPORTED_OPERATION */
export function importRequired<M extends object>(
  name: OptionalPackageName,
  load: () => Promise<M>,
): Promise<M> {
  return importPackage({ name, ...OPTIONAL_PACKAGES[name], install: name }, load);
}
