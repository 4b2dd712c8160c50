import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { Button } from "@/components/ui/controls/button";
import { Dialog } from "@/components/ui/dialog";

type RemovalDialogProps<T> = {
  /** Who or what is to go; the dialog is open while there is one. */
  leaving: T | undefined;
  /** What is asked, and what the button does; without it, the removal of whoever has this name. */
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
