// An upload that stalls halfway.
import { request as httpRequest } from "node:http";
import { type BrowserContext } from "@playwright/test";
import { type Desk } from "./desk";

export type HalfUpload = {
  /** Sends the second half; resolves with the response status. */
  finish(): Promise<number>;
  hangUp(): Promise<void>;
};

const half = Buffer.alloc(500_000, "x");
const part = (name: string, extra: string) => `--edge\r\nContent-Disposition: form-data; name="${name}"${extra}\r\n\r\n`;
const head = part("tags", "") + '["input"]\r\n' + part("file", '; filename="half.bin"\r\nContent-Type: application/octet-stream');
const tail = "\r\n--edge--\r\n";

export async function beginUpload(context: BrowserContext, desk: Desk): Promise<HalfUpload> {
  const cookies = await context.cookies(desk.url);
  const request = httpRequest(`${desk.url}/api/assets`, {
    method: "POST",
    headers: {
      origin: desk.url,
      cookie: cookies.map(({ name, value }) => `${name}=${value}`).join("; "),
      "content-type": "multipart/form-data; boundary=edge",
      "content-length": Buffer.byteLength(head) + 2 * half.length + Buffer.byteLength(tail),
    },
  });
  const closed = new Promise<void>((resolve) => request.once("close", resolve));
  const pendingStatus = new Promise<number>((resolve, reject) => {
    request.once("error", reject);
    request.once("response", (response) => resolve(response.resume().statusCode ?? 0));
  });
  pendingStatus.catch(() => undefined); // some tests disconnect on purpose
  request.write(head);
  await new Promise<void>((resolve) => request.write(half, () => resolve()));
  return {
    finish() {
      request.write(half);
      request.end(tail);
      return pendingStatus;
    },
    hangUp() {
      request.destroy();
      return closed;
    },
  };
}
