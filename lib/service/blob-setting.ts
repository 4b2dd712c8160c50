// LIGHTDESK_BLOBS: a folder that several services may share, or a bucket. Keys are read on use and can't be printed.

import { isAbsolute } from "node:path";
import { z } from "zod";
import { decodePercent } from "@/lib/contract/plain-line";

export type BucketSetting = {
  kind: "bucket";
  bucket: string;
  /** Ends with a slash unless it is empty. */
  prefix: string;
  region: string;
  /** Undefined for the endpoint of Amazon S3. */
  endpoint?: string;
  /** The bucket's name is in the path, not in the host name. */
  isPathStyle: boolean;
};
export type BlobSetting = { kind: "folder"; path: string } | BucketSetting;
/** Undefined if the SDK finds the keys itself. */
export type BucketKeys = (() => { accessKeyId: string; secretAccessKey: string }) | undefined;

export const blobSettingFormat =
  "the absolute path of a folder, or s3://BUCKET/PREFIX with endpoint, region and style=path as its query and no key in it";

export const blobSettingSchema = z.string().transform((text, context): BlobSetting => {
  const setting = isAbsolute(text) ? { kind: "folder" as const, path: text } : parseBucketSetting(text);
  if (setting) return setting;
  context.addIssue({ code: "custom", message: blobSettingFormat });
  return z.NEVER;
});

const allowedParams = new Set(["endpoint", "region", "style"]);

function parseBucketSetting(text: string): BucketSetting | undefined {
  if (!text.startsWith("s3://") || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const params = url.searchParams;
  const bucket = url.hostname;
  const prefix = decodePercent(url.pathname)?.replace(/^\/+|\/+$/g, "");
  const endpoint = params.get("endpoint");
  const style = params.get("style") ?? "host";
  const region = params.get("region") ?? "us-east-1";
  const isPlainUrl = url.username === "" && url.password === "" && url.port === "" && url.hash === "";
  const hasKnownParams = [...params.keys()].every((name) => allowedParams.has(name)) && (style === "host" || style === "path");
  if (!isPlainUrl || !hasKnownParams || !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) return undefined;
  if (prefix === undefined || !/^[\w!.*'()/-]{0,500}$/.test(prefix) || !/^[a-z0-9-]{1,40}$/.test(region)) return undefined;
  if (endpoint !== null && !isEndpoint(endpoint)) return undefined;
  return {
    kind: "bucket",
    bucket,
    prefix: prefix === "" ? "" : `${prefix}/`,
    region,
    ...(endpoint !== null && { endpoint }),
    isPathStyle: style === "path",
  };
}

/** Some object stores have a path in their endpoint. */
function isEndpoint(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username === "" && password === "" && search === "" && hash === "";
}
