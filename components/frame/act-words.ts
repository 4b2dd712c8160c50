import { useMessages } from "next-intl";

type ActWords = { wordOf: (action: string) => string; triedOf: (action: string) => string };

/** An act of the log in words, as done or only as tried; an act unknown to this version is shown as written. */
export function useActWords(): ActWords {
  const audit = useMessages().settings?.audit;
  const wordFrom = (acts: Readonly<Record<string, string>> = {}) => {
    return (action: string) => (Object.hasOwn(acts, action) ? acts[action] : undefined) ?? action;
  };
  return { wordOf: wordFrom(audit?.does), triedOf: wordFrom(audit?.tried) };
}
