"use client";

import { type ReactNode, type RefObject, useEffect } from "react";

type ViewerDialogProps = { dialog: RefObject<HTMLDialogElement | null>; label: string; onClose: () => void; children: ReactNode };

/** Before everything else, over the whole window: Esc closes it and gives the focus back. */
export function ViewerDialog({ dialog, label, onClose, children }: ViewerDialogProps) {
  useEffect(() => {
    const element = dialog.current;
    if (element && !element.open) {
      element.showModal();
      // A dialog gives the focus to its first link: the keys belong to what is shown.
      element.querySelector<HTMLElement>('[role="group"][tabindex="0"]')?.focus();
    }
    return () => element?.close();
  }, [dialog]);
  return (
    <dialog
      ref={dialog}
      aria-label={label}
      onClose={(event) => {
        // React hands on what a dialog inside this one tells of itself.
        if (event.target === event.currentTarget) onClose();
      }}
      className="m-0 h-dvh max-h-none w-screen max-w-none bg-bg p-0 text-ink"
    >
      <div className="flex h-full flex-col">{children}</div>
    </dialog>
  );
}
