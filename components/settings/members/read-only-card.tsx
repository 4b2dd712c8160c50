"use client";

import { useTranslations } from "next-intl";
import { type FormEvent, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { fieldText } from "@/components/ui/controls/field-text";
import { FormField } from "@/components/ui/controls/form-field";
import { Input } from "@/components/ui/controls/input";
import { Dialog } from "@/components/ui/dialog";
import { useRouter } from "@/components/ui/link";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { callApi, type CallInit } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type ReadOnlyView } from "@/lib/contract/console";

/** The switch that makes the whole console read-only, for owner and admins. */
export function ReadOnlyCard({ readOnly }: { readOnly: ReadOnlyView | undefined }) {
  const t = useTranslations("settings.readOnlyCard");
  const common = useTranslations("common");
  const router = useRouter();
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  /** Set while the confirmation is open. */
  const [asking, setAsking] = useState<{ note: string }>();

  async function call(init: CallInit) {
    setBusy(true);
    setFailure(undefined);
    const result = await callApi("/api/console/read-only", init);
    setBusy(false);
    if (!result.ok) return setFailure(result.failure);
    // The frame shows it on every page, and the pages offer other actions.
    router.refresh();
  }
  function begin(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setAsking({ note: fieldText(new FormData(event.currentTarget), "note").trim() });
  }
  function confirm() {
    const note = asking?.note ?? "";
    setAsking(undefined);
    void call({ method: "PUT", json: note === "" ? {} : { note } });
  }

  return (
    <Card title={t("title")} bodyClassName="flex flex-col items-start gap-3">
      {failure ? <FailureMessage failure={failure} /> : null}
      {readOnly ? (
        <>
          <p className="max-w-[62ch] text-ink-2">{t.rich("on", { name: readOnly.by, time: () => <RelativeTime ms={readOnly.since} /> })}</p>
          <Button tone="primary" busy={isBusy} onClick={() => void call({ method: "DELETE" })}>
            {isBusy ? t("ending") : t("end")}
          </Button>
        </>
      ) : (
        <form method="post" onSubmit={begin} className="flex w-full max-w-[420px] flex-col items-start gap-3">
          <p className="text-ink-2">{t("off")}</p>
          <div className="w-full">
            <FormField label={t("note")}>{(control) => <Input {...control} name="note" maxLength={200} autoComplete="off" />}</FormField>
          </div>
          <Button type="submit" tone="danger" busy={isBusy}>
            {isBusy ? t("beginning") : t("begin")}
          </Button>
        </form>
      )}
      <Dialog
        isOpen={asking !== undefined}
        onClose={() => setAsking(undefined)}
        title={t("askTitle")}
        actions={
          <>
            <Button onClick={() => setAsking(undefined)}>{common("cancel")}</Button>
            <Button tone="danger" onClick={confirm}>
              {t("begin")}
            </Button>
          </>
        }
      >
        <p>{t("askText")}</p>
      </Dialog>
    </Card>
  );
}
