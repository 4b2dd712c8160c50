import { useTranslations } from "next-intl";
import { type FormEvent, useState } from "react";
import { faultyField } from "@/components/frame/failure/faulty-field";
import { fieldText } from "@/components/ui/controls/field-text";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { signIn } from "@/lib/browser/session";
import { apiPath } from "@/lib/browser/urls";
import { SHORTEST_PASSWORD } from "@/lib/contract/people/sign-in";

type Field = "name" | "email" | "password";

/**
 * A form that ends with an account, signed in: its fields `email` and `password`, and what `bodyOf` reads besides the password. `failure`
 * is for the whole form, `wrongIn` for a field.
 */
export function useSignUp(path: `/api/${string}`, fields: readonly Field[], bodyOf: (data: FormData) => Record<string, unknown>) {
  const t = useTranslations("auth.wrong");
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const field = failure && faultyField(failure, fields);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const password = fieldText(data, "password");
    setBusy(true);
    setFailure(undefined);
    const result = await callApi(path, { method: "POST", json: { ...bodyOf(data), password } });
    if (!result.ok) {
      setBusy(false);
      return setFailure(result.failure);
    }
    // The member exists from here on; if signing in fails, the sign-in page says why.
    const outcome = await signIn({ email: fieldText(data, "email"), password });
    window.location.assign(apiPath(outcome === "signed-in" ? "/" : "/sign-in"));
  }

  return {
    isBusy,
    failure: field ? undefined : failure,
    wrongIn: (name: Field) => (field === name ? t(name, { count: SHORTEST_PASSWORD }) : undefined),
    onSubmit: (event: FormEvent<HTMLFormElement>) => void submit(event),
  };
}
