"use client";

import { type FormEvent, useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { InputField } from "@/components/ui/controls/fields";
import { apiPath } from "@/lib/browser/urls";

type Labels = Record<"password" | "enter" | "entering" | "wrong" | "tries" | "unreached", string>;
type UnlockError = "wrong" | "tries" | "unreached";

/** The only interactive part of a share page. Uses fetch directly to keep the page small. */
export function UnlockForm({ token, labels }: { token: string; labels: Labels }) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<UnlockError>();

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const password = String(new FormData(event.currentTarget).get("password") ?? "");
    setBusy(true);
    setError(undefined);
    const status = await requestUnlock(token, password);
    // With the cookie, the server renders the share. If the share has ended, it renders the not-found page.
    if (status === 204 || status === 404) return window.location.reload();
    setBusy(false);
    setError(status === 401 ? "wrong" : status === 429 ? "tries" : "unreached");
  }

  return (
    <form method="post" onSubmit={(event) => void submit(event)} className="flex flex-col gap-3.5">
      <InputField
        label={labels.password}
        error={error ? <span role="alert">{labels[error]}</span> : undefined}
        name="password"
        type="password"
        required
        maxLength={200}
        autoComplete="off"
        autoFocus
        className="h-11"
      />
      <Button type="submit" tone="primary" busy={isBusy} className="h-11">
        {isBusy ? labels.entering : labels.enter}
      </Button>
    </form>
  );
}

async function requestUnlock(token: string, password: string): Promise<number> {
  try {
    // eslint-disable-next-line no-restricted-syntax -- a single string, on a page that loads as little code as possible
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ password }) };
    return (await fetch(apiPath(`/api/share/${token}/unlock`), init)).status;
  } catch {
    return 0;
  }
}
