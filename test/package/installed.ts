/** Packages from npm that only a slow test needs, installed when it runs. */
import { installNpmHome } from "../../scripts/lib/npm-home.mjs";

/**
 * Installs what the manifest (a `package.json`) names into the directory `home`, unless that
 * is what it holds. Gives what went wrong, or nothing. No two tests that run at once may share a home.
 */
export function installed(manifest: string, home: string): string | undefined {
  return installNpmHome(manifest, home);
}
