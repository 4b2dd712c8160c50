"use client";

import dynamic from "next/dynamic";
import { type EmbeddedSession } from "./host-bridge";

const HostBridge = dynamic(() => import("./host-bridge").then((module) => module.HostBridge));

/** The messages to and from the surrounding page; pages that are not embedded do not load this. */
export function EmbeddedTalk({ session }: { session: EmbeddedSession }) {
  return <HostBridge session={session} />;
}
