import { withQuery } from "@/lib/browser/urls";
import { TOP } from "@/lib/contract/assets/file-refs";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { addressValues, type Params, type ValuesOf } from "@/lib/contract/params";

export const fileSorts = ["name", "size", "modified"] as const;

const LONGEST = 1000;

/** `dir` ends with a slash; "/" is the top. `all`: lists every file below the folder instead of its folders and own files. */
export const filesParams = {
  dir: { kind: "text", most: LONGEST, usual: TOP, read: (text) => [text, `${text}/`].find(isFolder) },
  all: { kind: "boolean", usual: false },
  name: { kind: "text", most: LONGEST, usual: "" },
  sort: { kind: "word", values: fileSorts, usual: "name" },
  order: { kind: "word", values: ["asc", "desc"], usual: "asc" },
  offset: { kind: "integer", min: 0, max: 9_999_999, usual: 0 },
} as const satisfies Params;
export type FilesQuery = ValuesOf<typeof filesParams>;

function isFolder(dir: string): boolean {
  if (dir === TOP) return true;
  const parts = dir.split("/");
  return parts.pop() === "" && parts.every((part) => part !== "" && part !== "." && part !== "..") && !/[\\\u0000-\u001f\u007f]/.test(dir);
}

/** A listing is not paged by the service: the page shows this many rows at a time. */
export const ROWS = 500;

export function filesHref(query: FilesQuery, { connection, file }: { connection?: string; file?: string } = {}): string {
  return withQuery("/files", { ...addressValues(filesParams, query), file, connection });
}

/** Always recursive: folders have no entries of their own and are derived from the paths. */
export function listApiPath(dir: string, connection: string): `/${string}` {
  return withQuery("/api/userdata", { dir, recurse: true, full_info: true, connection });
}

/** The poll key of one view of the listing: the part after # tells two views of one folder apart and is never sent. */
export function viewApiPath(query: FilesQuery, connection: string): `/${string}` {
  return `${listApiPath(query.dir, connection)}#${writeExactJson(query)}`;
}

/** Slashes in a path are sent as %2F, as services take the path as one segment of the address. */
export function fileApiPath(path: string, query: { connection?: string; overwrite?: boolean; full_info?: boolean }): `/${string}` {
  return withQuery(`/api/userdata/${encodeURIComponent(path)}`, query);
}

export function moveApiPath(from: string, to: string, query: { connection?: string; overwrite: boolean }): `/${string}` {
  const path: `/${string}` = `/api/userdata/${encodeURIComponent(from)}/move/${encodeURIComponent(to)}`;
  return withQuery(path, { ...query, full_info: true });
}
