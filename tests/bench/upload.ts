// One gibibyte through the console to a service behind it: the console's memory meanwhile, and whether every byte arrived.
import { Blake3Hasher } from "@napi-rs/blake-hash";
import { prepareLarge, sendLarge } from "./large-file";
import { type Desk, type PortService } from "./processes";
import { watchMemory } from "./service/memory";

export type UploadFigure = { idleMiB: number; peakMiB: number; overMiB: number; seconds: number };

export async function upload(desk: Desk, connection: string, service: PortService, sizeMiB: number): Promise<UploadFigure> {
  const file = prepareLarge(sizeMiB);
  const memory = watchMemory(desk.process.pid);
  const started = performance.now();
  const asset = await sendLarge(`${desk.url}/api/assets?connection=${connection}`, desk.headers, file);
  const seconds = (performance.now() - started) / 1000;
  const peak = memory.end();
  const arrived = await getHash(`${service.url}/api/assets/${asset.id}/content`, service.headers);
  if (arrived !== file.hash) throw new Error(`the bytes differ: sent ${file.hash}, arrived ${arrived}`);
  return { idleMiB: memory.idle, peakMiB: peak, overMiB: peak - memory.idle, seconds };
}

async function getHash(url: string, headers: Record<string, string>): Promise<string> {
  const response = await fetch(url, { headers });
  if (!response.ok || !response.body) throw new Error(`${url} answered ${response.status}`);
  const hasher = new Blake3Hasher();
  for await (const chunk of response.body) hasher.update(chunk);
  return hasher.digest("hex");
}
