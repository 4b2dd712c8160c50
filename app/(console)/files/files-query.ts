import { type FilesQuery, fileSorts, usualQuery } from "@/components/files/files-address";

type SearchParams = Record<string, string | string[] | undefined>;

const LONGEST = 1000;

/** Each value is judged by itself: a bad one falls back to its default and is named, the good ones stay. Never throws. */
export function parseFilesQuery(params: SearchParams): { query: FilesQuery; ignored: string[] } {
  const ignored: string[] = [];
  function read<T>(name: string, usual: T, parse: (text: string) => T | undefined): T {
    const text = params[name];
    if (text === undefined || text === "") return usual;
    const value = typeof text === "string" && text.length <= LONGEST ? parse(text) : undefined;
    if (value === undefined) ignored.push(`${name}=${String(text).slice(0, 100)}`);
    return value ?? usual;
  }
  const query: FilesQuery = {
    dir: read("dir", usualQuery.dir, (text) => (isFolder(text) ? text : isFolder(`${text}/`) ? `${text}/` : undefined)),
    all: read("all", false, (text) => (text === "true" ? true : text === "false" ? false : undefined)),
    name: read("name", "", (text) => text),
    sort: read("sort", usualQuery.sort, (text) => fileSorts.find((sort) => sort === text)),
    order: read("order", usualQuery.order, (text) => (text === "asc" || text === "desc" ? text : undefined)),
    offset: read("offset", 0, (text) => (/^\d{1,7}$/.test(text) ? Number(text) : undefined)),
  };
  return { query, ignored };
}

function isFolder(dir: string): boolean {
  if (dir === "/") return true;
  const parts = dir.split("/");
  return parts.pop() === "" && parts.every((part) => part !== "" && part !== "." && part !== "..") && !/[\\\u0000-\u001f\u007f]/.test(dir);
}
