import { useTranslations } from "next-intl";
import { type FormEvent, useState } from "react";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { InputField } from "@/components/ui/controls/form-field";
import { Dialog, DialogFoot, FormFoot } from "@/components/ui/dialog";
import { useFilePicker } from "@/components/ui/hooks/use-file-picker";
import { callApi } from "@/lib/browser/api";
import { type DroppedFiles, readFileInput } from "@/lib/browser/files/dropped-files";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { isMissingOperation } from "@/lib/contract/failure";
import { type UserdataFile } from "@/lib/contract/operations/files";
import { moveApiPath, toFolderName } from "./files-view";

type NewFolderEntry = { connection: string | undefined; path: string };

/** Folders that this tab created and that have no file yet. */
const newFolderStore = createStore<readonly NewFolderEntry[]>(() => []);

export function useNewFolders(connection: string | undefined) {
  const newFolders = useStore(newFolderStore).filter((each) => each.connection === connection);
  return {
    paths: newFolders.map(({ path }) => path),
    make: (path: string) => newFolderStore.setState([...newFolderStore.getState(), { connection, path }], true),
    forget: (path: string) =>
      newFolderStore.setState(
        newFolderStore.getState().filter((each) => each.connection !== connection || each.path !== path),
        true,
      ),
  };
}

type NewFolderProps = { onName: (name: string) => void; onFiles: (name: string, dropped: DroppedFiles) => void };

/** Uploads the chosen files into a new folder, since services don't store empty folders. */
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
  const pick = useFilePicker({
    isMultiple: true,
    onFiles(files) {
      if (name === undefined) return;
      onClose();
      onFiles(name, readFileInput(files));
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
      <InputField
        label={t("name")}
        hint={t("hint")}
        error={typed.trim() !== "" && name === undefined ? t("odd") : undefined}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        autoFocus
      />
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

type MoveFileProps = { path: string; connection: string | undefined; onMoved: (to: string) => void };

/** Renames or moves a file by its path. Replacing a file needs a second click on a warning button. */
export function MoveFile(props: MoveFileProps) {
  const t = useTranslations("files.move");
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t("act")}</Button>
      <Dialog isOpen={isOpen} onClose={close} title={t("title", { path: props.path })}>
        <MoveForm {...props} onClose={close} />
      </Dialog>
    </>
  );
}

function MoveForm({ path, connection, onMoved, onClose }: MoveFileProps & { onClose: () => void }) {
  const t = useTranslations("files.move");
  const [typed, setTyped] = useState(path);
  const [isBusy, setBusy] = useState(false);
  const [isTaken, setTaken] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const to = toFolderName(typed);
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (to === undefined || to === path || isBusy) return;
    setBusy(true);
    setFailure(undefined);
    const moveResult = await callApi<UserdataFile>(moveApiPath(path, to, { connection, overwrite: isTaken }), { method: "POST" });
    setBusy(false);
    if (moveResult.ok) {
      onClose();
      // The path that the service returns, which may spell the name differently.
      return onMoved(moveResult.value.path);
    }
    if (moveResult.failure.status === 409 && !isTaken) return setTaken(true);
    if (isMissingOperation(moveResult.failure)) return onClose();
    setFailure(moveResult.failure);
  }
  return (
    <form onSubmit={(event) => void submit(event)} autoComplete="off">
      <InputField
        label={t("to")}
        hint={t("hint")}
        error={isTaken ? t("taken") : typed.trim() !== "" && to === undefined ? t("odd") : undefined}
        value={typed}
        autoFocus
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          setTaken(false);
        }}
      />
      {failure ? <FailureMessage failure={failure} className="mt-3" /> : null}
      <FormFoot
        onClose={onClose}
        keep={t("cancel")}
        tone={isTaken ? "danger" : "primary"}
        busy={isBusy}
        disabled={to === undefined || to === path}
        label={t(isTaken ? "replace" : "send")}
      />
    </form>
  );
}
