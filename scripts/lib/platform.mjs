// The name of this platform as napi-rs writes it into addon file names.
const ABI_SUFFIX_BY_OS = { win32: "-msvc", linux: "-gnu" };

/** The same test as in js/engine/load.node.ts, which a script cannot import before the build. */
const isMusl = () => {
  // Without this, a report asks the network for the names of all its peers.
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime === undefined;
};

/** For example `linux-x64-gnu`, `darwin-arm64` or `win32-x64-msvc`. */
export const platformName = () => {
  const { platform: os, arch } = process;
  return `${os}-${arch}${os === "linux" && isMusl() ? "-musl" : (ABI_SUFFIX_BY_OS[os] ?? "")}`;
};
