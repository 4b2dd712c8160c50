import { useTranslations } from "next-intl";
import { useEffect, useRef, useState } from "react";
import { useFeature } from "@/components/frame/connection/connection-context";
import { Button } from "@/components/ui/controls/button";
import { showToast } from "@/components/ui/toast-store";
import { type FileName } from "@/lib/browser/urls";
import { type SavedMask, sendMask } from "./file/mask-session";
import { encodeInWorker, openMask } from "./file/open-mask";
import { type MaskTarget, toFileSource } from "./file/picture-file";
import { MaskOpening } from "./mask-opening";

type MaskDialogProps = {
  /** The input's picture. */
  file: Required<FileName>;
  title: string;
  connection?: string;
  target?: MaskTarget;
  /** Receives the masked picture, which becomes the input's value. */
  onSaved: (mask: SavedMask) => void;
  onClose: () => void;
};

/** The editor in a dialog. Closing it keeps the drawing: reopening the same picture continues it. */
export function MaskDialog({ file, title, connection, target, onSaved, onClose }: MaskDialogProps) {
  const t = useTranslations("masks");
  const common = useTranslations("common");
  const dialog = useRef<HTMLDialogElement>(null);
  const keepsPixels = !useFeature("uprightMasks");
  const [source] = useState(() => ({ ...toFileSource(file, title, connection, keepsPixels), target }));
  const [ports] = useState(() => ({ encode: encodeInWorker, send: sendMask(connection, target) }));
  useEffect(() => {
    const element = dialog.current;
    if (element && !element.open) element.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={t("title")}
      onCancel={(event) => {
        // The close event of a dialog inside this one bubbles up to here.
        if (event.target !== dialog.current) return;
        event.preventDefault();
        onClose();
      }}
      className="m-0 flex size-full max-h-none max-w-none flex-col bg-bg p-0 text-ink"
    >
      <MaskOpening
        source={source}
        open={openMask}
        ports={ports}
        canSave
        trail={`${t("trail")} /`}
        wayBack={<Button onClick={onClose}>{common("close")}</Button>}
        onClose={onClose}
        onSaved={onSaved}
        onStored={() => showToast({ tone: "wait", text: t("kept.toast", { name: title }) })}
      />
    </dialog>
  );
}
