import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { ConnectionLink } from "@/components/frame/connection/connection-card";
import { PageHeader } from "@/components/frame/page-header";
import { Card } from "@/components/ui/card";
import { chipStyle } from "@/components/ui/controls/button";
import { apiPath, withQuery } from "@/lib/browser/urls";
import {
  type ApiReference,
  type FieldRow,
  type ReferenceOperation,
  type ResponseRow,
  type TypeText,
} from "@/lib/contract/openapi/reference";
import { createSample, type SampleLanguage, sampleLanguages } from "@/lib/contract/openapi/samples";

type ApiReferenceScreenProps = {
  reference: ApiReference;
  language: SampleLanguage;
  baseUrl: string;
};

const languageNames: Readonly<Record<SampleLanguage, string>> = { curl: "curl", typescript: "TypeScript", python: "Python" };

export function ApiReferenceScreen({ reference, language, baseUrl }: ApiReferenceScreenProps) {
  const t = useTranslations("apiReference");
  return (
    <>
      <PageHeader title={t("title")}>
        <nav aria-label={t("language")} className="flex items-center gap-2">
          {sampleLanguages.map((name) => (
            <ConnectionLink
              key={name}
              href={withQuery("/docs/api", { language: name })}
              prefetch={false}
              aria-current={name === language ? "true" : undefined}
              className={chipStyle(name === language)}
            >
              {languageNames[name]}
            </ConnectionLink>
          ))}
        </nav>
      </PageHeader>
      <div className="grid w-full max-w-[1240px] gap-5 p-4 md:px-5 lg:grid-cols-[220px_minmax(0,1fr)]">
        <Contents reference={reference} />
        <div className="flex min-w-0 flex-col gap-3.5">
          <Introduction baseUrl={baseUrl} />
          {reference.groups.map(({ group, operations }) => (
            <section key={group} aria-labelledby={`group-${group}`} className="flex flex-col gap-3.5">
              <h2 id={`group-${group}`} className="mt-2 text-lg font-semibold">
                {t(`groups.${group}`)}
              </h2>
              {operations.map((row) => (
                <OperationCard key={row.operation.name} row={row} sample={createSample(row.operation, language, baseUrl)} />
              ))}
            </section>
          ))}
          <section aria-labelledby="schemas" className="flex flex-col gap-3.5">
            <h2 id="schemas" className="mt-2 text-lg font-semibold">
              {t("schemas")}
            </h2>
            {reference.schemas.map(({ name, type, fields }) => (
              <div key={name} id={`schema-${name}`} className="scroll-mt-16">
                <Card title={<code className="font-mono">{name}</code>}>
                  {fields.length > 0 ? <FieldTable label={name} fields={fields} /> : <TypeName type={type} />}
                </Card>
              </div>
            ))}
          </section>
        </div>
      </div>
    </>
  );
}

function Contents({ reference }: { reference: ApiReference }) {
  const t = useTranslations("apiReference");
  const groups = reference.groups.map(({ group, operations }) => (
    <div key={group} className="pb-2">
      <p className="py-1 font-semibold">{t(`groups.${group}`)}</p>
      <ul>
        {operations.map(({ operation: { name } }) => (
          <li key={name}>
            <a href={`#${name}`} className="block truncate py-0.5 text-ink-2 hover:text-ink">
              {name}
            </a>
          </li>
        ))}
      </ul>
    </div>
  ));
  return (
    <nav aria-label={t("contents")} className="self-start overflow-y-auto text-sm lg:sticky lg:top-[68px] lg:max-h-[calc(100dvh-84px)]">
      <details className="lg:hidden">
        <summary className="cursor-pointer py-1 font-semibold">{t("contents")}</summary>
        {groups}
      </details>
      <div className="max-lg:hidden">{groups}</div>
    </nav>
  );
}

function Introduction({ baseUrl }: { baseUrl: string }) {
  const t = useTranslations("apiReference");
  const tags = {
    code: (text: ReactNode) => <code className="font-mono text-sm">{text}</code>,
    tokens: (text: ReactNode) => (
      <ConnectionLink href="/settings/tokens" className="text-accent underline">
        {text}
      </ConnectionLink>
    ),
    document: (text: ReactNode) => (
      <a href={apiPath("/api/openapi.json")} className="text-accent underline">
        {text}
      </a>
    ),
  };
  return (
    <div className="flex max-w-[80ch] flex-col gap-2 text-ink-2">
      <p>{t.rich("authentication", tags)}</p>
      <p>{t.rich("baseUrl", { ...tags, url: baseUrl })}</p>
      <p>{t.rich("placeholders", tags)}</p>
      <p>{t.rich("document", tags)}</p>
    </div>
  );
}

function OperationCard({ row, sample }: { row: ReferenceOperation; sample: string }) {
  const t = useTranslations("apiReference");
  const { operation, summary, parameters, body, responses } = row;
  return (
    <div id={operation.name} className="scroll-mt-16">
      <Card
        title={
          <span className="flex min-w-0 flex-wrap items-baseline gap-x-2 font-mono break-all">
            <span className="text-accent">{operation.method}</span>
            {operation.path}
          </span>
        }
        note={<span className="max-sm:hidden">{operation.name}</span>}
        bodyClassName="flex flex-col gap-3"
      >
        <p lang="en">{summary}</p>
        <p className="text-sm text-ink-3">
          {t("role", { role: operation.role })}
          {operation.capability ? <> · {t("capability", { capability: operation.capability })}</> : null}
        </p>
        <pre
          tabIndex={0}
          aria-label={t("sampleOf", { name: operation.name })}
          className="overflow-x-auto rounded-md bg-sunken p-3 font-mono text-sm"
        >
          <code>{sample}</code>
        </pre>
        {parameters.length > 0 ? <FieldTable label={t("parameters")} fields={parameters} hasCaption /> : null}
        {body && body.fields.length > 0 ? <FieldTable label={t("body", { type: body.mediaType })} fields={body.fields} hasCaption /> : null}
        <Responses responses={responses} />
      </Card>
    </div>
  );
}

const cellStyle = "py-1 pr-3 align-top";

function FieldTable({ label, fields, hasCaption = false }: { label: string; fields: readonly FieldRow[]; hasCaption?: boolean }) {
  const t = useTranslations("apiReference");
  return (
    <div tabIndex={0} role="group" aria-label={label} className="overflow-x-auto">
      <table className="w-full text-left text-sm">
        <caption className={hasCaption ? "pb-1 text-left font-semibold" : "sr-only"}>{label}</caption>
        <thead className="text-ink-3">
          <tr>
            <th className={`${cellStyle} w-[30%] font-normal`}>{t("name")}</th>
            <th className={`${cellStyle} font-normal`}>{t("type")}</th>
            <th className={`${cellStyle} w-[16%] font-normal`}>{t("limits")}</th>
            <th className={`${cellStyle} w-[16%] font-normal`}>{t("default")}</th>
          </tr>
        </thead>
        <tbody>
          {fields.map((field) => (
            <tr key={field.name} className="border-t border-line">
              <td className={`${cellStyle} font-mono`}>
                {field.name}
                {field.isRequired ? <span className="font-sans text-ink-3"> {t("required")}</span> : null}
              </td>
              <td className={`${cellStyle} min-w-[12ch] break-words`}>
                <TypeName type={field.type} />
              </td>
              <td className={`${cellStyle} whitespace-nowrap tabular-nums`}>{field.limits}</td>
              <td className={`${cellStyle} font-mono break-all`}>{field.default}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function TypeName({ type: { text, schema } }: { type: TypeText }) {
  const code = <code className="font-mono">{text}</code>;
  return schema ? (
    <a href={`#schema-${schema}`} className="text-accent underline">
      {code}
    </a>
  ) : (
    code
  );
}

function Responses({ responses }: { responses: readonly ResponseRow[] }) {
  const t = useTranslations("apiReference");
  return (
    <table className="w-full text-left text-sm">
      <caption className="pb-1 text-left font-semibold">{t("responses")}</caption>
      <tbody>
        {responses.map(({ status, description, type }) => (
          <tr key={status} className="border-t border-line">
            <th scope="row" className={`${cellStyle} w-[8ch] font-mono font-normal`}>
              {status}
            </th>
            <td lang="en" className={`${cellStyle} break-words`}>
              {description} {type ? <TypeName type={type} /> : null}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
