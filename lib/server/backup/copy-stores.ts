// Copies the stores of console and service between a data folder and a PostgreSQL database: both, or the one that exists.
// Guarantees: it is one copy that continues where it was interrupted; no console starts there until it has ended.
// Must never: overwrite another installation than the one it copies.

import "server-only";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { copyServiceStore, holdsService, isServiceOf, requireRoomForService, requireServiceRows } from "@/lib/service/index";
import { type Copied } from "@/lib/shared/database/copy-tables";
import { type Env } from "../env";
import { copyBetween, holdsConsole, isMovedConsole, type Place, requireConsoleRows, requireRoomAt } from "../store/store";

/** `isMoved`: an earlier version has already moved the console's rows to the target, but left the service's where they were. */
type Copying = { from: Place; to: Place; isMoved?: boolean; say(progress: string): void };

/** Throws if DATABASE_URL, or its absence, leads away from the stores that the data folder belongs to. */
export async function requireStores({ dataDir, databaseUrl }: Pick<Env, "dataDir" | "databaseUrl">): Promise<void> {
  await requireConsoleRows(dataDir, databaseUrl);
  await requireServiceRows(join(dataDir, "service"), databaseUrl);
}

/** Throws if the database already has a store. */
export async function requireRoomForStores(url: string): Promise<void> {
  await requireRoomAt(url);
  await requireRoomForService({ url });
}

/** Whether the folder has the files of the service in that database. */
export const isServiceIn = (dataDir: string, url: string) => isServiceOf(join(dataDir, "service"), url);

/** Answers what was copied; nothing if the source holds neither store. */
export async function copyStores({ from, to, isMoved = false, say }: Copying): Promise<Copied> {
  const [source, target] = [ofService(from), ofService(to)];
  const total = { tables: 0, rows: 0 };
  const add = ({ tables, rows }: Copied) => {
    total.tables += tables;
    total.rows += rows;
  };
  // A folder whose rows were moved to this database still has an earlier state of them.
  const isReturning = "url" in source && "file" in target && (await isServiceOf(dirname(target.file), source.url));
  const prepareService = async (isGoingOn: boolean) => {
    if (!isGoingOn && !isReturning) await requireRoomForService(target);
    return async () => add(await copyServiceStore(source, target, say));
  };
  const hasService = await holdsService(source);
  if (hasService && to.dataDir !== undefined) mkdirSync(join(to.dataDir, "service"), { recursive: true, mode: 0o700 });
  const hasConsole = (await holdsConsole(from)) && !(isMoved && (await isMovedConsole(from, to)));
  if (hasConsole) add(await copyBetween(from, to, say, { isReturning, prepare: hasService ? prepareService : undefined }));
  else if (hasService) await (await prepareService(false))();
  return total;
}

function ofService({ dataDir = "", url }: Place): { file: string } | { url: string } {
  return url === undefined ? { file: join(dataDir, "service", "service.sqlite") } : { url };
}
