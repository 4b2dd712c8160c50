import { withQuery } from "@/lib/browser/urls";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { TOP } from "@/lib/contract/userdata-paths";

export const fileSorts = ["name", "size", "modified"] as const;
export type FileSort = (typeof fileSorts)[number];
export type FilesQuery = {
  /** Ends with a slash; "/" is the top. */
  dir: string;
  /** Every file below the folder, instead of its folders and its own files. */
  all: boolean;
  name: string;
  sort: FileSort;
  order: "asc" | "desc";
  offset: number;
};

/** A listing has no pages of its own: so many rows are on the screen at a time. */
export const ROWS = 500;

export const usualQuery: FilesQuery = { dir: TOP, all: false, name: "", sort: "name", order: "asc", offset: 0 };

export function filesHref(query: FilesQuery, { connection, file }: { connection?: string; file?: string } = {}): string {
  const unless = <T>(value: T, usual: T) => (value === usual ? undefined : value);
  return withQuery("/files", {
    dir: unless(query.dir, usualQuery.dir),
    all: query.all ? true : undefined,
    name: query.name,
    sort: unless(query.sort, usualQuery.sort),
    order: unless(query.order, usualQuery.order),
    offset: unless(query.offset, 0),
    file,
    connection,
  });
}

/** Always with the folders inside: folders have no entries of their own, they are read off the paths. */
export function listApiPath(dir: string, connection: string): `/${string}` {
  return withQuery("/api/userdata", { dir, recurse: true, full_info: true, connection });
}

/** The listing as one screen's poll: what is behind # tells two views of one folder apart and never leaves the browser. */
export function viewApiPath(query: FilesQuery, connection: string): `/${string}` {
  return `${listApiPath(query.dir, connection)}#${writeExactJson(query)}`;
}

/** A slash in a path leaves as %2F: services take the path as one part of the address. */
export function fileApiPath(path: string, query: { connection?: string; overwrite?: boolean; full_info?: boolean }): `/${string}` {
  return withQuery(`/api/userdata/${encodeURIComponent(path)}`, query);
}

export function moveApiPath(from: string, to: string, query: { connection?: string; overwrite: boolean }): `/${string}` {
  const path: `/${string}` = `/api/userdata/${encodeURIComponent(from)}/move/${encodeURIComponent(to)}`;
  return withQuery(path, { ...query, full_info: true });
}
