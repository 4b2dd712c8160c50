"use client";

import { useTranslations } from "next-intl";
import { type FormEvent, useId, useState } from "react";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { FormField } from "@/components/ui/form-field";
import { Input } from "@/components/ui/input";
import { toFolderName } from "./crumbs";

/** Goes into a folder that is not there yet: it comes with its first file, and the dialog says so. */
export function NewFolder({ onName }: { onName: (name: string) => void }) {
  const t = useTranslations("files.newFolder");
  const form = useId();
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const name = toFolderName(typed);
  function submit(event: FormEvent) {
    event.preventDefault();
    if (name === undefined) return;
    setOpen(false);
    setTyped("");
    onName(name);
  }
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t("act")}</Button>
      <Dialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={t("act")}
        actions={
          <>
            <Button onClick={() => setOpen(false)}>{t("cancel")}</Button>
            <Button type="submit" form={form} tone="primary" disabled={name === undefined}>
              {t("open")}
            </Button>
          </>
        }
      >
        <form id={form} onSubmit={submit} autoComplete="off">
          <FormField label={t("name")} hint={t("hint")} error={typed.trim() !== "" && name === undefined ? t("odd") : undefined}>
            {(control) => <Input {...control} value={typed} onChange={(event) => setTyped(event.currentTarget.value)} autoFocus />}
          </FormField>
        </form>
      </Dialog>
    </>
  );
}
