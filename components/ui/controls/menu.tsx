import { ChevronDown } from "lucide-react";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { Button, type ButtonProps } from "./button";

type MenuItem = { key: string; label: string; onSelect: () => void };
type MenuProps = Pick<ButtonProps, "tone" | "size"> & { label: string; items: readonly MenuItem[] };

/** A button with a short menu. Arrow keys move the focus and Enter selects an item. Esc closes the menu and restores the focus. */
export function Menu({ label, items, ...buttonProps }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const id = useId();
  const getMenuItems = () => [...(root.current?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])];
  const close = () => {
    setOpen(false);
    root.current?.querySelector("button")?.focus();
  };

  useEffect(() => {
    if (!isOpen) return;
    root.current?.querySelector<HTMLElement>('[role="menuitem"]')?.focus();
    const handlePointerDown = (event: PointerEvent) => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) setOpen(false);
    };
    window.addEventListener("pointerdown", handlePointerDown);
    return () => window.removeEventListener("pointerdown", handlePointerDown);
  }, [isOpen]);

  function handleKeyDown(event: KeyboardEvent) {
    const steps: Partial<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };
    const step = steps[event.key];
    if (event.key === "Escape") close();
    else if (step !== undefined) {
      const menuItems = getMenuItems();
      const index = menuItems.findIndex((menuItem) => menuItem === document.activeElement);
      const nextIndex = Number.isFinite(step) ? (index + step + menuItems.length) % menuItems.length : step < 0 ? 0 : menuItems.length - 1;
      menuItems[nextIndex]?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div
      ref={root}
      className="relative"
      onBlur={({ relatedTarget }) => relatedTarget && !root.current?.contains(relatedTarget) && setOpen(false)}
    >
      <Button
        {...buttonProps}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        {label}
        <ChevronDown aria-hidden="true" className="size-3.5" />
      </Button>
      {isOpen ? (
        <div
          id={id}
          role="menu"
          aria-label={label}
          tabIndex={-1}
          onKeyDown={handleKeyDown}
          className="absolute right-0 z-40 mt-1 flex min-w-44 flex-col rounded-lg border border-line bg-surface p-1 shadow-lg"
        >
          {items.map(({ key, label: text, onSelect }) => (
            <button
              key={key}
              type="button"
              role="menuitem"
              tabIndex={-1}
              className="rounded-md px-2.5 py-1.5 text-left whitespace-nowrap hover:bg-off-soft focus-visible:bg-off-soft"
              onClick={() => {
                close();
                onSelect();
              }}
            >
              {text}
            </button>
          ))}
        </div>
      ) : null}
    </div>
  );
}
