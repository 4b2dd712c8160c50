"use client";

import { useTranslations } from "next-intl";
import { type FormEvent, useId, useState } from "react";
import { FailureMessage } from "@/components/frame/failure-message";
import { useConfirmed } from "@/components/frame/use-confirmed";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { FormField } from "@/components/ui/form-field";
import { Input } from "@/components/ui/input";
import { isUnanswered } from "@/lib/browser/clear-all";
import { type ApiFailure } from "@/lib/browser/read-failure";

type ClearHistoryProps = {
  /** How many entries there are; absent where the service does not say. */
  count?: number;
  isBusy: boolean;
  onClear: () => Promise<ApiFailure | undefined>;
};

/** Everything goes at once and for good: it asks by number, and for the word to be typed. */
export function ClearHistory({ count, isBusy, onClear }: ClearHistoryProps) {
  const t = useTranslations("history.clear");
  const form = useId();
  const [isAsking, setAsking] = useState(false);
  const [typed, setTyped] = useState("");
  const title = count === undefined ? t("all") : t("counted", { count });
  const isConfirmed = typed.trim().toLowerCase() === t("word");
  function close() {
    setAsking(false);
    setTyped("");
  }
  const question = useConfirmed({ isOpen: isAsking, act: onClear, close });
  function submit(event: FormEvent) {
    event.preventDefault();
    if (isConfirmed) void question.confirm();
  }
  return (
    <>
      <Button
        tone="danger"
        disabled={count === 0}
        busy={isBusy}
        onClick={() => {
          question.begin();
          setAsking(true);
        }}
      >
        {count === 0 ? t("act") : title}
      </Button>
      <Dialog
        isOpen={isAsking}
        onClose={close}
        title={title}
        actions={
          <>
            <Button onClick={close}>{t("keep")}</Button>
            <Button type="submit" form={form} tone="danger" busy={question.isBusy} disabled={!isConfirmed}>
              {title}
            </Button>
          </>
        }
      >
        <p>{t("text")}</p>
        {question.failure ? (
          <FailureMessage failure={question.failure} about={isUnanswered(question.failure) ? t("unclear") : undefined} className="mt-3" />
        ) : null}
        <form id={form} onSubmit={submit} className="mt-3" autoComplete="off">
          <FormField label={t("type", { word: t("word") })}>
            {(control) => <Input {...control} value={typed} onChange={(event) => setTyped(event.currentTarget.value)} autoFocus />}
          </FormField>
        </form>
      </Dialog>
    </>
  );
}
