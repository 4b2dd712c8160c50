"use client";

import { useState } from "react";
import useSWRImmutable from "swr/immutable";
import { apiPath } from "@/lib/browser/urls";
import { fileApiPath } from "./files-address";

export type Ability = "read" | "remove" | "move";

const HAS_IT = new Set([200, 206, 416]);
const LACKS_IT = new Set([404, 405, 501]);

/**
 * What this service can do with files beyond listing and writing them. Learnt by reading a byte of one that is there, and never by an act
 * that changes anything; what a first real act was refused as unknown is withdrawn.
 */
export function useAbilities(connection: string | undefined, example: string | undefined) {
  const [lost, setLost] = useState<ReadonlySet<Ability>>(new Set());
  const key = connection && example ? (["files.abilities", connection] as const) : null;
  const { data: reads } = useSWRImmutable(key, () => readsFiles(example ?? "", connection), { shouldRetryOnError: false });
  return {
    /** Undefined: not known yet. */
    can: (ability: Ability): boolean | undefined => (lost.has(ability) ? false : reads),
    lose: (ability: Ability) => setLost((before) => new Set([...before, ability])),
    lost,
  };
}

export function isAbsent({ status }: { status: number }): boolean {
  return LACKS_IT.has(status);
}

async function readsFiles(path: string, connection: string | undefined): Promise<boolean | undefined> {
  const answer = await fetch(apiPath(fileApiPath(path, { connection })), { headers: { range: "bytes=0-0" }, cache: "no-store" });
  await answer.body?.cancel();
  return HAS_IT.has(answer.status) ? true : LACKS_IT.has(answer.status) ? false : undefined;
}
