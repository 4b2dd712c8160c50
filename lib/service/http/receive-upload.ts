// An upload as its operation's row describes it, within its limits: the file's own, and what the user's quota leaves. What a declared length rules out is refused unread.

import { type z } from "zod";
import { type Operation } from "@/lib/contract/operation";
import { quotaExceeded, roomFor, usedBytes } from "../assets/quota";
import { type Parts } from "../parts";
import { asRefusal, ServiceError } from "../service-error";
import { readUpload, type Upload } from "./read-upload";
import { type Asked } from "./route";
import { readFields } from "./upload-fields";

/** What the parts around a file may add to the length of a body. */
const MOST_AROUND_A_FILE = 16 * 1024 * 1024;

type UploadOperation = Operation & { body: { kind: "multipart"; fields: z.ZodObject } };
export type UploadCall<O extends UploadOperation> = Pick<Asked, "request" | "bytes" | "user"> & { operation: O };

export async function receiveUpload<O extends UploadOperation>(
  { database, folders, settings }: Parts,
  { operation, request, bytes, user }: UploadCall<O>,
  maxBytes: number,
): Promise<Omit<Upload, "fields"> & { fields: z.output<O["body"]["fields"]> }> {
  const room = roomFor(database, user.id);
  const beyondQuota = () => quotaExceeded(usedBytes(database, user.id), settings.userQuotaBytes ?? 0);
  const least = Number(request.headers.get("content-length") ?? 0) - MOST_AROUND_A_FILE;
  if (least > maxBytes) throw tooLarge(maxBytes);
  if (least > room) throw beyondQuota();
  try {
    const limits = { maxBytes: Math.min(maxBytes, room), timeoutMs: settings.requestTimeoutMs };
    const upload = await readUpload(request.headers, bytes(), { part: operation.body.file, folder: folders.temp, ...limits });
    try {
      return { ...upload, fields: readFields<O["body"]["fields"]>(upload.fields, operation.body.fields, settings) };
    } catch (error) {
      await upload.staged.dispose();
      throw error;
    }
  } catch (error) {
    throw room < maxBytes && asRefusal(error)?.code === "FILE_TOO_LARGE" ? beyondQuota() : error;
  }
}

function tooLarge(maxBytes: number): ServiceError {
  return new ServiceError("FILE_TOO_LARGE", `The file is larger than the ${maxBytes} bytes that this service takes.`);
}
