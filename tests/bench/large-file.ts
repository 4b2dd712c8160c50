// A file too large for memory: its blocks are created while it is sent as multipart. Each block differs, and the hash is computed before.
import { randomBytes } from "node:crypto";
import { request } from "node:http";
import { Blake3Hasher } from "@napi-rs/blake-hash";

const MIB = 1024 ** 2;
/** Has the length of curl's boundary, since a shorter one takes longer to find. */
const BOUNDARY = "------------------------d74496d66958873e";

export type LargeFile = { mib: number; bytes: number; hash: string; blocks(): Generator<Buffer> };

export function prepareLargeFile(mib: number): LargeFile {
  const base = randomBytes(MIB);
  function* blocks() {
    for (let index = 0; index < mib; index += 1) {
      const block = Buffer.from(base);
      block.writeUInt32LE(index);
      yield block;
    }
  }
  const hasher = new Blake3Hasher();
  for (const block of blocks()) hasher.update(block);
  return { mib, bytes: mib * MIB, hash: hasher.digest("hex"), blocks };
}

export async function sendLargeFile(
  url: string,
  headers: Record<string, string>,
  file: LargeFile,
): Promise<{ id: string; size: number; asset_hash: string }> {
  const head = Buffer.from(
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="large.bin"\r\nContent-Type: application/octet-stream\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${BOUNDARY}\r\nContent-Disposition: form-data; name="tags"\r\n\r\n["input"]\r\n--${BOUNDARY}--\r\n`);
  const lengthHeaders = {
    "content-type": `multipart/form-data; boundary=${BOUNDARY}`,
    "content-length": head.length + file.bytes + tail.length,
  };
  const clientRequest = request(url, { method: "POST", headers: { ...headers, ...lengthHeaders } });
  const pendingResponse = new Promise<{ status: number; text: string }>((resolve, reject) => {
    clientRequest.once("error", reject);
    clientRequest.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.once("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
  });
  clientRequest.write(head);
  for (const block of file.blocks()) if (!clientRequest.write(block)) await new Promise((resolve) => clientRequest.once("drain", resolve));
  clientRequest.end(tail);
  const { status, text } = await pendingResponse;
  if (status !== 201) throw new Error(`upload responded with ${status}: ${text}`);
  const asset: { id: string; size: number; asset_hash: string } = JSON.parse(text);
  if (asset.size !== file.bytes || asset.asset_hash !== `blake3:${file.hash}`)
    throw new Error(`stored bytes differ: sent ${file.hash}, stored ${asset.asset_hash}, ${asset.size} bytes`);
  return asset;
}
