// Uploads the same new content fifty times in parallel. Counts the uploads reported as new and the stored files.
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type ServiceProcess } from "../processes";
import { withService } from "./client";
import { type BenchRow, formatRuns } from "./row";

const UPLOAD_COUNT = 50;
const ROUNDS = 3;
const CONTENT_BYTES = 1024 ** 2;

export function measureSameContent(): Promise<BenchRow[]> {
  return withService({}, async (service, folder) => {
    const store = join(folder, "service", "blobs");
    const times: number[] = [];
    let isStoredOnce = true;
    for (let round = 0; round < ROUNDS; round += 1) {
      const content = randomBytes(CONTENT_BYTES);
      const before = countFiles(store);
      const started = performance.now();
      const created = await Promise.all(Array.from({ length: UPLOAD_COUNT }, () => uploadContent(service, content)));
      times.push(performance.now() - started);
      isStoredOnce &&= created.filter(Boolean).length === 1 && countFiles(store) - before === 1;
    }
    return [
      {
        name: `${UPLOAD_COUNT} parallel uploads of the same content (1 MiB), ${ROUNDS} rounds`,
        target: "one blob, one created_new",
        figure: isStoredOnce ? "one blob, one created_new" : "more than one",
        spread: `${formatRuns(times, "ms", 0).figure} for all`,
        meets: isStoredOnce,
      },
    ];
  });
}

async function uploadContent(service: ServiceProcess, content: Buffer): Promise<boolean> {
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(content)]), "same.bin");
  form.set("tags", '["input"]');
  const response = await fetch(`${service.url}/api/assets`, { method: "POST", headers: service.headers, body: form });
  const asset: { created_new: boolean } = await response.json();
  if (!response.ok || asset.created_new !== (response.status === 201)) throw new Error(`upload responded with ${response.status}`);
  return asset.created_new;
}

function countFiles(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
}
