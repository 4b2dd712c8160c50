import { useTranslations } from "next-intl";
import { useCallback } from "react";
import { showToast } from "../toast-store";

/** Copies a text to the clipboard and reports a failure. With `done`, reports success as well. */
export function useCopy(): (text: string, doneMessage?: string) => Promise<boolean> {
  const t = useTranslations("common");
  return useCallback(
    async (text, doneMessage) => {
      try {
        await navigator.clipboard.writeText(text);
        if (doneMessage !== undefined) showToast({ tone: "ok", text: doneMessage });
        return true;
      } catch {
        // The clipboard requires https.
        showToast({ tone: "bad", text: t("copyFailed") });
        return false;
      }
    },
    [t],
  );
}
