import { fromTop, TOP } from "@/lib/contract/assets/file-refs";
import { skippedIn } from "@/lib/contract/json/readers";
import { type UserdataFile } from "@/lib/contract/operations/files";
import { toMilliseconds } from "@/lib/contract/times";
import { type FilesQuery, ROWS } from "./files-address";

export type FileRow = {
  kind: "file" | "folder";
  /** From the top; a folder's path ends with a slash. */
  path: string;
  /** Within the folder that is shown. */
  name: string;
  bytes: number | undefined;
  modifiedMs: number | undefined;
  /** Files inside a folder, at any depth. */
  files: number;
};

export type FilesView = {
  rows: readonly FileRow[];
  /** Matching rows, on all pages. */
  total: number;
  /** Files below the folder, regardless of filters. */
  files: number;
  bytes: number;
  /** Files whose name matches, including those in subfolders. */
  below: number;
  /** The number of unreadable entries. */
  unreadable: number;
};

export function toFilesView(listed: readonly UserdataFile[], query: FilesQuery): FilesView {
  const files = fromTop(listed, query.dir).map((file) => toRow(file, query.dir));
  const wanted = folded(query.name.trim());
  const matches = ({ name }: FileRow) => folded(name).includes(wanted);
  const rows = (query.all ? files : withFolders(files, query.dir)).filter(matches);
  rows.sort(inOrder(query));
  return {
    rows: rows.slice(query.offset, query.offset + ROWS),
    total: rows.length,
    files: files.length,
    bytes: files.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0),
    unreadable: skippedIn(listed),
    below: query.all || wanted === "" ? 0 : files.filter(matches).length,
  };
}

/** Includes folders that this tab created and that have no file yet, which no service lists. First page only. */
export function withNewFolders(rows: readonly FileRow[], query: FilesQuery, made: readonly string[]): readonly FileRow[] {
  if (query.all || query.offset > 0 || made.length === 0) return rows;
  const start = query.dir === TOP ? "" : query.dir;
  const listedPaths = new Set(rows.map(({ path }) => path));
  const names = new Set(made.filter((path) => path.startsWith(start)).map((path) => path.slice(start.length).split("/")[0] ?? ""));
  const added = [...names].flatMap((name): FileRow[] => {
    const path = `${start}${name}/`;
    if (name === "" || listedPaths.has(path) || !folded(name).includes(folded(query.name.trim()))) return [];
    return [{ kind: "folder", path, name, bytes: undefined, modifiedMs: undefined, files: 0 }];
  });
  return added.length === 0 ? rows : [...rows, ...added].sort(inOrder(query));
}

function toRow({ path, size, modified }: UserdataFile, dir: string): FileRow {
  const name = dir === TOP ? path : path.slice(dir.length);
  return { kind: "file", path, name, bytes: size ?? undefined, modifiedMs: toMilliseconds(modified), files: 1 };
}

/** The folder's own files, and one row for each subfolder, derived from the files in it. */
function withFolders(files: readonly FileRow[], dir: string): FileRow[] {
  const own: FileRow[] = [];
  const folders = new Map<string, FileRow>();
  for (const file of files) {
    const slash = file.name.indexOf("/");
    if (slash < 0) {
      own.push(file);
      continue;
    }
    const name = file.name.slice(0, slash);
    const folder = folders.get(name);
    if (folder) {
      folder.files += 1;
      folder.bytes = folder.bytes === undefined || file.bytes === undefined ? undefined : folder.bytes + file.bytes;
      folder.modifiedMs = newer(folder.modifiedMs, file.modifiedMs);
    } else {
      folders.set(name, { ...file, kind: "folder", name, path: `${dir === TOP ? "" : dir}${name}/` });
    }
  }
  return [...folders.values(), ...own];
}

/** Names that look the same compare equal, however a service encodes them. */
const folded = (name: string) => name.normalize("NFC").toLowerCase();

function newer(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

const byName = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Folders first; equal rows by path, so that the order is total. */
function inOrder({ sort, order }: FilesQuery) {
  const sign = order === "asc" ? 1 : -1;
  const compare = (one: FileRow, other: FileRow): number => {
    if (sort === "size") return (one.bytes ?? -1) - (other.bytes ?? -1);
    if (sort === "modified") return (one.modifiedMs ?? -1) - (other.modifiedMs ?? -1);
    return byName.compare(one.name, other.name);
  };
  return (one: FileRow, other: FileRow): number => {
    if (one.kind !== other.kind) return one.kind === "folder" ? -1 : 1;
    return sign * compare(one, other) || (one.path < other.path ? -1 : 1);
  };
}
