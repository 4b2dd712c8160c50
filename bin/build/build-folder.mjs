// Returns the output folder of `next build`. Each base path has its own folder, because Next writes the path into all files.

/** @param {{ basePath: string }} settings returned by lib/server/env.ts */
export function getBuildFolder({ basePath }) {
  return `.next${basePath.replaceAll("/", "~")}`;
}
