import { useMessages } from "next-intl";
import { own } from "@/lib/contract/json/own";

type ActionWords = { wordOf: (action: string) => string; attemptOf: (action: string) => string };

/** An act of the log in words, as done or only as tried; an act unknown to this version is shown as written. */
export function useActionMessages(): ActionWords {
  const audit = useMessages().settings?.audit;
  const wordFrom = (actionKeys: Readonly<Record<string, string>> = {}) => {
    return (action: string) => own(actionKeys, action) ?? action;
  };
  return { wordOf: wordFrom(audit?.does), attemptOf: wordFrom(audit?.tried) };
}
