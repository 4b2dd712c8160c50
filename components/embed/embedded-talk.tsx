"use client";

import dynamic from "next/dynamic";
import { type EmbeddedSession } from "./host-bridge";

const HostBridge = dynamic(() => import("./host-bridge").then((module) => module.HostBridge));

/** The talk with the page around, which pages that are not embedded do not load. */
export function EmbeddedTalk({ session }: { session: EmbeddedSession }) {
  return <HostBridge session={session} />;
}
