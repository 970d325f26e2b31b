export type RecurringStatus = 'active' | 'paused' | 'past_due' | 'ended' | 'cancelled';

/** A charge that comes again, as it is stored. Amounts in kobo. Periods are counted from 0. */
export type RecurringCharge = {
  _id: string;
  tenant: string;
  version: number;
  /** Changes that were told: the order number of the latest event. */
  events?: number;
  payment_token: string;
  customer_id: string;
  amount_minor: bigint;
  currency: 'NGN';
  interval: 'day' | 'week' | 'month' | 'year';
  interval_count: number;
  /** IANA name; the local time of day of `start_at` there is kept. */
  timezone: string;
  start_at: Date;
  /** No period begins at this time or later. */
  end_at: Date | null;
  /** How many periods there are. */
  count: number | null;
  description: string | null;
  metadata: Record<string, unknown> | null;
  status: RecurringStatus;
  /** The first period that has neither been charged nor passed by while paused, and when it is due. */
  next_period: number;
  next_at: Date | null;
  /** Periods that were charged. */
  charged: number;
  /** Charges of this one that are being tried again. */
  past_due: string[];
  paused_at: Date | null;
  /** When the sweep makes sure that schedule and workflow are as they should be; null once nothing is left to do. */
  due_at: Date | null;
  created_at: Date;
  updated_at: Date;
  ended_at: Date | null;
};
