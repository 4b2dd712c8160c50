import { useTranslations } from "next-intl";
import { Fragment, type ReactNode, useEffect, useId, useRef } from "react";
import { cn } from "./cn";
import { Button, type ButtonProps } from "./controls/button";

type DialogProps = {
  isOpen: boolean;
  onClose: () => void;
  /** Should include the object and the count, such as "Cancel 7 pending jobs". */
  title: ReactNode;
  children?: ReactNode;
  /** The buttons, or "close" for a single close button. */
  actions?: ReactNode | "close";
  className?: string;
};

/** The browser's modal dialog, which traps the focus, closes on Esc and restores the focus. */
export function Dialog({ isOpen, onClose, title, children, actions, className }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const isOnBackdrop = useRef(false);
  const id = useId();
  const buttons = actions === "close" ? <CloseButton onClose={onClose} /> : actions;
  useEffect(() => {
    const element = dialog.current;
    if (!element) return;
    if (isOpen && !element.open) element.showModal();
    if (!isOpen && element.open) element.close();
  }, [isOpen]);
  useEffect(() => (isOpen ? ignoreSecondClick : undefined), [isOpen]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onClose={onClose}
      // A click on the backdrop targets the dialog element. A click that started inside, such as when selecting text, does not close the dialog.
      onPointerDown={(event) => void (isOnBackdrop.current = event.target === dialog.current)}
      onClick={(event) => {
        if (event.target === dialog.current && isOnBackdrop.current) onClose();
      }}
      className={cn(
        "dialog m-auto flex-col overflow-hidden rounded-lg border border-line bg-surface p-0 text-ink shadow-xl open:flex",
        className,
      )}
    >
      {isOpen ? (
        // Only the content between title and actions scrolls.
        <div className="flex min-h-0 flex-col">
          <h2 id={id} className={cn("px-4 pt-4 text-lg font-semibold", !children && !actions && "pb-4")}>
            {title}
          </h2>
          {children ? (
            <div
              className={cn(
                "mt-1 min-h-0 scroll-pb-16 overflow-y-auto overscroll-contain px-4 pt-1 text-ink-2",
                actions ? "pb-2" : "pb-4 has-data-[dialog-foot]:pb-0",
              )}
            >
              {children}
            </div>
          ) : null}
          {buttons ? <div className="flex shrink-0 flex-wrap justify-end gap-2 px-4 pt-2 pb-4">{buttons}</div> : null}
        </div>
      ) : null}
    </dialog>
  );
}

/** Keeps the second click of a double-click that closes the dialog from reaching the elements behind it. */
function ignoreSecondClick(): void {
  const ignoreClick = (event: MouseEvent) => {
    if (event.detail < 2) return;
    event.preventDefault();
    event.stopPropagation();
  };
  window.addEventListener("click", ignoreClick, { capture: true, once: true });
}

function CloseButton({ onClose }: { onClose: () => void }) {
  return <Button onClick={onClose}>{useTranslations("common")("close")}</Button>;
}

type ConfirmDialogProps = Omit<DialogProps, "actions"> & {
  label?: ReactNode;
  /** The label of the other button. By default "Cancel". */
  cancelLabel?: ReactNode;
  /** The action of the other button. By default it closes the dialog. */
  onCancel?: () => void;
  tone?: "danger" | "primary";
  isBusy?: boolean;
  isDisabled?: boolean;
  /** The id of the form in the dialog that the button submits. */
  form?: string;
  onConfirm?: () => void;
};

export function ConfirmDialog({
  label,
  cancelLabel,
  onCancel,
  tone = "danger",
  isBusy,
  isDisabled,
  form,
  onConfirm,
  ...dialogProps
}: ConfirmDialogProps) {
  const common = useTranslations("common");
  return (
    <Dialog
      {...dialogProps}
      actions={
        <>
          <Button onClick={onCancel ?? dialogProps.onClose}>{cancelLabel ?? common("cancel")}</Button>
          <Button
            type={form === undefined ? "button" : "submit"}
            form={form}
            tone={tone}
            busy={isBusy}
            disabled={isDisabled}
            onClick={onConfirm}
          >
            {label ?? dialogProps.title}
          </Button>
        </>
      }
    />
  );
}

/** The actions of a form that fills a dialog, always visible. */
export function DialogFooter({ children }: { children: ReactNode }) {
  return (
    <div data-dialog-foot className="sticky bottom-0 -mx-4 flex flex-wrap justify-end gap-2 bg-surface px-4 pt-3 pb-4">
      {children}
    </div>
  );
}

type FormFooterProps = Omit<ButtonProps, "children"> & {
  label: ReactNode;
  onClose: () => void;
  /** By default "Cancel". */
  cancelLabel?: ReactNode;
};

/** The button that submits a form in a dialog, and the one that closes it. */
export function FormFooter({ label, onClose, cancelLabel, ...submitProps }: FormFooterProps) {
  const common = useTranslations("common");
  return (
    <DialogFooter>
      <Button onClick={onClose}>{cancelLabel ?? common("cancel")}</Button>
      <Button tone="primary" {...submitProps} type="submit">
        {label}
      </Button>
    </DialogFooter>
  );
}

type KeyListProps = { rows: readonly { keys: readonly string[]; text: string }[]; className?: string };

/** A list of keys and their effects. Keys are named as on a keyboard. */
export function KeyList({ rows, className = "gap-y-1.5" }: KeyListProps) {
  return (
    // Focusable, so that keys can scroll it.
    <dl tabIndex={0} className={cn("grid grid-cols-[auto_minmax(0,1fr)] items-center gap-x-3", className)}>
      {rows.map(({ keys, text }) => (
        <Fragment key={`${keys.join(" ")} ${text}`}>
          <dt className="flex gap-1">
            {keys.map((key) => (
              <kbd key={key} className="rounded-sm border border-line-strong bg-sunken px-1.5 font-mono text-sm text-ink">
                {key}
              </kbd>
            ))}
          </dt>
          <dd>{text}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
