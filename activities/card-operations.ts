import type { GroupCommit } from '../src/core/commit/group-commit.js';
import type { Log } from '../src/shared/log.js';
import type { CardIssuer } from '../src/core/providers/card-issuer.js';
import type { LocalSubmissionLimiter } from '../src/core/instructions/local-submission-limiter.js';
import type { CardOperations, Cards } from '../src/capabilities/cards/store.js';
import { recordActivities } from './instructions.js';

export type CardActivityDeps = {
  cards: Cards;
  cardOperations: CardOperations;
  groupCommit: GroupCommit;
  providers: { issuer(name: string): CardIssuer };
  localSubmissions: LocalSubmissionLimiter;
  log: Log;
};

/** What the pursuit of any operation on a card writes, whatever it is about. Names are in histories. */
export function createCardOperationActivities({ cardOperations }: CardActivityDeps) {
  const record = recordActivities({ name: 'card operation', records: cardOperations });
  return {
    readCardInstructionStatus: record.readInstructionStatus,
    recordCardOperatorCommand: record.recordOperatorCommand,
    raiseCardAttention: record.raiseAttention,
    recordCardCancellationRequest: record.recordCancellationRequest,
  };
}
