// A fake browser that creates the owner, signs in and uploads a file, with or without a base path.
import { type IncomingHttpHeaders } from "node:http";
import { expect } from "vitest";
import { sendRequest } from "./send-request";

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
