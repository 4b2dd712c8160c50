import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useRef } from "react";

type ViewerDialogProps = {
  dialog: RefObject<HTMLDialogElement | null>;
  label: string;
  onClose: () => void;
  /** Keys that no element inside has handled or needs. */
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
        // React also passes on close events of dialogs inside this one.
        if (target !== currentTarget) return;
        // Dialogs opened without a click, as after a reload, would all close on one Esc meant for the front one.
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

/** A dialog focuses its first link; the keys should go to the shown item instead. */
function focusOnShown(dialog: HTMLDialogElement): void {
  dialog.querySelector<HTMLElement>('[role="group"][tabindex="0"]')?.focus();
}
