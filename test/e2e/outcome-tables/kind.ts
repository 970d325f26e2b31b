import type { Service } from '../../support/service.js';
import type { CallOptions, Reply, TestTenant } from '../../support/tenant.js';

/** The fields of a resource that every kind of instruction has. */
export type View = {
  status: string;
  completed_at: string | null;
  failure: { code: string } | null;
  attention: { reason: string } | null;
};

/** A kind of instruction whose outcomes the table tries. Its bodies have a suffix that selects what the bank does. */
export type Kind = {
  collection: string;
  path: string;
  body(suffix: string): Record<string, unknown> & { reference: string };
  /** Changes that make the body of row 003 acceptable. */
  acceptable: Record<string, unknown>;
  create(tenant: TestTenant, body: Record<string, unknown>, options: CallOptions): Promise<Reply>;
  get(tenant: TestTenant, id: string): Promise<View>;
  waitFor(
    tenant: TestTenant,
    id: string,
    wanted: string | ((view: View) => boolean),
  ): Promise<View>;
  decide(service: Service, id: string, outcome: 'paid' | 'failed'): Promise<void>;
  amountMinor: number;
  /** The amount and its fee. */
  totalMinor: number;
  /** The bank's event that reports the payment. */
  paidEvent: string;
  /** Fields of answers and resources of this kind, beside those that all kinds have. */
  matches: {
    accepted(body: Record<string, unknown>): object;
    /** The answer of row 011, for which the bank gives no name. */
    unnamed: object;
    completed: object;
    journal(body: Record<string, unknown>): object;
    /** Row 002. */
    refused: object;
    /** The error of row 003. */
    invalid: object;
    /** A resource that is not completed, or no longer. */
    incomplete: object;
    /** The resource in the list of its tenant. */
    listed(view: View): object;
  };
};
