import { withQuery } from "@/lib/browser/urls";
import { addFolderPath, ROOT_FOLDER } from "@/lib/contract/assets/file-refs";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { countSkipped } from "@/lib/contract/json/readers";
import { type UserdataFile } from "@/lib/contract/operations/files";
import { type Params, toSearchValues, type ValuesOf } from "@/lib/contract/params";
import { toMilliseconds } from "@/lib/contract/times";

export type FileRow = {
  kind: "file" | "folder";
  path: string;
  name: string;
  bytes: number | undefined;
  modifiedMs: number | undefined;
  fileCount: number;
};

export type FilesView = {
  rows: readonly FileRow[];
  /** The number of matching rows on all pages. */
  total: number;
  fileCount: number;
  bytes: number;
  nestedMatchCount: number;
  unreadableCount: number;
};

export function toFilesView(listedFiles: readonly UserdataFile[], query: FilesQuery): FilesView {
  const files = addFolderPath(listedFiles, query.dir).map((file) => toRow(file, query.dir));
  const nameSearch = foldCase(query.name.trim());
  const matchesName = ({ name }: FileRow) => foldCase(name).includes(nameSearch);
  const rows = (query.all ? files : withFolders(files, query.dir)).filter(matchesName);
  rows.sort(createComparator(query));
  return {
    rows: rows.slice(query.offset, query.offset + ROWS_PER_PAGE),
    total: rows.length,
    fileCount: files.length,
    bytes: files.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0),
    unreadableCount: countSkipped(listedFiles),
    nestedMatchCount: query.all || nameSearch === "" ? 0 : files.filter(matchesName).length,
  };
}

/** Adds the folders created in this tab to the first page. Services don't list folders without files. */
export function withNewFolders(rows: readonly FileRow[], query: FilesQuery, newFolders: readonly string[]): readonly FileRow[] {
  if (query.all || query.offset > 0 || newFolders.length === 0) return rows;
  const prefix = query.dir === ROOT_FOLDER ? "" : query.dir;
  const listedPaths = new Set(rows.map(({ path }) => path));
  const names = new Set(newFolders.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length).split("/")[0] ?? ""));
  const newRows = [...names].flatMap((name): FileRow[] => {
    const path = `${prefix}${name}/`;
    if (name === "" || listedPaths.has(path) || !foldCase(name).includes(foldCase(query.name.trim()))) return [];
    return [{ kind: "folder", path, name, bytes: undefined, modifiedMs: undefined, fileCount: 0 }];
  });
  return newRows.length === 0 ? rows : [...rows, ...newRows].sort(createComparator(query));
}

function toRow({ path, size, modified }: UserdataFile, dir: string): FileRow {
  const name = dir === ROOT_FOLDER ? path : path.slice(dir.length);
  return { kind: "file", path, name, bytes: size ?? undefined, modifiedMs: toMilliseconds(modified), fileCount: 1 };
}

/** The folder's own files, and one row per subfolder, derived from its files. */
function withFolders(files: readonly FileRow[], dir: string): FileRow[] {
  const fileRows: FileRow[] = [];
  const folders = new Map<string, FileRow>();
  for (const file of files) {
    const slashIndex = file.name.indexOf("/");
    if (slashIndex < 0) {
      fileRows.push(file);
      continue;
    }
    const name = file.name.slice(0, slashIndex);
    const folder = folders.get(name);
    if (folder) {
      folder.fileCount += 1;
      folder.bytes = folder.bytes === undefined || file.bytes === undefined ? undefined : folder.bytes + file.bytes;
      folder.modifiedMs = getLater(folder.modifiedMs, file.modifiedMs);
    } else {
      folders.set(name, { ...file, kind: "folder", name, path: `${dir === ROOT_FOLDER ? "" : dir}${name}/` });
    }
  }
  return [...folders.values(), ...fileRows];
}

/** Makes equal names compare equal, regardless of their Unicode form. */
const foldCase = (name: string) => name.normalize("NFC").toLowerCase();

function getLater(value: number | undefined, other: number | undefined): number | undefined {
  return value === undefined || other === undefined ? (value ?? other) : Math.max(value, other);
}

const nameCollator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Folders first; equal rows are sorted by path. */
function createComparator({ sort, order }: FilesQuery) {
  const sign = order === "asc" ? 1 : -1;
  const compare = (file: FileRow, other: FileRow): number => {
    if (sort === "size") return (file.bytes ?? -1) - (other.bytes ?? -1);
    if (sort === "modified") return (file.modifiedMs ?? -1) - (other.modifiedMs ?? -1);
    return nameCollator.compare(file.name, other.name);
  };
  return (file: FileRow, other: FileRow): number => {
    if (file.kind !== other.kind) return file.kind === "folder" ? -1 : 1;
    return sign * compare(file, other) || (file.path < other.path ? -1 : 1);
  };
}

export const fileSorts = ["name", "size", "modified"] as const;

const MAX_PATH_LENGTH = 1000;

/** `dir` ends with a slash; "/" is the root. `all`: also lists the files in subfolders, instead of the subfolders. */
export const filesParams = {
  dir: { kind: "text", maxLength: MAX_PATH_LENGTH, default: ROOT_FOLDER, read: (text) => [text, `${text}/`].find(isFolder) },
  all: { kind: "boolean", default: false },
  name: { kind: "text", maxLength: MAX_PATH_LENGTH, default: "" },
  sort: { kind: "word", values: fileSorts, default: "name" },
  order: { kind: "word", values: ["asc", "desc"], default: "asc" },
  offset: { kind: "integer", min: 0, max: 9_999_999, default: 0 },
} as const satisfies Params;
export type FilesQuery = ValuesOf<typeof filesParams>;

function isFolder(dir: string): boolean {
  if (dir === ROOT_FOLDER) return true;
  const parts = dir.split("/");
  return parts.pop() === "" && parts.every((part) => part !== "" && part !== "." && part !== "..") && !/[\\\u0000-\u001f\u007f]/.test(dir);
}

/** Rows per page. Services don't paginate listings. */
export const ROWS_PER_PAGE = 500;

export function getFilesHref(query: FilesQuery, { connection, file }: { connection?: string; file?: string } = {}): string {
  return withQuery("/files", { ...toSearchValues(filesParams, query), file, connection });
}

/** Always recursive, since folders are derived from the files' paths. */
export function listApiPath(dir: string, connection: string): `/${string}` {
  return withQuery("/api/userdata", { dir, recurse: true, full_info: true, connection });
}

/** The cache key of a view. The part after # distinguishes views of the same folder and is never sent. */
export function getViewApiPath(query: FilesQuery, connection: string): `/${string}` {
  return `${listApiPath(query.dir, connection)}#${writeExactJson(query)}`;
}

/** Slashes in a path are sent as %2F, since services expect the path as one segment. */
export function getFileApiPath(path: string, query: { connection?: string; overwrite?: boolean; full_info?: boolean }): `/${string}` {
  return withQuery(`/api/userdata/${encodeURIComponent(path)}`, query);
}

export function getMoveApiPath(fromPath: string, toPath: string, query: { connection?: string; overwrite: boolean }): `/${string}` {
  const path: `/${string}` = `/api/userdata/${encodeURIComponent(fromPath)}/move/${encodeURIComponent(toPath)}`;
  return withQuery(path, { ...query, full_info: true });
}

export type Crumb = { name: string; dir: string };

/** "a" and "b" for "a/b/"; empty for the root. */
export function toCrumbs(dir: string): Crumb[] {
  if (dir === ROOT_FOLDER) return [];
  const names = dir.slice(0, -1).split("/");
  return names.map((name, index) => ({ name, dir: `${names.slice(0, index + 1).join("/")}/` }));
}

export function joinPath(dir: string, name: string): string {
  return (dir === ROOT_FOLDER ? "" : dir) + name;
}

/** Returns undefined for a name that no service can store. Services may have further rules. */
export function normalizePath(input: string): string | undefined {
  const name = input.trim().replace(/^\/+|\/+$/g, "");
  const isInvalid = name === "" || name.split("/").some((part) => part.trim() === "" || part === "." || part === "..");
  return isInvalid || /[\\\u0000-\u001f\u007f]/.test(name) ? undefined : name;
}
