// Which part of some bytes a request asks for, and whether it needs them at all (RFC 9110, 13 and 14).
// Guarantees: a header that cannot be understood is ignored and the whole is sent; only a range outside the bytes is refused.

export type Version = { etag: string; size: number; modifiedMs: number };
export type Wanted = { kind: "unchanged" } | { kind: "failed" } | { kind: "outside" } | { kind: "whole" } | Part;
type Part = { kind: "part"; start: number; end: number };

export function readWanted(request: { method: string; headers: Headers }, version: Version): Wanted {
  const { headers, method } = request;
  const ifMatch = headers.get("if-match");
  if (ifMatch !== null ? !names(ifMatch, version.etag, { weakly: false }) : isNewer(headers.get("if-unmodified-since"), version))
    return { kind: "failed" };
  const ifNoneMatch = headers.get("if-none-match");
  if (ifNoneMatch !== null) {
    if (names(ifNoneMatch, version.etag, { weakly: true })) return { kind: "unchanged" };
  } else if (isNewer(headers.get("if-modified-since"), version) === false) return { kind: "unchanged" };
  const range = headers.get("range");
  if (method !== "GET" || range === null || !isStillTheSame(headers.get("if-range"), version)) return { kind: "whole" };
  return readRange(range, version.size);
}

/** One range; a request for several is answered with the whole, which the standard allows. */
function readRange(header: string, size: number): Wanted {
  const [, first = "", last = ""] = /^bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header.trim()) ?? [];
  if (first === "" && last === "") return { kind: "whole" };
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== "" && last !== "" && Number(last) < start) return { kind: "whole" };
  return start >= size || (first === "" && Number(last) === 0) ? { kind: "outside" } : { kind: "part", start, end };
}

function names(header: string, etag: string, { weakly }: { weakly: boolean }): boolean {
  return header.split(",").some((one) => {
    const tag = one.trim();
    return tag === "*" || (weakly ? tag.replace(/^W\//, "") : tag) === etag;
  });
}

/** Undefined if the header is absent or no date, which counts as absent. Dates have whole seconds. */
function isNewer(header: string | null, version: Version): boolean | undefined {
  const since = header === null ? NaN : Date.parse(header);
  return Number.isNaN(since) ? undefined : seconds(version.modifiedMs) > seconds(since);
}

function isStillTheSame(condition: string | null, version: Version): boolean {
  if (condition === null) return true;
  if (condition.includes('"')) return condition.trim() === version.etag;
  return seconds(Date.parse(condition)) === seconds(version.modifiedMs);
}

const seconds = (ms: number) => Math.floor(ms / 1000);
