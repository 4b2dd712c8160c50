// Uploads one gibibyte through the console to a service. Measures the console's memory and compares the stored bytes.
import { Blake3Hasher } from "@napi-rs/blake-hash";
import { prepareLargeFile, sendLargeFile } from "./large-file";
import { type ConsoleProcess, type ServiceProcess } from "./processes";
import { watchMemory } from "./service/memory";

export type UploadFigure = { idleMiB: number; peakMiB: number; overMiB: number; seconds: number };

export async function measureUpload(
  desk: ConsoleProcess,
  connection: string,
  service: ServiceProcess,
  sizeMiB: number,
): Promise<UploadFigure> {
  const file = prepareLargeFile(sizeMiB);
  const memory = watchMemory(desk.process.pid);
  const started = performance.now();
  const asset = await sendLargeFile(`${desk.url}/api/assets?connection=${connection}`, desk.headers, file);
  const seconds = (performance.now() - started) / 1000;
  const peak = memory.end();
  const storedHash = await fetchHash(`${service.url}/api/assets/${asset.id}/content`, service.headers);
  if (storedHash !== file.hash) throw new Error(`stored bytes differ: sent ${file.hash}, stored ${storedHash}`);
  return { idleMiB: memory.idle, peakMiB: peak, overMiB: peak - memory.idle, seconds };
}

async function fetchHash(url: string, headers: Record<string, string>): Promise<string> {
  const response = await fetch(url, { headers });
  if (!response.ok || !response.body) throw new Error(`${url} responded with ${response.status}`);
  const hasher = new Blake3Hasher();
  for await (const chunk of response.body) hasher.update(chunk);
  return hasher.digest("hex");
}
