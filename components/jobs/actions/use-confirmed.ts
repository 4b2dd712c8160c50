import { useTranslations } from "next-intl";
import { useEffect, useRef, useState } from "react";
import { failureText } from "@/components/frame/failure/failure-message";
import { showToast } from "@/components/ui/toast-store";
import { type ApiFailure } from "@/lib/browser/read-failure";

/** An action with confirmation. The dialog keeps its input until the response and shows failures. */
export function useConfirmed({
  isOpen,
  act: confirm,
  close,
}: {
  isOpen: boolean;
  act: () => Promise<ApiFailure | undefined>;
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
      const refused = await confirm();
      setBusy(false);
      if (!refused) close();
      else if (isOpenRef.current) setFailure(refused);
      else showToast({ tone: "bad", text: failureText(errors, refused) });
    },
    begin: () => setFailure(undefined),
  };
}
