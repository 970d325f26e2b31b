import type { IncomingMessage } from 'node:http';
import type { FaultyCall } from './faults.js';
import type { Outcome } from './wire.js';

/** Executes in one turn of the event loop, after the whole request was read and validated. */
type Execute = () => Outcome | Promise<Outcome>;

/** One method of a path. */
export type Route = {
  /** The call's name in fault settings; `other` is never faulty; null is a route for tests, open to all. */
  call: FaultyCall | 'other' | null;
  read: (req: IncomingMessage, query: URLSearchParams) => Execute | Promise<Execute>;
};

/** The routes of a path by HTTP method. */
export type Methods = Record<string, Route>;

/** A path with its routes; a `:` in the path stands for one segment, which is passed to them. */
export type RouteEntry = [path: string, methods: (segment: string) => Methods];
