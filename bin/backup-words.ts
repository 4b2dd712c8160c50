// What the backup commands read from their arguments and print.
import { resolve } from "node:path";
import { type Manifest } from "@/lib/server/backup/manifest";
import { isFullDisk } from "@/lib/shared/error-codes";

const SAY_EVERY_MS = 2000;

/** Undefined unless the arguments are one folder and known options. */
export function readPlace(known: readonly string[]): { place: string; options: string[] } | undefined {
  const words = process.argv.slice(2);
  const options = words.filter((word) => word.startsWith("--"));
  const [place, ...more] = words.filter((word) => !word.startsWith("--"));
  if (place === undefined || more.length > 0 || options.some((option) => !known.includes(option))) return undefined;
  // npm has changed into the project's folder; a relative path means the folder of the caller.
  return { place: resolve(process.env.INIT_CWD ?? ".", place), options };
}

export function explain(error: unknown): string {
  if (isFullDisk(error)) return "The disk is full. Free space there and run it again: what was copied stays, and it goes on from there.";
  return error instanceof Error ? error.message : String(error);
}

export function progress(): (text: string) => void {
  let shownMs = Date.now();
  return (text) => {
    if (Date.now() - shownMs < SAY_EVERY_MS) return;
    shownMs = Date.now();
    process.stderr.write(`${text}\n`);
  };
}

export function summaryOf({ version, madeAt, console: ofConsole, service }: Manifest): string {
  const rows = Object.entries({ ...ofConsole?.rows, ...service?.rows }).filter(([table]) => table !== "blobs");
  const files = service ? [`${service.blobs.count} files of ${(service.blobs.bytes / 1024 ** 2).toFixed(1)} MiB`] : [];
  return `Backup of ${madeAt} by version ${version}: ${[...rows.map(([table, n]) => `${n} ${table.replace("_", " ")}`), ...files].join(", ")}.`;
}
