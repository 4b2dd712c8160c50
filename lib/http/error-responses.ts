import { randomUUID } from "node:crypto";
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import { type Duplex } from "node:stream";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { getOwn } from "@/lib/contract/json/json";
import { isStoreUnavailable } from "@/lib/shared/error-codes";
import { type ErrorResponse } from "@/lib/shared/http-types";
import { toPageUrl } from "./request-line";

type PlainPage = { title: string; text: string; head?: string; footer?: string };

function createPlainPage({ title, text, head = "", footer = "" }: PlainPage): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
${head}<title>${title}</title>
<style>body{display:grid;place-content:center;min-height:90vh;margin:0;font:14px system-ui,sans-serif;text-align:center}a{color:inherit}</style>
<h1 style="font-size:16px">${title}</h1>
<p>${text}</p>
${footer}</html>
`;
}

function acceptsHtml({ headers }: IncomingMessage): boolean {
  return headers.accept?.includes("text/html") ?? false;
}

const RETRY_SECONDS = 1;

export const startingError = { code: "STARTING", message: "Lightdesk is starting. Try again in a moment." };

export function sendStartingResponse(request: IncomingMessage, response: ServerResponse): void {
  const error = { status: 503, ...startingError, headers: { "retry-after": String(RETRY_SECONDS) } };
  sendErrorResponse(request, response, error, {
    title: "Lightdesk is starting",
    text: "This page reloads automatically.",
    head: `<meta http-equiv="refresh" content="${RETRY_SECONDS}">\n`,
    footer: "",
  });
}

/** The policy of responses without their own. The content may not load or run anything, or be framed. */
export const DEFAULT_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
  "x-content-type-options": "nosniff",
};
const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

export function sendErrorResponse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, code, message, headers }: ErrorResponse,
  page: Partial<PlainPage> = {},
): void {
  const id = randomUUID();
  const isPage = acceptsHtml(request) && !/^\/api(\/|$)/.test(request.url ?? "");
  const body = isPage
    ? createPlainPage({
        title: getTitle(status),
        text: message,
        footer: `<p><a href="${toPageUrl(request, "/")}">Open Lightdesk</a></p>\n`,
        ...page,
      })
    : writeExactJson({ code, message, request_id: id });
  response.writeHead(status, {
    ...DEFAULT_HEADERS,
    ...(isPage && { "content-security-policy": PAGE_POLICY }),
    "content-type": isPage ? "text/html; charset=utf-8" : "application/json",
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    "x-request-id": id,
    connection: "close",
    ...headers,
  });
  response.end(request.method === "HEAD" ? undefined : body);
}

/** Converts an error that no handler caught. */
export function toErrorResponse(error: unknown): ErrorResponse {
  return isStoreUnavailable(error)
    ? { status: 503, code: "SERVICE_UNAVAILABLE", message: "The database is unavailable. Try again in a moment." }
    : { status: 500, code: "INTERNAL", message: "Something went wrong. Try again in a moment." };
}

export function sendUncaughtError(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (response.headersSent) response.destroy();
  else sendErrorResponse(request, response, toErrorResponse(error));
}

function getTitle(status: number): string {
  if (status === 421) return "Unknown host name";
  if (status === 404) return "Page not found";
  if (status === 429) return "Lightdesk is busy";
  if (status === 503) return "Lightdesk is unavailable";
  return STATUS_CODES[status] ?? "Error";
}

const CLOSE_DELAY_MS = 1000;

/** Responds on a socket without a request or parser. Clients that are still sending can read the response, but cannot keep the socket open. */
export function endSocket(socket: Duplex, { status, code, message, headers: ownHeaders }: ErrorResponse): void {
  if (!socket.writable) return void socket.destroy();
  const body = writeExactJson({ code, message, request_id: randomUUID() });
  const headers = {
    ...DEFAULT_HEADERS,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    connection: "close",
    ...ownHeaders,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on("error", () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n${body}`);
  // Closing with unread bytes would reset the connection before the client reads the response.
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), CLOSE_DELAY_MS);
  socket.once("close", () => clearTimeout(timer));
}

export function handleInvalidRequests(server: Server, isBusy: (socket: Duplex) => boolean): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    // During a request, the client would mistake an error for that request's response.
    if (error.code === "ECONNRESET" || isBusy(socket)) return void socket.destroy();
    endSocket(
      socket,
      getOwn(parserErrors, error.code ?? "") ?? { status: 400, code: "BAD_REQUEST", message: "The request is not valid HTTP." },
    );
  });
  server.on("checkExpectation", (request, response) =>
    sendErrorResponse(request, response, {
      status: 417,
      code: "EXPECTATION_FAILED",
      message: "The only supported Expect header is 100-continue.",
    }),
  );
  server.on("connect", (_request, socket) =>
    endSocket(socket, { status: 405, code: "METHOD_NOT_ALLOWED", message: "This server is not a proxy." }),
  );
}

const parserErrors: Readonly<Record<string, ErrorResponse>> = {
  HPE_HEADER_OVERFLOW: { status: 431, code: "HEADERS_TOO_LARGE", message: "The address and headers are larger than 16 KiB." },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: "REQUEST_TIMEOUT", message: "The headers did not arrive in time." },
  HPE_INVALID_URL: { status: 400, code: "BAD_REQUEST", message: "The URL contains characters that must be percent-encoded." },
};
