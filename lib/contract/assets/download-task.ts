// A download that the console keeps in sight for the people of a connection, as GET /api/console/tasks tells it.
// Free of zod: browsers load it.

/** `working` covers every word that is no end; `gone`: the service does not know the task any more. */
export const downloadStates = ["working", "completed", "failed", "cancelled", "gone"] as const;
export type DownloadState = (typeof downloadStates)[number];

export type DownloadTask = {
  id: string;
  /** The address without its query, which may hold a token. */
  source: string;
  state: DownloadState;
  /** The service's own word. */
  word: string;
  startedBy?: string;
  createdAtMs: number;
  /** When the service last answered. */
  checkedAtMs: number;
  bytesDone?: number;
  bytesTotal?: number;
  /** 0 to 1, where the service says. */
  share?: number;
  assetId?: string;
  fileName?: string;
  /** The service's reason. */
  reason?: string;
  canCancel: boolean;
  canRetry: boolean;
};

/** `failure`: the service could not be asked now; what is listed is what was known. */
export type DownloadTasks = { tasks: DownloadTask[]; underWay: number; failure?: { code: string; message: string } };

/** Host and path are enough to know a file by. What follows the question mark, and credentials, stay hidden. */
export function maskedAddress(address: string): string {
  if (!URL.canParse(address)) return address.split(/[?#]/)[0] ?? "";
  const { protocol, host, pathname, search } = new URL(address);
  return `${protocol}//${host}${pathname}${search === "" ? "" : "?…"}`;
}

/** By which people know what is behind an address that was masked. */
export function fileOfAddress(masked: string): string {
  const [path = ""] = masked.split("?");
  const name = path.slice(path.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(name) || masked;
  } catch {
    return name;
  }
}

/** Every address in a sentence that a source wrote. */
export function maskAddresses(text: string): string {
  return text.replace(/https?:\/\/[^\s"'<>]+/gi, (address) => maskedAddress(address));
}
