// One request to run an app, and which of its values a run may keep.
// Must never: let the value of an input that holds a key be stored.

import "server-only";
import { createHash } from "node:crypto";
import { type AppInput, type AppValues } from "@/lib/contract/apps/app";
import { valueOfText } from "@/lib/contract/apps/fill";
import { setSpelling, writeExactJson } from "@/lib/contract/json/exact-json";
import { isSecretName } from "@/lib/contract/secrets/mask-secrets";
import { type Asked } from "../bff/guard";
import { type Access } from "../connections/access";
import { type StoredApp } from "../store/apps/apps";
import { type TakenFile, type TakenForm } from "./files";

export type Given = { values: Record<string, unknown>; files: readonly TakenFile[] };
export type RunOrder = Given & { asked: Asked; access: Access; app: StoredApp; key: string | undefined };

export function givenInForm({ definition }: StoredApp, { fields, files }: TakenForm): Given {
  const known = new Map(definition.inputs.map((input) => [input.name, input]));
  const texts = [...fields].map(([name, text]): [string, unknown] => {
    const input = known.get(name);
    return [name, input ? valueOfText(input, text) : text];
  });
  // A file's hash represents it until the service has named the file.
  const hashes = files.map(({ part, hash }): [string, string] => [part, hash]);
  const values = Object.fromEntries([...texts, ...hashes]);
  for (const [name, text] of fields) if (typeof values[name] === "number") setSpelling(values, name, text.trim());
  return { values, files };
}

/** By which a key that comes again is known to mean the same run. */
export function hashOf(values: RunOrder["values"]): string {
  const sorted = Object.entries(values).sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash("sha256").update(writeExactJson(sorted)).digest("hex");
}

export function withoutFiles(values: AppValues, files: readonly TakenFile[]): AppValues {
  const parts = new Set(files.map(({ part }) => part));
  return Object.fromEntries(Object.entries(values).filter(([name]) => !parts.has(name)));
}

export function withoutSecrets({ definition: { inputs } }: StoredApp, values: AppValues): AppValues {
  const isKept = (name: string) => inputs.some((input: AppInput) => input.name === name && !isSecretName(input.input));
  return Object.fromEntries(Object.entries(values).filter(([name]) => isKept(name)));
}
