/**
 * Loads the addon of a platform package.
 *
 * Every name is written out in a `require`, so that bundlers and tracers of files find the packages. It is
 * CommonJS because several of them follow `require` only there. The `try` tells them that a package may be
 * missing. `addons.d.cts` has its types, because our compiler options allow no TypeScript with `module.exports`;
 * the build copies it.
 */

/** Returns the exports of the addon for a platform, or the error of loading it; nothing for a platform without a package. */
function requireAddonPackage(platform) {
  try {
    switch (platform) {
      case "linux-x64-gnu":
        return { exports: require("@filewright/native-linux-x64-gnu") };
      case "linux-arm64-gnu":
        return { exports: require("@filewright/native-linux-arm64-gnu") };
      case "linux-x64-musl":
        return { exports: require("@filewright/native-linux-x64-musl") };
      case "linux-arm64-musl":
        return { exports: require("@filewright/native-linux-arm64-musl") };
      case "darwin-x64":
        return { exports: require("@filewright/native-darwin-x64") };
      case "darwin-arm64":
        return { exports: require("@filewright/native-darwin-arm64") };
      default:
        return undefined;
    }
  } catch (error) {
    return { error };
  }
}

module.exports = { requireAddonPackage };
