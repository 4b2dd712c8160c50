// Copies the stores of console and service between a data folder and a database of PostgreSQL: both, or the one that is there.
// Guarantees: one copy, which goes on from wherever it was ended, and until its end no console starts there.
// Must never: touch what is in the target already.

import "server-only";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Copied } from "@/lib/shared/copy-tables";
import { copyServiceStore, holdsService, requireRoomForService } from "@/lib/service/index";
import { copyBetween, holdsConsole, type Place, requireRoomAt } from "../store/store";

/** `withService`: DATABASE_URL is where the service's rows are too. No command says so yet (decision 54). */
type Copying = { from: Place; to: Place; withService?: boolean; say(progress: string): void };

/** Throws where a store that would be copied there is there already. */
export async function requireRoomForStores(url: string, withService = false): Promise<void> {
  await requireRoomAt(url);
  if (withService) await requireRoomForService({ url });
}

/** What was copied; nothing where the source holds neither. */
export async function copyStores({ from, to, withService = false, say }: Copying): Promise<Copied> {
  const total = { tables: 0, rows: 0 };
  const add = ({ tables, rows }: Copied) => {
    total.tables += tables;
    total.rows += rows;
  };
  const prepareService = async (isGoingOn: boolean) => {
    if (!isGoingOn) await requireRoomForService(ofService(to));
    return async () => add(await copyServiceStore(ofService(from), ofService(to), say));
  };
  const hasService = withService && (await holdsService(ofService(from)));
  if (hasService && to.dataDir !== undefined) mkdirSync(join(to.dataDir, "service"), { recursive: true, mode: 0o700 });
  if (await holdsConsole(from)) add(await copyBetween(from, to, say, hasService ? prepareService : undefined));
  else if (hasService) await (await prepareService(false))();
  return total;
}

function ofService({ dataDir = "", url }: Place): { file: string } | { url: string } {
  return url === undefined ? { file: join(dataDir, "service", "service.sqlite") } : { url };
}
