import { useTranslations } from "next-intl";
import { useEffect, useRef, useState } from "react";
import { useFeature } from "@/components/frame/connection/connection-context";
import { Button } from "@/components/ui/controls/button";
import { showToast } from "@/components/ui/toast-store";
import { type FileReference } from "@/lib/browser/urls";
import { createMaskUploader, type SavedMask } from "./file/mask-session";
import { type MaskTarget, toFileSource } from "./file/mask-source";
import { encodeInWorker, openMask } from "./file/open-mask";
import { MaskLoader } from "./mask-loader";

type MaskDialogProps = {
  /** The image of the input. */
  file: Required<FileReference>;
  title: string;
  connection?: string;
  target?: MaskTarget;
  /** Receives the masked image, which becomes the input's value. */
  onSaved: (mask: SavedMask) => void;
  onClose: () => void;
};

/** The editor in a dialog. Closing the dialog keeps the drawing, and reopening the same image restores it. */
export function MaskDialog({ file, title, connection, target, onSaved, onClose }: MaskDialogProps) {
  const t = useTranslations("masks");
  const common = useTranslations("common");
  const dialog = useRef<HTMLDialogElement>(null);
  const keepsPixels = !useFeature("uprightMasks");
  const [source] = useState(() => ({ ...toFileSource(file, title, connection, keepsPixels), target }));
  const [ports] = useState(() => ({ encode: encodeInWorker, send: createMaskUploader(connection, target) }));
  useEffect(() => {
    const element = dialog.current;
    if (element && !element.open) element.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={t("title")}
      onCancel={(event) => {
        // The cancel event of a nested dialog bubbles up to this one.
        if (event.target !== dialog.current) return;
        event.preventDefault();
        onClose();
      }}
      className="m-0 flex size-full max-h-none max-w-none flex-col bg-bg p-0 text-ink"
    >
      <MaskLoader
        source={source}
        open={openMask}
        ports={ports}
        canSave
        trail={`${t("trail")} /`}
        backAction={<Button onClick={onClose}>{common("close")}</Button>}
        onClose={onClose}
        onSaved={onSaved}
        onStored={() => showToast({ tone: "wait", text: t("kept.toast", { name: title }) })}
      />
    </dialog>
  );
}
