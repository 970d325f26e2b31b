import type { Answer } from './answers.js';

/** A fault of one call: it happens before or after the request is carried out. */
export type Fault =
  | 'error_500'
  | 'error_500_after'
  | 'hang'
  | 'hang_after'
  /** Carried out after a pause, in which the caller has given up. */
  | 'late'
  /** Carried out after a longer pause, and answered. */
  | 'slow'
  | 'drop_before'
  | 'drop_after'
  | 'html'
  | 'throttle_seconds'
  | 'throttle_time_stamp'
  | 'invalid_key'
  | 'starter_business'
  | 'system_malfunction'
  | 'insufficient_balance'
  | 'new_code'
  | 'new_text_1'
  | 'new_text_2'
  | 'other_text'
  | 'wrong_request'
  | 'no_privilege'
  | 'wrong_address';

/** Faults for the next calls of a kind, and for a share of all calls. */
export type FaultRule = { call: string; fault: Fault; probability: number };

const refusal = (message: string, code?: string): Answer => ({
  status: 400,
  body: { status: false, message, ...(code !== undefined && { code }) },
});

/** The faults that the fake answers before it does anything. */
const ANSWERS: Partial<Record<Fault, Answer>> = {
  insufficient_balance: refusal(
    'Insufficient balance to fulfill this refund. Please top up',
    'insufficient_balance',
  ),
  error_500: { status: 500, body: { status: false, message: 'Internal error' } },
  html: { status: 200, body: '<html>maintenance</html>' },
  invalid_key: { status: 400, body: { status: false, message: 'Invalid key' } },
  starter_business: {
    status: 400,
    body: {
      status: false,
      message: 'You cannot initiate third party payouts as a starter business',
    },
  },
  system_malfunction: { status: 400, body: { status: false, message: 'System Malfunction' } },
  new_code: refusal('Something quite new', 'quite_new'),
  new_text_1: refusal('Something quite new about record 118'),
  new_text_2: refusal('Something quite new about record 2311'),
  other_text: refusal('Something else'),
  wrong_request: refusal('This amount is quite wrong', 'invalid_params'),
  no_privilege: refusal('Error: You do not have privileges for this action. Kindly contact admin'),
  wrong_address: refusal('Your IP address is not allowed to make this call'),
};

/** The answer that takes the place of the call's own, without any effect; undefined if the call is carried out. */
export function answerOf(fault: Fault, now: number): Answer | undefined {
  const body = { status: false, message: 'Too many requests', code: 'rate_limited' };
  if (fault === 'throttle_seconds') {
    return { status: 429, body, headers: { 'x-ratelimit-reset': '2' } };
  }
  if (fault === 'throttle_time_stamp') {
    const at = String(Math.ceil(now / 1000) + 2);
    return { status: 429, body: '<html>slow down</html>', headers: { 'x-ratelimit-reset': at } };
  }
  if (fault === 'drop_before') return { status: 0, body: null, cut: true };
  return ANSWERS[fault];
}

/** The faults that wait for calls, and the outcomes that wait for records. */
export type Plans = ReturnType<typeof createPlans>;

/** Creates the plans of a fake. A planned fault is used up by the next call of its kind. */
export function createPlans(random: () => number = Math.random) {
  const waiting = new Map<string, Fault[]>();
  let rules: FaultRule[] = [];
  return {
    /** The next `times` calls of this kind have this fault. */
    plan: (call: string, fault: Fault, times = 1): void => {
      const queue = waiting.get(call) ?? [];
      queue.push(...Array.from({ length: times }, () => fault));
      waiting.set(call, queue);
    },
    /** A share of the calls have a fault, until other rules are set. */
    setRules: (next: FaultRule[]): void => {
      rules = next;
    },
    next: (call: string): Fault | undefined => {
      const planned = waiting.get(call)?.shift();
      if (planned) return planned;
      return rules.find((rule) => [call, 'any'].includes(rule.call) && random() < rule.probability)
        ?.fault;
    },
  };
}
