// Builds every URL that the browser requests.
// All values are encoded. `apiPath` adds the base path that was set at build time.
// An embedded page requests URLs under its session path (lib/shared/console-paths.ts).
// Never use another host, because the browser connects only to the console.

import { getEmbedPath } from "@/lib/shared/console-paths";

/** Written into the bundle at build time. The base path cannot change afterwards. */
// eslint-disable-next-line no-restricted-syntax -- the bundler replaces this literal; nothing reads the environment at run time
const basePath = process.env.NEXT_PUBLIC_LIGHTDESK_BASE_PATH ?? "";

export type QueryValues = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** For fetch, <img> and plain <a>. Next's own <Link> and router add the base path themselves. */
export function apiPath(path: `/${string}`): string {
  return `${basePath}${getEmbedPath()}${path}`;
}

/** For URLs without a session: files of the application, and URLs that contain their session themselves. */
export function toSessionlessPath(path: `/${string}`): string {
  return `${basePath}${path}`;
}

export function isEmbedded(): boolean {
  return getEmbedPath() !== "";
}

/** File links open in a new tab. Embedded pages have no session there, so they download the file instead. */
export function getNewTabProps(): { target: "_blank"; rel: string } | { download: true } {
  return isEmbedded() ? { download: true } : { target: "_blank", rel: "noreferrer" };
}

/** Omits undefined values and empty lists. A list becomes one comma-separated value, as the API expects. */
export function withQuery(path: `/${string}`, values: QueryValues): `/${string}` {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    const text = Array.isArray(value) ? value.join(",") : value === undefined ? "" : String(value);
    if (text !== "") query.set(name, text);
  }
  const text = query.toString();
  return text === "" ? path : `${path}${path.includes("?") ? "&" : "?"}${text}`;
}

/** Returns the URL of a job's page. `connection`: the value of the URL's `?connection=`. */
export function toJobHref(id: string, connection: string | undefined): `/${string}` {
  return withQuery(`/jobs/${encodeURIComponent(id)}`, { connection });
}

/** Returns the short id that represents a job or an asset in the UI. */
export function toShortId(id: string): string {
  return id.slice(0, 8);
}

export function toUrlWithParam(name: string, value: string | undefined): string {
  const url = new URL(window.location.href);
  if (value === undefined) url.searchParams.delete(name);
  else url.searchParams.set(name, value);
  return url.pathname + url.search;
}

export type FileReference = { filename: string; subfolder?: string; type?: string };
export type ThumbnailSize = 128 | 256 | 512 | 1024;

type ThumbnailOptions = {
  connection?: string;
  asset?: string;
  /** A version of the image's content, so that browsers can cache it forever. */
  version?: string;
  file?: FileReference;
  edge: ThumbnailSize;
  /** The thumbnail fills its box. Very long images are cropped to remain sharp. */
  fit?: "fill";
};

export function createThumbnailUrl({ connection, asset, version, file, edge, fit }: ThumbnailOptions): string {
  return apiPath(withQuery("/api/console/thumbnail", { asset, version, ...file, edge, fit, connection }));
}

/** Returns the URL of the newest preview image of a running job. */
export function createLivePreviewUrl({ connection, jobId, version }: { connection?: string; jobId: string; version: number }): string {
  return apiPath(withQuery(`/api/console/jobs/${encodeURIComponent(jobId)}/preview`, { v: version, connection }));
}

/** Returns the URL of an EXIF-rotated preview of `src`, which is empty if the image is too large. Leaves other URLs unchanged. */
export function toPreviewImageUrl(src: string): string {
  return src.replace("/api/view?", "/api/console/thumbnail?whole=true&");
}

export function createViewUrl(file: FileReference & { connection?: string }): string {
  const { connection, filename, subfolder, type } = file;
  return apiPath(withQuery("/api/view", { filename, subfolder, type, connection }));
}
