// A real service behind a connection that a test can hold, cut or replace.
import { type IncomingMessage, type RequestListener } from "node:http";
import { expect, type Page } from "@playwright/test";
import { type Desk } from "./desk";
import { forwardRequest, type PortService, startFakeService } from "./service";

export type FlakyService = {
  url: string;
  /** Responds to later requests, or those that `only` selects, with `fault`. Without a fault, requests pass again, including held ones. */
  spoil(fault?: RequestListener, only?: (request: IncomingMessage) => boolean): void;
  hold(): void;
  /** Stops listening. */
  stop(): Promise<void>;
  again(): Promise<void>;
};

export async function startFlakyService(serviceUrl: string): Promise<FlakyService> {
  let fault: RequestListener | undefined;
  let isSpoilt = (_request: IncomingMessage) => true;
  let isPaused = false;
  let waiting: (() => void)[] = [];
  const standIn = await startFakeService((request, response) => {
    const pass = () => forwardRequest(serviceUrl, request, response, { headers: asItself(serviceUrl, request) });
    if (isPaused) waiting.push(pass);
    else if (fault && isSpoilt(request)) fault(request, response);
    else pass();
  });
  return {
    ...standIn,
    spoil(next, only = () => true) {
      fault = next;
      isSpoilt = only;
      isPaused = false;
      for (const go of waiting) go();
      waiting = [];
    },
    hold: () => void (isPaused = true),
  };
}

/** Returns the id of a connection that reaches the service through this proxy. */
export async function connectThroughProxy(page: Page, desk: Desk, service: PortService, flakyService: FlakyService): Promise<string> {
  const data = { name: `Line ${flakyService.url}`, baseUrl: flakyService.url, key: service.key, shared: false };
  const response = await page.request.post(`${desk.url}/api/console/connections`, { data, headers: { origin: desk.url } });
  expect(response.status(), await response.text()).toBe(201);
  const { connection }: { connection: { id: string } } = await response.json();
  return connection.id;
}

/** Uses the service's own host name. */
const asItself = (serviceUrl: string, request: IncomingMessage) => ({ ...request.headers, host: new URL(serviceUrl).host });

/** Sends the beginning of a response, then nothing. */
export const cut: RequestListener = (_request, response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "4096" });
  response.write('{"jobs":[', () => response.destroy());
};

export const silent: RequestListener = () => undefined;

export const respondWith =
  (status: number, type: string, body: string, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { "content-type": type, ...headers }).end(body);
  };
