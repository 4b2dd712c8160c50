// Backs up a console and the service inside it while both run, or a stand-alone service.
// Order: the console's database first. It names jobs and files of the service, never the other way round, so everything it names is in the
// later copy. Guarantees: an earlier backup in the same place stays whole until this one is.

import "server-only";
import { randomBytes } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { backUpService, checkServiceBackup, holdsService, sweepServiceBackup } from "@/lib/service/index";
import { copyDatabase, countRows, fillDatabase, migrationsOf, openToRead } from "@/lib/shared/database/sqlite-copy";
import { type Content, writeWhole } from "@/lib/shared/files";
import { type Env } from "../env";
import { copySnapshot } from "../store/snapshot";
import { holdsConsole } from "../store/store";
import { isServiceIn, requireStores } from "./copy-stores";
import { filesOf, folderOfBytes, MANIFEST, type Manifest, takePlace } from "./manifest";
import { keysNeeded, readKeys } from "./secrets";

const tables = ["members", "connections", "api_keys", "apps"] as const;

type Asked = {
  env: Env;
  place: string;
  withKeys: boolean;
  version: string;
  now: number;
  say(progress: string): void;
};

export async function backUp({ env, place, withKeys, version, now, say }: Asked): Promise<Manifest> {
  const { dataDir, databaseUrl } = env;
  if (`${resolve(place)}${sep}`.startsWith(`${resolve(dataDir)}${sep}`))
    throw new Error(`${place} lies inside the data folder. Name a place outside of it, best on another disk.`);
  await requireStores(env);
  const isThere = (...path: string[]) => existsSync(join(dataDir, ...path));
  const has = {
    console: databaseUrl !== undefined ? await holdsConsole({ url: databaseUrl }) : isThere("console.sqlite"),
    service: databaseUrl !== undefined ? await holdsService({ url: databaseUrl }) : isThere("service", "service.sqlite"),
  };
  if (databaseUrl !== undefined && !has.console && !has.service)
    throw new Error("DATABASE_URL leads to a database without a console and without a service.");
  // A wrong folder would give a backup of the PostgreSQL rows without the files, and replace a whole backup.
  const isDataFolder = databaseUrl !== undefined && has.service ? await isServiceIn(dataDir, databaseUrl) : has.console || has.service;
  if (!isDataFolder) throw new Error(`LIGHTDESK_DATA_DIR must be a data folder; ${dataDir} is none.`);
  const lock = takePlace(place);
  try {
    const id = randomBytes(6).toString("hex");
    const ofConsole = has.console ? await backUpConsole({ env, place, id, say }) : null;
    const service = has.service
      ? await backUpService({
          dataDir: join(dataDir, "service"),
          databaseUrl,
          blobs: folderOfBytes(env),
          place,
          id,
          say,
        })
      : null;
    const keys = withKeys ? await writeKeys(env, place, `keys-${id}.json`) : null;
    if (service) await checkServiceBackup({ place, contents: service, say }, { hashes: false });
    const manifest: Manifest = { format: 1, version, madeAt: new Date(now).toISOString(), console: ofConsole, service, keys };
    await writeWhole(join(place, MANIFEST), `${writeExactJson(manifest)}\n`);
    await forgetEarlier(place, id, service);
    return manifest;
  } finally {
    lock.close();
  }
}

/** A backup from PostgreSQL is an SQLite file too: there is one kind of backup, and it can be restored into either. */
async function backUpConsole({ env, place, id, say }: Pick<Asked, "env" | "place" | "say"> & { id: string }): Promise<Manifest["console"]> {
  const file = `console-${id}.sqlite`;
  const to = join(place, file);
  const { dataDir, databaseUrl } = env;
  const content =
    databaseUrl === undefined
      ? await copyDatabase(join(dataDir, "console.sqlite"), to)
      : await fillDatabase(to, () => copySnapshot(databaseUrl, to, say));
  const copy = openToRead(to);
  try {
    return { file, ...content, schema: migrationsOf(copy, "kysely_migration"), rows: countRows(copy, tables), keys: keysNeeded(copy) };
  } finally {
    copy.close();
  }
}

async function writeKeys({ dataDir, encryptionKeys }: Env, place: string, file: string): Promise<Content & { file: string }> {
  return { file, ...(await writeWhole(join(place, file), `${writeExactJson(readKeys(dataDir, encryptionKeys))}\n`)) };
}

async function forgetEarlier(place: string, id: string, service: Manifest["service"]): Promise<void> {
  for (const name of filesOf(place)) {
    const isKept = [MANIFEST, "lock.sqlite", "blobs"].includes(name) || name.includes(`-${id}.`);
    if (!isKept) rmSync(join(place, name), { force: true });
  }
  if (existsSync(join(place, "blobs"))) await sweepServiceBackup(place, service);
}
