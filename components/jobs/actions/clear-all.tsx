import { useSearchParams } from "next/navigation";
import { useTranslations } from "next-intl";
import { type FormEvent, useId, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { InputField } from "@/components/ui/controls/fields";
import { ConfirmDialog } from "@/components/ui/dialog";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { clearAllJobs, type ClearAllResult, hasNoResponse } from "@/lib/browser/bulk/bulk-calls";
import { useConfirmedAction } from "./use-confirmed-action";

type ClearAllProps = {
  messageNamespace: "queue.clear" | "history.clear";
  /** The number of entries. Absent if the service reports none. */
  count: number | undefined;
  /** A word to type as confirmation, if the entries can't be restored. */
  confirmationWord?: string;
  openParam?: string;
  isBusy: boolean;
  /** `shownCount`: the number that was on the button. */
  onClear: (shownCount: number | undefined) => Promise<ApiFailure | undefined>;
};

export function ClearAll({ messageNamespace, count, confirmationWord, openParam, isBusy, onClear }: ClearAllProps) {
  const t = useTranslations(messageNamespace);
  const formId = useId();
  const [shownCount, setShownCount] = useState<{ count: number | undefined }>();
  const [inputText, setInputText] = useState("");
  const getTitle = (count: number | undefined) => (count === undefined ? t("all") : t("counted", { count }));
  const title = getTitle(shownCount ? shownCount.count : count);
  const isConfirmed = confirmationWord === undefined || inputText.trim().toLowerCase() === confirmationWord;
  const searchParams = useSearchParams();
  const isRequested = openParam !== undefined && (searchParams?.has(openParam) ?? false);
  const [wasRequested, setWasRequested] = useState(false);
  if (isRequested !== wasRequested) {
    setWasRequested(isRequested);
    if (isRequested && count !== 0) setShownCount({ count });
  }
  function close() {
    setShownCount(undefined);
    setInputText("");
    confirmation.reset();
    if (!isRequested) return;
    // A reload must not open the dialog again.
    const url = new URL(window.location.href);
    url.searchParams.delete(openParam);
    window.history.replaceState(null, "", url);
  }
  const confirmation = useConfirmedAction({
    isOpen: shownCount !== undefined,
    action: async () => (shownCount ? onClear(shownCount.count) : undefined),
    close,
  });
  function submit(event: FormEvent) {
    event.preventDefault();
    if (isConfirmed) void confirmation.confirm();
  }
  return (
    <>
      <Button tone="danger" disabled={count === 0} busy={isBusy} onClick={() => setShownCount({ count })}>
        {count === 0 ? t("act") : getTitle(count)}
      </Button>
      <ConfirmDialog
        isOpen={shownCount !== undefined}
        title={title}
        cancelLabel={t("keep")}
        form={formId}
        isBusy={confirmation.isBusy}
        isDisabled={!isConfirmed}
        onClose={close}
      >
        <p>{t("text")}</p>
        {confirmation.failure ? (
          <FailureMessage
            failure={confirmation.failure}
            title={hasNoResponse(confirmation.failure) ? t("unclear") : undefined}
            className="mt-3"
          />
        ) : null}
        <form id={formId} onSubmit={submit} className="mt-3" autoComplete="off">
          {confirmationWord === undefined ? null : (
            <InputField
              label={t("type", { word: confirmationWord })}
              value={inputText}
              onChange={(event) => setInputText(event.currentTarget.value)}
              autoFocus
            />
          )}
        </form>
      </ConfirmDialog>
    </>
  );
}

/** Clears all entries at `path`. `remainingPath` lists the remaining ones. The dialog shows failures. */
export function useClearAll<ClearResponse>(path: `/${string}`, remainingPath: `/${string}`, refresh: () => Promise<unknown>) {
  const [isBusy, setBusy] = useState(false);
  const [cleared, setCleared] = useState<{ shownCount: number | undefined; outcome: ClearAllResult<ClearResponse> }>();
  async function clear(shownCount: number | undefined): Promise<ApiFailure | undefined> {
    setCleared(undefined);
    setBusy(true);
    const result = await clearAllJobs<ClearResponse>(path, remainingPath);
    setBusy(false);
    if (!result.ok) return result.failure;
    // If the service doesn't name cleared jobs, only the reloaded list shows the result.
    await refresh();
    setCleared({ shownCount, outcome: result.value });
    return undefined;
  }
  return { isBusy, cleared, clear, dismiss: () => setCleared(undefined) };
}
