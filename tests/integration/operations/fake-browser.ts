// A fake browser that creates the owner, signs in and uploads a file, with or without a base path, through a local port.
import { type IncomingHttpHeaders, request } from "node:http";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { expect } from "vitest";

export const HOST_NAME = "desk.example.com";
export const ORIGIN = `http://${HOST_NAME}`;

type RequestOptions = {
  headers?: Record<string, string>;
  json?: unknown;
  form?: Record<string, string>;
  body?: { type: string; length: number; pieces: Iterable<Buffer> };
};

/** Opens a new connection. Sends the public host name unless the headers contain another. */
export function sendRequest(port: number, path: string, { headers, json, form, body }: RequestOptions = {}) {
  const text = json !== undefined ? JSON.stringify(json) : form && String(new URLSearchParams(form));
  const type = body?.type ?? (json !== undefined ? "application/json" : "application/x-www-form-urlencoded");
  const length = body?.length ?? Buffer.byteLength(text ?? "");
  const hasBody = body !== undefined || text !== undefined;
  const host = headers?.host ?? HOST_NAME;
  const allHeaders = {
    host,
    ...(hasBody && { origin: `http://${host}`, "content-type": type, "content-length": String(length) }),
    ...headers,
  };
  return new Promise<{ status: number; headers: IncomingHttpHeaders; text: string; bytes: Buffer }>((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path, method: hasBody ? "POST" : "GET", headers: allHeaders, agent: false as const };
    const clientRequest = request(options, async (response) => {
      const bytes = await buffer(response);
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text: bytes.toString("utf8"), bytes });
    });
    clientRequest.on("error", reject);
    if (body) Readable.from(body.pieces).pipe(clientRequest);
    else clientRequest.end(text);
  });
}

export const MIB = 1024 ** 2;
export type Site = { host: string; base: string };

const owner = { name: "Ada Owner", email: "ada@example.com", password: "correct horse battery" };
export const ownerEmail = owner.email;

/** Creates the owner with the set-up link that the console printed. Returns the session cookie. */
export async function createOwnerAndSignIn(port: number, { host, base }: Site, link: string): Promise<string> {
  const token = new URL(link).searchParams.get("token");
  const response = await sendRequest(port, `${base}/api/console/set-up`, { headers: { host }, json: { token, ...owner } });
  expect(response.status, response.text).toBe(201);
  const csrfResponse = await sendRequest(port, `${base}/api/auth/csrf`, { headers: { host } });
  const { csrfToken }: { csrfToken: string } = JSON.parse(csrfResponse.text);
  const form = { csrfToken, email: owner.email, password: owner.password, json: "true" };
  const signInResponse = await sendRequest(port, `${base}/api/auth/callback/credentials`, {
    form,
    headers: { host, cookie: getCookie(csrfResponse.headers) },
  });
  expect(signInResponse.status, signInResponse.text).toBe(200);
  return getCookie(signInResponse.headers);
}

function getCookie(headers: IncomingHttpHeaders): string {
  return (headers["set-cookie"] ?? []).map((value) => value.split(";")[0]).join("; ");
}

/** Uploads a file of `count` 1 MiB pieces, generated while sending. */
export function uploadFile(
  port: number,
  { host, base }: Site,
  cookie: string,
  { count, piece }: { count: number; piece: (n: number) => Buffer },
) {
  const boundary = "a-boundary";
  const head = Buffer.from(
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${port}.bin"\r\ncontent-type: application/octet-stream\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  function* pieces() {
    yield head;
    for (let n = 0; n < count; n += 1) yield piece(n);
    yield tail;
  }
  const length = head.length + count * MIB + tail.length;
  const body = { type: `multipart/form-data; boundary=${boundary}`, length, pieces: pieces() };
  return sendRequest(port, `${base}/api/assets`, { headers: { host, cookie }, body });
}
