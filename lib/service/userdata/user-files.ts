import { type RawBuilder, sql, type SqlBool } from "kysely";
import { toPlainLine } from "@/lib/contract/plain-line";
import { type BlobStore } from "../assets/blob-store";
import { removeUnreferencedBlob } from "../assets/change-asset";
import { insertBlob } from "../assets/create-asset";
import { createQuotaExceededError } from "../assets/quota";
import { type StagedFile, stageStream } from "../assets/staged-file";
import { type Thumbnails } from "../assets/thumbnails";
import { ServiceError, toErrorBody } from "../service-error";
import { type Database, query, type Reader, type Transaction } from "../store/database";

const MAX_PATH_LENGTH = 1000;
/** The maximum on common file systems. */
const MAX_NAME_LENGTH = 255;
const MAX_DECODINGS = 5;
/** Names that some systems treat as devices, with any extension. */
const devicePattern = /^(con|prn|aux|nul|clock\$|conin\$|conout\$|com[\d¹²³]|lpt[\d¹²³]) *(\..*)?$/i;
/** Overlong encodings of a dot or a slash, which no encoder writes. */
const overlongPattern = /%(c0%(ae|af)|c1%(9c|1c)|e0%80%(ae|af)|f0%80%80%(ae|af))/i;

const OVERLONG_MESSAGE = "It contains an overlong encoding of a dot or a slash.";

/** `rawPath` is percent-encoded, as in the URL. Returns the segments of a file's path. */
export function parseFilePath(rawPath: string): string[] {
  if (overlongPattern.test(rawPath)) throw createForbiddenError(OVERLONG_MESSAGE);
  return requireSafePath(decodePath(rawPath));
}

/** `dir` is from a query, so it is already decoded. It must end with a slash. "/" is the user's own root. */
export function parseFolder(dir: string): string[] {
  if (!dir.endsWith("/")) throw new ServiceError("INVALID_QUERY", "dir: must end with a slash.", { field: "dir" });
  return dir === "/" || dir === "./" ? [] : requireSafePath(dir.slice(0, -1));
}

/** Rejects paths that contain an encoded traversal at any level. */
function requireSafePath(path: string): string[] {
  if (overlongPattern.test(path)) throw createForbiddenError(OVERLONG_MESSAGE);
  let decodedPath = path;
  for (let decodeCount = 0; decodeCount < MAX_DECODINGS; decodeCount += 1) {
    const nextPath = decodedPath.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
    if (nextPath === decodedPath) return requireValidPath(path.normalize("NFC"));
    decodedPath = nextPath;
    rejectTraversal(decodedPath);
  }
  throw createForbiddenError("It is encoded too many times.");
}

function rejectTraversal(path: string): string[] {
  const segments = path.split("/");
  if (path.startsWith("/")) throw createForbiddenError("It starts with a slash.");
  if (path.includes("\\")) throw createForbiddenError("It contains a backslash.");
  if (path.includes("\0")) throw createForbiddenError("It contains a NUL character.");
  for (const name of segments) {
    if (name === "." || name === "..") throw createForbiddenError(`"${name}" is not a name.`);
    // Some systems drop trailing dots and spaces.
    if (/[. ]$/.test(name)) throw createForbiddenError(`"${shorten(name)}" ends with a dot or a space.`);
    if (/^[A-Za-z]:/.test(name)) throw createForbiddenError(`"${shorten(name)}" starts with a drive letter.`);
    if (devicePattern.test(name)) throw createForbiddenError(`"${shorten(name)}" is a device name on some systems.`);
  }
  return segments;
}

function shorten(name: string): string {
  const printableName = name.replace(/\p{C}/gu, "\uFFFD");
  return printableName.length > 60 ? `${printableName.slice(0, 60)}…` : printableName;
}

function requireValidPath(path: string): string[] {
  const segments = rejectTraversal(path);
  if (segments.some((segment) => segment === "")) throw new ServiceError("BAD_REQUEST", "The path contains an empty name.");
  if (toPlainLine(path) !== path) throw new ServiceError("BAD_REQUEST", "The path contains a control character.");
  if (path.length > MAX_PATH_LENGTH || segments.some((segment) => Buffer.byteLength(segment) > MAX_NAME_LENGTH))
    throw new ServiceError(
      "BAD_REQUEST",
      `The path is too long: ${MAX_PATH_LENGTH} characters at most, ${MAX_NAME_LENGTH} bytes in one name.`,
    );
  return segments;
}

function decodePath(rawPath: string): string {
  try {
    return decodeURIComponent(rawPath);
  } catch {
    throw new ServiceError("BAD_REQUEST", "The path is not encoded correctly.");
  }
}

function createForbiddenError(reason: string): ServiceError {
  return new ServiceError("FORBIDDEN", `This path is not allowed. ${reason}`);
}

export type UserFile = { path: string; size: number; modified: number };
type StoredFile = UserFile & { hash: string };
/** Limits the size of the response. */
const MAX_LISTED_FILES = 100_000;

type UserFilesDependencies = { database: Database; blobs: BlobStore; thumbnails: Thumbnails; folders: { temp: string }; now: () => number };

export function createUserFiles(dependencies: UserFilesDependencies, maxBytes: number) {
  const { database, blobs, folders, now } = dependencies;

  async function findFile(reader: Reader, userId: number, path: string): Promise<StoredFile> {
    const row = await reader.row(selectUserFiles(userId).where("path", "=", path));
    if (!row) throw new ServiceError("NOT_FOUND", "There is no such file.");
    return row;
  }

  async function storeFile(userId: number, path: string, staged: StagedFile, overwrite: boolean): Promise<UserFile> {
    const { hash, size } = staged;
    let replacedHash: string | undefined;
    try {
      return await blobs.hold([hash], async () => {
        await blobs.adopt(staged);
        return database.commit(async (tx) => {
          replacedHash = await removeExistingFile(tx, userId, path, overwrite);
          await requireQuota(tx, userId, size);
          const modified = now();
          await insertBlob(tx, staged, modified);
          await tx.run(query.insertInto("user_files").values({ user_id: userId, path, hash, size, modified }));
          return { path, size, modified };
        });
      });
    } finally {
      // Rejected bytes and replaced bytes must not remain on disk without a row.
      await blobs.removeIfUnused(hash);
      if (replacedHash !== undefined && replacedHash !== hash) await removeUnreferencedBlob(dependencies, replacedHash);
    }
  }

  return {
    /** Paths are relative to the listed folder. Throws NOT_FOUND for a folder that does not exist. */
    async list(userId: number, folder: readonly string[], recurse: boolean): Promise<UserFile[]> {
      const prefix = folder.map((segment) => `${segment}/`).join("");
      const prefixLength = [...prefix].length;
      const folderFiles = folder.length === 0 ? selectUserFiles(userId) : selectUserFiles(userId).where(isInFolder(prefix));
      const relativePath = sql<string>`substr(path, ${prefixLength + 1})`;
      const listQuery = recurse ? folderFiles : folderFiles.where(({ not }) => not(database.dialect.contains(relativePath, "/")));
      const files = await database.rows(listQuery.orderBy("path").limit(MAX_LISTED_FILES));
      if (files.length === 0 && folder.length > 0 && !(await database.row(folderFiles.limit(1))))
        throw new ServiceError("NOT_FOUND", "There is no such folder.");
      const entries = files.map(({ path, size, modified }) => ({ path: path.slice(prefix.length), size, modified }));
      return entries.sort((a, b) => (a.path < b.path ? -1 : 1));
    },

    readUsedBytes: (userId: number) => readUsedBytes(database, userId),

    findFileSize: async (userId: number, segments: readonly string[]): Promise<number | undefined> =>
      (await database.row(selectUserFiles(userId).where("path", "=", segments.join("/"))))?.size,

    /** Calls `callback` again if the file was replaced and its bytes removed after its row was read. */
    async read<T>(userId: number, segments: readonly string[], callback: (file: StoredFile) => Promise<T>): Promise<T> {
      for (let previousHash: string | undefined; ;) {
        const file = await findFile(database, userId, segments.join("/"));
        try {
          return await callback(file);
        } catch (error) {
          if (toErrorBody(error)?.code !== "NOT_FOUND" || file.hash === previousHash) throw error;
          previousHash = file.hash;
        }
      }
    },

    async write(userId: number, segments: readonly string[], body: AsyncIterable<Uint8Array>, overwrite: boolean): Promise<UserFile> {
      const staged = await stageStream(body, { folder: folders.temp, maxBytes });
      try {
        return await storeFile(userId, segments.join("/"), staged, overwrite);
      } finally {
        await staged.dispose();
      }
    },

    async move(userId: number, source: readonly string[], target: readonly string[], overwrite: boolean): Promise<UserFile> {
      const [sourcePath, path] = [source.join("/"), target.join("/")];
      const { movedFile, replacedHash } = await database.commitWithReserve(async (tx) => {
        const file = await findFile(tx, userId, sourcePath);
        if (sourcePath === path) return { movedFile: file, replacedHash: undefined };
        const existingHash = await removeExistingFile(tx, userId, path, overwrite);
        await tx.run(query.updateTable("user_files").set({ path }).where("user_id", "=", userId).where("path", "=", sourcePath));
        return { movedFile: file, replacedHash: existingHash };
      });
      if (replacedHash !== undefined) await removeUnreferencedBlob(dependencies, replacedHash);
      return { path, size: movedFile.size, modified: movedFile.modified };
    },

    async remove(userId: number, segments: readonly string[]): Promise<void> {
      const removedFile = await database.commitWithReserve(async (tx) => {
        const file = await findFile(tx, userId, segments.join("/"));
        await tx.run(query.deleteFrom("user_files").where("user_id", "=", userId).where("path", "=", file.path));
        return file;
      });
      await removeUnreferencedBlob(dependencies, removedFile.hash);
    },
  };
}

function selectUserFiles(userId: number) {
  return query.selectFrom("user_files").select(["path", "size", "modified", "hash"]).where("user_id", "=", userId);
}

async function readUsedBytes(reader: Reader, userId: number): Promise<number> {
  const sizeSum = query.selectFrom("user_files").select(({ fn }) => fn.sum<number | null>("size").as("bytes"));
  return Number((await reader.row(sizeSum.where("user_id", "=", userId)))?.bytes ?? 0);
}

async function requireQuota(tx: Transaction, userId: number, addedBytes: number): Promise<void> {
  const quota = tx.limits.userQuotaBytes;
  if (quota === undefined) return;
  const usedBytes = await readUsedBytes(tx, userId);
  if (usedBytes + addedBytes > quota) throw createQuotaExceededError(usedBytes, quota);
}

/** `prefix` ends with a slash. "0" is the character after a slash. */
function isInFolder(prefix: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`path > ${prefix} and path < ${`${prefix.slice(0, -1)}0`}`;
}

async function removeExistingFile(tx: Transaction, userId: number, path: string, overwrite: boolean): Promise<string | undefined> {
  const segments = path.split("/");
  const parentPaths = segments.slice(1).map((_, index) => segments.slice(0, index + 1).join("/"));
  if (parentPaths.length > 0 && (await tx.row(selectUserFiles(userId).where("path", "in", parentPaths).limit(1))))
    throw new ServiceError("BAD_REQUEST", "A file with this name already exists in the path.");
  if (
    await tx.row(
      selectUserFiles(userId)
        .where(isInFolder(`${path}/`))
        .limit(1),
    )
  )
    throw new ServiceError("BAD_REQUEST", "A folder with this name exists.");
  const existingFile = await tx.row(selectUserFiles(userId).where("path", "=", path));
  if (!existingFile) return undefined;
  if (!overwrite) throw new ServiceError("CONFLICT", "The file already exists, and overwrite is false.");
  await tx.run(query.deleteFrom("user_files").where("user_id", "=", userId).where("path", "=", path));
  return existingFile.hash;
}
