// An upload that never ends: sends its head and a part of its body, and then nothing more.
import { request } from "node:http";

/** Resolves when the connection is closed, by this client (`goesAway`) or by the other side. */
export function sendHalf(options: { url: string; key: string; bytes: number; goesAway: boolean }): Promise<void> {
  return new Promise((resolve) => {
    const boundary = "half-an-upload";
    const outgoing = request(`${options.url}/api/assets`, {
      method: "POST",
      headers: {
        "x-api-key": options.key,
        "content-type": `multipart/form-data; boundary=${boundary}`,
        "content-length": String(options.bytes * 2 + 1000),
      },
    });
    outgoing.on("error", () => undefined); // the connection breaks on purpose
    outgoing.on("close", () => resolve());
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="half.bin"\r\n\r\n`;
    outgoing.write(head);
    outgoing.write(Buffer.alloc(options.bytes, "half "), () => {
      if (options.goesAway) outgoing.destroy();
    });
  });
}
