import { startPostgres } from "@/tests/support/postgres-server";
import { measureFairness } from "../cluster/fairness";
import { measureListsOnBoth } from "../cluster/lists";
import { measureRates, rateNames } from "../cluster/rates";
import { type Cluster, type Runners, startCluster, startRunners } from "../cluster/services";
import { table } from "../figures";
import { type Report, type Section } from "../section";

const COUNTS = [1, 2, 4];
const RUNNERS = 8;
const USERS = 100;
const CLAIMED_JOBS = 500;
/** LIGHTDESK_BENCH_JOBS and LIGHTDESK_BENCH_ROWS set other numbers, for instance those of the goals. */
const JOBS = Number(process.env.LIGHTDESK_BENCH_JOBS ?? 5_000);
const ROWS = Number(process.env.LIGHTDESK_BENCH_ROWS ?? 1_000_000);

/** Several services and many runners on one PostgreSQL with durable writes; all processes on this machine. */
export const cluster: Section = {
  name: "cluster",
  isOnDemand: true,
  async measure({ print, logProgress }) {
    const postgres = await startPostgres({ isDurable: true });
    const columns: string[][] = [];
    for (const services of COUNTS) {
      logProgress(`${label(services)} on one PostgreSQL`);
      columns.push(await withCluster(postgres.url, services, services, (world, runners) => measureRates(world, runners, CLAIMED_JOBS)));
    }
    print("## Services on one PostgreSQL, a folder of files and 8 stand-in runners");
    print(table(["", ...COUNTS.map(label)], rateNames.map((name, row) => [name, ...columns.map((column) => column[row] ?? "")]))); // prettier-ignore

    logProgress(`${JOBS} jobs of ${USERS} users by two services`);
    const lines = await withCluster(postgres.url, 2, USERS, (world, runners) => measureFairness(world, runners, JOBS, logProgress));
    print(`## ${JOBS.toLocaleString("en")} jobs of ${USERS} users over ${RUNNERS} runners, by two services`);
    print(table(["", "target", ""], lines));

    await printLists(postgres.url, { print, logProgress });
    await postgres.remove();
  },
};

/** Only the lists of the cluster section. */
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
  const lists = await measureListsOnBoth(postgresUrl, ROWS, logProgress);
  print(`## Lists of ${ROWS.toLocaleString("en")} jobs on both databases`);
  print(table(["at", "target", "SQLite", "PostgreSQL"], lists));
}

async function withCluster<T>(
  postgresUrl: string,
  services: number,
  users: number,
  work: (world: Cluster, runners: Runners) => Promise<T>,
): Promise<T> {
  const runners = await startRunners(RUNNERS);
  const world = await startCluster(postgresUrl, services, users, runners);
  try {
    return await work(world, runners);
  } finally {
    await world.stop();
    runners.stop();
  }
}

const label = (services: number) => (services === 1 ? "1 service" : `${services} services`);
