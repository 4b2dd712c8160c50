import { useTranslations } from "next-intl";
import useSWR from "swr";
import { useConnection, useConnections } from "@/components/frame/connection/connection-context";
import { Button } from "@/components/ui/controls/button";
import { FailureNotice } from "@/components/ui/empty-state";
import { ButtonLink } from "@/components/ui/link";
import { callApi } from "@/lib/browser/api";
import { withQuery } from "@/lib/browser/urls";
import { hasFeature } from "@/lib/contract/connections";
import { type LackingClasses } from "@/lib/contract/console";
import { getOwn } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { focusProblem, type FormNode } from "../form/form-model";
import { placeProblems, ProblemList } from "../form/problems";
import { type GraphErrors, type MissingClass } from "./graph-errors";

const MAX_NODES_SHOWN = 12;

type GraphErrorsCardProps = {
  id?: string;
  graphErrors: GraphErrors;
  missingClasses: readonly MissingClass[];
  graph: Graph;
  form: readonly FormNode[];
  onSendAnyway?: () => void;
};

/** Explains why an open workflow can't run. Only errors found with the node list can be overridden, since the list may be outdated. */
export function GraphErrorsCard({ id, graphErrors, missingClasses, graph, form, onSendAnyway }: GraphErrorsCardProps) {
  const t = useTranslations("run.faults");
  const runMessages = useTranslations("run.answer");
  const placedProblems = placeProblems(form, graphErrors.errors);
  const nodes = form.flatMap((node) => {
    const problems = getOwn(placedProblems.byNode, node.id);
    return problems ? [{ node, problems: [...problems.node, ...Object.values(problems.fields).flat()] }] : [];
  });
  return (
    <div id={id}>
      <FailureNotice
        title={t("title", { count: nodes.length })}
        cause={runMessages(graphErrors.isSure ? "invalidCause" : "missingClassCause")}
        remedy={graphErrors.isSure ? t("next") : t("nextClasses", { count: nodes.length })}
        actions={
          <>
            {graphErrors.isSure ? (
              <ul className="flex w-full flex-col gap-1">
                {nodes.slice(0, MAX_NODES_SHOWN).map(({ node, problems }) => (
                  <li key={node.id} className="flex flex-wrap gap-x-2">
                    <button
                      type="button"
                      onClick={() => focusProblem({ nodeId: node.id })}
                      className="rounded-sm text-left font-medium underline decoration-line-strong underline-offset-2 hover:decoration-ink"
                    >
                      {t("node", { id: node.id, title: node.title })}
                    </button>
                    <ProblemList problems={problems} />
                  </li>
                ))}
                {nodes.length > MAX_NODES_SHOWN ? <li>{t("more", { count: nodes.length - MAX_NODES_SHOWN })}</li> : null}
              </ul>
            ) : null}
            {missingClasses.length > 0 ? <MissingClasses missingClasses={missingClasses} graph={graph} /> : null}
            {graphErrors.isSure || !onSendAnyway ? null : <Button onClick={onSendAnyway}>{t("anyway")}</Button>}
          </>
        }
      />
    </div>
  );
}

const MAX_CLASSES_SHOWN = 20;

/** The classes of an open workflow that the service lacks, and where else it would run. */
function MissingClasses({ missingClasses, graph }: { missingClasses: readonly MissingClass[]; graph: Graph }) {
  const t = useTranslations("run.missing");
  return (
    <div className="flex w-full flex-col gap-2">
      <ul aria-label={t("list")} className="flex flex-col gap-1">
        {missingClasses.slice(0, MAX_CLASSES_SHOWN).map(({ classType, nodeIds, pack }) => (
          <li key={classType} className="break-words">
            <button
              type="button"
              onClick={() => focusProblem({ nodeId: nodeIds[0] ?? "" })}
              className="rounded-sm text-left font-mono underline decoration-line-strong underline-offset-2 hover:decoration-ink"
            >
              {classType}
            </button>{" "}
            <span className="text-ink-2">
              {t("nodes", { count: nodeIds.length })}
              {pack === undefined ? null : ` · ${t("pack", { pack })}`}
            </span>
          </li>
        ))}
        {missingClasses.length > MAX_CLASSES_SHOWN ? <li>{t("more", { count: missingClasses.length - MAX_CLASSES_SHOWN })}</li> : null}
      </ul>
      <OtherConnections graph={graph} />
    </div>
  );
}

const MAX_CONNECTIONS = 20;
const MAX_CONCURRENT_CHECKS = 4;
const REQUEST_TIMEOUT_MS = 10_000;

type ConnectionResult = { id: string; name: string; coverage: "all" | "some" | "unread" };

/** Lists the member's other connections whose service has every class, and those that can't be read. */
function OtherConnections({ graph }: { graph: Graph }) {
  const t = useTranslations("run.missing");
  const currentConnection = useConnection();
  const otherConnections = useConnections()
    .filter((connection) => connection.id !== currentConnection?.id && hasFeature(connection, "fullAccess"))
    .slice(0, MAX_CONNECTIONS);
  const classes = [...new Set(Object.values(graph).map(({ class_type }) => class_type))].sort();
  const ids = otherConnections.map(({ id }) => id);
  const { data } = useSWR(ids.length > 0 ? ["run.works-on", ids, classes] : null, () => checkConnections(otherConnections, classes), {
    revalidateOnFocus: false,
    revalidateOnReconnect: false,
    revalidateIfStale: false,
  });
  if (ids.length === 0) return null;
  if (!data) return <p role="status">{t("asking", { count: ids.length })}</p>;
  const completeConnections = data.filter(({ coverage }) => coverage === "all");
  const unreadConnections = data.filter(({ coverage }) => coverage === "unread");
  return (
    <div role="status" className="flex flex-col gap-1">
      {completeConnections.length > 0 ? (
        <p className="flex flex-wrap items-center gap-2">
          {t("worksOn")}
          {completeConnections.map(({ id, name }) => (
            <ButtonLink key={id} href={withQuery("/run", { connection: id })} size="small">
              {name}
            </ButtonLink>
          ))}
        </p>
      ) : unreadConnections.length < data.length ? (
        <p>{t("worksNowhere", { unread: unreadConnections.length })}</p>
      ) : null}
      {unreadConnections.length > 0 ? (
        <p className="text-ink-2">{t("unread", { names: unreadConnections.map(({ name }) => name).join(", ") })}</p>
      ) : null}
    </div>
  );
}

/** Checks a few connections at a time, since each check reads a service's complete node list. */
async function checkConnections(
  connections: readonly { id: string; name: string }[],
  classes: readonly string[],
): Promise<ConnectionResult[]> {
  const results: ConnectionResult[] = [];
  for (let start = 0; start < connections.length; start += MAX_CONCURRENT_CHECKS) {
    const batch = connections.slice(start, start + MAX_CONCURRENT_CHECKS);
    results.push(...(await Promise.all(batch.map(async ({ id, name }) => ({ id, name, coverage: await checkClasses(id, classes) })))));
  }
  return results;
}

async function checkClasses(connection: string, classes: readonly string[]): Promise<ConnectionResult["coverage"]> {
  // One parameter per name, as names may contain commas.
  const names = classes.map((name) => `names=${encodeURIComponent(name)}`).join("&");
  const path = `${withQuery("/api/console/lacking-classes", { connection })}&${names}` as const;
  const result = await callApi<LackingClasses>(path, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
  if (!result.ok) return "unread";
  return result.value.lacking.length === 0 ? "all" : "some";
}
