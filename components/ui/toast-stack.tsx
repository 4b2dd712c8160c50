import { X } from "lucide-react";
import { useTranslations } from "next-intl";
import { useLayoutEffect, useRef } from "react";
import { useStore } from "zustand";
import { ToneIcon } from "./status-badge";
import { dismissToast, setToastsPaused, toastStore } from "./toast-store";

const GAP_PX = 8;
const EDGE_PX = 16;

/** Returns the distance from the window's bottom at which toasts do not cover an element with `data-lower-edge`. */
function getFreeBottomPx(stack: HTMLElement): number {
  const toasts = [...stack.children].map((toast) => toast.getBoundingClientRect());
  const [left, right] = [Math.min(...toasts.map((box) => box.left)), Math.max(...toasts.map((box) => box.right))];
  const height = stack.getBoundingClientRect().height;
  const lowerEdges = [...document.querySelectorAll("[data-lower-edge]")].map((element) => element.getBoundingClientRect());
  const obstacles = lowerEdges.filter((box) => box.height > 0 && box.left < right && box.right > left);
  let bottom = EDGE_PX;
  // Checks elements from bottom to top, because moving above one may cover the next.
  for (const { top, bottom: obstacleBottom } of obstacles.sort((first, second) => second.bottom - first.bottom)) {
    const stackBottom = window.innerHeight - bottom;
    if (top < stackBottom && obstacleBottom > stackBottom - height) bottom = window.innerHeight - top + GAP_PX;
  }
  return bottom;
}

export function ToastStack() {
  const t = useTranslations("common");
  const toasts = useStore(toastStore);
  const stack = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    let frame = 0;
    // A bar may appear or grow during the few seconds that a toast is shown.
    const moveStack = () => {
      if (stack.current) stack.current.style.bottom = `${getFreeBottomPx(stack.current)}px`;
      frame = requestAnimationFrame(moveStack);
    };
    moveStack();
    return () => cancelAnimationFrame(frame);
  }, []);
  return (
    <div ref={stack} className="pointer-events-none fixed inset-x-0 bottom-14 z-50 flex flex-col items-center gap-2 px-4">
      {toasts.map(({ id, tone, text, action }) => (
        <div
          key={id}
          onPointerEnter={() => setToastsPaused(true)}
          onPointerLeave={() => setToastsPaused(false)}
          onFocus={() => setToastsPaused(true)}
          onBlur={() => setToastsPaused(false)}
          className="pointer-events-auto flex max-w-full items-center gap-3 rounded-lg bg-ink px-3.5 py-2 text-bg shadow-lg"
        >
          <ToneIcon tone={tone} />
          <span className="min-w-0">{text}</span>
          {action ? (
            <button
              type="button"
              className="font-semibold underline underline-offset-2"
              onClick={() => {
                dismissToast(id);
                action.run();
              }}
            >
              {action.label}
            </button>
          ) : null}
          <button type="button" aria-label={t("dismiss")} onClick={() => dismissToast(id)} className="rounded-sm p-0.5">
            <X aria-hidden="true" className="size-3.5" />
          </button>
        </div>
      ))}
    </div>
  );
}
