import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useRef } from "react";

type ViewerDialogProps = {
  dialog: RefObject<HTMLDialogElement | null>;
  label: string;
  onClose: () => void;
  /** Receives keys that no element inside handles. */
  onKey?: (event: KeyboardEvent) => void;
  isCovered?: boolean;
  children: ReactNode;
};

/** A dialog over the whole window: Esc closes it and restores the focus. */
export function ViewerDialog({ dialog, label, onClose, onKey, isCovered = false, children }: ViewerDialogProps) {
  const wasCovered = useRef(false);
  useEffect(() => {
    const element = dialog.current;
    if (element && !element.open) {
      element.showModal();
      focusOnShown(element);
    }
    return () => element?.close();
  }, [dialog]);
  return (
    <dialog
      ref={dialog}
      aria-label={label}
      onCancel={(event) => {
        if (event.target === event.currentTarget) wasCovered.current = isCovered;
      }}
      onClose={({ target, currentTarget }) => {
        // React also bubbles close events of nested dialogs.
        if (target !== currentTarget) return;
        // After a reload, one Esc would close all dialogs that were opened without a click.
        if (!wasCovered.current) return onClose();
        wasCovered.current = false;
        currentTarget.showModal();
        focusOnShown(currentTarget);
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

/** Focuses the shown item instead of the dialog's first link, so that it receives the keys. */
function focusOnShown(dialog: HTMLDialogElement): void {
  dialog.querySelector<HTMLElement>('[role="group"][tabindex="0"]')?.focus();
}
