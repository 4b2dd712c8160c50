// An upload within its limits: the file's own, and what the user's quota leaves. What a declared length rules out is refused unread.

import { quotaExceeded, roomFor, usedBytes } from "../assets/quota";
import { type Parts } from "../parts";
import { asRefusal, ServiceError } from "../service-error";
import { readUpload, type Upload } from "./read-upload";
import { type Call } from "./route";

/** What the parts around a file may add to the length of a body. */
const MOST_AROUND_A_FILE = 16 * 1024 * 1024;

export async function receiveUpload(
  { database, folders, settings }: Parts,
  { request, bytes, user }: Pick<Call, "request" | "bytes" | "user">,
  { part, maxBytes }: { part: string; maxBytes: number },
): Promise<Upload> {
  const room = roomFor(database, user.id);
  const beyondQuota = () => quotaExceeded(usedBytes(database, user.id), settings.userQuotaBytes ?? 0);
  const least = Number(request.headers.get("content-length") ?? 0) - MOST_AROUND_A_FILE;
  if (least > maxBytes) throw tooLarge(maxBytes);
  if (least > room) throw beyondQuota();
  try {
    return await readUpload(request.headers, bytes(), {
      part,
      folder: folders.temp,
      maxBytes: Math.min(maxBytes, room),
      timeoutMs: settings.requestTimeoutMs,
    });
  } catch (error) {
    throw room < maxBytes && asRefusal(error)?.code === "FILE_TOO_LARGE" ? beyondQuota() : error;
  }
}

function tooLarge(maxBytes: number): ServiceError {
  return new ServiceError("FILE_TOO_LARGE", `The file is larger than the ${maxBytes} bytes that this service takes.`);
}
