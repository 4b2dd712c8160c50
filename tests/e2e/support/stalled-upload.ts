// An upload that stalls halfway.
import { request as httpRequest } from "node:http";
import { type BrowserContext } from "@playwright/test";
import { type Desk } from "./desk";

export type StalledUpload = {
  /** Sends the second half; resolves with the response status. */
  finish(): Promise<number>;
  disconnect(): Promise<void>;
};

const halfBody = Buffer.alloc(500_000, "x");
const part = (name: string, extra: string) => `--edge\r\nContent-Disposition: form-data; name="${name}"${extra}\r\n\r\n`;
const head = part("tags", "") + '["input"]\r\n' + part("file", '; filename="half.bin"\r\nContent-Type: application/octet-stream');
const tail = "\r\n--edge--\r\n";

export async function startStalledUpload(context: BrowserContext, desk: Desk): Promise<StalledUpload> {
  const cookies = await context.cookies(desk.url);
  const request = httpRequest(`${desk.url}/api/assets`, {
    method: "POST",
    headers: {
      origin: desk.url,
      cookie: cookies.map(({ name, value }) => `${name}=${value}`).join("; "),
      "content-type": "multipart/form-data; boundary=edge",
      "content-length": Buffer.byteLength(head) + 2 * halfBody.length + Buffer.byteLength(tail),
    },
  });
  const closed = new Promise<void>((resolve) => request.once("close", resolve));
  const pendingStatus = new Promise<number>((resolve, reject) => {
    request.once("error", reject);
    request.once("response", (response) => resolve(response.resume().statusCode ?? 0));
  });
  pendingStatus.catch(() => undefined); // some tests disconnect on purpose
  request.write(head);
  await new Promise<void>((resolve) => request.write(halfBody, () => resolve()));
  return {
    finish() {
      request.write(halfBody);
      request.end(tail);
      return pendingStatus;
    },
    disconnect() {
      request.destroy();
      return closed;
    },
  };
}
