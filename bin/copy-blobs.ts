// Copies the bytes of all files to another place, run as dist/copy-blobs.mjs --to PLACE: s3://BUCKET/…, a folder, or data-folder. The service
// may run meanwhile. Ends with code 1 unless every file is there with its hash. Must never: print a key.
import { join } from "node:path";
import pino from "pino";
import { blobPlaceSchema, blobPlaceWords } from "@/lib/service/blob-setting";
import { readServiceEnv } from "@/lib/service/env";
import { copyBlobs } from "@/lib/service/index";

const TELL_EVERY_MS = 5000;
const MOST_NAMED = 20;

async function main([option, place]: string[]): Promise<void> {
  if (option !== "--to" || place === undefined) return fail("npm run copy-blobs -- --to s3://BUCKET/PREFIX?… | /FOLDER | data-folder");
  const reading = readServiceEnv();
  if (!reading.ok) return fail(reading.problems.join("\n"));
  const to = place === "data-folder" ? undefined : blobPlaceSchema.safeParse(place);
  if (to && !to.success) return fail(`--to must be ${blobPlaceWords}, or data-folder.`);
  const { dataDir, settings } = reading.env;
  let toldAt = performance.now();
  const { files, copied, missing, damaged } = await copyBlobs({
    dataDir: join(dataDir, "service"),
    settings,
    to: to?.data,
    log: pino({ level: "error" }, pino.destination({ dest: 2, sync: true })),
    onProgress(done, all) {
      if (performance.now() - toldAt < TELL_EVERY_MS) return;
      toldAt = performance.now();
      process.stderr.write(`${Math.floor((100 * done) / all)} %\n`);
    },
  });
  process.stdout.write(
    `${files} files, ${copied} of them copied now, the others were there. Each was read there and compared by its hash.\n`,
  );
  if (missing.length > 0) fail(`${missing.length} files are missing where they were: ${name(missing)}`);
  if (damaged.length > 0) fail(`${damaged.length} files are missing or differ where they were copied to: ${name(damaged)}`);
}

function name(hashes: readonly string[]): string {
  return hashes.slice(0, MOST_NAMED).join(", ") + (hashes.length > MOST_NAMED ? " and others" : "");
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

main(process.argv.slice(2)).catch((error: unknown) => fail(error instanceof Error ? error.message : String(error)));
