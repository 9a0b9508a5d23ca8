/** The version of the package; written by `npm run wire` from package.json, not to be edited. */
export const VERSION = "0.1.0";
