// Fifty parallel uploads of the same new content: how many are reported as new, and how many files are stored.
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type PortService } from "../processes";
import { withService } from "./client";
import { type BenchRow, formatRuns } from "./row";

const UPLOADS = 50;
const ROUNDS = 3;
const BYTES = 1024 ** 2;

export function measureSameContent(): Promise<BenchRow[]> {
  return withService({}, async (service, folder) => {
    const store = join(folder, "service", "blobs");
    const times: number[] = [];
    let isOne = true;
    for (let round = 0; round < ROUNDS; round += 1) {
      const content = randomBytes(BYTES);
      const before = filesIn(store);
      const started = performance.now();
      const created = await Promise.all(Array.from({ length: UPLOADS }, () => send(service, content)));
      times.push(performance.now() - started);
      isOne &&= created.filter(Boolean).length === 1 && filesIn(store) - before === 1;
    }
    return [
      {
        name: `${UPLOADS} uploads of one content (1 MiB) at once, ${ROUNDS} rounds`,
        target: "one blob, one created_new",
        figure: isOne ? "one blob, one created_new" : "more than one",
        spread: `${formatRuns(times, "ms", 0).figure} for all`,
        meets: isOne,
      },
    ];
  });
}

async function send(service: PortService, content: Buffer): Promise<boolean> {
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(content)]), "same.bin");
  form.set("tags", '["input"]');
  const response = await fetch(`${service.url}/api/assets`, { method: "POST", headers: service.headers, body: form });
  const asset: { created_new: boolean } = await response.json();
  if (!response.ok || asset.created_new !== (response.status === 201)) throw new Error(`an upload was answered with ${response.status}`);
  return asset.created_new;
}

function filesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
}
