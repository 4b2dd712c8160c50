// `npm run audit -- verify` reports the first changed row, and `npm run audit -- list` prints the log as CSV.
import { readNames, writeAuditCsv } from "@/lib/server/queries/audit-rows";
import { fail, runOnStore } from "./command";

const [command, ...extraArgs] = process.argv.slice(2);
if ((command !== "verify" && command !== "list") || extraArgs.length > 0) fail("Usage: npm run audit -- verify | list");
else
  runOnStore(async (store) => {
    await store.migrate();
    if (command === "list") {
      for await (const lines of writeAuditCsv(store, await readNames(store, await store.connections.listFor("")), {}))
        process.stdout.write(lines);
      return;
    }
    const state = await store.audit.verify();
    if ("brokenAt" in state) return fail(`The audit log was tampered with: row ${state.brokenAt} was changed, removed or inserted.`);
    process.stdout.write(`${state.rows} rows verified, no changes found. Last hash: ${state.last || "none"}\n`);
  });
