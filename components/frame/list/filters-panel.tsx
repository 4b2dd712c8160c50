import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import { createPortal } from "react-dom";
import { isComposing, useEscape } from "@/components/ui/hooks/page-events";

const WIDTH_PX = 288;
const EDGE_PX = 8;

type PanelProps = {
  id: string;
  label: string;
  button: RefObject<HTMLElement | null>;
  /** Called when closed with the keyboard; the focus returns to the button. */
  onClose: () => void;
  onLeave: () => void;
  children: ReactNode;
};

export function FiltersPanel({ id, label, button, onClose, onLeave, children }: PanelProps) {
  const panel = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = panel.current;
    if (!element || !button.current) return;
    const { left, bottom } = button.current.getBoundingClientRect();
    element.style.left = `${Math.max(EDGE_PX, Math.min(left, window.innerWidth - WIDTH_PX - EDGE_PX))}px`;
    element.style.top = `${bottom + 4}px`;
    element.focus();
  }, [button]);
  useEffect(() => {
    const handlePointerDown = ({ target }: PointerEvent) => {
      if (target instanceof Node && !panel.current?.contains(target) && !button.current?.contains(target)) onLeave();
    };
    window.addEventListener("pointerdown", handlePointerDown);
    return () => window.removeEventListener("pointerdown", handlePointerDown);
  }, [button, onLeave]);
  // After a filter's dialog, the focus may be outside.
  useEscape("panel", onClose);
  function handleKeyDown(event: KeyboardEvent) {
    // A filter's dialog closes first.
    if (event.key !== "Escape" || isComposing(event.nativeEvent) || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    event.stopPropagation();
    onClose();
  }
  return createPortal(
    <div
      ref={panel}
      id={id}
      role="dialog"
      aria-label={label}
      tabIndex={-1}
      onKeyDown={handleKeyDown}
      style={{ width: WIDTH_PX }}
      className="fixed z-40 flex flex-col gap-3 rounded-lg border border-line bg-surface p-3.5 text-ink shadow-xl outline-none"
    >
      {children}
    </div>,
    document.body,
  );
}

export function FilterRow({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div role="group" aria-label={name} className="flex flex-col gap-1">
      <span aria-hidden="true" className="text-sm text-ink-3">
        {name}
      </span>
      {children}
    </div>
  );
}

export const filterButtonStyle = "field flex min-h-[30px] items-center gap-2 text-left break-words";
