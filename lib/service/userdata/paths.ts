// From the path that a client writes to a file inside its user's folder.
// Must never leave that folder: not by dots, absolute paths, backslashes, NUL, double encoding, device names or links.

import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { ServiceError } from "../service-error";

const LONGEST_PATH = 1000;
const LONGEST_NAME = 200;
/** Names that some systems read as devices. */
const reserved = /^(con|prn|aux|nul|com\d|lpt\d)(\..*)?$/i;

/** `raw` is still percent-encoded, exactly as it stood in the URL. Returns the segments of a file. */
export function parseFilePath(raw: string): string[] {
  const path = decode(raw);
  // What decodes once more into a way out was meant as one.
  if (path.includes("%")) requireInside(decodeLeniently(path));
  return requireInside(path);
}

/** From a query, so already decoded; ends with a slash. "/" is the user's own root. */
export function parseFolder(dir: string): string[] {
  if (!dir.endsWith("/")) throw new ServiceError("INVALID_QUERY", "dir: must end with a slash.");
  if (dir === "/" || dir === "./") return [];
  if (dir.includes("%")) requireInside(decodeLeniently(dir).replace(/\/$/, ""));
  return requireInside(dir.slice(0, -1));
}

function requireInside(path: string): string[] {
  const segments = path.split("/");
  const leaves =
    path.startsWith("/") ||
    path.includes("\\") ||
    path.includes("\0") ||
    /^[A-Za-z]:/.test(path) ||
    segments.some((one) => one === ".." || one === "." || reserved.test(one));
  if (leaves) throw new ServiceError("FORBIDDEN", "This path is not allowed.");
  if (path === "" || segments.some((one) => one === "")) throw new ServiceError("BAD_REQUEST", "The path holds an empty name.");
  if (path.length > LONGEST_PATH || segments.some((one) => Buffer.byteLength(one) > LONGEST_NAME))
    throw new ServiceError("BAD_REQUEST", "The path is too long.");
  return segments;
}

/** The absolute path; refuses when a link stands anywhere on the way. */
export async function resolveInside(root: string, segments: readonly string[]): Promise<string> {
  let path = root;
  for (const segment of segments) {
    path = join(path, segment);
    const found = await lstat(path).catch(() => undefined);
    if (!found) break;
    if (found.isSymbolicLink()) throw new ServiceError("FORBIDDEN", "This path is not allowed.");
  }
  return join(root, ...segments);
}

function decode(raw: string): string {
  try {
    return decodeURIComponent(raw);
  } catch {
    throw new ServiceError("BAD_REQUEST", "The path is not encoded correctly.");
  }
}

function decodeLeniently(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
