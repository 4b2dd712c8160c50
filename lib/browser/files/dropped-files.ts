// Reads dropped or selected files. Call `readDroppedFiles` before any await in a drop handler, because the browser empties the drop when
// the handler returns.

export type NamedFile = { path: string; file: File; pastedAt?: Date; isWorkflow?: boolean };
export type DroppedFiles = { files: NamedFile[]; unreadableCount: number; skippedCount: number; isTruncated: boolean };

const MAX_FILES = 10_000;

export function readDroppedFiles(transfer: DataTransfer): Promise<DroppedFiles> {
  const entries = [...transfer.items]
    .flatMap((item) => (item.kind === "file" ? [item.webkitGetAsEntry()] : []))
    .filter((entry) => entry !== null);
  const plainFiles = [...transfer.files].map((file) => ({ path: file.name, file }));
  return entries.length === 0 ? Promise.resolve(createDroppedFiles(plainFiles)) : readEntries(entries);
}

export function readFileInput(files: readonly File[]): DroppedFiles {
  const namedFiles = files.map((file) => ({ path: file.webkitRelativePath || file.name, file }));
  const userFiles = namedFiles.filter(({ path }) => !isSystemFile(path));
  return {
    ...createDroppedFiles(userFiles.slice(0, MAX_FILES)),
    skippedCount: namedFiles.length - userFiles.length,
    isTruncated: userFiles.length > MAX_FILES,
  };
}

export function createDroppedFiles(files: NamedFile[]): DroppedFiles {
  return { files, unreadableCount: 0, skippedCount: 0, isTruncated: false };
}

/** Files that macOS and Windows leave in folders. Directly selected files are accepted under any name. */
function isSystemFile(path: string): boolean {
  return /\/(\.DS_Store|\._[^/]*|(eh)?thumbs\.db|desktop\.ini)$/i.test(path);
}

async function readEntries(entries: readonly FileSystemEntry[]): Promise<DroppedFiles> {
  const result = createDroppedFiles([]);
  const pendingEntries = [...entries];
  for (let entry = pendingEntries.shift(); entry; entry = pendingEntries.shift()) {
    if (result.files.length >= MAX_FILES) return { ...result, isTruncated: true };
    try {
      const path = entry.fullPath.replace(/^\/+/, "");
      if (isSystemFile(path)) result.skippedCount += 1;
      else if (isFile(entry)) result.files.push({ path, file: await getFile(entry) });
      else if (isFolder(entry)) pendingEntries.push(...(await readChildren(entry)));
    } catch {
      // The file is locked or was removed.
      result.unreadableCount += 1;
    }
  }
  return result;
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
