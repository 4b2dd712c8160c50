// `npm run audit -- verify`: checks that the audit log is as it was written. The console may run meanwhile.
// Ends with code 1 and names the first row that was changed, removed or inserted; otherwise prints the last hash, which is worth keeping
// elsewhere.
import { fail, onStore } from "./console-store";

if (process.argv.slice(2).join(" ") !== "verify") fail("Usage: npm run audit -- verify");
else
  onStore(async (store) => {
    await store.migrate();
    const state = await store.audit.verify();
    if ("brokenAt" in state) return fail(`The audit log is not as it was written: row ${state.brokenAt} was changed, taken out or put in.`);
    process.stdout.write(`${state.rows} rows, each as it was written. The last hash: ${state.last || "none"}\n`);
  });
