// User data files. The path is read raw from the URL, once: route parameters would lose the difference between / and %2F.

import { operations } from "@/lib/contract/operations";
import { quotaExceeded } from "../assets/quota";
import { type Parts } from "../parts";
import { asRefusal, ServiceError } from "../service-error";
import { createUserFiles, parseFilePath, parseFolder, type UserFile } from "../userdata/files";
import { empty, json } from "./answers";
import { whileMoving } from "./read-json";
import { type Route, route } from "./route";
import { sendBytes } from "./send-bytes";

const MOST_BYTES = 64 * 1024 * 1024;
const PREFIX = "/api/userdata/";

/** A path with /move/ in it is a move; the first part of any other path is the file. */
export function userdataRoutes(parts: Parts): Route[] {
  const { blobs } = parts;
  const mostBytes = Math.min(MOST_BYTES, parts.settings.maxUploadBytes);
  const files = createUserFiles(parts, mostBytes);

  /**
   * User data has a second quota of the same size for itself; its files are counted when one is written, without the file that is replaced.
   * Refused at once if the declared length is too large; a body without a declared length is judged by `check`, as it grows.
   */
  async function requireUserdataRoom(userId: number, segments: readonly string[], request: Request): Promise<(size: number) => void> {
    const quota = parts.settings.userQuotaBytes;
    if (quota === undefined) return () => undefined;
    const [used, replaced = 0] = [await files.usedBytes(userId), await files.sizeOf(userId, segments)];
    const check = (size: number) => {
      if (used - replaced + size > quota) throw quotaExceeded(used, quota);
    };
    check(Number(request.headers.get("content-length") ?? 0));
    return check;
  }

  return [
    route(operations.listUserdata, async ({ query, user }) => {
      const { dir, recurse } = query();
      return json(await files.list(user.id, parseFolder(dir), recurse));
    }),

    route(operations.writeUserdata, async ({ request, query, user }) => {
      const raw = rawPath(request);
      const { overwrite, full_info } = query();
      const [, from, to] = /^(.+)\/move\/(.+)$/.exec(raw) ?? [];
      if (from !== undefined && to !== undefined) {
        return show(await files.move(user.id, parseFilePath(from), parseFilePath(to), overwrite), full_info);
      }
      const segments = parseFilePath(raw);
      if (Number(request.headers.get("content-length") ?? 0) > mostBytes)
        throw new ServiceError("FILE_TOO_LARGE", `The file is larger than ${mostBytes} bytes.`);
      const check = await requireUserdataRoom(user.id, segments, request);
      const body = bytesOf(request, parts.settings.requestTimeoutMs, check);
      return show(await files.write(user.id, segments, body, overwrite), full_info);
    }),

    route(operations.readUserdata, async ({ request, user }) => {
      const segments = parseFilePath(rawPath(request));
      const named = { fileName: segments.at(-1) ?? "", mediaType: "application/octet-stream" };
      return files.read(user.id, segments, ({ hash, size, modified: modifiedMs }) =>
        sendBytes(request, { ...named, open: () => blobs.open(hash, size), storedSize: size, etag: hash, modifiedMs, immutable: false }),
      );
    }),

    route(operations.deleteUserdata, async ({ request, user }) => {
      await files.remove(user.id, parseFilePath(rawPath(request)));
      return empty(204);
    }),
  ];
}

function rawPath(request: Request): string {
  const { pathname } = new URL(request.url);
  return pathname.slice(pathname.indexOf(PREFIX) + PREFIX.length);
}

async function* bytesOf(request: Request, timeoutMs: number, check: (size: number) => void): AsyncGenerator<Uint8Array> {
  const declared = request.headers.get("content-length");
  let seen = 0;
  try {
    for await (const chunk of request.body ? whileMoving(request.body, timeoutMs) : []) {
      seen += chunk.byteLength;
      check(seen);
      yield chunk;
    }
  } catch (error) {
    if (asRefusal(error)) throw error;
    throw new ServiceError("TRUNCATED_UPLOAD", "The upload ended before it was complete. Nothing of it was kept.");
  }
  if (declared !== null && Number(declared) !== seen)
    throw new ServiceError("TRUNCATED_UPLOAD", "The upload ended before it was complete. Nothing of it was kept.");
}

function show(file: UserFile, fullInfo: boolean): Response {
  return json(fullInfo ? { ...file, modified: new Date(file.modified).toISOString() } : file.path);
}
