// Dropped or picked files. Call it before any await in a drop's handler, since the browser empties the drop when it returns.

export type NamedFile = { path: string; file: File };
export type DroppedFiles = { files: NamedFile[]; unreadable: number; leftOut: number; isCut: boolean };

const MAX_FILES = 10_000;

export function filesOfDrop(transfer: DataTransfer): Promise<DroppedFiles> {
  const entries = [...transfer.items]
    .flatMap((item) => (item.kind === "file" ? [item.webkitGetAsEntry()] : []))
    .filter((entry) => entry !== null);
  const plain = [...transfer.files].map((file) => ({ path: file.name, file }));
  return entries.length === 0 ? Promise.resolve(droppedOf(plain)) : walk(entries);
}

export function filesOfInput(files: readonly File[]): DroppedFiles {
  const namedFiles = files.map((file) => ({ path: file.webkitRelativePath || file.name, file }));
  const userFiles = namedFiles.filter(({ path }) => !isOfSystem(path));
  return {
    ...droppedOf(userFiles.slice(0, MAX_FILES)),
    leftOut: namedFiles.length - userFiles.length,
    isCut: userFiles.length > MAX_FILES,
  };
}

export function droppedOf(files: NamedFile[]): DroppedFiles {
  return { files, unreadable: 0, leftOut: 0, isCut: false };
}

/** System files that macOS and Windows leave in folders. A directly chosen file is kept under any name. */
function isOfSystem(path: string): boolean {
  return /\/(\.DS_Store|\._[^/]*|(eh)?thumbs\.db|desktop\.ini)$/i.test(path);
}

async function walk(entries: readonly FileSystemEntry[]): Promise<DroppedFiles> {
  const dropped = droppedOf([]);
  const waiting = [...entries];
  for (let entry = waiting.shift(); entry; entry = waiting.shift()) {
    if (dropped.files.length >= MAX_FILES) return { ...dropped, isCut: true };
    try {
      const path = entry.fullPath.replace(/^\/+/, "");
      if (isOfSystem(path)) dropped.leftOut += 1;
      else if (isFile(entry)) dropped.files.push({ path, file: await fileOf(entry) });
      else if (isFolder(entry)) waiting.push(...(await childrenOf(entry)));
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

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

/** A reader returns a hundred entries at a time, and none at the end. */
async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const children: FileSystemEntry[] = [];
  while (children.length <= MAX_FILES) {
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (entries.length === 0) break;
    children.push(...entries);
  }
  return children;
}
