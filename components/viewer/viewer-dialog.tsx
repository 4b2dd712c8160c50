"use client";

import { type KeyboardEvent, type ReactNode, type RefObject, useEffect } from "react";

type ViewerDialogProps = {
  dialog: RefObject<HTMLDialogElement | null>;
  label: string;
  onClose: () => void;
  /** Keys that nothing inside has answered, nor needs for itself. */
  onKey?: (event: KeyboardEvent) => void;
  children: ReactNode;
};

/** Before everything else, over the whole window: Esc closes it and gives the focus back. */
export function ViewerDialog({ dialog, label, onClose, onKey, children }: ViewerDialogProps) {
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
      onKeyDown={(event) => {
        if (event.defaultPrevented || !(event.target instanceof Element)) return;
        const isOwn = event.target.closest("dialog") === event.currentTarget;
        if (isOwn && !event.target.closest("select, input, video, audio")) onKey?.(event);
      }}
      className="m-0 h-dvh max-h-none w-screen max-w-none bg-bg p-0 text-ink"
    >
      <div className="flex h-full flex-col">{children}</div>
    </dialog>
  );
}
