"use client";

import dynamic from "next/dynamic";
import { useStore } from "zustand";
import { useOnFirstInteraction } from "./hooks/page-events";
import { toastStore } from "./toast-store";

const loadStack = () =>
  import("./toast-stack").then(
    (module) => module.ToastStack,
    () => PlainToasts,
  );
const ToastStack = dynamic(loadStack, { ssr: false });

/** Shown if the stack fails to load, for example offline or after a new deployment. */
function PlainToasts() {
  const toasts = useStore(toastStore);
  return <p className="fixed inset-x-4 bottom-14 z-50 rounded-lg bg-ink px-3.5 py-2 text-bg">{toasts.map(({ text }) => text).join(" ")}</p>;
}

/** Rendered once, in the frame. The region exists before the first message, so that screen readers announce it. */
export function Toasts() {
  const hasToasts = useStore(toastStore, (toasts) => toasts.length > 0);
  useOnFirstInteraction(loadStack);
  return <div role="status">{hasToasts ? <ToastStack /> : null}</div>;
}
