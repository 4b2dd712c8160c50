import { useMessages } from "next-intl";
import { getOwn } from "@/lib/contract/json/json";

type ActionWords = { getActionText: (action: string) => string; getAttemptText: (action: string) => string };

/** Labels for an action in the log, completed or attempted. Unknown actions keep their code. */
export function useActionMessages(): ActionWords {
  const audit = useMessages().settings?.audit;
  const createLookup = (actionKeys: Readonly<Record<string, string>> = {}) => {
    return (action: string) => getOwn(actionKeys, action) ?? action;
  };
  return { getActionText: createLookup(audit?.does), getAttemptText: createLookup(audit?.tried) };
}
