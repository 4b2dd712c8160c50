import { useMessages } from "next-intl";

type ActWords = { wordOf: (action: string) => string; triedOf: (action: string) => string };

/** An act of the log in words, done and only tried; one that these pages do not know, of another version perhaps, as it was written. */
export function useActWords(): ActWords {
  const audit = useMessages().settings?.audit;
  const wordFrom = (acts: Readonly<Record<string, string>> = {}) => {
    return (action: string) => (Object.hasOwn(acts, action) ? acts[action] : undefined) ?? action;
  };
  return { wordOf: wordFrom(audit?.does), triedOf: wordFrom(audit?.tried) };
}
