// Metrics for Prometheus. Labels never have arbitrary values, such as ids, names or addresses from requests.

import { type Gauge } from "prom-client";

const SHORT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const LONG_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];

type MetricDescription = { help: string; labels: readonly string[]; buckets?: readonly number[] };

const counters = {
  lightdesk_http_requests_total: { help: "HTTP requests, by route and status.", labels: ["method", "route", "status"] },
  lightdesk_upstream_calls_total: { help: "Calls to services, by operation and outcome.", labels: ["operation", "outcome"] },
  lightdesk_job_runs_total: { help: "Job runs that ended in this process, by outcome.", labels: ["outcome"] },
  lightdesk_ledger_lost_total: { help: "Responses that the job index dropped and reads again.", labels: [] },
  lightdesk_thumbnails_total: { help: "Thumbnail requests, by cache result.", labels: ["result"] },
  lightdesk_service_thumbnails_total: { help: "Thumbnail requests to the service, by cache result.", labels: ["result"] },
  lightdesk_node_results_total: { help: "Node results of runs in this process, by cache result.", labels: ["result"] },
  lightdesk_blob_copies_total: { help: "Bucket files read in this process, by cache result.", labels: ["result"] },
  lightdesk_webhook_attempts_total: { help: "Webhook delivery attempts, by outcome.", labels: ["outcome"] },
  lightdesk_sign_in_refusals_total: {
    help: "Rejected sign-in attempts, by method and reason.",
    labels: ["way", "reason"],
  },
} as const satisfies Record<string, MetricDescription>;

const histograms = {
  lightdesk_http_request_duration_seconds: {
    help: "HTTP request duration, from the headers to the end of the response.",
    labels: ["route"],
    buckets: SHORT_BUCKETS,
  },
  lightdesk_upstream_call_duration_seconds: { help: "Duration of calls to services.", labels: ["operation"], buckets: SHORT_BUCKETS },
  lightdesk_job_run_duration_seconds: { help: "Duration of job runs, including storing their outputs.", labels: [], buckets: LONG_BUCKETS },
} as const satisfies Record<string, MetricDescription>;

const gauges = {
  lightdesk_http_requests_in_progress: { help: "HTTP requests in progress.", labels: [] },
  lightdesk_open_streams: { help: "Open WebSockets that receive job events.", labels: [] },
  lightdesk_jobs: { help: "Jobs of the embedded or stand-alone service, by state.", labels: ["state"] },
  lightdesk_runners: { help: "Runners of the embedded or stand-alone service, including the built-in one, by state.", labels: ["state"] },
  lightdesk_stored_bytes: { help: "Bytes of distinct asset content, summed over users.", labels: [] },
  lightdesk_disk_free_bytes: { help: "Free bytes on the data folder's disk.", labels: [] },
  lightdesk_ledger_waiting: { help: "Responses waiting to be written to the job index.", labels: [] },
  lightdesk_thumbnail_cache_bytes: { help: "Size of the thumbnail cache at its last check.", labels: [] },
  lightdesk_service_thumbnail_cache_bytes: { help: "Upper bound of the size of the service's thumbnail cache.", labels: [] },
  lightdesk_node_cache_bytes: { help: "Size of the node result cache at its last check.", labels: [] },
  lightdesk_blob_copies_bytes: { help: "Upper bound of the size of the local copies of bucket files.", labels: [] },
  lightdesk_ready: { help: "1 if the part is ready, otherwise 0.", labels: ["part"] },
} as const satisfies Record<string, MetricDescription>;

type Counters = typeof counters;
type Histograms = typeof histograms;
type Gauges = typeof gauges;
type Labels<Names extends readonly string[]> = Record<Names[number], string>;
type MetricValue = number | ReadonlyMap<string, number> | undefined;

export type Metrics = {
  count<N extends keyof Counters>(name: N, labels: Labels<Counters[N]["labels"]>): void;
  observe<N extends keyof Histograms>(name: N, labels: Labels<Histograms[N]["labels"]>, seconds: number): void;
  /** `getValue` is called at each scrape. A later call for the same name replaces the gauge. */
  registerGauge(name: keyof Gauges, getValue: () => MetricValue | Promise<MetricValue>): void;
  getText(): Promise<{ type: string; body: string }>;
};

export async function createMetrics(): Promise<Metrics> {
  const { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } = await import("prom-client");
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const instruments = {
    counters: new Map<string, InstanceType<typeof Counter>>(),
    histograms: new Map<string, InstanceType<typeof Histogram>>(),
  };
  const getOrCreate = <T>(instruments: Map<string, T>, name: string, create: () => T): T => {
    const instrument = instruments.get(name) ?? create();
    instruments.set(name, instrument);
    return instrument;
  };

  return {
    count(name, labels) {
      const { help, labels: labelNames } = counters[name];
      getOrCreate(instruments.counters, name, () => new Counter({ name, help, labelNames, registers })).inc(labels);
    },
    observe(name, labels, seconds) {
      const { help, labels: labelNames, buckets } = histograms[name];
      getOrCreate(instruments.histograms, name, () => new Histogram({ name, help, labelNames, buckets: [...buckets], registers })).observe(
        labels,
        seconds,
      );
    },
    registerGauge(name, getValue) {
      const { help, labels: labelNames } = gauges[name];
      registry.removeSingleMetric(name);
      new Gauge({
        name,
        help,
        labelNames,
        registers,
        async collect() {
          setGauge(
            this,
            labelNames[0],
            await Promise.resolve()
              .then(getValue)
              .catch(() => undefined),
          );
        },
      });
    },
    getText: async () => ({ type: registry.contentType, body: await registry.metrics() }),
  };
}

function setGauge(gauge: Gauge, label: string | undefined, metricValue: MetricValue): void {
  gauge.reset();
  // After a reset, a gauge without a label would report 0 although nothing was measured.
  if (label === undefined) gauge.remove();
  if (metricValue === undefined) return;
  if (typeof metricValue === "number") return gauge.set(metricValue);
  for (const [labelValue, value] of metricValue) if (label !== undefined) gauge.set({ [label]: labelValue }, value);
}
