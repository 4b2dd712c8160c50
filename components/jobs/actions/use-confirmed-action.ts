import { useTranslations } from "next-intl";
import { useEffect, useRef, useState } from "react";
import { formatFailure } from "@/components/frame/failure/failure-message";
import { showToast } from "@/components/ui/toast-store";
import { type ApiFailure } from "@/lib/browser/api-failure";

/** Runs an action after confirmation. The dialog stays open until the action succeeds, and shows failures. */
export function useConfirmedAction({
  isOpen,
  action,
  close,
}: {
  isOpen: boolean;
  action: () => Promise<ApiFailure | undefined>;
  close: () => void;
}) {
  const errors = useTranslations("errors");
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const isOpenRef = useRef(isOpen);
  useEffect(() => {
    isOpenRef.current = isOpen;
    return () => void (isOpenRef.current = false);
  }, [isOpen]);
  return {
    isBusy,
    failure,
    confirm: async () => {
      if (isBusy) return;
      setBusy(true);
      setFailure(undefined);
      const actionFailure = await action();
      setBusy(false);
      if (!actionFailure) close();
      else if (isOpenRef.current) setFailure(actionFailure);
      else showToast({ tone: "bad", text: formatFailure(errors, actionFailure) });
    },
    reset: () => setFailure(undefined),
  };
}
