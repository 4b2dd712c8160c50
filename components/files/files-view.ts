import { type UserdataFile } from "@/lib/contract/schemas/userdata";
import { toMilliseconds } from "@/lib/contract/times";
import { fromTop, TOP } from "@/lib/contract/userdata-paths";
import { type FilesQuery, ROWS } from "./files-address";

export type FileRow = {
  kind: "file" | "folder";
  /** From the top; a folder's ends with a slash. */
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
  /** Rows that match, on all pages. */
  total: number;
  /** Files below the folder, whatever is filtered. */
  files: number;
  bytes: number;
  /** Files that the name matches, folders inside included. */
  below: number;
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
    below: query.all || wanted === "" ? 0 : files.filter(matches).length,
  };
}

function toRow({ path, size, modified }: UserdataFile, dir: string): FileRow {
  const name = dir === TOP ? path : path.slice(dir.length);
  return { kind: "file", path, name, bytes: size ?? undefined, modifiedMs: toMilliseconds(modified), files: 1 };
}

/** The files of the folder itself, and one row for each folder in it, made of what lies below. */
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

/** Letters that look alike are alike, however a service spells them. */
const folded = (name: string) => name.normalize("NFC").toLowerCase();

function newer(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

const byName = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Folders first; equal rows by their path, so that the order is total. */
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
