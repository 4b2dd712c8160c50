"use client";

import { type ReactNode, useEffect, useId, useRef } from "react";
import { cn } from "./cn";

type DialogProps = {
  isOpen: boolean;
  onClose: () => void;
  /** Names the thing and the number: "Cancel 7 pending jobs". */
  title: ReactNode;
  children?: ReactNode;
  actions?: ReactNode;
  className?: string;
};

/** The platform's modal dialog: it keeps the focus, closes on Esc and gives the focus back, and costs no script. */
export function Dialog({ isOpen, onClose, title, children, actions, className }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    if (!element) return;
    if (isOpen && !element.open) element.showModal();
    if (!isOpen && element.open) element.close();
  }, [isOpen]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => {
        // A press beside the panel lands on the dialog element itself.
        if (event.target === dialog.current) onClose();
      }}
      className={cn("dialog m-auto scroll-pb-16 rounded-lg border border-line bg-surface p-0 text-ink shadow-xl", className)}
    >
      {isOpen ? (
        <div className="p-4">
          <h2 id={id} className="text-lg font-semibold">
            {title}
          </h2>
          {children ? <div className="mt-2 text-ink-2">{children}</div> : null}
          {actions ? (
            // In reach however long the dialog is.
            <div className="sticky bottom-0 -mx-4 mt-2 -mb-4 flex flex-wrap justify-end gap-2 bg-surface px-4 pt-2 pb-4">{actions}</div>
          ) : null}
        </div>
      ) : null}
    </dialog>
  );
}
