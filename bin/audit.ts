// `npm run audit -- verify`: whether the audit log is as it was written. The console may run meanwhile.
// Ends with code 1 and names the first row that was changed, taken out or put in; otherwise prints the last hash, which is worth keeping elsewhere.
import { readEnv } from "@/lib/server/env";
import { hasStore, openStore } from "@/lib/server/store/store";

async function main(): Promise<void> {
  if (process.argv.slice(2).join(" ") !== "verify") return fail("Usage: npm run audit -- verify");
  const { dataDir } = readEnv();
  if (!hasStore(dataDir)) return fail(`LIGHTDESK_DATA_DIR must be the data folder of a console; ${dataDir} holds none.`);
  const store = openStore(dataDir);
  try {
    await store.migrate();
    const state = await store.audit.verify();
    if ("brokenAt" in state) return fail(`The audit log is not as it was written: row ${state.brokenAt} was changed, taken out or put in.`);
    process.stdout.write(`${state.rows} rows, each as it was written. The last hash: ${state.last || "none"}\n`);
  } finally {
    await store.close();
  }
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

main().catch((error: unknown) => fail(error instanceof Error ? error.message : String(error)));
