import type { IncomingMessage } from 'node:http';
import type { FaultyCall } from './faults.js';
import type { Outcome } from './wire.js';

/** Executes in one turn of the event loop; called after the whole request was read and found valid. */
type Execute = () => Outcome | Promise<Outcome>;

export type Route = {
  /** What the fault switch knows the call as; `other`: never faulty; null: an audit route, open to all. */
  call: FaultyCall | 'other' | null;
  read: (req: IncomingMessage, query: URLSearchParams) => Execute | Promise<Execute>;
};

export type Methods = Record<string, Route>;

/** A path, and its routes; a `:` in the path stands for one segment, which the routes are given. */
export type RouteEntry = [path: string, methods: (segment: string) => Methods];
