import { useTranslations } from "next-intl";
import { type FormEvent, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { FormField } from "@/components/ui/controls/form-field";
import { Input } from "@/components/ui/controls/input";
import { Dialog, DialogFoot } from "@/components/ui/dialog";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { lacksOperation } from "@/lib/contract/failure";
import { type UserdataFile } from "@/lib/contract/operations/files";
import { toFolderName } from "./crumbs";
import { moveApiPath } from "./files-address";

type MoveFileProps = { path: string; connection: string | undefined; onMoved: (to: string) => void };

/** Renames or moves a file by its whole path. An existing file is replaced only after a second click on a button that says so. */
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
    const moved = await callApi<UserdataFile>(moveApiPath(path, to, { connection, overwrite: isTaken }), { method: "POST" });
    setBusy(false);
    if (moved.ok) {
      onClose();
      // The path that the service reports, which may spell the name differently.
      return onMoved(moved.value.path);
    }
    if (moved.failure.status === 409 && !isTaken) return setTaken(true);
    if (lacksOperation(moved.failure)) return onClose();
    setFailure(moved.failure);
  }
  return (
    <form onSubmit={(event) => void submit(event)} autoComplete="off">
      <FormField
        label={t("to")}
        hint={t("hint")}
        error={isTaken ? t("taken") : typed.trim() !== "" && to === undefined ? t("odd") : undefined}
      >
        {(control) => (
          <Input
            {...control}
            value={typed}
            autoFocus
            onChange={(event) => {
              setTyped(event.currentTarget.value);
              setTaken(false);
            }}
          />
        )}
      </FormField>
      {failure ? <FailureMessage failure={failure} className="mt-3" /> : null}
      <DialogFoot>
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button type="submit" tone={isTaken ? "danger" : "primary"} busy={isBusy} disabled={to === undefined || to === path}>
          {t(isTaken ? "replace" : "send")}
        </Button>
      </DialogFoot>
    </form>
  );
}
