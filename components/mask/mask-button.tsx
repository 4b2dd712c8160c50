import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { createPortal } from "react-dom";
import { Button } from "@/components/ui/controls/button";
import { type FileReference } from "@/lib/browser/urls";
import { type SavedMask } from "./file/mask-session";
import { type MaskTarget } from "./file/mask-source";

const MaskDialog = dynamic(() => import("./mask-dialog").then((module) => module.MaskDialog), { ssr: false });

type MaskButtonProps = {
  file: Required<FileReference>;
  title: string;
  connection?: string;
  target?: MaskTarget;
  onSaved: (mask: SavedMask) => void;
};

/** Opens the mask editor, which loads on the first click. */
export function MaskButton({ file, title, connection, target, onSaved }: MaskButtonProps) {
  const t = useTranslations("masks");
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button size="small" onClick={() => setOpen(true)}>
        {t("title")}
      </Button>
      {isOpen
        ? createPortal(
            <MaskDialog
              file={file}
              title={title}
              connection={connection}
              target={target}
              onClose={close}
              onSaved={(mask) => {
                close();
                onSaved(mask);
              }}
            />,
            document.body,
          )
        : null}
    </>
  );
}
