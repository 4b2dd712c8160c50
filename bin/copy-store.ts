// Copies the stores between SQLite and PostgreSQL. Stop all consoles and services first. You can run it again after an interruption.
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { copyStores } from "@/lib/server/backup/backup";
import { type Env, readEnv } from "@/lib/server/env";
import { fail, resolveFromCaller, runCommand } from "./command";

const usage =
  "Usage: npm run copy-store -- --to postgres://USER:PASSWORD@HOST:PORT/DATABASE, or with DATABASE_URL: npm run copy-store -- --to sqlite:FOLDER";

async function main(): Promise<void> {
  const [option, target = "", ...extraArgs] = process.argv.slice(2);
  const env = readEnv();
  const folder = /^sqlite:(.+)$/.exec(target)?.[1];
  const url = /^postgres(ql)?:\/\/./.test(target) ? target : undefined;
  if (option !== "--to" || extraArgs.length > 0 || (folder ?? url) === undefined) return fail(usage);
  if (folder !== undefined) return copyToFolder(env, resolveFromCaller(folder));
  if (url !== undefined) return copyToPostgres(env, url);
}

const logProgress = (progress: string) => void process.stdout.write(`${progress}\n`);

async function copyToPostgres({ dataDir, databaseUrl }: Env, url: string): Promise<void> {
  const { tables, rows } = await copyStores({
    from: { dataDir },
    to: { url },
    isMoved: databaseUrl !== undefined && isSameDatabase(databaseUrl, url),
    logProgress,
  });
  if (tables === 0) return fail(`LIGHTDESK_DATA_DIR must be the data folder of a console or a service (${dataDir} is not).`);
  logProgress(`Copied and compared ${rows} rows of ${tables} tables. Files stay in ${dataDir}: start with that folder and with DATABASE_URL.
The key ring is not copied: set LIGHTDESK_ENCRYPTION_KEYS of every console to the keys in the file encryption-keys.`);
}

function isSameDatabase(url: string, otherUrl: string): boolean {
  const getLocation = (address: string) => {
    const { hostname, port, pathname } = new URL(address);
    return [hostname, port || "5432", pathname].join();
  };
  return getLocation(url) === getLocation(otherUrl);
}

async function copyToFolder({ dataDir, databaseUrl }: Env, folder: string): Promise<void> {
  if (databaseUrl === undefined) return fail("DATABASE_URL must name the database to copy into the folder.");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { tables, rows } = await copyStores({ from: { url: databaseUrl }, to: { dataDir: folder }, logProgress });
  if (tables === 0) return fail("The database at DATABASE_URL contains no console and no service.");
  logProgress(`Copied and compared ${rows} rows of ${tables} tables. Start without DATABASE_URL.`);
  if (folder === resolve(dataDir)) return;
  logProgress(`Before you start, put the keys into ${folder} as the file encryption-keys, or keep LIGHTDESK_ENCRYPTION_KEYS; and move the folders
blobs and downloads from ${join(dataDir, "service")} to ${join(folder, "service")}.`);
}

runCommand(main);
