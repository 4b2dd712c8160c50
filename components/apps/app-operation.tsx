import { useTranslations } from "next-intl";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { apiPath } from "@/lib/browser/urls";
import { type AppField, type AppView } from "@/lib/contract/apps/app";
import { isFileKind } from "@/lib/contract/apps/fill";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { appApi } from "./apps-address";

/** How a program runs this app: a shell command, and the description of the app's own API operation. */
export function AppOperation({ app: { id, inputs } }: { app: AppView }) {
  const t = useTranslations("apps.operation");
  const line = () => curlLine(new URL(apiPath(appApi(id, "runs")), window.location.origin).href, inputs);
  return (
    <details className="text-sm text-ink-2">
      <summary className="cursor-pointer py-1 hover:text-ink">{t("title")}</summary>
      <p className="py-1">{t("text")}</p>
      <p className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <span className="inline-flex items-center gap-1">
          {t("curl")}
          <CopyButton text={line} label={t("copy")} />
        </span>
        <a href={apiPath(appApi(id, "openapi"))} target="_blank" rel="noreferrer" className="text-accent hover:underline">
          {t("openapi")}
        </a>
      </p>
    </details>
  );
}

/** With files the body is a form, otherwise JSON. Inside single quotes a shell takes every character literally but the quote itself. */
export function curlLine(address: string, inputs: readonly AppField[]): string {
  const key = '-H "Authorization: Bearer $LIGHTDESK_TOKEN"';
  const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const wanted = inputs.filter(({ isRequired, example, default: usual }) => isRequired || example !== undefined || usual !== undefined);
  const hasFiles = wanted.some(({ control }) => isFileKind(control.kind));
  if (hasFiles) {
    const parts = wanted.map((input) =>
      isFileKind(input.control.kind)
        ? `-F ${quoted(`${input.name}=@${input.name}`)}`
        : `--form-string ${quoted(`${input.name}=${String(valueOf(input))}`)}`,
    );
    return ["curl", key, ...parts, quoted(address)].join(" ");
  }
  const body = writeExactJson({ inputs: Object.fromEntries(wanted.map((input) => [input.name, valueOf(input)])) });
  return ["curl", key, "-H 'Content-Type: application/json'", "-d", quoted(body), quoted(address)].join(" ");
}

function valueOf({ example, default: usual, control }: AppField): unknown {
  if (example !== undefined || usual !== undefined) return example ?? usual;
  switch (control.kind) {
    case "switch":
      return false;
    case "number":
      return control.min ?? 0;
    case "seed":
      return "random";
    case "choice":
      return control.choices[0]?.value ?? "";
    default:
      return "text";
  }
}
