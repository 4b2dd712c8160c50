import { type UserdataFile } from "../operations/files";
import { decodePercent } from "../plain-line";

export type FileRef = { filename: string; subfolder: string; type: string };

const TYPE_SUFFIX = / ?\[(input|output|temp)\]$/;

export function toFileRef(value: string): FileRef {
  const type = TYPE_SUFFIX.exec(value)?.[1] ?? "input";
  const path = value.replace(TYPE_SUFFIX, "");
  const slash = path.lastIndexOf("/");
  return { filename: path.slice(slash + 1), subfolder: slash < 0 ? "" : path.slice(0, slash), type };
}

export function toImageValue(response: { name: string; subfolder?: string | null; type?: string | null }): string {
  const path = response.subfolder ? `${response.subfolder}/${response.name}` : response.name;
  return !response.type || response.type === "input" ? path : `${path} [${response.type}]`;
}

/** The tag on files that the embedded service stores with the result of a saved mask. Lists omit them unless they filter by the tag. */
export const MASK_LAYER_TAG = "mask-layer";

export const downloadStates = ["working", "completed", "failed", "cancelled", "gone"] as const;
export type DownloadState = (typeof downloadStates)[number];

export type DownloadTask = {
  id: string;
  /** The URL without its query, which may contain a token. */
  source: string;
  state: DownloadState;
  word: string;
  startedBy?: string;
  createdAtMs: number;
  checkedAtMs: number;
  bytesDone?: number;
  bytesTotal?: number;
  share?: number;
  assetId?: string;
  fileName?: string;
  reason?: string;
  canCancel: boolean;
  canRetry: boolean;
};

/** `failure`: the service is unreachable, and the list shows the last known state. */
export type DownloadTasks = { tasks: DownloadTask[]; underWay: number; failure?: { code: string; message: string } };

/** Keeps the host and path, which identify the file. Hides the query and credentials. */
export function maskAddress(address: string): string {
  if (!URL.canParse(address)) return address.split(/[?#]/)[0] ?? "";
  const { protocol, host, pathname, search } = new URL(address);
  return `${protocol}//${host}${pathname}${search === "" ? "" : "?…"}`;
}

export function getFileName(maskedUrl: string): string {
  const [path = ""] = maskedUrl.split("?");
  const name = path.slice(path.lastIndexOf("/") + 1);
  const decodedName = decodePercent(name) ?? name;
  return decodedName || maskedUrl;
}

export function maskAddresses(text: string): string {
  return text.replace(/https?:\/\/[^\s"'<>]+/gi, (address) => maskAddress(address));
}

export const ROOT_FOLDER = "/";

export function addFolderPath(files: readonly UserdataFile[], dir: string): UserdataFile[] {
  return dir === ROOT_FOLDER ? [...files] : files.map((file) => ({ ...file, path: dir + file.path }));
}
