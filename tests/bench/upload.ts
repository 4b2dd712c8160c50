// One gibibyte through the console to a service behind it: what the console's memory does meanwhile, and whether every byte arrived.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { Blake3Hasher } from "@napi-rs/blake-hash";
import { type Desk, type PortService } from "./processes";

const MIB = 1024 ** 2;

export type UploadFigure = { idleMiB: number; peakMiB: number; overMiB: number; seconds: number };

export async function upload(desk: Desk, connection: string, service: PortService, sizeMiB: number): Promise<UploadFigure> {
  const { pid } = desk.process;
  const idle = residentMiB(pid);
  let peak = idle;
  const watch = setInterval(() => (peak = Math.max(peak, residentMiB(pid))), 50);
  const started = performance.now();
  const sent = await sendMultipart(`${desk.url}/api/assets?connection=${connection}`, desk.headers, sizeMiB);
  const seconds = (performance.now() - started) / 1000;
  clearInterval(watch);
  if (sent.status !== 201) throw new Error(`the upload was answered with ${sent.status}: ${sent.text}`);
  const asset: { id: string; size: number; asset_hash: string } = JSON.parse(sent.text);
  const arrived = await hashOf(`${service.url}/api/assets/${asset.id}/content`, service.headers);
  if (asset.size !== sizeMiB * MIB || arrived !== sent.hash || asset.asset_hash !== `blake3:${sent.hash}`)
    throw new Error(`the bytes differ: sent ${sent.hash}, arrived ${arrived}, said ${asset.asset_hash}, ${asset.size} bytes`);
  return { idleMiB: idle, peakMiB: peak, overMiB: peak - idle, seconds };
}

async function sendMultipart(url: string, headers: Record<string, string>, sizeMiB: number) {
  const head = Buffer.from(
    '--edge\r\nContent-Disposition: form-data; name="file"; filename="large.bin"\r\nContent-Type: application/octet-stream\r\n\r\n',
  );
  const tail = Buffer.from('\r\n--edge\r\nContent-Disposition: form-data; name="tags"\r\n\r\n["input"]\r\n--edge--\r\n');
  const outgoing = request(url, {
    method: "POST",
    headers: {
      ...headers,
      "content-type": "multipart/form-data; boundary=edge",
      "content-length": head.length + sizeMiB * MIB + tail.length,
    },
  });
  const answered = new Promise<{ status: number; text: string }>((resolve, reject) => {
    outgoing.once("error", reject);
    outgoing.once("response", (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part: string) => (text += part));
      answer.once("end", () => resolve({ status: answer.statusCode ?? 0, text }));
    });
  });
  const hasher = new Blake3Hasher();
  outgoing.write(head);
  const base = randomBytes(MIB);
  for (let index = 0; index < sizeMiB; index += 1) {
    const block = Buffer.from(base);
    block.writeUInt32LE(index);
    hasher.update(block);
    if (!outgoing.write(block)) await new Promise((resolve) => outgoing.once("drain", resolve));
  }
  outgoing.end(tail);
  return { ...(await answered), hash: hasher.digest("hex") };
}

async function hashOf(url: string, headers: Record<string, string>): Promise<string> {
  const answer = await fetch(url, { headers });
  if (!answer.ok || !answer.body) throw new Error(`${url} answered ${answer.status}`);
  const hasher = new Blake3Hasher();
  for await (const chunk of answer.body) hasher.update(chunk);
  return hasher.digest("hex");
}

/** Resident memory of a process, from Linux's /proc. */
function residentMiB(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kib) / 1024;
}
