"use client";

import { useState } from "react";
import useSWRImmutable from "swr/immutable";
import { callApi } from "@/lib/browser/api";
import { withQuery } from "@/lib/browser/urls";

export type Ability = "read" | "remove" | "move";

/**
 * What this service can do with files beyond listing and writing them. Learnt by reading a byte of one that is there, and never by an act
 * that changes anything; what a first real act was refused as unknown is withdrawn. `dir`: a folder that holds a file.
 */
export function useAbilities(connection: string | undefined, dir: string | undefined) {
  const [lost, setLost] = useState<ReadonlySet<Ability>>(new Set());
  const key = connection && dir !== undefined ? (["files.abilities", connection] as const) : null;
  const { data: reads, isLoading } = useSWRImmutable(key, () => readsFiles(dir, connection), { shouldRetryOnError: false });
  return {
    /** Undefined: not known yet. */
    can: (ability: Ability): boolean | undefined => (lost.has(ability) ? false : reads),
    lose: (ability: Ability) => setLost((before) => new Set([...before, ability])),
    lost,
    isAsking: isLoading,
  };
}

async function readsFiles(dir: string | undefined, connection: string | undefined): Promise<boolean | undefined> {
  const path = withQuery("/api/console/file-abilities", { dir, recurse: true, connection });
  const answer = await callApi<{ reads: boolean | null }>(path, { cache: "no-store" });
  return answer.ok ? (answer.value.reads ?? undefined) : undefined;
}
