// Sends the head and part of the body of an upload, then nothing more.
import { request } from "node:http";

/** Resolves when the connection is closed, by this client (`disconnects`) or by the other side. */
export function sendStalledUpload(options: { url: string; key: string; bytes: number; disconnects: boolean }): Promise<void> {
  return new Promise((resolve) => {
    const boundary = "half-an-upload";
    const uploadRequest = request(`${options.url}/api/assets`, {
      method: "POST",
      headers: {
        "x-api-key": options.key,
        "content-type": `multipart/form-data; boundary=${boundary}`,
        "content-length": String(options.bytes * 2 + 1000),
      },
    });
    uploadRequest.on("error", () => undefined); // the connection breaks on purpose
    uploadRequest.on("close", () => resolve());
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="half.bin"\r\n\r\n`;
    uploadRequest.write(head);
    uploadRequest.write(Buffer.alloc(options.bytes, "half "), () => {
      if (options.disconnects) uploadRequest.destroy();
    });
  });
}
