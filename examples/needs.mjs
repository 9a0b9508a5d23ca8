// Imports a package that an example needs; where it is not installed, the example
// ends with the command that installs it instead of a stack.
import process from "node:process";

/** The module `name`. `packages`: what to install for it. */
export async function needs(name, packages = name) {
  try {
    return await import(name);
  } catch (error) {
    if (error?.code !== "ERR_MODULE_NOT_FOUND") throw error;
    console.error(
      `This example needs a package that is not installed (${name}); run: npm install ${packages}`,
    );
    process.exit(1);
  }
}
