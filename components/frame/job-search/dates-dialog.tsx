"use client";

import { useTranslations } from "next-intl";
import { type FormEvent, useId, useState } from "react";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { FormField } from "@/components/ui/form-field";
import { Input } from "@/components/ui/input";
import { dayAfter, dayOf, startOfDay } from "./days";

type DatesDialogProps = {
  from: number | undefined;
  to: number | undefined;
  onClose: () => void;
  onChoose: (range: { from: number | undefined; to: number | undefined }) => void;
};

/** Whole days in the zone that the page's times are written in. */
export function DatesDialog({ from, to, onClose, onChoose }: DatesDialogProps) {
  const t = useTranslations("jobSearch.dateDialog");
  const form = useId();
  const [first, setFirst] = useState(from === undefined ? "" : dayOf(from));
  const [last, setLast] = useState(to === undefined ? "" : dayOf(to - 1));
  const isTurned = first !== "" && last !== "" && last < first;
  function choose(event: FormEvent) {
    event.preventDefault();
    if (isTurned) return;
    onChoose({ from: first === "" ? undefined : startOfDay(first), to: last === "" ? undefined : startOfDay(dayAfter(last)) });
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t("title")}
      actions={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button type="submit" form={form} tone="primary" disabled={isTurned}>
            {t("show")}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={choose} className="flex flex-col gap-3">
        <FormField label={t("from")}>
          {(control) => <Input {...control} type="date" value={first} onChange={(event) => setFirst(event.currentTarget.value)} />}
        </FormField>
        <FormField label={t("to")} hint={t("hint")} error={isTurned ? t("order") : undefined}>
          {(control) => <Input {...control} type="date" value={last} onChange={(event) => setLast(event.currentTarget.value)} />}
        </FormField>
      </form>
    </Dialog>
  );
}
