// A service's content on its way to a browser: which headers pass, what is shown in place and what is only downloaded.
// Guarantees: only pictures, films and sounds are shown in place; everything else, above all SVG, other
// XML and HTML, is a download of bytes.

import "server-only";
import { toPlainLine } from "@/lib/contract/plain-line";
import { failureAnswer } from "./answers";

const asked = ["range", "if-range", "if-none-match", "if-modified-since"] as const;
const answered = ["content-length", "content-range", "accept-ranges", "etag", "last-modified"] as const;

export function passedRequestHeaders(request: Request): Record<string, string> {
  const headers = new Map<string, string>();
  // A range has a meaning only for GET.
  const meant = request.method === "GET" ? asked : asked.filter((name) => !name.includes("range"));
  for (const name of meant) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  return Object.fromEntries(headers);
}

export function bytesAnswer(from: Response): Response {
  const headers = new Headers();
  for (const name of answered) {
    const value = from.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  const type = (from.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  const shown = isMedia(type);
  headers.set("content-type", shown ? type : "application/octet-stream");
  headers.set("content-disposition", `${shown ? "inline" : "attachment"}${nameOf(from.headers.get("content-disposition"))}`);
  // Private and revalidated each time: the validator makes that cheap, and a signed-out browser gets nothing.
  headers.set("cache-control", "private, no-cache");
  return new Response(from.status === 304 ? null : from.body, { status: from.status, headers });
}

/** The envelope with the size of the whole, so that the caller can ask again. */
export async function refusedRange(from: Response, requestId: string): Promise<Response> {
  await from.body?.cancel();
  const answer = failureAnswer({ code: "RANGE_NOT_SATISFIABLE", message: "The file does not have this range.", status: 416 }, requestId);
  const range = from.headers.get("content-range");
  if (range !== null) answer.headers.set("content-range", range);
  return answer;
}

function isMedia(type: string): boolean {
  return /^(image|video|audio)\/[\w.+-]+$/.test(type) && !/^image\/svg|[+/]xml$/.test(type);
}

/** Only complete names pass: half a name could be another file's. */
function nameOf(disposition: string | null): string {
  // Quoted strings are split off first, so that nothing inside them is read as a parameter.
  const parts = disposition?.match(/(?:"(?:[^"\\]|\\.)*"?|[^";])+/g)?.map((part) => part.trim()) ?? [];
  const plain = parts.find((part) => /^filename=(?:"[^"\\\r\n]{1,600}"|[\w.%'~+-]{1,600})$/i.test(part));
  // The exact name, if the plain one only approximates it.
  const exact = parts.find((part) => /^filename\*=[\w-]+'[\w-]*'[\w.%~!#$&^`|+-]{1,6000}$/i.test(part));
  const shown = [plain && plainName(plain), exact && exactName(exact)];
  return shown.map((name) => (name === undefined ? "" : `; ${name}`)).join("");
}

/** Node decodes each header byte as one character. Browsers decode these bytes as UTF-8. */
function plainName(part: string): string {
  const text = Buffer.from(part, "latin1").toString("utf8");
  const line = toPlainLine(text);
  return line === text ? part : Buffer.from(line, "utf8").toString("latin1");
}

function exactName(part: string): string | undefined {
  const [, head = "", name = ""] = /^(filename\*=utf-8'[^']*')(.*)$/i.exec(part) ?? [];
  if (head === "") return part;
  try {
    const text = decodeURIComponent(name);
    const line = toPlainLine(text);
    return line === text ? part : head + encodeURIComponent(line).replace(/['()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
  } catch {
    return undefined;
  }
}
