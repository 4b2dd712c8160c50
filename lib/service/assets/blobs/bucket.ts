// Accesses a bucket through the S3 SDK, which is only loaded here. Errors contain no key, signature or URL.

import { type GetObjectCommandOutput, type ListMultipartUploadsCommandOutput, type S3Client } from "@aws-sdk/client-s3";
import { type BucketKeys, type BucketSetting } from "@/lib/service/blob-setting";
import { OBJECT_STORE_FAILED } from "@/lib/service/service-error";
import { getErrorCode } from "@/lib/shared/error-codes";
import { type ContentHeaders } from "../blob-store";

const CONNECT_TIMEOUT_MS = 5000;
const RESPONSE_TIMEOUT_MS = 120_000;
/** Long, because readers may pause. */
const SOCKET_TIMEOUT_MS = 600_000;
const MAX_SOCKETS = 256;

export type Bucket = Awaited<ReturnType<typeof openBucket>>;

export class BucketError extends Error {
  readonly code = OBJECT_STORE_FAILED;
  readonly reason: string;
  readonly status: number | undefined;
  /** True if a response arrived or nothing was sent, so that the request can have no further effect. */
  readonly isSettled: boolean;

  constructor(action: string, reason: string, status: number | undefined) {
    super(`The object store did not ${action}: ${reason}${status === undefined ? "" : ` (${status})`}.`);
    this.reason = reason;
    this.status = status;
    this.isSettled = status !== undefined || /^(ECONNREFUSED|ENOTFOUND|CredentialsProviderError)$/.test(reason);
  }
}

/** Checks the code, not the class, because bundlers load modules several times in one process. */
export function isBucketError(error: unknown): error is BucketError {
  return getErrorCode(error) === OBJECT_STORE_FAILED;
}

export async function openBucket({ bucket, prefix, region, endpoint, isPathStyle }: BucketSetting, keys: BucketKeys) {
  const [sdk, { getSignedUrl }] = await Promise.all([import("@aws-sdk/client-s3"), import("@aws-sdk/s3-request-presigner")]);
  const client: S3Client = new sdk.S3Client({
    region,
    ...(endpoint !== undefined && { endpoint }),
    ...(keys && { credentials: keys() }),
    forcePathStyle: isPathStyle,
    maxAttempts: 3,
    // Every part is signed with its SHA-256, which all stores support. Not all support newer checksums.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: RESPONSE_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      socketTimeout: SOCKET_TIMEOUT_MS,
      httpAgent: { maxSockets: MAX_SOCKETS, keepAlive: true },
      httpsAgent: { maxSockets: MAX_SOCKETS, keepAlive: true },
    },
  });
  const toObject = (key: string) => ({ Bucket: bucket, Key: prefix + key });

  /** `action` completes "The object store did not …". */
  async function withBucketErrors<T>(action: string, request: Promise<T>): Promise<T> {
    try {
      return await request;
    } catch (error) {
      throw toBucketError(action, error);
    }
  }

  async function findObject<T>(action: string, request: Promise<T>): Promise<T | undefined> {
    try {
      return await withBucketErrors(action, request);
    } catch (error) {
      if (!isBucketError(error) || error.status !== 404) throw error;
      if (error.reason === "NoSuchKey") return undefined;
      // Without a body, a missing object can't be distinguished from a missing bucket, so the bucket is checked too.
      if (error.reason === "NotFound") {
        await withBucketErrors("show its bucket", client.send(new sdk.HeadBucketCommand({ Bucket: bucket })));
        return undefined;
      }
      throw error;
    }
  }

  return {
    async getSize(key: string): Promise<number | undefined> {
      const head = await findObject("describe an object", client.send(new sdk.HeadObjectCommand(toObject(key))));
      return head && (head.ContentLength ?? 0);
    },

    get: (key: string, range?: string, signal?: AbortSignal): Promise<GetObjectCommandOutput | undefined> =>
      findObject("return an object", client.send(new sdk.GetObjectCommand({ ...toObject(key), Range: range }), { abortSignal: signal })),

    /** Creates a signed URL locally. Anyone who has it can read the object until it expires. */
    createSignedUrl(key: string, { mediaType, disposition, cacheControl }: ContentHeaders, ttlSeconds: number): Promise<string> {
      const responseHeaders = {
        ResponseContentType: mediaType,
        ResponseContentDisposition: disposition,
        ResponseCacheControl: cacheControl,
      };
      const command = new sdk.GetObjectCommand({ ...toObject(key), ...responseHeaders });
      return withBucketErrors("sign a URL", getSignedUrl(client, command, { expiresIn: ttlSeconds }));
    },

    async put(key: string, body: Uint8Array, isNew: boolean): Promise<void> {
      await withBucketErrors(
        "store an object",
        client.send(new sdk.PutObjectCommand({ ...toObject(key), Body: body, IfNoneMatch: isNew ? "*" : undefined })),
      );
    },

    async remove(key: string): Promise<void> {
      await withBucketErrors("remove an object", client.send(new sdk.DeleteObjectCommand(toObject(key))));
    },

    async startUpload(key: string): Promise<string> {
      const { UploadId } = await withBucketErrors("start an upload", client.send(new sdk.CreateMultipartUploadCommand(toObject(key))));
      if (UploadId === undefined) throw new BucketError("start an upload", "the response has no id", undefined);
      return UploadId;
    },

    async putPart(key: string, uploadId: string, partNumber: number, body: Uint8Array, signal: AbortSignal): Promise<string> {
      const command = new sdk.UploadPartCommand({ ...toObject(key), UploadId: uploadId, PartNumber: partNumber, Body: body });
      const { ETag } = await withBucketErrors("store a part", client.send(command, { abortSignal: signal }));
      if (ETag === undefined) throw new BucketError("store a part", "the response has no ETag", undefined);
      return ETag;
    },

    async complete(key: string, uploadId: string, etags: readonly string[]): Promise<void> {
      const Parts = etags.map((ETag, index) => ({ ETag, PartNumber: index + 1 }));
      const completion = { ...toObject(key), UploadId: uploadId, MultipartUpload: { Parts } };
      await withBucketErrors("complete an upload", client.send(new sdk.CompleteMultipartUploadCommand(completion)));
    },

    async abort(key: string, uploadId: string): Promise<void> {
      await withBucketErrors("abort an upload", client.send(new sdk.AbortMultipartUploadCommand({ ...toObject(key), UploadId: uploadId })));
    },

    async *listKeys(keyPrefix: string): AsyncGenerator<string> {
      for (let token: string | undefined, hasMore = true; hasMore;) {
        const command = new sdk.ListObjectsV2Command({ Bucket: bucket, Prefix: prefix + keyPrefix, ContinuationToken: token });
        const { Contents = [], IsTruncated, NextContinuationToken } = await withBucketErrors("list its objects", client.send(command));
        for (const { Key = "" } of Contents) yield Key.slice(prefix.length);
        token = NextContinuationToken;
        hasMore = IsTruncated === true && token !== undefined;
      }
    },

    async *listUploads(keyPrefix: string): AsyncGenerator<{ key: string; upload: string; startedMs: number }> {
      for (let marker: { KeyMarker?: string; UploadIdMarker?: string } | undefined = {}; marker;) {
        const command = new sdk.ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix + keyPrefix, ...marker });
        const response: ListMultipartUploadsCommandOutput = await withBucketErrors("list its uploads", client.send(command));
        const { Uploads = [], IsTruncated, NextKeyMarker, NextUploadIdMarker } = response;
        for (const { Key = "", UploadId = "", Initiated } of Uploads)
          yield { key: Key.slice(prefix.length), upload: UploadId, startedMs: Initiated?.getTime() ?? Infinity };
        marker = IsTruncated === true ? { KeyMarker: NextKeyMarker, UploadIdMarker: NextUploadIdMarker } : undefined;
      }
    },
  };
}

/** Drops the SDK's own error, which may contain signed headers. */
export function toBucketError(action: string, error: unknown): BucketError {
  if (isBucketError(error)) return error;
  if (!(error instanceof Error)) return new BucketError(action, "it failed", undefined);
  const status = "$metadata" in error ? readStatus(error.$metadata) : undefined;
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  return new BucketError(action, code ?? error.name, status);
}

function readStatus(metadata: unknown): number | undefined {
  if (typeof metadata !== "object" || metadata === null || !("httpStatusCode" in metadata)) return undefined;
  return typeof metadata.httpStatusCode === "number" ? metadata.httpStatusCode : undefined;
}
