import { startPostgres } from "@/tests/support/postgres-server";
import { measureFairness } from "../cluster/fairness";
import { measureListsOnBothDatabases } from "../cluster/lists";
import { measureRates, rateNames } from "../cluster/rates";
import { type Cluster, type Runners, startCluster, startRunners } from "../cluster/services";
import { formatTable } from "../figures";
import { type Report, type Section } from "../section";

const SERVICE_COUNTS = [1, 2, 4];
const RUNNERS = 8;
const USERS = 100;
const CLAIMED_JOB_COUNT = 500;
/** LIGHTDESK_BENCH_JOBS and LIGHTDESK_BENCH_ROWS override these numbers, for instance with those of the goals. */
const JOBS = Number(process.env.LIGHTDESK_BENCH_JOBS ?? 5_000);
const ROWS = Number(process.env.LIGHTDESK_BENCH_ROWS ?? 1_000_000);

/** Measures several services and many runners on one PostgreSQL with durable writes, all on this machine. */
export const cluster: Section = {
  name: "cluster",
  isOnDemand: true,
  async measure({ print, logProgress }) {
    const postgres = await startPostgres({ isDurable: true });
    const columns: string[][] = [];
    for (const services of SERVICE_COUNTS) {
      logProgress(`${formatServiceCount(services)} on one PostgreSQL`);
      columns.push(
        await withCluster(postgres.url, services, services, (startedCluster, runners) =>
          measureRates(startedCluster, runners, CLAIMED_JOB_COUNT),
        ),
      );
    }
    print("## Services on one PostgreSQL, a shared blob folder and 8 simulated runners");
    print(formatTable(["", ...SERVICE_COUNTS.map(formatServiceCount)], rateNames.map((name, row) => [name, ...columns.map((column) => column[row] ?? "")]))); // prettier-ignore

    logProgress(`${JOBS} jobs of ${USERS} users by two services`);
    const fairnessRows = await withCluster(postgres.url, 2, USERS, (startedCluster, runners) =>
      measureFairness(startedCluster, runners, JOBS, logProgress),
    );
    print(`## ${JOBS.toLocaleString("en")} jobs of ${USERS} users over ${RUNNERS} runners, by two services`);
    print(formatTable(["", "target", ""], fairnessRows));

    await printLists(postgres.url, { print, logProgress });
    await postgres.remove();
  },
};

/** Measures only the lists of the cluster section. */
export const clusterLists: Section = {
  name: "cluster-lists",
  isOnDemand: true,
  async measure(report) {
    const postgres = await startPostgres({ isDurable: true });
    await printLists(postgres.url, report);
    await postgres.remove();
  },
};

async function printLists(postgresUrl: string, { print, logProgress }: Report): Promise<void> {
  logProgress(`lists of ${ROWS} jobs`);
  const lists = await measureListsOnBothDatabases(postgresUrl, ROWS, logProgress);
  print(`## Lists of ${ROWS.toLocaleString("en")} jobs on both databases`);
  print(formatTable(["request", "target", "SQLite", "PostgreSQL"], lists));
}

async function withCluster<T>(
  postgresUrl: string,
  services: number,
  users: number,
  work: (startedCluster: Cluster, runners: Runners) => Promise<T>,
): Promise<T> {
  const runners = await startRunners(RUNNERS);
  const startedCluster = await startCluster(postgresUrl, services, users, runners);
  try {
    return await work(startedCluster, runners);
  } finally {
    await startedCluster.stop();
    runners.stop();
  }
}

const formatServiceCount = (services: number) => (services === 1 ? "1 service" : `${services} services`);
