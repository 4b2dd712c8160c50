// A proxy in front of a real service. Tests can hold, cut or replace its responses.
import { type IncomingMessage, type RequestListener } from "node:http";
import { expect, type Page } from "@playwright/test";
import { type Desk } from "./desk";
import { forwardRequest, type PortService, startFakeService } from "./service";

export type FlakyService = {
  url: string;
  /** Handles later requests with `fault`, or only those that `matches` selects. Without a fault, forwards all requests again, including held ones. */
  setFault(fault?: RequestListener, matches?: (request: IncomingMessage) => boolean): void;
  hold(): void;
  /** Stops listening. */
  stop(): Promise<void>;
  restart(): Promise<void>;
};

export async function startFlakyService(serviceUrl: string): Promise<FlakyService> {
  let fault: RequestListener | undefined;
  let matchesFault = (_request: IncomingMessage) => true;
  let isPaused = false;
  let heldRequests: (() => void)[] = [];
  const server = await startFakeService((request, response) => {
    const forward = () => forwardRequest(serviceUrl, request, response, { headers: withServiceHost(serviceUrl, request) });
    if (isPaused) heldRequests.push(forward);
    else if (fault && matchesFault(request)) fault(request, response);
    else forward();
  });
  return {
    ...server,
    setFault(next, matches = () => true) {
      fault = next;
      matchesFault = matches;
      isPaused = false;
      for (const resume of heldRequests) resume();
      heldRequests = [];
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

/** Returns the request's headers with the service's own host name. */
const withServiceHost = (serviceUrl: string, request: IncomingMessage) => ({ ...request.headers, host: new URL(serviceUrl).host });

/** Sends the beginning of a response, then closes the connection. */
export const cutResponse: RequestListener = (_request, response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "4096" });
  response.write('{"jobs":[', () => response.destroy());
};

export const neverRespond: RequestListener = () => undefined;

export const respondWith =
  (status: number, type: string, body: string, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { "content-type": type, ...headers }).end(body);
  };
