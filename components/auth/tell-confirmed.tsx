"use client";

import { useEffect } from "react";
import { tellConfirmed } from "@/lib/browser/confirm";

/** A browser closes only tabs that a script opened, and not after every provider, so the page says that it can be closed. */
export function TellConfirmed() {
  useEffect(() => {
    tellConfirmed();
    window.close();
  }, []);
  return null;
}
