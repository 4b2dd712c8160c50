import { useTranslations } from "next-intl";
import { type FormEvent, useId, useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { Dialog } from "@/components/ui/dialog";
import { FormField } from "@/components/ui/controls/form-field";
import { Input } from "@/components/ui/controls/input";
import { type Dropped, filesOfInput } from "@/lib/browser/files/dropped-files";
import { toFolderName } from "./crumbs";
import { useFilePick } from "@/components/ui/hooks/use-file-pick";

type NewFolderProps = { onName: (name: string) => void; onFiles: (name: string, picked: Dropped) => void };

/** A new folder is created with its first file: the dialog says so, and asks for that file. */
export function NewFolder({ onName, onFiles }: NewFolderProps) {
  const t = useTranslations("files.newFolder");
  const form = useId();
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const name = toFolderName(typed);
  function leave() {
    setOpen(false);
    setTyped("");
  }
  const pick = useFilePick({
    isMany: true,
    onFiles(files) {
      if (name === undefined) return;
      leave();
      onFiles(name, filesOfInput(files));
    },
  });
  function submit(event: FormEvent) {
    event.preventDefault();
    if (name !== undefined) pick.open();
  }
  function openEmpty() {
    if (name === undefined) return;
    leave();
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
            <Button onClick={openEmpty} disabled={name === undefined}>
              {t("open")}
            </Button>
            <Button type="submit" form={form} tone="primary" disabled={name === undefined}>
              {t("pick")}
            </Button>
          </>
        }
      >
        <form id={form} onSubmit={submit} autoComplete="off">
          <FormField label={t("name")} hint={t("hint")} error={typed.trim() !== "" && name === undefined ? t("odd") : undefined}>
            {(control) => <Input {...control} value={typed} onChange={(event) => setTyped(event.currentTarget.value)} autoFocus />}
          </FormField>
        </form>
        {pick.input}
      </Dialog>
    </>
  );
}
