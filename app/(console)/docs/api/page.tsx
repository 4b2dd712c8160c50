import { type Metadata } from "next";
import { headers } from "next/headers";
import { getTranslations } from "next-intl/server";
import { getTextParam } from "@/app/(console)/params";
import { ApiReferenceScreen } from "@/components/api-reference/api-reference-screen";
import { getApiReference } from "@/lib/contract/openapi/reference";
import { sampleLanguages } from "@/lib/contract/openapi/samples";
import { openPage } from "@/lib/server/bff/open-page";
import { getConsoleUrl } from "@/lib/server/env";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("apiReference"))("title") };
}

/** Static text from the OpenAPI document, without scripts and requests to other hosts. */
export default async function ApiReferencePage({ searchParams }: PageProps<"/docs/api">) {
  const { composition } = await openPage({ refuseEmbedded: true });
  const requestedLanguage = getTextParam(await searchParams, "language");
  const host = (await headers()).get("host");
  return (
    <ApiReferenceScreen
      reference={getApiReference()}
      language={sampleLanguages.find((language) => language === requestedLanguage) ?? "curl"}
      baseUrl={getConsoleUrl(composition.env, host && `http://${host}`)}
    />
  );
}
