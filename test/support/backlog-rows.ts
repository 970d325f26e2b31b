/** The rows of `bursar doctor` about records that wait: for the dispatcher (`overdue`) or for an operator (`attention`). */
export const BACKLOG_ROWS: readonly string[] = [
  'bulk-transfers: overdue',
  'transfers: overdue',
  'transfers: attention',
  'cards: overdue',
  'cards: attention',
  'card-authorizations: overdue',
  'card-authorizations: attention',
  'charges: overdue',
  'charges: attention',
  'refunds: overdue',
  'refunds: attention',
  'recurring-charges: overdue',
  'provider-events: overdue',
  'provider-events: attention',
  'webhooks: undelivered',
  'webhooks: given up',
];
