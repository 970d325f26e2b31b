import { Counter, Histogram, type Registry } from 'prom-client';
import { DECISION_RESULTS, type Decisions } from '../capabilities/card-authorizations/create.js';

const BUCKETS_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3];
const RATIOS = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];

/** Registers the decisions on card payments of these issuers, with their time and its share of the issuer's deadline. */
export function measureDecisions(
  registry: Registry,
  decisions: Pick<Decisions, 'onAnswered'>,
  issuers: readonly { name: string }[],
): void {
  const registers = [registry];
  const total = new Counter({
    name: 'bursar_card_decisions_total',
    help: 'Answers to authorization requests; late: declined because the deadline was over.',
    labelNames: ['provider', 'result'],
    registers,
  });
  // Prometheus sees no increase in the first sample of a series: an alert would miss the first late answer.
  for (const { name: provider } of issuers) {
    for (const result of DECISION_RESULTS) total.inc({ provider, result }, 0);
  }
  const duration = new Histogram({
    name: 'bursar_card_decision_duration_seconds',
    help: 'Time from an authorization request to its answer.',
    labelNames: ['provider'],
    buckets: BUCKETS_SECONDS,
    registers,
  });
  const share = new Histogram({
    name: 'bursar_card_decision_deadline_ratio',
    help: "Time from an authorization request to its answer, as a share of the issuer's deadline.",
    labelNames: ['provider'],
    buckets: RATIOS,
    registers,
  });
  decisions.onAnswered(({ provider, result, seconds, ratio }) => {
    total.inc({ provider, result });
    duration.observe({ provider }, seconds);
    share.observe({ provider }, ratio);
  });
}
