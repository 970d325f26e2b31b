import type { OperationInput } from '../src/cards/reports.js';
import { localActivities } from './local-calls.js';
import { ownStore } from './policies.js';

const store = localActivities(ownStore);

/** What the pursuits of all operations on cards have in common. */
export const operationSubject = ({ tenant, id, calls, acceptedAtMs, policy }: OperationInput) => ({
  ref: { tenant, id },
  provider: calls,
  acceptedAtMs,
  policy,
});

export const operationStore = {
  readStanding: store.readCardStanding,
  noteOperator: store.noteCardOperator,
  raiseAttention: store.raiseCardAttention,
  noteCancellation: store.noteCardCancellation,
};
