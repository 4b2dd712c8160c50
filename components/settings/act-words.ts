"use client";

import { useMessages } from "next-intl";

/** An act of the log in words; one that these pages do not know, of another version perhaps, as it was written. */
export function useActWords(): (action: string) => string {
  const acts: Readonly<Record<string, string>> = useMessages().settings?.audit.does ?? {};
  return (action) => (Object.hasOwn(acts, action) ? acts[action] : undefined) ?? action;
}
