import { useMessages } from "next-intl";
import { getOwn } from "@/lib/contract/json/json";

type ActionMessages = { getActionText: (action: string) => string; getAttemptText: (action: string) => string };

/** Returns labels for completed and attempted actions in the audit log. The label of an unknown action is its code. */
export function useActionMessages(): ActionMessages {
  const audit = useMessages().settings?.audit;
  const createLookup = (actionKeys: Readonly<Record<string, string>> = {}) => {
    return (action: string) => getOwn(actionKeys, action) ?? action;
  };
  return { getActionText: createLookup(audit?.does), getAttemptText: createLookup(audit?.tried) };
}
