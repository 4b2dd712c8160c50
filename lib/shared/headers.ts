/** Next drops a content-length that a handler sets, so lib/http converts this header to one. */
export const LENGTH_HEADER = "x-lightdesk-length";
export const UNREADABLE_HEADER = "x-lightdesk-unreadable";

export function parseBearer(authorization: string | null | undefined): string | undefined {
  return /^bearer +(.+)$/i.exec(authorization?.trim() ?? "")?.[1];
}

/** Returns whether the client accepts the encoding with a quality above 0. */
export function acceptsEncoding(headers: Readonly<Record<string, string | string[] | undefined>>, encoding: "br" | "gzip"): boolean {
  const pattern = new RegExp(`^\\s*${encoding}\\s*(;\\s*q=(?!0(\\.0*)?\\s*$).*)?$`, "i");
  return String(headers["accept-encoding"] ?? "")
    .split(",")
    .some((value) => pattern.test(value));
}

export const ACTION_HEADER = "x-lightdesk-act";
const actionIdPattern = /^[A-Za-z0-9-]{16,64}$/;

export function parseActionId(header: string | null): string | undefined {
  return header !== null && actionIdPattern.test(header) ? header : undefined;
}

/** `end` is the last byte of the range. */
export type RangeSelection = { kind: "unsatisfiable" } | { kind: "full" } | { kind: "range"; start: number; end: number };

/**
 * Parses a `Range` header for a file of `size` bytes. Supports a single range, which is all that media players request. For several ranges and
 * invalid headers, the full file is sent (RFC 9110, section 14.2).
 */
export function parseRange(header: string, size: number): RangeSelection {
  const [, firstByte = "", lastByte = ""] = /^bytes\s{0,8}=\s{0,8}(\d*)\s{0,8}-\s{0,8}(\d*)$/i.exec(header.trim()) ?? [];
  if (firstByte === "" && lastByte === "") return { kind: "full" };
  if (firstByte !== "" && lastByte !== "" && Number(lastByte) < Number(firstByte)) return { kind: "full" };
  const start = firstByte === "" ? Math.max(0, size - Number(lastByte)) : Number(firstByte);
  const end = firstByte === "" || lastByte === "" ? size - 1 : Math.min(Number(lastByte), size - 1);
  return start >= size || (firstByte === "" && Number(lastByte) === 0) ? { kind: "unsatisfiable" } : { kind: "range", start, end };
}
