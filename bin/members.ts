// `npm run members -- reset-link EMAIL` prints a password reset link, which is valid once within a day.
import { randomBytes } from "node:crypto";
import { createResetLink } from "@/lib/server/auth/reset-link";
import { fail, runOnStore } from "./command";

const [command, email, ...extraArgs] = process.argv.slice(2);
if (command !== "reset-link" || !email || extraArgs.length > 0) fail("Usage: npm run members -- reset-link EMAIL");
else
  runOnStore(async (store, env) => {
    await store.migrate();
    const url = await createResetLink({ store, env, email, token: randomBytes(32).toString("base64url"), now: Date.now() });
    if (url === undefined) return fail(`No member has the address ${email}.`);
    process.stdout.write(`This link works once, within a day:\n${url}\n`);
  });
