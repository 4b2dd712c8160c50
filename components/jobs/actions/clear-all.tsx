import { useSearchParams } from "next/navigation";
import { useTranslations } from "next-intl";
import { type FormEvent, useId, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { InputField } from "@/components/ui/controls/fields";
import { ConfirmDialog } from "@/components/ui/dialog";
import { clearAllJobs, type ClearAllResult, hasNoResponse } from "@/lib/browser/bulk/bulk-calls";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { useConfirmed } from "./use-confirmed";

type ClearAllProps = {
  words: "queue.clear" | "history.clear";
  /** The number of entries; absent if the service reports none. */
  count: number | undefined;
  /** A word to type as confirmation, if the entries can't be restored. */
  word?: string;
  parameter?: string;
  isBusy: boolean;
  /** `shownCount`: the number that was on the button. */
  onClear: (shownCount: number | undefined) => Promise<ApiFailure | undefined>;
};

export function ClearAll({ words, count, word, parameter, isBusy, onClear }: ClearAllProps) {
  const t = useTranslations(words);
  const form = useId();
  const [shownCount, setShownCount] = useState<{ count: number | undefined }>();
  const [typed, setTyped] = useState("");
  const getTitle = (count: number | undefined) => (count === undefined ? t("all") : t("counted", { count }));
  const title = getTitle(shownCount ? shownCount.count : count);
  const isConfirmed = word === undefined || typed.trim().toLowerCase() === word;
  const address = useSearchParams();
  const isRequested = parameter !== undefined && (address?.has(parameter) ?? false);
  const [wasRequested, setWasRequested] = useState(false);
  if (isRequested !== wasRequested) {
    setWasRequested(isRequested);
    if (isRequested && count !== 0) setShownCount({ count });
  }
  function close() {
    setShownCount(undefined);
    setTyped("");
    confirmation.begin();
    if (!isRequested) return;
    // A reload must not open it again.
    const withoutRequest = new URL(window.location.href);
    withoutRequest.searchParams.delete(parameter);
    window.history.replaceState(null, "", withoutRequest);
  }
  const confirmation = useConfirmed({
    isOpen: shownCount !== undefined,
    act: async () => (shownCount ? onClear(shownCount.count) : undefined),
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
        keep={t("keep")}
        form={form}
        isBusy={confirmation.isBusy}
        isDisabled={!isConfirmed}
        onClose={close}
      >
        <p>{t("text")}</p>
        {confirmation.failure ? (
          <FailureMessage
            failure={confirmation.failure}
            about={hasNoResponse(confirmation.failure) ? t("unclear") : undefined}
            className="mt-3"
          />
        ) : null}
        <form id={form} onSubmit={submit} className="mt-3" autoComplete="off">
          {word === undefined ? null : (
            <InputField label={t("type", { word })} value={typed} onChange={(event) => setTyped(event.currentTarget.value)} autoFocus />
          )}
        </form>
      </ConfirmDialog>
    </>
  );
}

/** `path` clears all entries; `leftPath` lists the remaining ones. The dialog shows a failed request. */
export function useClearAll<Answer>(path: `/${string}`, leftPath: `/${string}`, refresh: () => Promise<unknown>) {
  const [isBusy, setBusy] = useState(false);
  const [cleared, setCleared] = useState<{ shownCount: number | undefined; outcome: ClearAllResult<Answer> }>();
  async function clear(shownCount: number | undefined): Promise<ApiFailure | undefined> {
    setCleared(undefined);
    setBusy(true);
    const result = await clearAllJobs<Answer>(path, leftPath);
    setBusy(false);
    if (!result.ok) return result.failure;
    // If the service doesn't name cleared jobs, only the reloaded list shows the result.
    await refresh();
    setCleared({ shownCount, outcome: result.value });
    return undefined;
  }
  return { isBusy, cleared, clear, dismiss: () => setCleared(undefined) };
}
