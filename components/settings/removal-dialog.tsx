import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { Button } from "@/components/ui/controls/button";
import { Dialog } from "@/components/ui/dialog";

type RemovalDialogProps<T> = {
  /** What is to be removed; the dialog is open while it is set. */
  leaving: T | undefined;
  /** The question and the button's label; by default, the removal of this name. */
  title?: string;
  onRemove: (leaving: T) => void;
  onClose: () => void;
  /** What the removal means. */
  children: ReactNode;
};

export function RemovalDialog<T extends { name: string }>({ leaving, title: asked, onRemove, onClose, children }: RemovalDialogProps<T>) {
  const t = useTranslations("settings");
  const common = useTranslations("common");
  const title = asked ?? t("removeTitle", { name: leaving?.name ?? "" });
  return (
    <Dialog
      isOpen={leaving !== undefined}
      onClose={onClose}
      title={title}
      actions={
        <>
          <Button onClick={onClose}>{common("cancel")}</Button>
          <Button tone="danger" onClick={() => leaving && onRemove(leaving)}>
            {title}
          </Button>
        </>
      }
    >
      <p>{children}</p>
    </Dialog>
  );
}
