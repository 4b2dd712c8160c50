"use client";

import dynamic from "next/dynamic";
import { useStore } from "zustand";
import { useOnFirstInteraction } from "./hooks/use-on-first-interaction";
import { toastStore } from "./toast-store";

const loadStack = () =>
  import("./toast-stack").then(
    (module) => module.ToastStack,
    () => PlainToasts,
  );
const ToastStack = dynamic(loadStack, { ssr: false });

/** For a browser that is offline, or that has a page of an older build open. */
function PlainToasts() {
  const toasts = useStore(toastStore);
  return <p className="fixed inset-x-4 bottom-14 z-50 rounded-lg bg-ink px-3.5 py-2 text-bg">{toasts.map(({ text }) => text).join(" ")}</p>;
}

/** Used once, in the frame. The region exists before the first message, as otherwise a screen reader would not announce it. */
export function Toasts() {
  const hasToasts = useStore(toastStore, (toasts) => toasts.length > 0);
  useOnFirstInteraction(loadStack);
  return <div role="status">{hasToasts ? <ToastStack /> : null}</div>;
}
