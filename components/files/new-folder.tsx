import { useTranslations } from "next-intl";
import { type FormEvent, useState } from "react";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";
import { Button } from "@/components/ui/controls/button";
import { FormField } from "@/components/ui/controls/form-field";
import { Input } from "@/components/ui/controls/input";
import { Dialog, DialogFoot } from "@/components/ui/dialog";
import { useFilePick } from "@/components/ui/hooks/use-file-pick";
import { type Dropped, filesOfInput } from "@/lib/browser/files/dropped-files";
import { toFolderName } from "./crumbs";

type Made = { connection: string | undefined; path: string };

/** Folders that this tab created and that have no file yet. */
const madeStore = createStore<readonly Made[]>(() => []);

export function useNewFolders(connection: string | undefined) {
  const made = useStore(madeStore).filter((each) => each.connection === connection);
  return {
    paths: made.map(({ path }) => path),
    make: (path: string) => madeStore.setState([...madeStore.getState(), { connection, path }], true),
    /** The folder has files now, or is about to. */
    forget: (path: string) =>
      madeStore.setState(
        madeStore.getState().filter((each) => each.connection !== connection || each.path !== path),
        true,
      ),
  };
}

type NewFolderProps = { onName: (name: string) => void; onFiles: (name: string, picked: Dropped) => void };

/** Opens a new folder and uploads the chosen files into it. Services keep no empty folder, and the dialog says so. */
export function NewFolder(props: NewFolderProps) {
  const t = useTranslations("files.newFolder");
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t("act")}</Button>
      <Dialog isOpen={isOpen} onClose={close} title={t("act")}>
        <NewFolderForm {...props} onClose={close} />
      </Dialog>
    </>
  );
}

function NewFolderForm({ onName, onFiles, onClose }: NewFolderProps & { onClose: () => void }) {
  const t = useTranslations("files.newFolder");
  const [typed, setTyped] = useState("");
  const name = toFolderName(typed);
  const pick = useFilePick({
    isMany: true,
    onFiles(files) {
      if (name === undefined) return;
      onClose();
      onFiles(name, filesOfInput(files));
    },
  });
  function create(event: FormEvent) {
    event.preventDefault();
    if (name === undefined) return;
    onClose();
    onName(name);
  }
  return (
    <form onSubmit={create} autoComplete="off">
      <FormField label={t("name")} hint={t("hint")} error={typed.trim() !== "" && name === undefined ? t("odd") : undefined}>
        {(control) => <Input {...control} value={typed} onChange={(event) => setTyped(event.currentTarget.value)} autoFocus />}
      </FormField>
      {pick.input}
      <DialogFoot>
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button onClick={pick.open} disabled={name === undefined}>
          {t("pick")}
        </Button>
        <Button type="submit" tone="primary" disabled={name === undefined}>
          {t("create")}
        </Button>
      </DialogFoot>
    </form>
  );
}
