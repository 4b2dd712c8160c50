// argon2id, with the parameters that OWASP names (19 MiB, 2 passes, 1 lane).
// Guarantees: an account that does not exist costs the same time as a wrong password.

import "server-only";
import { hash, verify } from "@node-rs/argon2";

// 2 is argon2id; the package's enum is declared const and cannot be read under isolated modules.
const parameters = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const stored = "$argon2id$v=19$m=19456,t=2,p=1$";

/** Fits no password: the hash part is not the image of anything that was ever hashed here. */
const nobody = `${stored}bGlnaHRkZXNrLW5vYm9keQ$${"A".repeat(43)}`;

export function hashPassword(password: string): Promise<string> {
  return hash(password, parameters);
}

/** Undefined stands for an account that does not exist. */
export async function verifyPassword(passwordHash: string | undefined, password: string): Promise<boolean> {
  const fits = await verify(passwordHash ?? nobody, password);
  return fits && passwordHash !== undefined;
}
