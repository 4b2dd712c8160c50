// A name of the installation that reveals nothing: it tells a caller whether this console answers at an address.
// Derived from the session secret, so all consoles of one installation have the same name.

import "server-only";
import { createHmac } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const INSTALLATION_HEADER = "lightdesk-installation";

export function nameInstallation(authSecret: string): string {
  return createHmac("sha256", authSecret).update("installation").digest("hex").slice(0, 16);
}

/** Undefined before the first start. */
export function authSecretOf(dataDir: string): string | undefined {
  const file = join(dataDir, "auth-secret");
  return existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
}
