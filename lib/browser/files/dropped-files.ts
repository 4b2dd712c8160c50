// Dropped or selected files. Call before any await in a drop handler, because the browser empties the drop when the handler returns.

export type NamedFile = { path: string; file: File };
export type DroppedFiles = { files: NamedFile[]; unreadable: number; leftOut: number; isCut: boolean };

const MAX_FILES = 10_000;

export function readDrop(transfer: DataTransfer): Promise<DroppedFiles> {
  const entries = [...transfer.items]
    .flatMap((item) => (item.kind === "file" ? [item.webkitGetAsEntry()] : []))
    .filter((entry) => entry !== null);
  const plainFiles = [...transfer.files].map((file) => ({ path: file.name, file }));
  return entries.length === 0 ? Promise.resolve(createDropped(plainFiles)) : readEntries(entries);
}

export function readFileInput(files: readonly File[]): DroppedFiles {
  const namedFiles = files.map((file) => ({ path: file.webkitRelativePath || file.name, file }));
  const userFiles = namedFiles.filter(({ path }) => !isSystemFile(path));
  return {
    ...createDropped(userFiles.slice(0, MAX_FILES)),
    leftOut: namedFiles.length - userFiles.length,
    isCut: userFiles.length > MAX_FILES,
  };
}

export function createDropped(files: NamedFile[]): DroppedFiles {
  return { files, unreadable: 0, leftOut: 0, isCut: false };
}

/** Files that macOS and Windows leave in folders. Directly selected files are accepted under any name. */
function isSystemFile(path: string): boolean {
  return /\/(\.DS_Store|\._[^/]*|(eh)?thumbs\.db|desktop\.ini)$/i.test(path);
}

async function readEntries(entries: readonly FileSystemEntry[]): Promise<DroppedFiles> {
  const dropped = createDropped([]);
  const remaining = [...entries];
  for (let entry = remaining.shift(); entry; entry = remaining.shift()) {
    if (dropped.files.length >= MAX_FILES) return { ...dropped, isCut: true };
    try {
      const path = entry.fullPath.replace(/^\/+/, "");
      if (isSystemFile(path)) dropped.leftOut += 1;
      else if (isFile(entry)) dropped.files.push({ path, file: await getFile(entry) });
      else if (isFolder(entry)) remaining.push(...(await readChildren(entry)));
    } catch {
      // The file is locked or was removed: count it as unreadable.
      dropped.unreadable += 1;
    }
  }
  return dropped;
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}

function getFile(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

/** A reader returns a hundred entries at a time, and an empty list at the end. */
async function readChildren(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const children: FileSystemEntry[] = [];
  while (children.length <= MAX_FILES) {
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (entries.length === 0) break;
    children.push(...entries);
  }
  return children;
}
