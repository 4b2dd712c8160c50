"use client";

import dynamic from "next/dynamic";
import { useEffect, useEffectEvent, useState } from "react";
import { onConfirmationRequest } from "@/lib/browser/confirm-identity";
import { type SignInMethods } from "@/lib/contract/members/sign-in";

const ConfirmDialog = dynamic(
  () =>
    import("./confirm-dialog").then(
      (module) => module.ConfirmDialog,
      () => RefusedConfirmation,
    ),
  { ssr: false },
);

/** Cancels the confirmation if the dialog fails to load, so that the caller doesn't hang. */
function RefusedConfirmation({ onEnd }: { onEnd: (isConfirmed: boolean) => void }) {
  const refuse = useEffectEvent(() => onEnd(false));
  useEffect(() => refuse(), []);
  return null;
}

/** Opens the dialog, loaded on demand, when a call requires the user to confirm their identity. */
export function ConfirmGate({ email, methods }: { email: string; methods: SignInMethods }) {
  const [request, setRequest] = useState<{ respond: (isConfirmed: boolean) => void }>();
  useEffect(() => onConfirmationRequest((respond) => setRequest({ respond })), []);
  if (!request) return null;
  return (
    <ConfirmDialog
      email={email}
      methods={methods}
      onEnd={(isConfirmed) => {
        setRequest(undefined);
        request.respond(isConfirmed);
      }}
    />
  );
}
