"use client";

import dynamic from "next/dynamic";
import { useStore } from "zustand";
import { useAtFirstMove } from "./hooks/use-at-first-move";
import { toastStore } from "./toast-store";

const loadStack = () => import("./toast-stack");
const ToastStack = dynamic(() => loadStack().then((module) => module.ToastStack), { ssr: false });

/** Used once, in the frame. The region exists before the first message, as otherwise a screen reader would not announce it. */
export function Toasts() {
  const isAny = useStore(toastStore, (toasts) => toasts.length > 0);
  useAtFirstMove(loadStack);
  return <div role="status">{isAny ? <ToastStack /> : null}</div>;
}
