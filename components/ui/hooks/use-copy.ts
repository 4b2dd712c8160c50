import { useTranslations } from "next-intl";
import { useCallback } from "react";
import { showToast } from "../toast-store";

/** Puts a text on the clipboard; where it cannot, that is said. With `done`, also that it is there. */
export function useCopy(): (text: string, done?: string) => Promise<boolean> {
  const t = useTranslations("common");
  return useCallback(
    async (text, done) => {
      try {
        await navigator.clipboard.writeText(text);
        if (done !== undefined) showToast({ tone: "ok", text: done });
        return true;
      } catch {
        // The clipboard needs a secure page; on plain http in a local network there is none.
        showToast({ tone: "bad", text: t("copyFailed") });
        return false;
      }
    },
    [t],
  );
}
