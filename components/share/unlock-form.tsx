"use client";

import { type FormEvent, useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { InputField } from "@/components/ui/controls/fields";
import { apiPath } from "@/lib/browser/urls";

type Words = Record<"password" | "enter" | "entering" | "wrong" | "tries" | "unreached", string>;
type Fault = "wrong" | "tries" | "unreached";

/** The only interactive part of a share page. It uses fetch directly, since the page loads nothing of the console. */
export function UnlockForm({ token, words }: { token: string; words: Words }) {
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault>();

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const password = String(new FormData(event.currentTarget).get("password") ?? "");
    setBusy(true);
    setFault(undefined);
    const status = await unlock(token, password);
    // The server renders the page again, now with the cookie, or reports that the share has ended.
    if (status === 204 || status === 404) return window.location.reload();
    setBusy(false);
    setFault(status === 401 ? "wrong" : status === 429 ? "tries" : "unreached");
  }

  return (
    <form method="post" onSubmit={(event) => void submit(event)} className="flex flex-col gap-3.5">
      <InputField
        label={words.password}
        error={fault ? <span role="alert">{words[fault]}</span> : undefined}
        name="password"
        type="password"
        required
        maxLength={200}
        autoComplete="off"
        autoFocus
        className="h-11"
      />
      <Button type="submit" tone="primary" busy={isBusy} className="h-11">
        {isBusy ? words.entering : words.enter}
      </Button>
    </form>
  );
}

async function unlock(token: string, password: string): Promise<number> {
  try {
    // eslint-disable-next-line no-restricted-syntax -- a single string, on a page that loads as little code as possible
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ password }) };
    return (await fetch(apiPath(`/api/share/${token}/unlock`), init)).status;
  } catch {
    return 0;
  }
}
