// `npm run copy-store -- --to postgres://USER:PASSWORD@HOST:PORT/DATABASE`: the console's store of the data folder into an empty database;
// `--to sqlite:FOLDER`: that of DATABASE_URL into a folder. Stop every console first. What was ended in between goes on when it is run again.
import { mkdirSync } from "node:fs";
import { readEnv } from "@/lib/server/env";
import { copyBetween, hasStore } from "@/lib/server/store/store";
import { fail } from "./console-store";

const usage =
  "Usage: npm run copy-store -- --to postgres://USER:PASSWORD@HOST:PORT/DATABASE, or with DATABASE_URL: npm run copy-store -- --to sqlite:FOLDER";

async function main(): Promise<void> {
  const [option, target = "", ...more] = process.argv.slice(2);
  const { dataDir, databaseUrl } = readEnv();
  const folder = /^sqlite:(.+)$/.exec(target)?.[1];
  const url = /^postgres(ql)?:\/\/./.test(target) ? target : undefined;
  if (option !== "--to" || more.length > 0 || (folder ?? url) === undefined) return fail(usage);
  if (folder !== undefined && databaseUrl === undefined) return fail("DATABASE_URL must say which store is to be copied into the folder.");
  if (url !== undefined && !hasStore(dataDir))
    return fail(`LIGHTDESK_DATA_DIR must be the data folder of a console; ${dataDir} holds none.`);
  if (folder !== undefined) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const [from, to] = folder === undefined ? [{ dataDir }, { url }] : [{ url: databaseUrl }, { dataDir: folder }];
  const { tables, rows } = await copyBetween(from, to, (progress) => process.stdout.write(`${progress}\n`));
  process.stdout.write(
    `${rows} rows of ${tables} tables copied, and compared row by row. The key ring is not among them: ${
      folder === undefined
        ? "give every console the keys of the file encryption-keys as LIGHTDESK_ENCRYPTION_KEYS."
        : `put the keys into ${folder} as the file encryption-keys, or keep LIGHTDESK_ENCRYPTION_KEYS.`
    }\n`,
  );
}

main().catch((error: unknown) => fail(error instanceof Error ? error.message : String(error)));
